"""The sensitive attributes of a release, rebuilt from its manifest alone: values, distances, levels, distribution."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import BoolArray, IntArray
from polyveil.errors import DamagedRelease
from polyveil.models import Attribute, ground
from polyveil.models.ground import GroundDistance
from polyveil.policy import Policy
from polyveil.policy.hierarchy import Hierarchy, flat
from polyveil.policy.rules import DateParts, File, Intervals, Mask, Order, Rule, Tree, number_label
from polyveil.policy.schema import DEFAULT_LEVEL, Column, ColumnType
from polyveil.verification.findings import Finding, fails


@dataclass(frozen=True, eq=False)
class Declared:
    """An attribute and the code of each of its labels; None is the missing value."""

    attribute: Attribute
    code: Mapping[str | None, int]
    kind: str


def declared_attributes(manifest: Mapping[str, Any], policy: Policy) -> dict[str, Declared]:
    """All sensitive attributes the policy names; the manifest must give the values and counts of each.

    Kind and distance come from the public policy alone; `check_declarations` compares what else states them.
    """
    found = {}
    for name in policy.having("sensitive"):
        about = manifest["sensitive"].get(name)
        if about is None:
            raise DamagedRelease(f"the manifest does not describe the sensitive column {name}. The release is damaged")
        try:
            found[name] = _declared(name, about, filled_in(policy.columns[name], about))
        except (KeyError, ValueError):
            raise DamagedRelease(
                f"the manifest's values of {name} do not fit its policy. The release is damaged; "
                "get it again from its source"
            ) from None
    return found


def kind_of(column: Column) -> str:
    """The kind of domain that a column's declaration makes: what its type says, unless a hierarchy makes it a tree."""
    kind = column.type or "categorical"
    if column.publish is not None and column.publish.intervals is not None:
        return "ordinal"
    if column.recode == "set" or kind == "categorical":
        return "categorical"
    if kind == "ordinal" or column.hierarchy is None or isinstance(column.hierarchy, Order):
        return kind
    return "categorical"


def filled_in(column: Column, about: Mapping[str, Any]) -> Column:
    """A declaration that leaves type or distance open, as version 0.1 published it, with the natural ones.

    Only what the declaration leaves to the data is taken from the manifest: whether plain values are numbers or dates,
    and equal distance, which is never less than another earth mover's distance.
    """
    implied: dict[type[Rule], ColumnType] = {Order: "ordinal", Intervals: "numeric", DateParts: "date"}
    kind, rule = column.type, column.hierarchy
    if kind is None and rule is None and column.recode != "set" and about.get("kind") in ("numeric", "date"):
        kind = about["kind"]
    kind = kind or (implied.get(type(rule), "categorical") if rule is not None else "categorical")
    column = column.model_copy(update={"type": kind})
    if column.distance is not None or column.role != "sensitive":
        return column
    natural = "ordered" if kind_of(column) != "categorical" else "equal" if rule is None else "hierarchical"
    distance = "equal" if natural == "hierarchical" and about.get("distance") == "equal" else natural
    return column.model_copy(update={"distance": distance})


def check_declarations(manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    """What the manifest states a second time about columns must be what the public policy says."""
    findings = []
    for name in policy.having("sensitive"):
        about = manifest["sensitive"].get(name, {})
        column = filled_in(policy.columns[name], about)
        if (about.get("kind"), about.get("distance")) != (kind_of(column), column.distance):
            words = f"the manifest describes {name} with another kind or distance than the public policy"
            findings.append(fails("policy", words))
    if set(manifest["sensitive"]) != set(policy.having("sensitive")):
        findings.append(fails("policy", "the manifest does not describe exactly the policy's sensitive columns"))
    for name in (name for name in policy.having("quasi") if name in manifest["quasi"]):
        about = manifest["quasi"][name]
        column = filled_in(policy.columns[name], about)
        if about["kind"] != ("set" if column.recode == "set" else kind_of(column)):
            findings.append(fails("policy", f"the manifest describes {name} as another kind than the public policy"))
    return findings


def _declared(name: str, about: Mapping[str, Any], column: Column) -> Declared:
    values, counts = [str(value) for value in about["values"]], [int(count) for count in about["counts"]]
    has_null = len(counts) == len(values) + 1
    kind = kind_of(column)
    tree = _tree(values, column) if kind == "categorical" else None
    labels: list[str | None] = [*(tree.leaves if tree is not None else _in_order(values, kind, column))]
    labels += [None] * has_null
    code = {label: i for i, label in enumerate(labels)}
    whole = np.zeros(len(labels), dtype=np.int64)
    for label, count in zip([*values, None] if has_null else values, counts, strict=True):
        whole[code[label]] = count
    if tree is not None:
        tree = (tree.with_null() if has_null else tree).used_by(whole > 0)
    measure = _ground(str(column.distance), len(labels) - has_null, has_null, tree, whole > 0)
    return Declared(Attribute(name, len(labels), whole, measure, _levels(code, column)), code, kind)


def _tree(values: Sequence[str], column: Column) -> Hierarchy:
    rule = column.hierarchy
    if isinstance(rule, Tree):
        return rule.build()
    if isinstance(rule, Mask):
        return rule.build(sorted(values))
    if isinstance(rule, Intervals):
        numbers = sorted(float(value) for value in values)
        return rule.build(numbers, [number_label(number) for number in numbers])
    if isinstance(rule, DateParts):
        return rule.build(sorted(dt.date.fromisoformat(value) for value in values))
    if isinstance(rule, File):
        raise DamagedRelease("a published policy holds its hierarchies, not their file names. The release is damaged")
    return flat(sorted(values))


def _in_order(values: Sequence[str], kind: str, column: Column) -> list[str]:
    if kind == "numeric":
        return sorted(values, key=float)
    if kind == "ordinal" and isinstance(column.hierarchy, Order):
        return list(column.hierarchy.order)
    if kind == "ordinal" and column.publish is not None:
        return sorted(values, key=column.publish.labels.index)
    return sorted(values)


def _ground(distance: str, values: int, has_null: bool, tree: Hierarchy | None, present: BoolArray) -> GroundDistance:
    """Values that nobody has lengthen no line and deepen no tree."""
    if distance == "ordered" and tree is None:
        return ground.ordered(values, has_null, present[:values])
    if distance == "hierarchical" and tree is not None:
        return ground.hierarchical(tree)
    if distance == "equal":
        return ground.equal(values + has_null)
    if distance in ("hellinger", "kl", "js"):
        return ground.divergence(distance)  # type: ignore[arg-type]
    raise DamagedRelease(
        f"the policy names a distance that does not fit its column ({distance}). The release is damaged"
    )


def _levels(code: Mapping[str | None, int], column: Column) -> IntArray:
    levels = np.full(len(code), DEFAULT_LEVEL, dtype=np.int64)
    for level, values in column.levels.items():
        for value in values:
            if value in code:
                levels[code[value]] = level
    return levels


def codes_of_cells(declared: Declared, cells: pl.Series) -> IntArray | None:
    """One code per cell; None if a cell holds a value the manifest does not know."""
    distinct = cells.unique().to_list()
    codes = {value: _code(declared, value) for value in distinct}
    if min(codes.values(), default=0) < 0:
        return None
    if not codes:  # of a table without rows
        return np.zeros(0, dtype=np.int64)
    mapped = cells.replace_strict(list(codes), list(codes.values()), return_dtype=pl.Int64)
    return mapped.to_numpy()


def _code(declared: Declared, value: Any) -> int:
    """The code of one cell, or -1 if it is no value of its column, be it of another kind altogether."""
    try:
        return declared.code.get(_label(value, declared.kind), -1)
    except (TypeError, ValueError):
        return -1


def _label(value: Any, kind: str) -> str | None:
    if value is None:
        return None
    if kind == "numeric":
        return number_label(float(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        return value.date().isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    return number_label(value) if isinstance(value, float) else str(value)
