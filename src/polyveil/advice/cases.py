"""What is compared: one method with one k and one t, as a policy of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, Literal

from polyveil.methods import method_class
from polyveil.policy import MethodChoice, Policy, public
from polyveil.version import __version__

Status = Literal["done", "unreachable", "not possible", "out of time", "failed"]


@dataclass(frozen=True)
class Case:
    """A method and the k and t asked of it; None leaves the policy's own."""

    method: str
    k: int | None = None
    t: float | None = None

    @property
    def title(self) -> str:
        """The case in a few words, for progress and tables."""
        asked = [f"k={self.k}"] if self.k is not None else []
        asked += [f"t={self.t:g}"] if self.t is not None else []
        return " ".join([self.method, *asked])


@dataclass(frozen=True)
class CaseOutcome:
    """What a case came to. `message` says why there is no release; figures are there where there is one."""

    case: Case
    form: str
    status: Status
    seconds: float
    message: str = ""
    classes: int = 0
    class_size: dict[str, float] = field(default_factory=dict)
    suppressed: int = 0
    privacy: dict[str, Any] = field(default_factory=dict)
    loss: dict[str, Any] = field(default_factory=dict)
    utility: dict[str, float] = field(default_factory=dict)
    """Query error and shifts of a generalized release against the table; smaller is better."""

    @property
    def done(self) -> bool:
        return self.status == "done"

    @property
    def distance(self) -> float | None:
        """The greatest distance of any class in any sensitive column, where closeness was asked for."""
        found = [value for value in self.privacy.get("t", {}).values() if value is not None]
        return max(found) if found else None

    @property
    def normalized_loss(self) -> float:
        return float(self.loss.get("normalized_loss", float("nan")))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CaseOutcome:
        return cls(**{**data, "case": Case(**data["case"])})


def cases_of(methods: Sequence[str], ks: Sequence[int], ts: Sequence[float]) -> list[Case]:
    """Every combination; raises PolicyError for a method that does not exist."""
    for name in methods:
        method_class(name)
    return [Case(m, k, t) for k, t, m in product(ks or [None], ts or [None], methods)]  # type: ignore[list-item]


def policy_of(case: Case, base: Policy) -> Policy:
    """The base policy with the case's method, k and t. A t here serves every sensitive column alike.

    Options of the base policy's method go with it alone; a form that the method does not make gives way to its own.
    """
    columns, privacy, release = base.columns, base.privacy, base.release
    if case.t is not None:
        columns = {name: column.model_copy(update={"t": None}) for name, column in columns.items()}
        privacy = privacy.model_copy(update={"t": case.t})
    if case.k is not None:
        privacy = privacy.model_copy(update={"k": case.k})
    if release.form not in method_class(case.method).forms:
        release = release.model_copy(update={"form": None, "generalize": None, "counts": False})
    method = base.method if base.method.name == case.method else MethodChoice(name=case.method)
    return base.model_copy(update={"columns": columns, "privacy": privacy, "release": release, "method": method})


def form_of(policy: Policy) -> str:
    """The form this policy's release takes."""
    return policy.release.form or method_class(policy.method.name).forms[0]


def key_of(policy: Policy, data: str, seed: int | None) -> str:
    """A name for the case's result that changes with the data, the policy (with its hierarchies) and the version."""
    about = {"data": data, "policy": public(policy), "seed": seed, "polyveil": __version__}
    text = json.dumps(about, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def can_hurry(method: str) -> bool:
    """Whether the method can be told how long to search."""
    return "effort" in method_class(method).options_type.model_fields


def hurried(policy: Policy, effort: float | str) -> Policy:
    """The policy with the method's search limited to some seconds or a little work, if it has such an option."""
    if not can_hurry(policy.method.name):
        return policy
    choice = MethodChoice(**{**policy.method.model_dump(exclude_none=True), "effort": effort})
    return policy.model_copy(update={"method": choice})
