"""Distance between quasi-identifier tuples, eq. (2) of wang2018, for kernels.

    distance(x, y)^2 = sum over attributes a of  weight_a * d_a(x_a, y_a)^2

- ordered: |rank - rank| / (m - 1); a missing value is 1 away from every value, 0 from another missing one;
- hierarchical: height of the lowest common ancestor / height of the tree; "missing" is a leaf below the root;
- sets: 0 or 1, which is the same thing in a tree of one level.

Leaves are numbered depth-first, so the height of the lowest common ancestor of codes i < j is the greatest of the
heights where neighbouring leaves i..j meet: a range maximum, answered from a table of powers of two in constant time.
All of these grow with the distance between codes on either side, hence the nearest and the farthest code of a range
are found at its ends: `least` and `most` bound the distance to a box of codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.policy.hierarchy import Hierarchy
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import OrderedDomain


class QuasiMetric(NamedTuple):
    """One entry per quasi-identifier; `meet[begin[a] + p * width[a] + i]` is a range maximum over 2^p neighbours."""

    is_ordered: npt.NDArray[np.bool_]
    step: FloatArray  # sqrt(weight) / (m - 1)
    null_code: IntArray
    weight: FloatArray
    begin: IntArray
    width: IntArray
    meet: FloatArray  # weight * (height / height of the tree)^2
    log2: IntArray


def quasi_metric(table: CodedTable) -> QuasiMetric:
    """The distance between the rows of a table by their quasi-identifiers, with the weights of the columns."""
    return metric_of(table.quasi)


def metric_of(columns: Sequence[QuasiColumn | SensitiveColumn]) -> QuasiMetric:
    """The distance over any columns; a sensitive column has weight 1."""
    begin, width, meets = [], [], []
    longest, used = 1, 0
    weight = np.array([getattr(column, "weight", 1.0) for column in columns], dtype=np.float64)
    for column, factor in zip(columns, weight, strict=True):
        domain = column.domain
        meet = np.zeros((1, 1)) if isinstance(domain, OrderedDomain) else _meeting(domain.hierarchy, float(factor))
        begin.append(used)
        width.append(meet.shape[1])
        meets.append(meet.ravel())
        used += meet.size
        longest = max(longest, meet.shape[1] + 1)
    spans = np.array([max(len(column.domain.labels) - 1, 1) for column in columns], dtype=np.float64)
    log2 = np.zeros(longest + 1, dtype=np.int64)
    for length in range(2, longest + 1):
        log2[length] = log2[length // 2] + 1
    return QuasiMetric(
        is_ordered=np.array([isinstance(column.domain, OrderedDomain) for column in columns], dtype=np.bool_),
        step=np.sqrt(weight) / spans,
        null_code=np.array([column.domain.null_code for column in columns], dtype=np.int64),
        weight=weight,
        begin=np.array(begin, dtype=np.int64),
        width=np.array(width, dtype=np.int64),
        meet=np.concatenate(meets) if meets else np.zeros(0),
        log2=log2,
    )


def _meeting(tree: Hierarchy, weight: float) -> FloatArray:
    """Row p, column i: the greatest of weight * (h / H)^2 where leaves i .. i + 2^p meet their right neighbours."""
    leaves = np.arange(tree.leaf_count - 1)
    met = tree.height[tree.common_ancestor(leaves, leaves + 1)] / max(tree.depth, 1)
    rows = [weight * met**2 if len(met) else np.zeros(1)]
    reach = 1
    while 2 * reach <= len(met):
        wider = rows[-1].copy()
        wider[:-reach] = np.maximum(rows[-1][:-reach], rows[-1][reach:])
        rows.append(wider)
        reach *= 2
    return np.stack(rows)


@njit
def squared(metric: QuasiMetric, a: int, one: int, other: int) -> float:
    """Weighted squared distance between two codes of attribute a."""
    if one == other:
        return 0.0
    if metric.is_ordered[a]:
        if one == metric.null_code[a] or other == metric.null_code[a]:
            return metric.weight[a]
        apart = (one - other) * metric.step[a]
        return apart * apart
    low, high = min(one, other), max(one, other)
    power = metric.log2[high - low]
    first = metric.begin[a] + power * metric.width[a]
    return max(metric.meet[first + low], metric.meet[first + high - (1 << power)])


@njit
def squared_rows(metric: QuasiMetric, one: Codes, other: Codes) -> float:
    """Weighted squared distance between two tuples."""
    total = 0.0
    for a in range(len(one)):
        total += squared(metric, a, one[a], other[a])
    return total


@njit
def least(metric: QuasiMetric, point: Codes, low: Codes, high: Codes) -> float:
    """No tuple of the box low..high is nearer to the point than this (squared)."""
    total = 0.0
    for a in range(len(point)):
        if point[a] < low[a]:
            total += squared(metric, a, point[a], low[a])
        elif point[a] > high[a]:
            total += squared(metric, a, point[a], high[a])
    return total


@njit
def most(metric: QuasiMetric, point: Codes, low: Codes, high: Codes) -> float:
    """No tuple of the box low..high is farther from the point than this (squared)."""
    total = 0.0
    for a in range(len(point)):
        total += max(squared(metric, a, point[a], low[a]), squared(metric, a, point[a], high[a]))
    return total


def squared_plainly(table: CodedTable, a: int, one: int, other: int) -> float:
    """The plain twin of `squared`, straight from the definition."""
    column = table.quasi[a]
    domain = column.domain
    if one == other:
        return 0.0
    if isinstance(domain, OrderedDomain):
        if domain.null_code in (one, other):
            return column.weight
        return float(column.weight * ((one - other) / (len(domain.labels) - 1)) ** 2)
    node = int(domain.hierarchy.common_ancestor(min(one, other), max(one, other)))
    return float(column.weight * (domain.hierarchy.height[node] / max(domain.hierarchy.depth, 1)) ** 2)
