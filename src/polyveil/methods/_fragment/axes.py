"""The axes that `fragment` cuts: each sensitive attribute as a row of units with a distance between them.

A unit is one value, or a bin of neighbouring values where an ordered attribute has many. The distance is kept in the
form of `models.ground`: ranges of units with weights, so that ordered, hierarchical and equal distance are one case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.models import Attribute, Model
from polyveil.models.constraints import Closeness, Divergence
from polyveil.models.ground import GroundDistance, equal, hierarchical, ordered
from polyveil.table.coded import CodedTable, SensitiveColumn
from polyveil.table.domain import OrderedDomain

Binning = Literal["frequency", "width"]


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute: `unit_of_code`, ranges of units with weights, and where it may be cut.

    `meet[b]` is how high the units left and right of boundary b meet in the hierarchy (0 for ordered values); a
    fragment is cut only where its units meet highest, that is between children of their common ancestor.
    """

    unit_of_code: IntArray
    units: int
    start: IntArray
    stop: IntArray
    weight: FloatArray
    meet: IntArray
    limit: float
    inside: float = 0.0
    """How far a class can be from the table by what its values move inside their units."""


def limits(models: Sequence[Model], attributes: Mapping[str, Attribute]) -> dict[str, float]:
    """The tightest closeness threshold asked for each attribute; the others are free."""
    found: dict[str, float] = {}
    for model in models:
        for item in model.constraints(attributes):
            if isinstance(item, Closeness | Divergence):
                found[item.attribute] = min(found.get(item.attribute, np.inf), item.limit)
    return found


def axis_of(column: SensitiveColumn, limit: float, bins: int, binning: Binning, edges: Sequence[float] | None) -> Axis:
    """The axis of a column; an ordered column with more values than `bins`, or with edges, is binned."""
    domain = column.domain
    if not isinstance(domain, OrderedDomain):
        ground = equal(domain.size) if column.distance != "hierarchical" else _tree_ground(column)
        return _axis(np.arange(domain.size), domain.size, ground, _meeting(column), limit)
    values = len(domain.labels)
    if edges is not None:
        bin_of_code = np.searchsorted(np.asarray(sorted(edges), dtype=np.float64), domain.positions, side="right")
    elif values > bins:
        bin_of_code = _bins(domain, column.counts[:values], bins, binning)
    else:
        bin_of_code = np.arange(values)
    _, unit_of_code = np.unique(bin_of_code, return_inverse=True)
    units = int(unit_of_code.max(initial=0)) + 1
    if column.distance == "equal":
        ground = equal(units + domain.has_null)
    elif units == values:
        ground = ordered(values, domain.has_null, column.counts[:values] > 0)
    else:
        ground = _binned_line(unit_of_code, units, domain.has_null)
    if domain.has_null:
        unit_of_code = np.append(unit_of_code, units)
    whole = units + domain.has_null
    inside = 0.0 if units == values else _inside(column, unit_of_code[:values])
    axis = _axis(unit_of_code, whole, ground, np.zeros(whole + 1, dtype=np.int64), limit)
    return replace(axis, inside=inside)


def _inside(column: SensitiveColumn, unit_of_code: IntArray) -> float:
    """What moving every value to the middle of its bin costs: the table's values on average, a class's at most.

    Equal distance knows no middle: a class may have any of a bin's values, so there is no bound.
    """
    if column.distance == "equal":
        return np.inf
    values = len(unit_of_code)
    rank = np.arange(values) / max(values - 1, 1)
    middle = np.bincount(unit_of_code, weights=rank) / np.bincount(unit_of_code)
    away = np.abs(rank - middle[unit_of_code])
    return float(column.counts[:values] @ away / max(int(column.counts.sum()), 1) + away.max())


def _axis(unit_of_code: IntArray, units: int, ground: GroundDistance, meet: IntArray, limit: float) -> Axis:
    return Axis(unit_of_code.astype(np.int64), units, ground.start, ground.stop, ground.weight, meet, limit)


def _tree_ground(column: SensitiveColumn) -> GroundDistance:
    assert not isinstance(column.domain, OrderedDomain)  # noqa: S101 - tells the type checker what the caller knows
    return hierarchical(column.domain.hierarchy)


def _meeting(column: SensitiveColumn) -> IntArray:
    domain = column.domain
    meet = np.zeros(domain.size + 1, dtype=np.int64)
    if column.distance == "hierarchical" and not isinstance(domain, OrderedDomain):
        left = np.arange(domain.size - 1)
        meet[1 : domain.size] = domain.hierarchy.height[domain.hierarchy.common_ancestor(left, left + 1)]
    return meet


def _bins(domain: OrderedDomain, counts: IntArray, bins: int, binning: Binning) -> IntArray:
    """The bin of each value: equal width along the positions, or about equally many rows."""
    if binning == "width":
        return np.minimum((domain.normalized * bins).astype(np.int64), bins - 1)
    middle = np.cumsum(counts) - counts / 2.0
    return np.minimum((middle * bins / max(int(counts.sum()), 1)).astype(np.int64), bins - 1)


def _binned_line(unit_of_code: IntArray, units: int, has_null: bool) -> GroundDistance:
    """A line whose units stand at the middle rank of their values; "missing" hangs from the middle as in `ground`."""
    values = len(unit_of_code)
    rank = np.arange(values) / max(values - 1, 1)
    middle = np.bincount(unit_of_code, weights=rank) / np.bincount(unit_of_code)
    cut = np.arange(1, units)
    whole = np.zeros(units - 1, dtype=np.int64)
    if not has_null:
        return GroundDistance("ordered", whole, cut, np.diff(middle))
    # Seen from "missing", the way to a unit left of the middle leads left: each step is parted at the middle.
    left = np.maximum(np.minimum(middle[1:], 0.5) - middle[:-1], 0.0)
    right = np.diff(middle) - left
    start, stop = np.concatenate([whole, cut, [units]]), np.concatenate([cut, whole + units, [units + 1]])
    return GroundDistance("ordered", start, stop, np.concatenate([left, right, [0.5]]))


def axes_of(
    table: CodedTable,
    limit: Mapping[str, float],
    bins: int,
    binning: Binning,
    edges: Mapping[str, Sequence[float]],
) -> list[Axis]:
    """One axis per sensitive column; raises PolicyError for edges of a column that has none."""
    by_name = {column.name: column for column in table.sensitive}
    faults = [
        Fault(
            f"method.edges.{name}", "only an ordered sensitive column has bin edges", "Remove it, or correct the name"
        )
        for name in edges
        if name not in by_name or not isinstance(by_name[name].domain, OrderedDomain)
    ]
    if faults:
        raise PolicyError(faults)
    return [
        axis_of(column, limit.get(column.name, np.inf), bins, binning, edges.get(column.name))
        for column in table.sensitive
    ]
