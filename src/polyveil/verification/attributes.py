"""The sensitive attributes of a release, rebuilt from its manifest alone: values, distances, levels, distribution."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import InputError
from polyveil.models import Attribute, ground
from polyveil.models.ground import GroundDistance
from polyveil.policy import Policy
from polyveil.policy.hierarchy import Hierarchy, flat
from polyveil.policy.rules import DateParts, File, Intervals, Mask, Order, Tree, number_label
from polyveil.policy.schema import DEFAULT_LEVEL, Column


@dataclass(frozen=True, eq=False)
class Declared:
    """An attribute and the code of each of its labels; None is the missing value."""

    attribute: Attribute
    code: Mapping[str | None, int]
    kind: str


def declared_attributes(manifest: Mapping[str, Any], policy: Policy) -> dict[str, Declared]:
    """All sensitive attributes the policy names; the manifest must describe each."""
    found = {}
    for name in policy.having("sensitive"):
        about = manifest["sensitive"].get(name)
        if about is None:
            raise InputError(f"the manifest does not describe the sensitive column {name}. The release is damaged")
        try:
            found[name] = _declared(name, about, policy.columns[name])
        except (KeyError, ValueError):
            raise InputError(
                f"the manifest's values of {name} do not fit its policy. The release is damaged; "
                "get it again from its source"
            ) from None
    return found


def _declared(name: str, about: Mapping[str, Any], column: Column) -> Declared:
    values, counts = [str(value) for value in about["values"]], [int(count) for count in about["counts"]]
    has_null = len(counts) == len(values) + 1
    labels: list[str | None]
    if about["kind"] == "categorical":
        tree = _tree(values, column)
        labels = [*tree.leaves, None] if has_null else list(tree.leaves)
        tree = tree.with_null() if has_null else tree
        measure = _ground(about["distance"], len(values), has_null, tree)
    else:
        labels = (
            [*_in_order(values, about["kind"], column), None]
            if has_null
            else [*_in_order(values, about["kind"], column)]
        )
        measure = _ground(about["distance"], len(values), has_null, None)
    code = {label: i for i, label in enumerate(labels)}
    whole = np.zeros(len(labels), dtype=np.int64)
    for label, count in zip([*values, None] if has_null else values, counts, strict=True):
        whole[code[label]] = count
    attribute = Attribute(name, len(labels), whole, measure, _levels(code, column))
    return Declared(attribute, code, about["kind"])


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
        raise InputError("a published policy holds its hierarchies, not their file names. The release is damaged")
    return flat(sorted(values))


def _in_order(values: Sequence[str], kind: str, column: Column) -> list[str]:
    if kind == "numeric":
        return sorted(values, key=float)
    if kind == "ordinal" and isinstance(column.hierarchy, Order):
        return list(column.hierarchy.order)
    return sorted(values)


def _ground(distance: str, values: int, has_null: bool, tree: Hierarchy | None) -> GroundDistance:
    if distance == "ordered":
        return ground.ordered(values, has_null)
    if distance == "hierarchical" and tree is not None:
        return ground.hierarchical(tree)
    if distance == "equal":
        return ground.equal(values + has_null if tree is None else tree.leaf_count)
    if distance in ("hellinger", "kl", "js"):
        return ground.divergence(distance)  # type: ignore[arg-type]
    raise InputError(f"the manifest names a distance that does not fit its column ({distance}). The release is damaged")


def _levels(code: Mapping[str | None, int], column: Column) -> IntArray:
    levels = np.full(len(code), DEFAULT_LEVEL, dtype=np.int64)
    for level, values in column.levels.items():
        for value in values:
            if value in code:
                levels[code[value]] = level
    return levels


def codes_of_cells(declared: Declared, cells: pl.Series) -> IntArray | None:
    """One code per cell; None where a cell holds a value the manifest does not know."""
    distinct = cells.unique().to_list()
    codes = {value: _code(declared, value) for value in distinct}
    if min(codes.values(), default=0) < 0:
        return None
    mapped = cells.replace_strict(list(codes), list(codes.values()), return_dtype=pl.Int64)
    return mapped.to_numpy()


def _code(declared: Declared, value: Any) -> int:
    """The code of one cell, or -1 where it is no value of its column, be it of another kind altogether."""
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
