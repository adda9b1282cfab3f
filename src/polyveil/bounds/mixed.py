"""The bound by closeness of a table: which constraint, over which quasi-identifiers, gives the most."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyveil.arrays import FloatArray
from polyveil.bounds.mixing import FEWEST, LEVELS, Ascent, market_of
from polyveil.bounds.transport import Reach, Values, affordable, reach_of, values_of
from polyveil.models.constraints import Closeness
from polyveil.table.coded import CodedTable

MOST_TRIED = 6
"""Constraints that are looked at, those of fewest ranges."""
MOST_TOGETHER = 64
"""Sensitive tuples of all constraints together, which are tried as one then."""
STRICTER = 0.25
"""Columns are ranked by what this part of the limits would cost in each of them alone."""
RANKING, GROWING = 0.1, 0.5
"""Shares of the seconds for ranking, and for finding the columns; the rest is for the best of them, and for floors."""
LITTLE = 0.05
SECONDS_PER_CHARGE = 4e-8
"""About, for one box, cell and value in one step of an ascent."""


@dataclass(frozen=True, eq=False)
class Mixed:
    """The least sums over all rows: in some columns alone, and with what rows must lose for the values needed."""

    columns: tuple[int, ...]
    alone: float
    with_floors: float


def mixing_bound(
    table: CodedTable, closeness: Sequence[Closeness], floor: FloatArray, seconds: float, *, may_leave_out: bool
) -> Mixed | None:
    """The best bound of the constraints that are looked at; None if they add next to nothing to the floors."""
    begun = time.perf_counter()
    codes = {column.name: column.codes for column in table.sensitive}
    fewest = sorted(closeness, key=lambda one: len(one.weight))[:MOST_TRIED]
    asked = [one for one in fewest if affordable(codes, [one])]
    choices: list[Values] = [values_of(codes, [one]) for one in asked]
    if len(asked) > 1 and affordable(codes, asked):
        choices += [both for both in [values_of(codes, asked)] if both.count <= MOST_TOGETHER]
    reaches = [reach_of(column) for column in table.quasi]
    found = []
    for values in choices:
        grown = grow(reaches, values, GROWING * seconds / len(choices), may_leave_out=may_leave_out)
        found += [] if grown is None else [grown]
    if not found:
        return None
    best, columns = max(found, key=lambda one: one[0].best)
    if best.best < LITTLE * float(floor.sum()):
        return None
    left = max(seconds - (time.perf_counter() - begun), 0.0)
    best.climb(left / 2.0)
    market = market_of(best.reach, best.values, floor, LEVELS, may_leave_out=may_leave_out)
    both = Ascent(best.reach, best.values, market, 0.0, best.prices)
    both.climb(left / 2.0)
    return Mixed(columns, best.best, both.value(floor, may_leave_out=may_leave_out))


def grow(
    reaches: list[Reach], values: Values, seconds: float, *, may_leave_out: bool
) -> tuple[Ascent, tuple[int, ...]] | None:
    """An ascent over as many columns as the seconds allow, those first that cost most for their size."""
    begun = time.perf_counter()
    rows = len(values.of_row)
    alone = [
        Ascent(one, values, market_of(one, values, np.zeros(rows), 1, may_leave_out=may_leave_out)) for one in reaches
    ]
    stricter = replace(values, limit=values.limit * STRICTER)
    rank = np.full(len(reaches), np.nan)
    for a, one in enumerate(alone):
        if len(one.reach.cost) > 1 and one.size * SECONDS_PER_CHARGE * FEWEST < seconds:
            trial = replace(one, values=stricter)
            trial.climb(RANKING * seconds / len(reaches))
            rank[a] = trial.best / np.log(len(one.market.cell) + 1.0)
    found: Ascent | None = None
    taken: list[int] = []
    for a in np.argsort(-rank)[: np.count_nonzero(rank > 0)]:
        left = seconds - (time.perf_counter() - begun)
        more = alone[a] if found is None else found.with_column(reaches[a], rows, may_leave_out=may_leave_out)
        if more is not None and more.size * SECONDS_PER_CHARGE * FEWEST < left:
            more.climb(left / 2.0)
            found, taken = more, [*taken, int(a)]
    return None if found is None else (found, tuple(taken))
