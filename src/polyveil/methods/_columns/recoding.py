"""One recoding of every column, so that any m columns show nothing that fewer than k rows share.

Every column begins as one part, which all rows share. Parts are then divided one after the
other: an ordered part at one of a few places, a part of a hierarchy by taking out one of the groups below it, while
the other values stay together. A division is made only if every combination of the two new parts with parts of m - 1
other columns has no row or at least k, apart from few rows that are set aside: fewer than the detail that the division
saves is worth. What was divided stays divided, so a division that fails once fails for good: later ones only make
combinations rarer. The order of divisions decides how far they get (`Plan`).

Rows set aside leave others behind that shared combinations with them. So a division demands somewhat more than k rows
(`spare`), and in the end rows are set aside until every combination of the rest has k.

Cost: at most as many divisions as there are values, each counted in all combinations of m - 1 other columns.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.table.coded import QuasiColumn
from polyveil.table.domain import OrderedDomain, TreeDomain

PLACES = (0.5, 0.25, 0.75, 0.1, 0.9, 0.03, 0.97)
"""Where an ordered part may be divided: shares of its rows, the middle first."""
DENSE = 1 << 22
"""Up to so many possible combinations are counted in one array."""


@dataclass(frozen=True, order=True)
class Division:
    """A part of a column and the codes that leave it; the division of the greatest gain comes first."""

    minus_gain: float
    column: int
    part: int
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class Plan:
    """How columns are divided.

    Divisions come first that save most, times a weight of their column and a power (`evenness`) of the share of rows in
    the smaller of the two parts: a part of few rows makes all combinations with it rare, and so stops others. A row
    may be set aside if that saves `price` columns' worth of detail.
    """

    weights: FloatArray
    evenness: float = 0.75
    price: float = math.inf
    spare: int = 0


class Recoding:
    """The parts of every column (`parts[a][i]` is that of row i), and the divisions that are still possible."""

    def __init__(self, columns: Sequence[QuasiColumn], k: int, m: int, plan: Plan) -> None:
        self.columns, self.k, self.m, self.plan = columns, k, min(m, len(columns)), plan
        self.codes = [column.codes.astype(np.int64) for column in columns]
        self.parts: list[IntArray] = [np.zeros(len(column.codes), dtype=np.int64) for column in columns]
        self.count = [1] * len(columns)
        self.inside = np.ones(len(columns[0].codes) if columns else 0, dtype=bool)
        self.others = [
            list(combinations([b for b in range(len(columns)) if b != a], self.m - 1)) for a in range(len(columns))
        ]
        self._waiting: list[Division] = []
        for a in range(len(columns)):
            self._offer(a, 0)

    def divide(self) -> Iterator[None]:
        """Make every division that holds, one at a time: the recoding holds whenever it is stopped."""
        while self._waiting:
            best = heapq.heappop(self._waiting)
            members = np.flatnonzero((self.parts[best.column] == best.part) & self.inside)
            codes = self.codes[best.column][members]
            leaving = (codes >= best.low) & (codes <= best.high)
            gain = self._gain(best.column, codes, leaving)
            if gain <= 0.0:
                continue
            if gain < -best.minus_gain - 1e-12:  # others left the part since; it may no longer be the best
                heapq.heappush(self._waiting, Division(-gain, best.column, best.part, best.low, best.high))
                continue
            rare = self._rare(best.column, members, leaving)
            if rare is not None:
                self.inside[members[rare]] = False
                self._take_out(best.column, best.part, members[leaving & ~rare])
                yield

    def close(self) -> None:
        """Set rows aside until every combination of the others has k rows, and until k rows are aside, or none."""
        while self.inside.any():
            rows = np.flatnonzero(self.inside)
            parts, rare = [part[rows] for part in self.parts], np.zeros(len(rows), dtype=bool)
            for some in combinations(range(len(self.columns)), self.m):
                counts, where = _counted(
                    np.zeros(len(rows), dtype=np.int64), 1, [(parts[a], self.count[a]) for a in some]
                )
                rare |= counts[where] < self.k
            missing = self.k - int((~self.inside).sum()) - int(rare.sum())
            if not rare.any() and (missing == self.k or missing <= 0):
                return
            if missing > 0:
                rare[np.flatnonzero(~rare)[:missing]] = True
            self.inside[rows[rare]] = False

    def loss(self) -> float:
        """The detail that the rows lose that are not aside, summed over rows and columns."""
        rows = np.flatnonzero(self.inside)
        total = 0.0
        for a in range(len(self.columns)):
            order = rows[np.argsort(self.parts[a][rows], kind="stable")]
            ends = np.flatnonzero(np.diff(self.parts[a][order])) + 1
            total += sum(self._cost(a, self.codes[a][some]) for some in np.split(order, ends) if len(some))
        return total

    def _cost(self, a: int, codes: IntArray) -> float:
        """What the rows of a part lose with the narrowest cell for all of them."""
        column = self.columns[a]
        return float(column.domain.loss(codes.min(), codes.max())) * len(codes) * column.weight

    def _gain(self, a: int, codes: IntArray, leaving: BoolArray) -> float:
        if leaving.all() or not leaving.any():
            return 0.0
        saved = self._cost(a, codes) - self._cost(a, codes[leaving]) - self._cost(a, codes[~leaving])
        smaller = min(int(leaving.sum()), int((~leaving).sum())) / len(self.parts[a])
        return saved * float(self.plan.weights[a]) * smaller**self.plan.evenness

    def _take_out(self, a: int, part: int, rows: IntArray) -> None:
        self.parts[a][rows] = self.count[a]
        self.count[a] += 1
        self._offer(a, self.count[a] - 1)
        if isinstance(self.columns[a].domain, OrderedDomain):
            self._offer(a, part)

    def _offer(self, a: int, part: int) -> None:
        """The divisions of a part that save something."""
        codes = self.codes[a][(self.parts[a] == part) & self.inside]
        if not len(codes):
            return
        for low, high in self._ranges(a, codes):
            gain = self._gain(a, codes, (codes >= low) & (codes <= high))
            if gain > 0.0:
                heapq.heappush(self._waiting, Division(-gain, a, part, low, high))

    def _ranges(self, a: int, codes: IntArray) -> set[tuple[int, int]]:
        domain = self.columns[a].domain
        if isinstance(domain, TreeDomain):
            return set(_children(domain, int(codes.min()), int(codes.max())))
        if codes.max() == domain.null_code:  # values and missing cells are published as anything: part them first
            return {(int(codes.min()), domain.null_code - 1)}
        last = np.quantile(codes, PLACES, method="lower").astype(np.int64)
        return {(int(codes.min()), int(end)) for end in (*last, *(last - 1)) if codes.min() <= end < codes.max()}

    def _rare(self, a: int, members: IntArray, leaving: BoolArray) -> BoolArray | None:
        """The rows in combinations with either side that would be too rare; None if they are too many to set aside."""
        codes = self.codes[a][members]
        saved = self._cost(a, codes) - self._cost(a, codes[leaving]) - self._cost(a, codes[~leaving])
        affordable, enough = saved / self.plan.price, self.k + self.plan.spare
        side, rare = leaving.astype(np.int64), np.zeros(len(members), dtype=bool)
        for number, some in enumerate(self.others[a]):
            counts, where = _counted(side, 2, [(self.parts[b][members], self.count[b]) for b in some])
            rare |= counts[where] < enough
            if np.count_nonzero(rare) > affordable:
                # What ruled this out is likely to rule out the next division too.
                self.others[a].insert(0, self.others[a].pop(number))
                return None
        return None if rare[leaving].all() or rare[~leaving].all() else rare


def _counted(key: IntArray, span: int, more: Sequence[tuple[IntArray, int]]) -> tuple[IntArray, IntArray]:
    """How often each combination occurs, and the combination of each row."""
    for numbers, count in more:
        key, span = key * count + numbers, span * count
    if span <= DENSE:
        return np.bincount(key), key
    _, where, counts = np.unique(key, return_inverse=True, return_counts=True)
    return counts, where


def _children(domain: TreeDomain, low: int, high: int) -> Iterator[tuple[int, int]]:
    """The ranges of codes of the groups or values right below the narrowest node that covers a range."""
    tree = domain.hierarchy
    node = int(tree.common_ancestor([low], [high])[0])
    for child in np.flatnonzero(tree.parent == node):
        yield int(tree.start[child]), int(tree.stop[child]) - 1
