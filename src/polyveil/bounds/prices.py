"""The bound for classes of at least k rows: prices by which rows compete for partners.

Give every row a price. A class C costs |C| * box, which is the prices of its rows plus, for each of them, the box less
the mean price of C. So whatever the prices,

    loss of a release >= sum over rows of (price + the least of box - mean price over all classes around the row),

and with all prices 0 this is the smallest box around each row and k - 1 others. Prices that rise where a row is in no
best class and fall where it is in many raise the sum, step by step, towards the linear program over all classes; the
best sum seen counts. A row that may be left out costs 1 per quasi-identifier, and no more is counted for it then.

A class also costs at least what each of its rows must lose for the values that the class needs (`floors`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.bounds.costs import Points
from polyveil.bounds.nearest import Nearest, Stop, Tree, nearest_tuples
from polyveil.bounds.reduced import least_reduced

FEW_NEAR, NEAR, LIKED = 24, 48, 64
"""Tuples that are looked at one by one: the nearest, at first (fewer if the table is large), and those whose price
exceeds their cost most."""
MOST_NEAR, LISTED = 384, 4_000_000
"""The nearest ones are twice as many in every round, up to so many; and up to so many in all lists together."""
STEPS = 300
"""Branches of the search around one tuple."""
CHUNK = 1024
"""Tuples between two looks at the clock."""
ROUNDS, PATIENCE = 40, 4
"""How often the lists are made anew; evaluations without a gain before steps get shorter."""
FIRST_STEP, LAST_STEP = 0.02, 2e-4
STEEPEST = -3.0
"""However many want a row, its price falls by at most three steps at once."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Distinct tuples, how many rows each has, the least rows of a class, what a row left out costs (or inf).

    Whatever its box, a class costs at least the `floor` of each of its tuples.
    """

    points: Points
    tree: Tree
    counts: IntArray
    k: int
    floor: FloatArray
    left_out: float = np.inf


@dataclass(eq=False)
class _Search:
    crowd: Crowd
    stop: Stop
    near: Nearest = field(init=False)
    best: float = 0.0
    by_tuple: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.crowd.counts)
        self.look_at(max(FEW_NEAR, min(NEAR, LISTED // count), self.crowd.k))
        self.by_tuple = np.zeros(count)

    def look_at(self, number: int) -> None:
        """List so many nearest tuples of every tuple: the more, the less is left to a rough estimate."""
        self.near = nearest_tuples(self.crowd.points, self.crowd.tree, number, stop=self.stop)

    def look_further(self) -> None:
        """List twice as many nearest tuples, if that is not too many."""
        listed, count = self.near.costs.shape[1], len(self.crowd.counts)
        if listed < count - 1 and 2 * listed <= min(MOST_NEAR, LISTED // count):
            self.look_at(2 * listed)

    def evaluate(self, prices: FloatArray, liked: Nearest, since: FloatArray) -> FloatArray | None:
        """Keep the bound of these prices if it is the best; which way they should go, None if time ran out.

        `liked` are lists made with the prices `since`; no margin has shrunk by more than the greatest rise.
        """
        crowd, count = self.crowd, len(self.crowd.counts)
        beyond = self.near.costs[:, -1] if self.near.costs.shape[1] < count - 1 else np.full(count, np.inf)
        rise = float(np.max(prices - since, initial=0.0))
        margin = np.maximum(liked.costs[:, -1] - rise, beyond - float(prices.max(initial=0.0)))
        value, demand = np.full(count, np.nan), np.zeros(count)
        for begin in range(0, count, CHUNK):
            if self.stop():
                break
            some = slice(begin, begin + CHUNK)
            least_reduced(
                *crowd.points.costs,
                crowd.points.codes,
                crowd.counts,
                prices,
                crowd.floor,
                self.near.tuples[some],
                liked.tuples[some],
                beyond[some],
                margin[some],
                crowd.k,
                STEPS,
                begin,
                value[some],
                demand,
            )
        undone = np.isnan(value)
        value[undone] = crowd.floor[undone] if not prices.any() else -np.inf
        by_tuple = prices + np.minimum(value, crowd.left_out - prices)
        total = float(crowd.counts @ by_tuple)
        if total > self.best:
            self.best, self.by_tuple = total, by_tuple
        return None if undone.any() else 1.0 - demand / crowd.counts


def crowd_bound(crowd: Crowd, stop: Stop, *, with_prices: bool = True) -> FloatArray:
    """What a row of each tuple loses at least: in sum over all rows, or without prices each row by itself."""
    count = len(crowd.counts)
    if crowd.k <= 1 or count <= 1 or crowd.points.codes.shape[1] == 0:
        return np.minimum(crowd.floor, crowd.left_out)
    search = _Search(crowd, stop)
    nothing = np.zeros(count)
    none_liked = Nearest(np.full((count, 1), -1, dtype=np.int32), np.full((count, 1), -np.inf))
    if search.evaluate(nothing, none_liked, nothing) is not None and with_prices:
        _ascend(search)
    return search.by_tuple


def _ascend(search: _Search) -> None:
    """Prices follow demand, from the least box of each tuple; steps get shorter when nothing is gained."""
    crowd = search.crowd
    prices, step = search.by_tuple.copy(), FIRST_STEP
    kept, reached = prices, -np.inf
    for _ in range(ROUNDS):
        prices = kept
        search.look_further()
        liked = nearest_tuples(crowd.points, crowd.tree, LIKED, credit=prices, stop=search.stop)
        since, stalled = prices, 0
        while stalled <= PATIENCE:
            before = search.best
            wanted = search.evaluate(prices, liked, since)
            if wanted is None:
                return
            if search.best > max(before, reached):
                kept, reached, stalled = prices, search.best, 0
            else:
                stalled += 1
            prices = prices + step * np.maximum(wanted, STEEPEST)
        step /= 2.0
        if step < LAST_STEP:
            return
