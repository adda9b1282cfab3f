"""A first partition: the tree's classes, with the rows left over absorbed or, as a last resort, merged."""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, IntArray
from polyveil.methods._search.arrange import CUT, DIVIDE, GROW, SIFT, arrange
from polyveil.methods._search.rounds import Round, improve, move_rows, no_flag
from polyveil.methods._search.space import Flag, Rows, Space

LADDER = (5, 10, 20, 40)
"""Least sizes of a class to take out of a pool, besides the one asked for: at tight thresholds larger classes leave
fewer rows over. The steps do not depend on what is asked: whoever asks for less tries all that whoever asks for more
does."""

SMALL = 50_000
"""Up to this many rows all floors are tried."""
PASS = Round(moves_per_row=0, rebuilds_per_class=0, passes=1, scattered=True)
"""Rows move once to where they cost least: the cheapest round."""
SOME, GROW_ORDERS = 20_000, 4
"""Rows of a large table on which beginnings are tried; and the orders in which seeds look for their neighbours."""


def floors_for(space: Space) -> IntArray:
    """The least sizes to try."""
    above = [step for step in LADDER if step > space.least] if space.width > 0 else []
    return np.array([space.least, *above], dtype=np.int64)


def begin_by(space: Space, rows: Rows, way: int, floor: int, seed: int, stop: Flag) -> tuple[Codes, float]:
    """Labels of a beginning (`arrange.SIFT`, `DIVIDE`, `GROW` or `CUT`) and their total loss.

    Division and cuts that are stopped leave larger classes; the others then have an infinite loss.
    """
    one_class = np.zeros(len(rows.tuple_of), dtype=np.int32)
    wanted = GROW_ORDERS if way == GROW else 0
    orders = move_rows(space, rows, one_class, 0.0, wanted, 0.0, 0.0, 0, seed, stop)[2]
    return arrange(space, rows, one_class, orders, way, 0, 0.0, 0.0, 0, 0, np.array([floor]), seed, stop)


def best_start(space: Space, rows: Rows, rng: np.random.Generator, stop: Flag | None = None) -> Codes:
    """The labels of least loss among the beginnings, each after rows have moved once to where they cost least.

    The first is the cheapest and holds whenever it is stopped; once `stop` is set no others are tried. Large tables
    try the others on some of their rows and take the best of these for all.
    """
    stop = no_flag() if stop is None else stop
    n, seed = len(rows.tuple_of), int(rng.integers(2**31 - 1))
    ways = beginnings(space)
    if n > SMALL:
        some = np.sort(rng.choice(n, SOME, replace=False))
        ways = [(SIFT, max(space.least, LADDER[1]) if space.width > 0 else space.least), (GROW, space.least)]
        ways = [_best(space, Rows(rows.codes[some], rows.tuple_of[some]), ways, seed, rng, stop)[1]]
    return _best(space, rows, [(CUT, space.least), *ways], seed, rng, stop, moving=n <= SMALL)[0]


def _best(
    space: Space,
    rows: Rows,
    ways: list[tuple[int, int]],
    seed: int,
    rng: np.random.Generator,
    stop: Flag,
    moving: bool = True,
) -> tuple[Codes, tuple[int, int]]:
    """The labels of least loss, if asked after rows have moved, and the way that led to them."""
    best, least, chosen = np.zeros(len(rows.tuple_of), dtype=np.int32), np.inf, ways[0]
    for way in ways:
        if least < np.inf and stop[0]:
            break
        labels, loss = begin_by(space, rows, *way, seed, stop)
        if loss < np.inf and moving:
            labels, loss = improve(space, rows, labels, PASS, np.array([space.least]), rng, stop)
        if loss < least:
            best, least, chosen = labels, loss, way
    return best, chosen


def beginnings(space: Space) -> list[tuple[int, int]]:
    """The ways to begin, each with the least size of a class to take out of a pool."""
    return [*((SIFT, int(floor)) for floor in floors_for(space)), (DIVIDE, space.least), (GROW, space.least)]
