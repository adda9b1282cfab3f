"""Sensitive tuples as points whose Euclidean distance is exactly eq. (3) of wang2018.

- ordered: the rank among the values present, scaled to 0..1. "Missing" stands over the middle of the line, 1 away from
  both of its ends (no point is 1 away from every point of a line).
- hierarchical: one coordinate per node v below the root, sqrt((h(parent)^2 - h(v)^2) / (2 H^2)) for the values under v
  and 0 for the others. Two leaves differ in the nodes between them and their lowest common ancestor, on both sides,
  which adds up to (h(ancestor) / H)^2.
- equal distance: a tree of one level, sqrt(1/2) for each value.

Hence centroids exist, and clustering and projection need no approximation for mixed attributes. Few real tables have
more than some hundred distinct sensitive tuples; where they do, neighbouring tuples are first gathered into cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._kernels.distance import metric_of
from polyveil.methods._kernels.row_index import tuple_order
from polyveil.policy.hierarchy import Hierarchy
from polyveil.table.coded import CodedTable, SensitiveColumn
from polyveil.table.domain import OrderedDomain

MOST_CELLS = 1024


@dataclass(frozen=True, eq=False)
class Cells:
    """Weighted points: `points[i]` stands for `counts[i]` rows; `of_row` maps rows to points."""

    points: FloatArray
    counts: IntArray
    of_row: IntArray


def coordinates(column: SensitiveColumn) -> FloatArray:
    """One row per code of the attribute."""
    domain = column.domain
    if isinstance(domain, OrderedDomain):
        if column.distance == "equal":
            return np.eye(domain.size) * np.sqrt(0.5)
        return _line(column)
    return np.eye(domain.size) * np.sqrt(0.5) if column.distance == "equal" else _tree(domain.hierarchy)


def _line(column: SensitiveColumn) -> FloatArray:
    values = len(column.domain.labels)
    rank = np.maximum(np.cumsum(column.counts[:values] > 0) - 1, 0)
    along = rank / max(int(rank.max(initial=0)), 1)
    if column.domain.null_code < 0:
        return np.asarray(along[:, None])
    return np.vstack([np.stack([along, np.zeros(values)], axis=1), [[0.5, np.sqrt(0.75)]]])


def _tree(tree: Hierarchy) -> FloatArray:
    height = tree.height / max(tree.depth, 1)
    length = np.sqrt((height[tree.parent[1:]] ** 2 - height[1:] ** 2) / 2.0)
    leaves = np.arange(tree.leaf_count)[:, None]
    return np.where((tree.start[1:] <= leaves) & (leaves < tree.stop[1:]), length, 0.0)


def sensitive_cells(table: CodedTable, most: int = MOST_CELLS) -> Cells:
    """The distinct sensitive tuples as weighted points, gathered into about `most` cells where they are more."""
    tuples = table.sensitive_tuples
    count = len(tuples.counts)
    cell = np.arange(count)
    if count > most:
        place = tuple_order(tuples.codes, metric_of(table.sensitive))
        along = np.argsort(place)
        before = np.cumsum(tuples.counts[along]) - tuples.counts[along]
        _, cell[along] = np.unique(before * most // table.rows, return_inverse=True)
    counts = np.bincount(cell, weights=tuples.counts).astype(np.int64)
    parts = [
        _means(coordinates(column)[tuples.codes[:, s]], cell, tuples.counts, counts)
        for s, column in enumerate(table.sensitive)
    ]
    points = np.concatenate(parts, axis=1) if parts else np.zeros((len(counts), 0))
    return Cells(points=points, counts=counts, of_row=cell[tuples.of_row])


def _means(points: FloatArray, cell: IntArray, weight: IntArray, counts: IntArray) -> FloatArray:
    if len(counts) == len(cell):
        return points
    sums = [np.bincount(cell, weights=column * weight, minlength=len(counts)) for column in points.T]
    return np.stack(sums, axis=1) / counts[:, None] if sums else np.zeros((len(counts), 0))
