"""One recommendation: a k and a t, why, how far from certain they are, and what a release with them loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from polyveil.advice.cases import Case, policy_of
from polyveil.advice.expected import Expected
from polyveil.advice.overlap import OverlapAdvice
from polyveil.policy import Policy, to_dict

Who = Literal["public", "researchers", "colleagues"]
Harm = Literal["small", "serious", "grave"]
Detail = Literal["little", "some", "much"]
KS: dict[Who, int] = {"public": 10, "researchers": 5, "colleagues": 3}
"""The more people get the release, the larger the groups: an outsider may try every record."""
TS: dict[Harm, float] = {"small": 0.4, "serious": 0.25, "grave": 0.15}
"""The worse it is to be guessed, the closer a group must be to the whole table."""
MORE_DETAIL: dict[Detail, float] = {"little": 0.8, "some": 1.0, "much": 1.25}
"""How much t and k give way to detail."""
DEFAULT_K, DEFAULT_T = 5, 0.2
LEAST_T = 0.1
"""A smaller t joins nearly all rows, so the overlap alone does not recommend it."""
WIDE_RANGE = 0.3
"""If other codings move t by more than this, the overlap alone decides nothing."""


@dataclass(frozen=True)
class Answers:
    """Who gets the release, what harm a guess does, how much detail is needed."""

    who: Who | None = None
    harm: Harm | None = None
    detail: Detail | None = None

    @property
    def given(self) -> bool:
        return (self.who, self.harm, self.detail) != (None, None, None)

    def k(self) -> int:
        return max(2, round(KS[self.who or "researchers"] / MORE_DETAIL[self.detail or "some"]))

    def t(self) -> float:
        return round(TS[self.harm or "serious"] * MORE_DETAIL[self.detail or "some"], 2)


@dataclass(frozen=True)
class Recommendation:
    """What to ask for.

    `detail_lost` is expected of a release of the whole table with the method that will run, and `lost_on_sample` was
    measured on `rows` of its rows; None if it gave no release.
    """

    k: int
    t: float | None
    t_range: tuple[float, float] | None
    method: str
    detail_lost: float | None
    rows: int
    lost_on_sample: float | None
    reason: str
    policy: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def choose(
    base: Policy, overlap: OverlapAdvice | None, ts: Sequence[float], knee: float | None, answers: Answers
) -> tuple[int, float | None, tuple[float, float] | None, str]:
    """k, t, the range of t over other ways to compute it, and the reason."""
    k = answers.k() if answers.given else base.privacy.k or DEFAULT_K
    if not base.having("sensitive"):
        return k, None, None, "No column is sensitive, so only k matters."
    spread = (min([*ts, *(overlap.interval or ())]), max([*ts, *(overlap.interval or ())])) if overlap and ts else None
    if answers.given:
        return k, answers.t(), spread, "k and t follow from your answers about readers, harm and detail."
    if overlap is not None and spread is not None and spread[1] - spread[0] <= WIDE_RANGE and overlap.t >= LEAST_T:
        return k, round(overlap.t, 2), spread, "t is 1 minus the smallest overlap of the sensitive columns."
    if knee is not None:
        why = "A larger t saves little detail, a smaller one costs much more"
        wide = (
            f", and the overlap of the columns gives no clear t ({spread[0]:.2f} to {spread[1]:.2f})" if spread else ""
        )
        return k, knee, spread, f"{why}{wide}."
    wide = " The overlap of the sensitive columns depends too much on how it is computed." if spread else ""
    return k, base.privacy.t or DEFAULT_T, spread, f"The t of the policy, or {DEFAULT_T} if it has none.{wide}"


def recommended_policy(base: Policy, k: int, t: float | None) -> Policy:
    """The policy with this k and t, otherwise as it is."""
    return policy_of(Case(base.method.name, k=k, t=t), base)


def recommendation(
    policy: Policy, expected: Expected | None, t_range: tuple[float, float] | None, reason: str
) -> Recommendation:
    """Put together what was chosen and what a release will lose."""
    return Recommendation(
        k=policy.privacy.k or DEFAULT_K,
        t=policy.privacy.t,
        t_range=t_range,
        method=policy.method.name,
        detail_lost=expected.loss if expected else None,
        rows=expected.rows if expected else 0,
        lost_on_sample=expected.on_sample if expected else None,
        reason=reason,
        policy=to_dict(policy),
    )
