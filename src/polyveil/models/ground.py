"""GroundDistance distances between values, all in one form.

The earth mover's distance over a line or a tree is a weighted sum over its edges of the mass that must cross them.
Every edge here separates a *range of codes* from the rest, because ordered values are coded by rank and the leaves
of a hierarchy depth-first. So ordered, hierarchical and equal distance are all

    EMD(P, Q) = sum over ranges r of  weight_r * |P(r) - Q(r)|

- ordered (wang2018 2.1): the m - 1 steps of the line, each 1 / (m - 1);
- hierarchical: every node v below the root, (h(parent) - h(v)) / (2 h(root)) (see docs; equals the recursive cost);
- equal: a tree of one level, hence total variation.

A missing value of an ordered attribute hangs half the line's length from its middle: it is 1/2 away from the
median value, 1 from both ends. In a hierarchy it is a leaf below the root: 1 away from everything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.policy.hierarchy import Hierarchy
from polyveil.policy.schema import Distance


@dataclass(frozen=True, eq=False)
class GroundDistance:
    """How distance is measured; the ranges serve the earth mover's distances and are empty for the others."""

    distance: Distance
    start: IntArray
    stop: IntArray
    weight: FloatArray

    @property
    def is_emd(self) -> bool:
        return self.distance in ("ordered", "hierarchical", "equal")


def _ground(distance: Distance, edges: list[tuple[int, int, float]]) -> GroundDistance:
    return GroundDistance(
        distance=distance,
        start=np.array([edge[0] for edge in edges], dtype=np.int64),
        stop=np.array([edge[1] for edge in edges], dtype=np.int64),
        weight=np.array([edge[2] for edge in edges], dtype=np.float64),
    )


def ordered(values: int, has_null: bool = False, present: BoolArray | None = None) -> GroundDistance:
    """`values` ranked values, and "missing" as code `values` where there is one.

    Ranks count the values present in the whole table (wang2018 2.1): a declared value that no row has is skipped.
    """
    codes = np.arange(values) if present is None else np.flatnonzero(present[:values])
    edges = _line(len(codes), has_null)
    # An edge between ranks is an edge between the codes of those ranks; ends stay at the ends.
    bounds = np.append(codes, values)
    bounds[0] = 0
    return _ground("ordered", [(*_in_codes(start, stop, bounds), weight) for start, stop, weight in edges])


def _in_codes(start: int, stop: int, bounds: IntArray) -> tuple[int, int]:
    values = len(bounds) - 1
    if start == values:  # the edge that leads to "missing"
        return int(bounds[values]), int(bounds[values]) + 1
    return int(bounds[start]), int(bounds[stop])


def _line(values: int, has_null: bool) -> list[tuple[int, int, float]]:
    if values <= 1:
        return [(values, values + 1, 1.0)] if has_null and values else []
    step = 1.0 / (values - 1)
    if not has_null:
        return [(0, i, step) for i in range(1, values)]
    # Cutting a step left of the middle frees codes 0..i-1; right of it codes i..m-1; missing stays on the other side.
    edges = [(0, i, step) if 2 * i < values else (i, values, step) for i in range(1, values) if 2 * i != values]
    if values % 2 == 0:
        middle = values // 2
        edges += [(0, middle, step / 2), (middle, values, step / 2)]
    return [*edges, (values, values + 1, 0.5)]


def hierarchical(tree: Hierarchy) -> GroundDistance:
    """Any hierarchy; "missing" is one of its leaves where there is one."""
    height = tree.height.astype(np.float64)
    weight = (height[tree.parent[1:]] - height[1:]) / (2.0 * max(tree.depth, 1))
    return GroundDistance("hierarchical", tree.start[1:].copy(), tree.stop[1:].copy(), weight)


def equal(size: int) -> GroundDistance:
    """Every value 1 away from every other: total variation."""
    return _ground("equal", [(code, code + 1, 0.5) for code in range(size)] if size > 1 else [])


def divergence(distance: Distance) -> GroundDistance:
    """Hellinger, Kullback-Leibler or Jensen-Shannon: no ground distance between values."""
    return _ground(distance, [])
