"""A first partition: begun in several ways, each with the rows left over absorbed or, as a last resort, merged.

First the table is cut top-down, which is cheap and holds whenever it is stopped. The other ways are tried on some of
the rows; those that lose least there are used on all of them, side by side, and region by region in large tables.
"""

from __future__ import annotations

import time
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from polyveil.arrays import Codes, IntArray
from polyveil.methods._search.arrange import CUT, DIVIDE, GROW, MEDIANS, SIFT, arrange
from polyveil.methods._search.clock import Clock
from polyveil.methods._search.cut import cut
from polyveil.methods._search.grow import grow
from polyveil.methods._search.moves import Orders
from polyveil.methods._search.rounds import (
    Round,
    improve,
    improve_part,
    joined_labels,
    move_rows,
    on_all_cores,
)
from polyveil.methods._search.space import Flag, Rows, Space, copy_for_thread

LADDER = (5, 10, 20, 40)
"""Least sizes of a class to take out of a pool, besides the one asked for: at tight thresholds larger classes leave
fewer rows over. The steps do not depend on what is asked: whoever asks for less tries all that whoever asks for more
does."""

SMALL, REGION = 50_000, 32_768
"""Larger tables are begun in regions, which are not cut further below so many rows."""
LARGE = 400_000
"""Beyond this many rows growing classes, or the trees that a heated round needs, cost more than they bring."""
CLOSER = 0.25
"""The share of the closeness allowed that regions may use up."""
SOME, SOME_OF_MANY, SHORT, SOME_IN_SHORT = 4_000, 16_000, 10.0, 1_000
"""Rows on which beginnings are tried; those of tables that are not small; and those with fewer than so many seconds. A
small table that is searched by more effort than the least is tried whole: few rows tell little about strict demands.
With seconds it is not, because on a wide table that alone might take them all."""
CHOSEN, HARDLY_MORE, AFFORDED = 2, 1.05, 0.5
"""How many beginnings are used at most, how many times the least loss these may have, and the share of the time left
that one of them may take."""
PASS = Round(moves_per_row=0, rebuilds_per_class=0, passes=1, scattered=True)
"""Rows move once to where they cost least: the cheapest round."""
GROW_ORDERS = 4
"""The orders in which seeds look for their neighbours."""

Way = tuple[int, int]
"""A way to begin (`arrange.SIFT`, `DIVIDE`, `GROW` or `CUT`) and the least size of a class to take out of a pool."""


def floors_for(space: Space) -> list[int]:
    """The least sizes to try."""
    above = [step for step in LADDER if step > space.least] if space.width > 0 else []
    return [space.least, *above]


def beginnings(space: Space) -> list[Way]:
    """The ways to begin besides plain cuts."""
    floors = floors_for(space)
    return [*((SIFT, floor) for floor in floors), (DIVIDE, space.least), *((GROW, floor) for floor in floors)]


def other_ways(space: Space) -> list[Way]:
    """The ways to begin that tables of few rows are searched from besides the best one."""
    return [(way, floor) for way, floor in beginnings(space) if way != SIFT]


def begin_by(space: Space, rows: Rows, way: Way, seed: int, stop: Flag) -> tuple[Codes, float]:
    """Labels of a beginning and their total loss.

    Division and cuts that are stopped leave larger classes; the others then have an infinite loss.
    """
    if way[0] >= CUT:
        return cut(space, rows, way[1], way[0] == MEDIANS, stop)
    labels = np.zeros(len(rows.tuple_of), dtype=np.int32)
    orders = no_orders(len(labels))
    if way[0] == GROW:
        orders = move_rows(space, rows, labels, 0.0, GROW_ORDERS, 0.0, 0.0, 0, seed, stop)[2]
        labels = grow(space, rows, orders, way[1], seed, stop)
    return arrange(space, rows, labels, orders, way[0], 0, 0.0, 0.0, 0, 0, way[1], seed, stop)


def no_orders(rows: int) -> Orders:
    """No orders of so many rows."""
    empty = np.zeros((0, rows), dtype=np.int32)
    return Orders(empty, empty, empty, np.zeros(2, dtype=np.int64), empty)


def plain_cuts(space: Space, rows: Rows, clock: Clock) -> tuple[Codes, float]:
    """The beginning that comes first: what it has reached when time is over is the answer if there is no other."""
    ways = [(CUT, space.least), (MEDIANS, space.least)]
    tries = tried(space, rows, [np.arange(len(rows.tuple_of))], ways, 0, False, clock.stop)[0]
    return min(tries, key=itemgetter(1))[:2]


def best_start(
    space: Space,
    rows: Rows,
    rng: np.random.Generator,
    clock: Clock,
    by_cuts: tuple[Codes, float],
    growing: bool = False,
    whole: bool = False,
) -> Codes:
    """The labels of least loss among `by_cuts` and the other beginnings; in small tables after rows moved once.

    If `growing`, classes grown from seeds are the only other beginning, unless the table is too large for that. If
    `whole`, beginnings of a small table are tried on all rows.
    """
    stop, n, seed = clock.stop, len(rows.tuple_of), int(rng.integers(2**31 - 1))
    labels, loss = by_cuts
    if stop[0]:
        ways = []
    elif growing and n <= LARGE:
        ways = [(GROW, space.least)]
    else:
        ways = chosen_ways(space, rows, rng, seed, clock, whole)
    if ways:
        regions = regions_of(space, rows, seed, stop)
        ways += [(CUT, space.least)] if len(regions) > 1 else []
        found = [min(tries, key=itemgetter(1)) for tries in tried(space, rows, regions, ways, seed, False, stop)]
        if sum(one.loss for one in found) < loss:
            labels = joined_labels(regions, [one.labels for one in found])
    if n > SMALL or stop[0]:
        return labels
    return improve(space, rows, labels, PASS, rng, stop)[0]


def chosen_ways(space: Space, rows: Rows, rng: np.random.Generator, seed: int, clock: Clock, whole: bool) -> list[Way]:
    """The ways that lose least on some of the rows after these have moved once, if there is time for them on all."""
    n, ways, number = len(rows.tuple_of), beginnings(space), SOME
    if n > SMALL:
        ways, number = [(SIFT, floors_for(space)[:2][-1]), (GROW, space.least)], SOME_OF_MANY
    elif whole:
        number = n
    if clock.seconds < SHORT:
        number = SOME_IN_SHORT
    if n > LARGE:
        return ways[:1]
    some = np.sort(rng.choice(n, number, replace=False)) if n > number else np.arange(n)
    tries = tried(space, rows, [some], ways, seed, True, clock.stop)[0]
    share = AFFORDED * max(clock.seconds - clock.passed, 0.0) * len(some) / n
    losses = np.array([found.loss if found.seconds <= share else np.inf for found in tries])
    best = [i for i in np.argsort(losses, kind="stable")[:CHOSEN] if losses[i] <= HARDLY_MORE * losses.min() < np.inf]
    return [ways[i] for i in (best if n <= SMALL else best[:1])]


def regions_of(space: Space, rows: Rows, seed: int, stop: Flag) -> list[IntArray]:
    """The rows of each region: what plain cuts make of a large table; a small one is one region.

    Regions are closer to the whole table than classes must be, so that these can still be made in them.
    """
    if len(rows.tuple_of) <= SMALL:
        return [np.arange(len(rows.tuple_of))]
    closer = space._replace(limits=space.limits * CLOSER)
    labels, _ = begin_by(closer, rows, (CUT, REGION), seed, stop)
    by_region = np.argsort(labels, kind="stable")
    return np.split(by_region, np.searchsorted(labels[by_region], np.arange(1, int(labels.max()) + 1)))


class Try(NamedTuple):
    """A beginning of some rows: their labels, the total loss, and how long it took."""

    labels: Codes
    loss: float
    seconds: float


def tried(
    space: Space, rows: Rows, regions: list[IntArray], ways: list[Way], seed: int, moving: bool, stop: Flag
) -> list[list[Try]]:
    """For each region what every way gives, if `moving` after rows have moved once."""

    def work(number: int) -> Try:
        began = time.monotonic()
        members, way = regions[number // len(ways)], ways[number % len(ways)]
        own, here = copy_for_thread(space), Rows(rows.codes[members], rows.tuple_of[members])
        labels, loss = begin_by(own, here, way, seed + number, stop)
        if loss < np.inf and moving:
            labels, loss = improve_part(own, here, labels, PASS, seed + number, stop)
        return Try(labels, loss, time.monotonic() - began)

    found = on_all_cores(work, len(regions) * len(ways), stop)
    return [found[i : i + len(ways)] for i in range(0, len(found), len(ways))]
