"""What a box around two tuples costs: one table per quasi-identifier, so that a kernel needs one look-up.

The cost of a box is a sum over the quasi-identifiers of the distance of two numbers, the cost of the node above two
categories, or the cost of a second value in a set. It is the unit of `information_loss`; weights play no part in that.
Columns of many values are cut to groups of neighbouring codes, and a pair of groups costs as much as their nearest
codes: so a cost is never too great, which is what a bound needs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods.kernels import SET, kind_of
from polyveil.table.coded import QuasiColumn
from polyveil.table.domain import OrderedDomain

MOST_VALUES = 512
"""Codes of a column that are told apart."""
KIND, SIZE, BEGIN = range(3)
"""Columns of `Costs.shape`: how it is generalized, codes told apart, where its costs begin."""


class Costs(NamedTuple):
    """The cost of codes i and j of quasi-identifier a is `cost[BEGIN of a + i * SIZE of a + j]`."""

    shape: IntArray
    cost: FloatArray


class Points(NamedTuple):
    """Tuples of quasi-identifiers as costs see them, the costliest quasi-identifier first."""

    costs: Costs
    codes: Codes


def points_of(quasi: tuple[QuasiColumn, ...], codes: IntArray) -> Points:
    """Tuples (tuples x quasi-identifiers) with their costs."""
    groups = [_groups(column) for column in quasi]
    tables = [_pair_costs(column, first) for column, first in zip(quasi, groups, strict=True)]
    coded = [np.searchsorted(first, codes[:, a], side="right") - 1 for a, first in enumerate(groups)]
    order = np.argsort([-_mean_cost(table, c) for table, c in zip(tables, coded, strict=True)], kind="stable")
    sizes = np.array([len(groups[a]) for a in order], dtype=np.int64)
    begin = np.cumsum(sizes**2) - sizes**2
    kinds = np.array([kind_of(quasi[a]) for a in order], dtype=np.int64)
    shape = np.stack([kinds, sizes, begin], axis=1).reshape(-1, 3)
    cost = np.concatenate([tables[a].ravel() for a in order]) if len(order) else np.zeros(0)
    ordered = np.stack([coded[a] for a in order], axis=1) if len(order) else np.zeros((len(codes), 0))
    return Points(Costs(shape, cost), np.ascontiguousarray(ordered, dtype=np.int32))


def _groups(column: QuasiColumn) -> IntArray:
    """The first code of each group that is told apart; "missing" is a group of its own."""
    size, null = column.domain.size, column.domain.null_code
    if size <= MOST_VALUES:
        return np.arange(size, dtype=np.int64)
    rows = np.cumsum(np.bincount(column.codes, minlength=size))
    cuts = np.searchsorted(rows, np.linspace(0, rows[-1], MOST_VALUES - 1)[:-1], side="right")
    first = np.unique(np.append(0, np.minimum(cuts, size - 1)))
    return np.unique(np.append(first, null)) if null >= 0 else first


def _pair_costs(column: QuasiColumn, first: IntArray) -> FloatArray:
    """The cost of the nearest codes of two groups; 0 within a group."""
    domain, count = column.domain, len(first)
    if kind_of(column) == SET:
        return (1.0 - np.eye(count)) / max(domain.size - 1, 1)
    last = np.append(first[1:], domain.size) - 1
    one, two = np.triu_indices(count, 1)
    found = np.zeros((count, count))
    found[one, two] = _loss(column, last[one], first[two])
    return found + found.T


def _loss(column: QuasiColumn, low: IntArray, high: IntArray) -> FloatArray:
    domain = column.domain
    if isinstance(domain, OrderedDomain):
        return np.maximum(domain.loss(low, high), 0.0)
    return domain.loss(low, high)


def _mean_cost(table: FloatArray, codes: IntArray) -> float:
    share = np.bincount(codes, minlength=len(table)) / max(len(codes), 1)
    return float(share @ table @ share)
