"""The bound for closeness: rows of values that are common here and rare elsewhere must be mixed with distant rows.

Take some quasi-identifiers; the others cost nothing here. Let B be a box over them that costs w(B). A class in it that
is close to the whole table keeps, for any numbers s_r with |s_r| <= lambda * weight_r over the ranges r of values,

    sum over its rows of g_B(value) <= 0,    g_B(value) = sum over r of s_r * ([value in r] - Q(r)) - lambda * limit,

because the sum is at most lambda * (distance - limit) for each row. So a row in a class of box B may be charged
w(B) + g_B(value) instead of w(B), and a release loses at least

    sum over rows of the least of w(B) + g_B(value) over the boxes B around the row,

whatever s and lambda are. The best ones are the dual prices of a linear program: how to share the rows out among boxes,
in fractions, so that each box is close. What the solver returns is only used as s and lambda: the sum above is then
computed from them, so an inexact solution gives a smaller bound, never a wrong one.

Disjoint sets of quasi-identifiers add up, because the cost of a box is a sum over its quasi-identifiers.
"""

from __future__ import annotations

import time
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
MOST_SHARES, MOST_IN_PAIRS = 30_000, 12_000
"""Variables of a linear program over one quasi-identifier, which is left out beyond; and over two of them."""

MOST_TUPLES, MOST_INSIDE = MOST_SHARES // 2, 2_000_000
"""Sensitive tuples, and ranges times tuples, of the constraints that are looked at."""

PER_SECOND = 500_000
"""Numbers of a linear program, about, that are made ready in a second; larger ones are left out, since neither that nor
the solver's own preparation can be stopped."""


@dataclass(frozen=True, eq=False)
class Reach:
    """Boxes over some quasi-identifiers: which cells each covers, and the least it costs."""

    cell_of_row: IntArray
    covers: BoolArray
    cost: FloatArray
    columns: int = 1


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


def affordable(codes: dict[str, IntArray], closeness: Sequence[Closeness]) -> list[Closeness]:
    """The constraints of fewest ranges, as many as make a linear program of bearable size.

    A release that keeps all constraints keeps these: fewer of them give a smaller bound, never a wrong one.
    """
    chosen: list[Closeness] = []
    columns: list[IntArray] = []
    ranges = 0
    for each in sorted(closeness, key=lambda one: np.count_nonzero(one.weight)):
        columns.append(codes[each.attribute].astype(np.int64))
        ranges += int(np.count_nonzero(each.weight))
        if ranges * len(np.unique(columns[-1])) > MOST_INSIDE:
            break
        count = len(distinct(columns, [int(c.max(initial=0)) + 1 for c in columns], len(columns[0])).counts)
        if count > MOST_TUPLES or ranges * count > MOST_INSIDE:
            break
        chosen.append(each)
    return [each for each in closeness if any(each is one for one in chosen)]


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


def together(one: Reach, two: Reach) -> Reach:
    """Boxes over the quasi-identifiers of both."""
    size = two.covers.shape[1]
    cell = one.cell_of_row * size + two.cell_of_row
    present, cell_of_row = np.unique(cell, return_inverse=True)
    covers = one.covers[:, present // size][:, None, :] & two.covers[:, present % size][None, :, :]
    covers = covers.reshape(-1, len(present))
    cost = (one.cost[:, None] + two.cost[None, :]).ravel()
    used = covers.any(axis=1)
    return Reach(cell_of_row.astype(np.int64), covers[used], cost[used], one.columns + two.columns)


def transport_bound(
    reach: Reach, values: Values, seconds: float, *, may_leave_out: bool = False, most: int = MOST_SHARES
) -> float:
    """The least sum over all rows of what they lose in the quasi-identifiers of the reach.

    A row that may be left out is in no class, and loses 1 in each of them.
    """
    cells = reach.covers.shape[1]
    counts = np.bincount(reach.cell_of_row * values.count + values.of_row, minlength=cells * values.count)
    counts = counts.reshape(cells, values.count)
    shares = int((reach.covers @ (counts > 0)).sum())
    if len(reach.cost) < 2 or shares > most or shares * len(values.weight) > PER_SECOND * seconds:
        return 0.0
    prices = _dual_prices(reach, values, counts, seconds)
    charged = reach.cost[:, None] + prices @ values.inside
    least = np.full(counts.shape, np.inf)
    budget = np.zeros(len(reach.cost))
    for number, limit in enumerate(values.limit):
        mine = values.owner == number
        needed = np.abs(prices[:, mine]) / values.weight[mine]
        budget += limit * needed.max(axis=1, initial=0.0)
    charged -= budget[:, None]
    for box in range(len(reach.cost)):
        inside = reach.covers[box]
        least[inside] = np.minimum(least[inside], charged[box])
    if may_leave_out:
        least = np.minimum(least, reach.columns)
    return float((counts * np.where(counts > 0, least, 0.0)).sum())


def _dual_prices(reach: Reach, values: Values, counts: IntArray, seconds: float) -> FloatArray:
    """Per box and range the price s, from the linear program that shares out the rows among boxes; 0 if unsolved."""
    from scipy import sparse
    from scipy.optimize import linprog

    boxes, ranges, limits = len(reach.cost), len(values.weight), len(values.limit)
    box, cell, value = np.nonzero(reach.covers[:, :, None] & (counts > 0)[None, :, :])
    shares = len(box)
    filled = np.flatnonzero(counts.ravel())
    place = np.full(counts.size, -1)
    place[filled] = np.arange(len(filled))
    every = np.arange(shares)
    each_row = sparse.coo_array((np.ones(shares), (place[cell * values.count + value], every)), (len(filled), shares))
    moved = sparse.coo_array(
        (
            values.inside[:, value].T.ravel(),
            ((box[:, None] * ranges + np.arange(ranges)).ravel(), np.repeat(every, ranges)),
        ),
        (boxes * ranges, shares),
    )
    apart = sparse.eye_array(boxes * ranges)
    weights = sparse.kron(
        sparse.eye_array(boxes), (values.owner == np.arange(limits)[:, None]) * values.weight[None, :]
    )
    allowed = sparse.coo_array(
        (
            np.tile(-values.limit, shares),
            ((box[:, None] * limits + np.arange(limits)).ravel(), np.repeat(every, limits)),
        ),
        (boxes * limits, shares),
    )
    above = sparse.vstack(
        [sparse.hstack([moved, -apart]), sparse.hstack([-moved, -apart]), sparse.hstack([allowed, weights])]
    )
    solved = linprog(
        np.append(reach.cost[box], np.zeros(boxes * ranges)),
        A_ub=above.tocsr(),
        b_ub=np.zeros(above.shape[0]),
        A_eq=sparse.hstack([each_row, sparse.coo_array((len(filled), boxes * ranges))]).tocsr(),
        b_eq=counts.ravel()[filled] / counts.sum(),
        method="highs",
        options={"time_limit": max(seconds, 0.1)},
    )
    if solved.x is None or solved.status != 0:
        return np.zeros((boxes, ranges))
    dual = -solved.ineqlin.marginals[: 2 * boxes * ranges].reshape(2, boxes, ranges)
    return np.asarray(dual[0] - dual[1])


@dataclass(frozen=True, eq=False)
class Transported:
    """The least sums over all rows by quasi-identifier; those of a pair that was solved together share theirs."""

    by_column: FloatArray

    @property
    def total(self) -> float:
        return float(self.by_column.sum())


def transported(quasi: Sequence[QuasiColumn], values: Values, seconds: float, *, may_leave_out: bool) -> Transported:
    """Each quasi-identifier by itself, those of few values first; then pairs, which lose more than their sum."""
    begun = time.perf_counter()

    def left() -> float:
        return seconds - (time.perf_counter() - begun)

    reaches = [reach_of(column) for column in quasi]
    order = sorted(range(len(quasi)), key=lambda a: reaches[a].covers.shape[1])
    found = np.zeros(len(quasi))
    for a in order:
        if left() > 0:
            found[a] = max(transport_bound(reaches[a], values, left(), may_leave_out=may_leave_out), 0.0)
    for a, b in zip(order[::2], order[1::2], strict=False):
        if left() > 0:
            pair = together(reaches[a], reaches[b])
            both = transport_bound(pair, values, left(), may_leave_out=may_leave_out, most=MOST_IN_PAIRS)
            if both > found[a] + found[b]:
                found[[a, b]] = both / 2.0
    return Transported(found)
