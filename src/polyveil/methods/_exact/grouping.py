"""The best grouping of a small table, proven: a linear program over classes, then the few classes that can matter.

1. The linear program over all classes, in which a row may be in parts of several, gives every row a price: classes are
   added to it as long as one costs less than the prices of its rows (`class_search`). The prices sum up to a bound.
2. A grouping costs as much above the bound as its classes cost above the prices of their rows. So a grouping that is
   at most d above it has only classes that are, and all of these are listed, for a small d first.
3. The best grouping made of these classes (`covering`) is the best of all if it is at most d above the bound;
   otherwise d is doubled.

Every step is exact up to rounding: prices are lowered until no class at all costs less than its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.measure.loss import width
from polyveil.methods._exact.class_search import Types, classes_below
from polyveil.methods._exact.covering import cover
from polyveil.methods._kernels.judge import JudgeSpec, asks_more, sensitive_matrix
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import TreeDomain

MOST_ROWS = 50
"""Values of a column are bits of a word, and far fewer rows than that are too many for hard requirements."""
STEPS = 20_000_000
"""Steps of the search for classes before it gives up: about half a minute."""
MOST_CLASSES, MOST_CHOICES = 200_000, 2_000_000
"""Classes that can matter, and choices among them, before it gives up."""
SLICE, LARGER = 100_000, 6
"""Steps that one call of a kernel may take at first; if they are not enough, it begins anew with so many times more."""
LEAST, SHARE = 1e-6, 0.002
"""How far above the bound groupings are looked for first, and as a share of it if there are none."""
ROUNDING = 1e-8
"""A class that costs so little less than the prices of its rows is not added."""
AT_ONCE = 64
"""Classes that one search for better ones may find: each is better than the one before."""


class TooHard(Exception):
    """The best grouping was not found within the steps allowed."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """A class per row (-1: left out) and what all rows lose together."""

    labels: IntArray
    cost: float


def nothing() -> None:
    """Done between two calls of a kernel unless something else is."""


def best_grouping(
    table: CodedTable,
    judge: JudgeSpec,
    left_out: int = 0,
    steps: int = STEPS,
    between: Callable[[], None] = nothing,
) -> Grouping | None:
    """The grouping of least loss in which every class holds and at most `left_out` rows are in none, if there is one.

    Raises TooHard if it is not found within the steps. `between` is called every now and then, and may end the search
    by an error.
    """
    if table.rows > MOST_ROWS or len(judge.joint.limit):  # the compiled judge of joint t is stricter than the model
        raise TooHard
    types, of_row = types_of(table, judge)
    search = _Search(types, judge, sum(column.weight for column in table.quasi), left_out, steps, between)
    chosen = search.best()
    return None if chosen is None else Grouping(_labels(chosen[0], of_row, len(types.units)), chosen[1])


def types_of(table: CodedTable, judge: JudgeSpec) -> tuple[Types, IntArray]:
    """The types of the rows of a table, those with the rarest sensitive values first, and the type of each row."""
    places = sensitive_matrix(table).astype(np.int64)
    quasi = [column.codes.astype(np.int64) for column in table.quasi]
    rows = np.column_stack([places, *quasi]) if places.shape[1] + len(quasi) else np.zeros((table.rows, 0), np.int64)
    values, of_row, units = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    secret = values[:, : places.shape[1]]
    often = np.bincount(places.ravel(), minlength=judge.width)[secret].min(axis=1, initial=table.rows)
    order = np.argsort(often, kind="stable")
    codes, tables, shape, begin = [], [np.zeros(0)], [], 0
    for a, column in enumerate(table.quasi):
        present, code = np.unique(values[order, places.shape[1] + a], return_inverse=True)
        codes.append(code)
        tables.append(column.weight * _costs(column, present))
        shape.append((_is_set(column), len(present), begin))
        begin += len(tables[-1])
    return Types(
        shape=np.array(shape, dtype=np.int64).reshape(-1, 3),
        cost=np.concatenate(tables),
        codes=np.stack(codes, axis=1).astype(np.int64) if codes else np.zeros((len(units), 0), dtype=np.int64),
        places=np.ascontiguousarray(secret[order]),
        units=units[order].astype(np.int64),
    ), np.argsort(order)[of_row]


def _is_set(column: QuasiColumn) -> bool:
    return isinstance(column.domain, TreeDomain) and column.domain.as_set


def _costs(column: QuasiColumn, present: IntArray) -> FloatArray:
    """What a set of 0, 1, ... values costs, or what the codes present cost from each to each."""
    nothing = np.zeros(len(present) ** 2, dtype=np.int64)
    if _is_set(column):
        number = np.arange(1, len(present) + 1)
        return np.append(0.0, width(column.domain, nothing[: len(number)], nothing[: len(number)], number))
    one, two = (each.ravel() for each in np.meshgrid(present, present, indexing="ij"))
    return width(column.domain, np.minimum(one, two), np.maximum(one, two), nothing)


def _labels(classes: IntArray, of_row: IntArray, types: int) -> IntArray:
    """The class of each row from the units of each class; a class that uses up a unit beyond the types is left out."""
    labels, number = np.full(len(of_row), -1, dtype=np.int64), 0
    waiting = [list(np.flatnonzero(of_row == t)) for t in range(types)]
    for units in classes:
        members = [waiting[t].pop() for t in range(types) for _ in range(units[t])]
        if units[types] == 0:
            labels[members] = number
            number += 1
    return labels


@dataclass(eq=False)
class _Search:
    """Classes are units of each type and, at the end, of rows that may be left out."""

    types: Types
    judge: JudgeSpec
    greatest: float
    left_out: int
    steps: int
    between: Callable[[], None]
    classes: list[IntArray] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        units = self.types.units
        self.rows, self.units = int(units.sum()), np.append(units, self.left_out)
        least, judge = max(self.judge.min_size, 1), self.judge
        more = asks_more(judge) or judge.has_caps or len(judge.close_limit) > 0
        self.sizes = range(least, (self.rows if more else min(2 * least - 1, self.rows)) + 1)
        unit = np.eye(len(self.units), dtype=np.int64)
        self.classes.append(unit[-1])  # a row that may be left out, and is not
        self.costs.append(0.0)
        if self.left_out:
            self.classes += list(unit[:-1] + unit[-1])
            self.costs += [self.greatest] * len(units)

    def best(self) -> tuple[IntArray, float] | None:
        """The classes of the best grouping and their cost."""
        always = len(self.classes)
        prices = self._prices()
        bound, most = float(self.units @ prices), self.rows * self.greatest
        whole = np.append(self.types.units, 0)
        for known, cost in zip(self.classes, self.costs, strict=True):
            if np.array_equal(known, whole) and cost <= bound + self.rows * ROUNDING:
                return whole[None], cost
        given, costs = np.array(self.classes[:always]), np.array(self.costs[:always])
        above = LEAST
        while bound <= most + LEAST:
            found, of_found = self._classes_above(prices[:-1], above)
            classes, all_costs = np.vstack([given, found]), np.append(costs, of_found)
            reduced = all_costs - classes @ prices
            order = np.argsort(reduced, kind="stable")
            tied = self.rows * ROUNDING
            for limit in self._slices(MOST_CHOICES):
                chosen, _, steps = cover(classes[order], reduced[order], self.units, above, tied, limit)
                if steps < limit:
                    break
            if len(chosen):
                return classes[order][chosen], float(all_costs[order][chosen].sum())
            if bound + above > most:
                break
            above = max(2.0 * above, SHARE * bound)
        return None

    def _prices(self) -> FloatArray:
        """Prices of the units by which no class costs less than its units, with the greatest sum."""
        from scipy.optimize import linprog  # slow to load

        count = len(self.types.units)
        missing = np.eye(count + 1)[:, :-1]  # in no class at all: dearer than any grouping
        while True:
            matrix = np.column_stack([np.array(self.classes).T, missing])
            costs = np.append(self.costs, np.full(count, self.rows * self.greatest + 1.0))
            tolerance = {"dual_feasibility_tolerance": 1e-10, "primal_feasibility_tolerance": 1e-10}
            solved = linprog(costs, A_eq=matrix, b_eq=self.units, method="highs", options=tolerance)
            prices = np.asarray(solved.eqlin.marginals, dtype=np.float64)
            known = {units.tobytes() for units in self.classes}
            found, of_found = self._better(prices[:-1])
            fresh = [i for i, units in enumerate(found) if units.tobytes() not in known]
            self.classes += [found[i] for i in fresh]
            self.costs += [of_found[i] for i in fresh]
            if not fresh:
                reduced = np.append(np.array(self.costs) - np.array(self.classes) @ prices, -ROUNDING)
                return prices + min(float(reduced.min()), 0.0)

    def _better(self, prices: FloatArray) -> tuple[list[IntArray], list[float]]:
        """Classes that cost less than their rows' prices: the last ones found from each type on, of each size."""
        classes: list[IntArray] = []
        costs: list[float] = []
        units, cost = np.zeros((AT_ONCE, len(prices)), dtype=np.int64), np.zeros(AT_ONCE)
        for first in range(len(prices)):
            limit = -ROUNDING
            for size in self.sizes:
                number, limit = self._walk(prices, size, first, limit, True, units, cost, 0)
                for i in range(max(number - 2, 0), number):
                    classes.append(np.append(units[i], 0))
                    costs.append(float(cost[i]))
        return classes, costs

    def _classes_above(self, prices: FloatArray, above: float) -> tuple[IntArray, FloatArray]:
        """All classes that cost less than so much above the prices of their rows."""
        units, cost, number = np.zeros((MOST_CLASSES, len(prices)), dtype=np.int64), np.zeros(MOST_CLASSES), 0
        for first in range(len(prices)):
            for size in self.sizes:
                number, _ = self._walk(prices, size, first, above, False, units, cost, number)
                if number >= MOST_CLASSES:
                    raise TooHard
        return np.column_stack([units[:number], np.zeros(number, dtype=np.int64)]), cost[:number]

    def _walk(
        self,
        prices: FloatArray,
        size: int,
        first: int,
        limit: float,
        falling: bool,
        units: IntArray,
        cost: FloatArray,
        number: int,
    ) -> tuple[int, float]:
        for most in self._slices(self.steps):
            found, steps, fallen = classes_below(
                self.types, self.judge, prices, size, first, limit, falling, most, units, cost, number
            )
            self.steps -= steps
            if steps < most:
                break
        return found, fallen

    def _slices(self, most: int) -> Iterator[int]:
        """The steps that a kernel may take, more and more of them; raises TooHard if these were not enough."""
        steps = min(SLICE, most)
        while steps > 0:
            self.between()
            yield steps
            steps = min(LARGER * steps, most) if steps < most else 0
        raise TooHard
