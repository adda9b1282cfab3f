"""What a release promises of each column, and what a reader should know about columns without a promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.models import ClassStatistics, Verdict, models_for
from polyveil.models.statistics import Sparse
from polyveil.policy import Policy
from polyveil.policy.linked import table_of
from polyveil.policy.look_alikes import is_unusual, skeleton, written_alike
from polyveil.policy.rules import File, Pairs, Tree
from polyveil.policy.schema import Column
from polyveil.results import percent
from polyveil.verification.attributes import declared_attributes, filled_in
from polyveil.verification.disguise import lie_within
from polyveil.verification.findings import Finding, fails

NEARLY_UNIQUE = 0.9
"""From this share of distinct values on, a column that is published as it is may name people."""
NEARLY_NO_EFFECT = 0.95
"""From this share of the greatest possible distance on, a threshold of closeness says hardly anything."""
MANY_VALUES = 400
OFTEN_ALONE = 0.5
"""From this share of rows on that are alone with their insensitive cells, these are named as a fingerprint."""
FEWEST_KEYS = 20
"""From so many values on, two columns do not have the same hardly repeated ones by chance."""
HARDLY_APART = 1e-6
"""Of the range of a column: numbers nearer to each other than that are hardly different values."""
_NO_EFFECT = {"t": 1.0, "alpha": 1.0}


def describe_columns(
    manifest: Mapping[str, Any], policy: Policy, verdicts: Sequence[Verdict], tables: Mapping[str, pl.DataFrame]
) -> tuple[dict[str, Any], ...]:
    """Every published column with its role, its guarantees, and marks for what is easily overlooked."""
    about = []
    together = _alone_together(policy, tables)
    joining = _joining(policy, tables)
    reach = _reach(manifest, policy) if verdicts else {}
    for name, column in policy.columns.items():
        own = [v for v in verdicts if _is_about(v, name)] if column.role == "sensitive" else []
        if column.role == "quasi":
            own = [v for v in verdicts if v.attribute is None]
        marks = _marks(name, column, own, reach, tables) + _marks_of_values(manifest["sensitive"].get(name))
        marks += together.get(name, []) + joining.get(name, [])
        if column.role == "insensitive":
            marks += _marks_of_quasi(name, manifest["quasi"], tables)
        about.append({"name": name, "role": column.role, "guarantees": [v.statement for v in own], "marks": marks})
    return tuple(about)


def _marks_of_values(about: Mapping[str, Any] | None) -> list[str]:
    """Values that are hardly others: every guarantee counts them as different ones."""
    if about is None:
        return []
    if about["kind"] == "numeric":
        numbers = np.sort([float(value) for value in about["values"]])
        close = int((np.diff(numbers) <= HARDLY_APART * np.ptp(numbers)).sum()) if len(numbers) > 2 else 0
        words = "are within a millionth of the range of another"
    else:
        close, words = written_alike(map(str, about["values"])), "differ from another only in capitals, spaces or look"
    return [f"{close} of its {len(about['values'])} values {words}, and count as different"] if close else []


def _marks_of_quasi(name: str, quasi: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """Quasi-identifiers in whose cells the values of an insensitive column always lie, which may be the same column."""
    frame = next((table for table in tables.values() if name in table.columns), pl.DataFrame())
    found = [
        each
        for each, about in quasi.items()
        if each in frame.columns and lie_within(frame.get_column(name), frame.get_column(each), about["kind"])
    ]
    return [f"its values always lie within the cells of {each}: it may tell what they hide" for each in found]


def _joining(policy: Policy, tables: Mapping[str, pl.DataFrame]) -> dict[str, list[str]]:
    """A mark for columns of different tables with the same, hardly repeated values: they join rows as a key does."""
    values: dict[str, set[str]] = {}
    for frame in tables.values() if policy.tables else ():
        for name in frame.columns:
            if name in policy.columns and policy.columns[name].role in ("insensitive", "sensitive"):
                cells = frame.get_column(name).drop_nulls().cast(pl.String)
                values[name] = set(cells.unique()) if cells.n_unique() >= OFTEN_ALONE * frame.height else set()
    found: dict[str, list[str]] = {}
    for one, two in combinations(values, 2):
        fewer = min(len(values[one]), len(values[two]))
        if table_of(one) != table_of(two) and fewer >= FEWEST_KEYS and len(values[one] & values[two]) >= fewer / 2:
            for name, other in ((one, two), (two, one)):
                found.setdefault(name, []).append(f"most of its values are those of {other}: rows can be joined")
    return found


def _alone_together(policy: Policy, tables: Mapping[str, pl.DataFrame]) -> dict[str, list[str]]:
    """A mark for the first of several insensitive columns that together, though not alone, point to single rows."""
    for frame in tables.values():
        names = [name for name in policy.having("insensitive") if name in frame.columns]
        if len(names) < 2 or not frame.height:
            continue
        alone = float(frame.select(pl.struct(names).is_unique().mean()).item())
        single = max(frame.get_column(name).n_unique() for name in names) / frame.height
        if alone >= OFTEN_ALONE and single < NEARLY_UNIQUE:
            words = (
                f"{percent(alone, 0)} of the rows are alone with their values of the {len(names)} insensitive columns"
            )
            return {names[0]: [f"{words}: together these may identify people"]}
    return {}


def _is_about(verdict: Verdict, name: str) -> bool:
    return verdict.attribute is not None and name in (verdict.attribute, *verdict.attribute.split(" + "))


Reach = Mapping[tuple[str, str | None], tuple[float, bool]]
"""Per guarantee what the worst group that anybody could form measures, and whether even that group keeps it."""


def _reach(manifest: Mapping[str, Any], policy: Policy) -> Reach:
    """The worst group is one value alone: every model is convex, so no mixture is worse than all of its values."""
    found: dict[tuple[str, str | None], tuple[float, bool]] = {}
    attributes = {name: known.attribute for name, known in declared_attributes(manifest, policy).items()}
    for model in models_for(policy, attributes):
        about = attributes.get(model.attribute or "")
        if about is None:
            continue
        code = _farthest_values(about.whole)
        one = np.ones(len(code), dtype=np.int64)
        alone = {about.name: Sparse(np.arange(len(code) + 1), code, one)}
        values = model.measure_all(ClassStatistics(one, {about.name: about}, alone))
        if len(values):
            kept = bool(model.passes(values).all())
            found[model.key, model.attribute] = float(values[model.worst(values)]), kept
    return found


def _farthest_values(counts: IntArray) -> IntArray:
    """The values that can be farthest from the table: all, or of very many the first, the last and the rarest."""
    code = np.flatnonzero(counts).astype(np.int64)
    if len(code) <= MANY_VALUES:
        return code
    some = MANY_VALUES // 4
    rarest = code[np.argsort(counts[code], kind="stable")[: 2 * some]]
    return np.unique(np.concatenate([code[:some], code[-some:], rarest]))


def _marks(
    name: str, column: Column, own: Sequence[Verdict], reach: Reach, tables: Mapping[str, pl.DataFrame]
) -> list[str]:
    worst = {v: reach.get((v.model, v.attribute), (np.inf, False)) for v in own}
    void = [v for v in own if worst[v][1] or v.threshold >= _NO_EFFECT.get(v.parameter, np.inf)]
    marks = [f"{v.parameter} = {v.threshold:g} has no effect: no group of this table could break it" for v in void]
    if column.role == "sensitive" and len(own) == len(void):
        marks.append("sensitive, and no guarantee protects it")
    marks += [
        f"t = {v.threshold:g} has hardly any effect: no group can be farther away than {worst[v][0]:.3g}"
        for v in own
        if v not in void and v.parameter == "t" and v.threshold >= NEARLY_NO_EFFECT * worst[v][0]
    ]
    if is_unusual(name):
        marks.append("its name has spaces or characters that a reader does not see")
    if column.role == "insensitive":
        frame = next((table for table in tables.values() if name in table.columns), None)
        distinct = 0 if frame is None or not frame.height else frame.get_column(name).n_unique() / frame.height
        if distinct >= NEARLY_UNIQUE:
            share = "every" if distinct == 1 else "nearly every"
            marks.append(f"{share} value is unique: it may identify people although it is published as insensitive")
    return marks


def compare_declarations(meant: Policy, stated: Policy, *, unit: str = "row") -> list[Finding]:
    """Where the release declares another unit, form or column than the publisher meant: role, distance, hierarchy."""
    alike = {skeleton(name): name for name in meant.columns}
    findings = [
        fails(
            f"role of {name}",
            f"{name} is published as {column.role}, and the policy does not mention it"
            + (", but a name that looks like it" if skeleton(name) in alike else ""),
        )
        for name, column in stated.columns.items()
        if name not in meant.columns
    ]
    if meant.person is not None and unit != "person":
        findings.append(fails("people", "the guarantees are meant in people, and the release counts rows"))
    if stated.person is not None and meant.release.person == "none":
        findings.append(fails("people", "keys that link the rows of a person are published, and none are meant"))
    limit, kept = meant.privacy.rows_per_person, stated.privacy.rows_per_person
    if limit is not None and (kept is None or kept.at_most > limit.at_most):
        findings.append(fails("people", f"nobody is meant to have more than {limit.at_most} rows, which is not kept"))
    if meant.release.form not in (None, stated.release.form) or _shows_more(meant, stated):
        words = "with its quasi-identifiers as they are" if _shows_more(meant, stated) else "in another form than meant"
        findings.append(fails("form", f"the release is published {words}"))
    for name, column in meant.columns.items():
        there = stated.columns.get(name)
        if there is None:
            continue  # what is not published needs no protection
        if column.role == "identifier" and there.replace is not None and column.replace is None:
            findings.append(fails(f"role of {name}", f"{name} is meant to be removed and published as pseudonyms"))
        elif column.shift is not None and there.shift != column.shift:
            findings.append(fails(f"shift of {name}", f"the dates of {name} are not shifted as meant"))
        elif there.role != column.role:
            words = f"{name} is meant as {column.role} and published as {there.role}"
            findings.append(fails(f"role of {name}", words))
        elif column.role == "sensitive":
            distance = _meant_distance(column, there)
            if there.distance is not None and distance != there.distance:
                words = f"{name} is meant with {distance} distance and published with {there.distance} distance"
                findings.append(fails(f"distance of {name}", words))
            if column.publish is not None and column.publish != there.publish:
                words = f"{name} is meant to be published coarser than it is, or in another way"
                findings.append(fails(f"published {name}", words))
            if not isinstance(column.hierarchy, Pairs) and _tree(column, meant) != _tree(there, stated):
                findings.append(fails(f"hierarchy of {name}", f"{name} is published with another hierarchy than meant"))
    return findings


def _shows_more(meant: Policy, stated: Policy) -> bool:
    """Quasi-identifiers are published as they are, which the policy, of another method, does not say."""
    return stated.release.exact_quasi and meant.release.generalize != "none" and meant.method.name != stated.method.name


def _meant_distance(column: Column, there: Column) -> str | None:
    """The distance that a declaration asks for, or that is natural for its type; equal distance is always stricter."""
    if column.distance is not None or there.distance == "equal":
        return column.distance or there.distance
    source = column if column.type is not None or column.hierarchy is not None else there
    return filled_in(source.model_copy(update={"distance": None}), {}).distance


def _tree(column: Column, policy: Policy) -> Any:
    """What decides the distances of a hierarchy: the tree, however it was written, or the rule."""
    rule = column.hierarchy
    if isinstance(rule, Tree):
        return rule.build().to_nested()
    return rule.build(policy.folder).to_nested() if isinstance(rule, File) else rule
