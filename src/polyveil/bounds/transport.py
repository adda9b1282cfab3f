"""The bound for closeness: rows of values that are common here and rare elsewhere must be mixed with distant rows.

Take some quasi-identifiers; the others cost nothing here. Let B be a box over them that costs w(B). A class in it that
is close to the whole table keeps, for any numbers s_r with |s_r| <= lambda * weight_r over the ranges r of values,

    sum over its rows of g_B(value) <= 0,    g_B(value) = sum over r of s_r * ([value in r] - Q(r)) - lambda * limit,

because the sum is at most lambda * (distance - limit) for each row. So a row in a class of box B may be charged
w(B) + g_B(value) instead of w(B), and a release loses at least

    sum over rows of the least of w(B) + g_B(value) over the boxes B around the row,

whatever s and lambda are: `mixing` looks for good ones. Disjoint sets of quasi-identifiers add up, because the cost of
a box is a sum over its quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.models.constraints import Closeness
from polyveil.table.coded import QuasiColumn, distinct
from polyveil.table.domain import OrderedDomain

BINS = 8
"""Stretches of an ordered quasi-identifier that are told apart."""
MOST_CELLS = 64
"""Groups of values of a quasi-identifier that are told apart."""
MOST_TUPLES, MOST_INSIDE = 15_000, 2_000_000
"""Sensitive tuples, and ranges times tuples, of the constraints that are looked at."""
MOST_COVERED = 50_000_000
"""Boxes times cells of a reach."""


@dataclass(frozen=True, eq=False)
class Reach:
    """Boxes over some quasi-identifiers: which cells each covers, and the least it costs.

    Boxes over more quasi-identifiers than before know the box that they are made of in `within`.
    """

    cell_of_row: IntArray
    covers: BoolArray
    cost: FloatArray
    columns: int = 1
    within: IntArray | None = None


@dataclass(frozen=True, eq=False)
class Values:
    """Sensitive tuples: the tuple of each row, and per range of a constraint which tuples are in it less its share."""

    of_row: IntArray
    count: int
    inside: FloatArray
    weight: FloatArray
    owner: IntArray
    limit: FloatArray


def values_of(codes: dict[str, IntArray], closeness: Sequence[Closeness]) -> Values:
    """The tuples of the sensitive columns that closeness is about."""
    names = list(dict.fromkeys(each.attribute for each in closeness))
    columns = [codes[name].astype(np.int64) for name in names]
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    tuples = distinct(columns, sizes, len(columns[0]))
    inside, weight, owner = [], [], []
    for number, each in enumerate(closeness):
        code = tuples.codes[:, names.index(each.attribute)]
        upto = np.append(0.0, np.cumsum(each.whole)) / max(int(each.whole.sum()), 1)
        counted = each.weight > 0
        start, stop = each.start[counted], each.stop[counted]
        inside.append(((code >= start[:, None]) & (code < stop[:, None])) - (upto[stop] - upto[start])[:, None])
        weight.append(each.weight[counted])
        owner.append(np.full(len(start), number))
    return Values(
        of_row=tuples.of_row,
        count=len(tuples.counts),
        inside=np.concatenate(inside),
        weight=np.concatenate(weight).astype(np.float64),
        owner=np.concatenate(owner).astype(np.int64),
        limit=np.array([each.limit for each in closeness]),
    )


def affordable(codes: dict[str, IntArray], closeness: Sequence[Closeness]) -> bool:
    """Whether the tuples of some constraints, and their ranges, are few enough to be looked at together."""
    columns = [codes[each.attribute].astype(np.int64) for each in closeness]
    ranges = sum(int(np.count_nonzero(each.weight)) for each in closeness)
    if ranges * max(len(np.unique(column)) for column in columns) > MOST_INSIDE:
        return False
    count = len(distinct(columns, [int(c.max(initial=0)) + 1 for c in columns], len(columns[0])).counts)
    return count <= MOST_TUPLES and ranges * count <= MOST_INSIDE


def reach_of(column: QuasiColumn) -> Reach:
    """Stretches of numbers, nodes of a hierarchy, or one value and all values of a set."""
    domain = column.domain
    if isinstance(domain, OrderedDomain):
        return _stretches(column, domain)
    if domain.as_set:
        codes, cells = _few(column.codes, domain.size)
        covers = np.vstack([np.eye(cells, dtype=bool), np.ones((1, cells), dtype=bool)])
        return Reach(codes, covers, np.append(np.zeros(cells), 1.0 / max(domain.size - 1, 1)))
    tree = domain.hierarchy
    cost = tree.loss_of_nodes()
    if domain.size <= MOST_CELLS:
        leaves = np.arange(domain.size)
        covers = (leaves >= tree.start[:, None]) & (leaves < tree.stop[:, None])
        return Reach(column.codes.astype(np.int64), covers, cost)
    starts = _cut(column)
    cell_of_leaf = np.searchsorted(starts, np.arange(domain.size), side="right") - 1
    stops = np.append(starts[1:], domain.size)
    big = (tree.stop - tree.start) > 1
    whole = (starts >= tree.start[big][:, None]) & (stops <= tree.stop[big][:, None])
    kept = whole.sum(axis=1) > 1
    covers = np.vstack([np.eye(len(starts), dtype=bool), whole[kept]])
    return Reach(cell_of_leaf[column.codes], covers, np.append(np.zeros(len(starts)), cost[big][kept]))


def _cut(column: QuasiColumn) -> IntArray:
    """First leaves of the nodes of the lowest level that has few enough of them."""
    tree = column.domain.hierarchy  # type: ignore[union-attr]
    top = int(tree.level[0])
    above = np.append(top + 1, tree.level)[tree.parent + 1]
    for level in range(top + 1):
        cut = (tree.level <= level) & (above > level)
        if np.count_nonzero(cut) <= MOST_CELLS:
            return np.sort(tree.start[cut]).astype(np.int64)
    return np.zeros(1, dtype=np.int64)


def _few(codes: IntArray, size: int) -> tuple[IntArray, int]:
    """Codes, those beyond the most frequent taken together: they cost nothing among themselves."""
    if size <= MOST_CELLS:
        return codes.astype(np.int64), size
    common = np.argsort(-np.bincount(codes, minlength=size), kind="stable")[: MOST_CELLS - 1]
    number = np.full(size, MOST_CELLS - 1, dtype=np.int64)
    number[common] = np.arange(MOST_CELLS - 1)
    return number[codes], MOST_CELLS


def _stretches(column: QuasiColumn, domain: OrderedDomain) -> Reach:
    """All stretches of neighbouring bins, each as wide as the gap between its first and last bin; and "missing"."""
    values = len(domain.labels)
    rows = np.cumsum(np.bincount(column.codes, minlength=domain.size)[:values])
    cuts = np.searchsorted(rows, np.linspace(0, rows[-1], BINS + 1)[1:-1], side="left") + 1
    first = np.unique(np.append(0, np.minimum(cuts, values - 1)))
    last = np.append(first[1:], values) - 1
    bins = len(first)
    one, two = np.triu_indices(bins)
    cells = np.arange(bins + domain.has_null)
    covers = (cells >= one[:, None]) & (cells <= two[:, None])
    cost = np.maximum(domain.normalized[first[two]] - domain.normalized[last[one]], 0.0)
    if domain.has_null:
        covers = np.vstack([covers, cells == bins, np.ones(bins + 1, dtype=bool)])
        cost = np.append(cost, [0.0, 1.0])
    cell = np.searchsorted(first, column.codes, side="right") - 1
    return Reach(np.where(column.codes == domain.null_code, bins, cell).astype(np.int64), covers, cost)


def together(one: Reach, two: Reach) -> Reach | None:
    """Boxes over the quasi-identifiers of both, None if they are too many."""
    size = two.covers.shape[1]
    cell = one.cell_of_row * size + two.cell_of_row
    present, cell_of_row = np.unique(cell, return_inverse=True)
    if len(one.cost) * len(two.cost) * len(present) > MOST_COVERED:
        return None
    covers = one.covers[:, present // size][:, None, :] & two.covers[:, present % size][None, :, :]
    covers = covers.reshape(-1, len(present))
    cost = (one.cost[:, None] + two.cost[None, :]).ravel()
    used = np.flatnonzero(covers.any(axis=1))
    within = used // len(two.cost)
    return Reach(cell_of_row.astype(np.int64), covers[used], cost[used], one.columns + two.columns, within)
