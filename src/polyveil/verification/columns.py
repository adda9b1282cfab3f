"""What a release promises of each column, and what a reader should know about columns without a promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polyveil.models import Verdict
from polyveil.policy import Policy
from polyveil.policy.rules import File, Pairs, Tree
from polyveil.policy.schema import Column
from polyveil.verification.attributes import filled_in
from polyveil.verification.findings import Finding, fails

NEARLY_UNIQUE = 0.9
"""From this share of distinct values on, a column that is published as it is may name people."""
_NO_EFFECT = {"t": 1.0, "alpha": 1.0}


def describe_columns(
    policy: Policy, verdicts: Sequence[Verdict], tables: Mapping[str, pl.DataFrame]
) -> tuple[dict[str, Any], ...]:
    """Every published column with its role, its guarantees, and marks for what is easily overlooked."""
    about = []
    for name, column in policy.columns.items():
        own = [v for v in verdicts if _is_about(v, name)] if column.role == "sensitive" else []
        if column.role == "quasi":
            own = [v for v in verdicts if v.attribute is None]
        marks = _marks(name, column, own, tables)
        about.append({"name": name, "role": column.role, "guarantees": [v.statement for v in own], "marks": marks})
    return tuple(about)


def _is_about(verdict: Verdict, name: str) -> bool:
    return verdict.attribute is not None and name in (verdict.attribute, *verdict.attribute.split(" + "))


def _marks(name: str, column: Column, own: Sequence[Verdict], tables: Mapping[str, pl.DataFrame]) -> list[str]:
    marks = [f"{v.parameter} = 1 has no effect" for v in own if v.parameter == "l" and v.threshold <= 1]
    marks += [
        f"{v.parameter} = {_NO_EFFECT[v.parameter]:g} or more has no effect"
        for v in own
        if v.threshold >= _NO_EFFECT.get(v.parameter, float("inf"))
    ]
    if column.role == "sensitive" and len(own) == len(marks):
        marks.append("sensitive, and no guarantee protects it")
    if column.role == "insensitive":
        frame = next((table for table in tables.values() if name in table.columns), None)
        distinct = 0 if frame is None or not frame.height else frame.get_column(name).n_unique() / frame.height
        if distinct >= NEARLY_UNIQUE:
            share = "every" if distinct == 1 else "nearly every"
            marks.append(f"{share} value is unique: it may identify people although it is published as insensitive")
    return marks


def compare_declarations(meant: Policy, stated: Policy, *, unit: str = "row") -> list[Finding]:
    """Where the release declares another unit, form or column than the publisher meant: role, distance, hierarchy."""
    findings = [
        fails(f"role of {name}", f"{name} is published as {column.role}, and the policy does not mention it")
        for name, column in stated.columns.items()
        if name not in meant.columns
    ]
    if meant.person is not None and unit != "person":
        findings.append(fails("people", "the guarantees are meant in people, and the release counts rows"))
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
