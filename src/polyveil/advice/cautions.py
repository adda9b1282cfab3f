"""Avoidable losses of a policy: what else it could say, and how much less a release of a sample would then lose.

Every suspicion is a change of the policy. It becomes a warning only if the changed policy loses clearly less on a
sample of the table, so a policy that is well made gets none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from polyveil.advice.cases import hurried
from polyveil.arrays import IntArray
from polyveil.errors import PolyveilError
from polyveil.policy import DateParts, Intervals, Mask, MethodChoice, Policy, Tree, fitted
from polyveil.policy.schema import DEFAULT_METHOD, Column
from polyveil.results import percent
from polyveil.table.profiling.column import ColumnProfile
from polyveil.table.profiling.profile import column_profiles
from polyveil.table.source import Table

SAMPLE = 600
"""Rows on which a change is tried."""
LEAST_SAVED, LEAST_SHARE = 0.02, 0.1
"""A change must save so much detail, and this share of what is lost."""
NEARLY_UNIQUE = 0.9
MANY_VALUES = 20
MOST_TRIED = 12
STRICT_K = 20


@dataclass(frozen=True)
class Caution:
    """A warning with its figures: detail lost now and with the change, as shares of all detail of the same columns."""

    place: str
    problem: str
    remedy: str
    lost_now: float
    lost_then: float

    def __str__(self) -> str:
        now, then = percent(self.lost_now, 0), percent(self.lost_then, 0)
        figures = f"{now} of the detail lost, {then} with the change (on a sample)"
        return f"{self.place}: {self.problem}. {self.remedy}: {figures}."

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class _Change:
    place: str
    problem: str
    remedy: str
    policy: Policy
    column: str = ""
    codes: tuple[str, ...] = ()
    """Cells of the column that are no numbers but codes for missing."""


def cautions(table: Table, policy: Policy, *, seconds: float = math.inf) -> tuple[Caution, ...]:
    """Warnings for a policy that loses much for an avoidable reason, costliest first.

    After so many processor seconds no other suspicion is tried.
    """
    policy = fitted(policy, table.columns)
    rows = np.sort(np.random.default_rng(1).permutation(table.height)[:SAMPLE])
    sample = replace(table, frame=table.frame[rows])
    about = {each.name: each for each in column_profiles(table) if each.name in policy.columns}
    suspected = [change for find in _SUSPICIONS for change in find(policy, about)][:MOST_TRIED]
    if not suspected:
        return ()
    now = _tried(sample, policy)
    until = time.process_time() + seconds
    tried = (_judged(change, now, sample) for change in suspected if time.process_time() < until)
    return tuple(sorted(filter(None, tried), key=lambda each: each.lost_then - each.lost_now))


@dataclass(frozen=True, eq=False)
class _Tried:
    """Detail lost per quasi-identifier, and the group of each row."""

    lost: dict[str, float]
    groups: IntArray | None


def _tried(sample: Table, policy: Policy) -> _Tried | None:
    """A release of the sample; None if there is none."""
    from polyveil.pipeline import anonymize

    try:
        release = anonymize(sample, hurried(policy, "fast"), seed=1)
    except PolyveilError:
        return None
    return _Tried(dict(release.manifest["loss"].get("by_attribute", {})), release.class_of_row)


def _judged(change: _Change, now: _Tried | None, sample: Table) -> Caution | None:
    changed = _tried(sample, change.policy)
    if changed is None:
        return None
    then, lost = changed.lost, {} if now is None else dict(now.lost)
    if now is not None and change.codes and change.column in lost:
        lost[change.column] = _lost_by_codes(sample, now.groups, change.column, change.codes)
    shared = [name for name in then if now is None or name in lost]
    after = float(np.mean([then[name] for name in shared])) if shared else 1.0
    before = 1.0 if now is None else float(np.mean([lost[name] for name in shared])) if shared else 0.0
    if before - after < max(LEAST_SAVED, LEAST_SHARE * before):
        return None
    return Caution(change.place, change.problem, change.remedy, before, after)


def _lost_by_codes(sample: Table, groups: IntArray | None, name: str, codes: tuple[str, ...]) -> float:
    """Detail lost in the range of the true numbers: a code such as 999999 makes every range with it say nothing."""
    cells = sample.frame[name].cast(pl.Float64, strict=False)
    coded = cells.is_in([float(code) for code in codes])
    true = cells.set(coded, None)
    span = float(true.max() or 0) - float(true.min() or 0)  # type: ignore[arg-type]
    if groups is None or span <= 0:
        return 0.0
    each = (
        pl.DataFrame({"group": groups, "cell": true, "coded": coded})
        .group_by("group")
        .agg(pl.len().alias("rows"), (pl.col("cell").max() - pl.col("cell").min()).alias("wide"), pl.col("coded").any())
    )
    lost = pl.when(pl.col("coded") & pl.col("wide").is_not_null()).then(1.0).otherwise(pl.col("wide") / span)
    return float(each.select((lost.fill_null(0.0) * pl.col("rows")).sum() / pl.col("rows").sum()).item())


def _with_column(policy: Policy, name: str, **keys: Any) -> Policy:
    column = policy.columns[name]
    kept = {key: getattr(column, key) for key in column.model_fields_set if key not in keys}
    changed = Column(**{**kept, **{key: value for key, value in keys.items() if value is not None}})
    return policy.model_copy(update={"columns": {**policy.columns, name: changed}})


def _of(policy: Policy, role: str) -> Iterator[tuple[str, Column]]:
    return ((name, column) for name, column in policy.columns.items() if column.role == role)


def _is_number(profile: ColumnProfile) -> bool:
    return isinstance(profile.low, float) and profile.distinct > MANY_VALUES and profile.type == "numeric"


def _distances(policy: Policy, about: dict[str, ColumnProfile]) -> Iterator[_Change]:
    """Sensitive numbers and dates whose closeness is measured as if they were names."""
    for name, column in _of(policy, "sensitive"):
        place, rule = f"columns.{name}", column.hierarchy
        if isinstance(rule, Intervals | DateParts) or (isinstance(rule, Mask | Tree) and _is_number(about[name])):
            kind = "date" if isinstance(rule, DateParts) else "numeric"
            problem = f"closeness of a {kind} column is measured in its hierarchy, not by its values"
            plain = _with_column(policy, name, hierarchy=None, distance=None, type=kind)
            yield _Change(place, problem, "Remove the hierarchy", plain)
        elif column.distance in ("equal", "hierarchical") and _is_number(about[name]):
            problem = f"distance: {column.distance} takes any two numbers for equally different"
            yield _Change(
                place, problem, "Use distance: ordered", _with_column(policy, name, distance=None, type="numeric")
            )
        elif column.type == "categorical" and rule is None and _is_number(about[name]):
            problem = "numbers are declared as categories, so any two of them are equally different"
            yield _Change(place, problem, "Write type: numeric", _with_column(policy, name, type="numeric"))


def _recodings(policy: Policy, about: dict[str, ColumnProfile]) -> Iterator[_Change]:
    """Quasi-identifiers that are generalized more coarsely than they need to be."""
    for name, column in _of(policy, "quasi"):
        place, rule, known = f"columns.{name}", column.hierarchy, about[name]
        number = _is_number(known)
        if column.type == "categorical" and rule is None and number:
            changed = _with_column(policy, name, type="numeric", recode=None)
            yield _Change(place, "numbers are declared as categories", "Write type: numeric", changed)
        elif isinstance(rule, Intervals):
            changed = _with_column(policy, name, hierarchy=None)
            yield _Change(place, "numbers are generalized to given intervals only", "Remove the hierarchy", changed)
        elif isinstance(rule, DateParts):
            changed = _with_column(policy, name, hierarchy=None)
            yield _Change(place, "dates are generalized to calendar parts only", "Remove the hierarchy", changed)
        elif isinstance(rule, Tree) and not any(isinstance(part, dict | list) for part in _below(rule)):
            changed = _with_column(policy, name, hierarchy=None, recode="set")
            yield _Change(place, "the hierarchy has no groups below its top", "Use recode: set instead", changed)
        elif isinstance(rule, Mask) and known.distinct > MANY_VALUES and rule.mask < 3:
            changed = _with_column(policy, name, hierarchy={"mask": 8, "side": rule.side, "char": rule.char})
            yield _Change(place, f"the mask hides at most {rule.mask} characters", "Let it hide more", changed)


def _without_sets(policy: Policy, about: dict[str, ColumnProfile]) -> Iterator[_Change]:
    """Categories without a hierarchy that are not released as sets of values, all of them together."""
    plain = [
        name
        for name, column in _of(policy, "quasi")
        if column.hierarchy is None and column.recode == "hierarchy" and about[name].type in ("categorical", "ordinal")
        if column.type in (None, "categorical") and not _is_number(about[name])
    ]
    changed = policy
    for name in plain:
        changed = _with_column(changed, name, recode="set", type="categorical")
    if plain:
        problem = "without a hierarchy a category stays as it is or is hidden completely"
        yield _Change(f"columns.{', '.join(plain)}", problem, "Add recode: set", changed)


def _below(rule: Tree) -> list[Any]:
    tree: Any = rule.tree
    return list(tree.values()) if isinstance(tree, dict) else list(tree)


def _columns(policy: Policy, about: dict[str, ColumnProfile]) -> Iterator[_Change]:
    """Quasi-identifiers that point to single people, codes for missing, and the same fact twice."""
    for name, _ in _of(policy, "quasi"):
        known = about[name]
        if known.unique_share > NEARLY_UNIQUE and known.type == "categorical":
            changed = _with_only(policy, name, Column(role="identifier"))
            yield _Change(f"columns.{name}", "nearly every row has a value of its own", "Use role: identifier", changed)
        copied = next((text for text in known.evidence if text.startswith("Tells the same as ")), None)
        if copied is not None:
            changed = _with_only(policy, name, Column(role="drop"))
            yield _Change(f"columns.{name}", f"{copied[:1].lower()}{copied[1:-1]}", "Use role: drop", changed)
    for name, column in (*_of(policy, "quasi"), *_of(policy, "sensitive")):
        markers = [hint.marker for hint in about[name].missing_hints if hint.sure]
        if about[name].type == "numeric" and markers and not set(markers) <= {*column.missing, *policy.missing}:
            shown = ", ".join(markers)
            changed = _with_column(policy, name, missing=tuple(markers), type="numeric")
            yield _Change(
                f"columns.{name}",
                f"{shown} usually mean missing",
                f"Add missing: [{shown}]",
                changed,
                name,
                tuple(markers),
            )


def _with_only(policy: Policy, name: str, column: Column) -> Policy:
    return policy.model_copy(update={"columns": {**policy.columns, name: column}})


def _requirements(policy: Policy, about: dict[str, ColumnProfile]) -> Iterator[_Change]:
    """Requirements that cost much more than slightly weaker ones, and methods that lose more than the default."""
    privacy = policy.privacy

    def asking(**keys: Any) -> Policy:
        return policy.model_copy(update={"privacy": privacy.model_copy(update=keys)})

    strict = {name: column.t for name, column in _of(policy, "sensitive") if column.t is not None and column.t <= 0.05}
    for name, t in strict.items():
        changed = _with_column(policy, name, t=0.15)
        yield _Change(f"columns.{name}.t", f"t = {t:g} joins nearly all rows", "t: 0.15 or more", changed)
    if privacy.t is not None and privacy.t <= 0.05 and policy.having("sensitive"):
        yield _Change("privacy.t", f"t = {privacy.t:g} joins nearly all rows", "t: 0.15 or more", asking(t=0.15))
    if privacy.k is not None and privacy.k > STRICT_K:
        yield _Change("privacy.k", f"k = {privacy.k} is more than most readers need", "k: 10", asking(k=10))
    for key, weaker in (("beta", 4.0), ("delta", 2.0)):
        asked = getattr(privacy, key)
        if asked is not None and asked < weaker / 4:
            yield _Change(
                f"privacy.{key}", f"{key} = {asked:g} is very strict", f"{key}: {weaker:g}", asking(**{key: weaker})
            )
    for joint in privacy.joint:
        if joint.t < 0.15:
            problem = f"joint t = {joint.t:g} of {len(joint.columns)} columns is very strict"
            rest = tuple(each for each in privacy.joint if each is not joint)
            eased = (*rest, joint.model_copy(update={"t": 0.4}))
            yield _Change("privacy.joint", problem, "t: 0.4", asking(joint=eased))
    if isinstance(privacy.l, int) and privacy.l > 5 and policy.having("sensitive"):
        yield _Change("privacy.l", f"l = {privacy.l} needs large groups", "l: 3", asking(l=3))
    if policy.method.name != DEFAULT_METHOD and policy.release.form in (None, "generalized"):
        default = policy.model_copy(update={"method": MethodChoice(name=DEFAULT_METHOD)})
        if policy.method.name in ("mondrian", "pca", "fcm", "kaca", "swap"):
            yield _Change(
                "method", f"{policy.method.name} loses more", f"Use method: {{name: {DEFAULT_METHOD}}}", default
            )


_SUSPICIONS: tuple[Callable[[Policy, dict[str, ColumnProfile]], Iterator[_Change]], ...] = (
    _distances,
    _recodings,
    _without_sets,
    _columns,
    _requirements,
)
