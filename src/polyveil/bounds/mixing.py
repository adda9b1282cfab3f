"""Prices for the bound by closeness (`transport`): ascent over what each box charges for a value.

The bound is concave in the prices s of the boxes. Its slope says how the rows that choose a box deviate from the whole
table, so the prices rise for the values of which a box has too many. Rows choose a little of every box that is nearly
the cheapest, less and less so, because a slope by first choices alone would jump. Every bound seen holds; the best
counts.

A class also costs at least what its rows must lose for the values that it needs (`floors`): a row of floor f in box B
is charged max(w(B), f) + g_B(value).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.bounds.transport import Reach, Values, together
from polyveil.methods.kernels import njit

FEWEST, MOST = 50, 300
"""Steps of an ascent, as the seconds allow."""
STEP, BLUR = 0.08, 0.05
"""The first ones; both shrink to a fraction of that. An ascent from good prices begins halfway."""
LAST = 0.02
SMOOTH = 24.0
"""Power by which the greatest of some prices is told from the others."""
TINY = 1e-9
LEVELS = 8
"""Floors that are told apart while prices rise; and four times as many at the end."""
NOT_CHOSEN = 7.0
"""A box that is this many blurs dearer than the cheapest is chosen by no row."""


@dataclass(frozen=True, eq=False)
class Market:
    """Rows by cell and value, with the floor of each cell; the cells of box b are `cell[begin[b]:begin[b + 1]]`."""

    cost: FloatArray
    begin: IntArray
    cell: Codes
    floor: FloatArray
    counts: FloatArray
    left_out: float


@njit
def share_out(
    cost: FloatArray,
    begin: IntArray,
    cell: Codes,
    floor: FloatArray,
    counts: FloatArray,
    left_out: float,
    charged: FloatArray,
    blur: float,
    least: FloatArray,
    chosen: FloatArray,
) -> None:
    """Fill `least`, cells x values, with the least charge of a row, and `chosen`, boxes x values, with who chooses it.

    `charged` is boxes x values, beside the cost. Without a blur, `chosen` is left as it is.
    """
    boxes, values = charged.shape
    least[:] = left_out
    for b in range(boxes):
        for i in range(begin[b], begin[b + 1]):
            c = cell[i]
            base = max(cost[b], floor[c])
            for v in range(values):
                least[c, v] = min(least[c, v], base + charged[b, v])
    if blur == 0.0:
        return
    total = np.exp((least - left_out) / blur)
    chosen[:] = 0.0
    for second in range(2):
        for b in range(boxes):
            for i in range(begin[b], begin[b + 1]):
                c = cell[i]
                base = max(cost[b], floor[c])
                for v in range(values):
                    dearer = base + charged[b, v] - least[c, v]
                    if dearer < NOT_CHOSEN * blur and counts[c, v] > 0.0:
                        much = np.exp(-dearer / blur)
                        if second == 0:
                            total[c, v] += much
                        else:
                            chosen[b, v] += counts[c, v] * much / total[c, v]


def market_of(reach: Reach, values: Values, floor: FloatArray, levels: int, *, may_leave_out: bool) -> Market:
    """The rows of a table, by cell, floor (a little less, so that there are few) and value."""
    edges = floor_levels(floor, levels)
    level = np.searchsorted(edges, floor, side="right") - 1
    present, cell_of_row = np.unique(reach.cell_of_row * len(edges) + level, return_inverse=True)
    counts = np.bincount(cell_of_row * values.count + values.of_row, minlength=len(present) * values.count)
    box, cell = np.nonzero(reach.covers[:, present // len(edges)])
    return Market(
        cost=reach.cost,
        begin=np.searchsorted(box, np.arange(len(reach.cost) + 1)),
        cell=cell.astype(np.int32),
        floor=edges[present % len(edges)],
        counts=counts.reshape(len(present), values.count).astype(np.float64),
        left_out=float(reach.columns) if may_leave_out else np.inf,
    )


def floor_levels(floor: FloatArray, levels: int) -> FloatArray:
    """Levels from 0 on, such that about the same is lost between each two when floors are taken down to them."""
    rising = np.sort(floor[floor > 0])
    if not len(rising):
        return np.zeros(1)
    share = np.cumsum(np.sqrt(rising))
    at = np.searchsorted(share, np.linspace(0, share[-1], levels + 1)[:-1], side="left")
    return np.unique(np.append(0.0, rising[at]))


@dataclass(eq=False)
class Ascent:
    """Prices of the boxes of a reach for the ranges of values, and the best bound they gave."""

    reach: Reach
    values: Values
    market: Market
    best: float = 0.0
    prices: FloatArray | None = None

    def climb(self, seconds: float) -> None:
        """As many steps as the seconds allow, at least one."""
        shape = len(self.reach.cost), len(self.values.weight)
        prices, whole = (np.zeros(shape), 1.0) if self.prices is None else (self.prices, 0.5)
        mean, square = np.zeros(shape), np.zeros(shape)
        begun, steps = time.perf_counter(), MOST
        for step in range(MOST):
            left = max(whole * (1.0 - step / steps), LAST)
            slope = self._slope(prices, BLUR * left)
            mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
            size = STEP * left / (1.0 - 0.9 ** (step + 1))
            prices = prices + size * mean / (np.sqrt(square / (1.0 - 0.99 ** (step + 1))) + TINY)
            spent = time.perf_counter() - begun
            if step in (0, 4):
                steps = int(np.clip(seconds * (step + 1) / max(spent, 1e-6), FEWEST, MOST))
            if step + 1 >= steps or spent > seconds:
                break

    def _slope(self, prices: FloatArray, blur: float) -> FloatArray:
        """Which way the prices should go; the bound that they give is kept if it is the best."""
        market, values = self.market, self.values
        charged, steepness = charges(prices, values)
        least, chosen = np.empty(market.counts.shape), np.empty(charged.shape)
        share_out(*_arrays(market), charged, blur, least, chosen)
        found = _sum_of(market, least)
        if found > self.best:
            self.best, self.prices = found, prices
        rows = chosen.sum(axis=1)
        slope = chosen @ values.inside.T - rows[:, None] * steepness
        unpriced = ~prices.any(axis=1)
        apart = np.zeros(len(rows))
        for number, limit in enumerate(values.limit):
            mine = values.owner == number
            apart = np.maximum(apart, np.abs(slope[:, mine]) @ values.weight[mine] - rows * limit)
        slope[unpriced & (apart <= 0)] = 0.0  # close as they are
        return np.asarray(slope)

    def with_column(self, other: Reach, rows: int, *, may_leave_out: bool) -> Ascent | None:
        """The same prices for boxes over one more quasi-identifier."""
        more = together(self.reach, other)
        if more is None or more.within is None:
            return None
        market = market_of(more, self.values, np.zeros(rows), 1, may_leave_out=may_leave_out)
        return Ascent(more, self.values, market, self.best, None if self.prices is None else self.prices[more.within])

    @property
    def size(self) -> int:
        """Charges that one step looks at."""
        return len(self.market.cell) * self.values.count

    def value(self, floor: FloatArray, *, may_leave_out: bool) -> float:
        """What the best prices give with all floors told apart better."""
        if self.prices is None:
            return self.best
        market = market_of(self.reach, self.values, floor, 4 * LEVELS, may_leave_out=may_leave_out)
        charged, _ = charges(self.prices, self.values)
        least = np.empty(market.counts.shape)
        share_out(*_arrays(market), charged, 0.0, least, np.empty((0, 0)))
        return max(self.best, _sum_of(market, least))


def _arrays(market: Market) -> tuple[FloatArray, IntArray, Codes, FloatArray, FloatArray, float]:
    return market.cost, market.begin, market.cell, market.floor, market.counts, market.left_out


def _sum_of(market: Market, least: FloatArray) -> float:
    return float((market.counts * np.where(market.counts > 0, least, 0.0)).sum())


def charges(prices: FloatArray, values: Values) -> tuple[FloatArray, FloatArray]:
    """g of each box and value, and the slope of what the limits take off it (smoothed)."""
    budget, steepness = np.zeros(len(prices)), np.zeros(prices.shape)
    for number, limit in enumerate(values.limit):
        mine = values.owner == number
        needed = np.abs(prices[:, mine]) / values.weight[mine]
        most = needed.max(axis=1, initial=0.0)
        budget += limit * most
        share = (needed / np.maximum(most, TINY)[:, None]) ** SMOOTH
        share /= np.maximum(share.sum(axis=1), TINY)[:, None]
        steepness[:, mine] = limit * share * np.sign(prices[:, mine]) / values.weight[mine]
    return prices @ values.inside - budget[:, None], steepness
