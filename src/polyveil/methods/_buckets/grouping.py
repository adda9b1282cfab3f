"""The grouping phase of MSB (Algorithms 1 to 3 of xiao2020): take one row from each of l_G buckets, again and again.

l_G is the l of the highest level that remains; a group takes a row from the best bucket that is not shielded until it
has l_G rows. A group that cannot be finished is dissolved: its rows go back. Then, as printed, grouping stops
(`strict`); otherwise the rows of that level wait for the residual phase and the lower levels go on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import FloatArray, IntArray, Places
from polyveil.methods._buckets.pool import (
    CLOSEST_QUASI,
    BucketForest,
    Pool,
    choose,
    choose_by_scan,
    collect_tied,
    fill,
    key_of,
    set_limits,
    take,
)
from polyveil.methods._kernels.boxes import QuasiSpec, range_loss
from polyveil.methods._kernels.compiled import njit

MOST_TIED = 64
"""How many equal buckets `closest-quasi` looks into for one row."""


class Groups(NamedTuple):
    """The groups formed so far, and the boxes they span in the quasi-identifiers."""

    of_row: IntArray
    size: IntArray
    low: Places
    high: Places


class Course(NamedTuple):
    """Where the phase stands: `state` is [highest rank in play, groups formed, rank the limits are set for]."""

    need: FloatArray
    size_of_rank: IntArray
    state: IntArray
    taken: IntArray
    tied: IntArray
    candidates: int
    strict: bool
    scan: bool


@njit
def form_groups(
    pool: Pool, forest: BucketForest, groups: Groups, course: Course, spec: QuasiSpec, quasi: Places, most: int
) -> None:
    """Form up to `most` groups; the phase is over when state[0] is below 0."""
    state = course.state
    for _ in range(most):
        if state[0] < 0:
            return
        first = next_bucket(pool, forest, course)
        if first < 0:
            state[0] = -1
            return
        rank = pool.rank[first]
        wanted = course.size_of_rank[rank]
        if state[2] != rank:
            set_limits(pool, course.need, wanted)
            state[2] = rank
        filled = fill_group(pool, forest, groups, course, spec, quasi, first, wanted)
        finish_group(pool, groups, course, filled, filled == wanted)
        if filled == wanted:
            continue
        state[0] = -1 if course.strict else rank - 1
        fill(pool, forest, state[0])


@njit
def next_bucket(pool: Pool, forest: BucketForest, course: Course) -> int:
    """The best bucket, by the heaps or by a scan of all buckets."""
    return choose_by_scan(pool, course.state[0]) if course.scan else choose(pool, forest)


@njit
def fill_group(
    pool: Pool,
    forest: BucketForest,
    groups: Groups,
    course: Course,
    spec: QuasiSpec,
    quasi: Places,
    b: int,
    wanted: int,
) -> int:
    """Take rows until the group has as many as wanted or every bucket is shielded; returns how many it has."""
    g, filled = course.state[1], 0
    while b >= 0:
        which = pool.size[b] - 1
        if pool.ties == CLOSEST_QUASI and filled > 0:
            b, which = nearest_tied(pool, forest, groups, course, spec, quasi, b)
        row = take(pool, b, which)
        stretch(groups, quasi, g, row, filled == 0)
        course.taken[filled] = b
        filled += 1
        if filled == wanted:
            break
        b = next_bucket(pool, forest, course)
    return filled


@njit
def finish_group(pool: Pool, groups: Groups, course: Course, filled: int, complete: bool) -> None:
    """Number the rows of a complete group; put those of an incomplete one back. Shielding ends in both cases."""
    for i in range(filled - 1, -1, -1):
        b = course.taken[i]
        for j in range(pool.values.shape[1]):
            pool.used[pool.values[b, j]] = 0
        if not complete:  # taken rows lie just behind the remaining ones, so growing the bucket puts them back
            groups.of_row[pool.rows[pool.begin[b] + pool.size[b]]] = -1
            pool.size[b] += 1
    if complete:
        course.state[1] += 1
        groups.size[course.state[1] - 1] = filled


@njit
def stretch(groups: Groups, quasi: Places, g: int, row: int, fresh: bool) -> None:
    """Note the row's group, and widen the group's box to cover it."""
    groups.of_row[row] = g
    for a in range(quasi.shape[1]):
        code = quasi[row, a]
        groups.low[g, a] = code if fresh else min(groups.low[g, a], code)
        groups.high[g, a] = code if fresh else max(groups.high[g, a], code)


@njit
def widening(groups: Groups, spec: QuasiSpec, quasi: Places, g: int, row: int, rows: int) -> float:
    """What `rows` rows lose more when the group's box is widened to cover one more row, and that row's own loss."""
    cost = 0.0
    for a in range(quasi.shape[1]):
        low, high, code = groups.low[g, a], groups.high[g, a], quasi[row, a]
        wider = range_loss(spec, a, min(low, code), max(high, code))
        cost += spec.weight[a] * (wider * (rows + 1) - range_loss(spec, a, low, high) * rows)
    return cost


@njit
def nearest_tied(
    pool: Pool, forest: BucketForest, groups: Groups, course: Course, spec: QuasiSpec, quasi: Places, b: int
) -> tuple[int, int]:
    """Among buckets of equal priority and the rows in them, the row that widens the group's box least."""
    found = collect_tied(pool, forest, key_of(pool, b), course.tied)
    best, which, least = b, 0, np.inf
    looks = max(course.candidates // max(found, 1), 1)
    for i in range(found):
        b = course.tied[i]
        for w in range(pool.size[b] - 1, max(pool.size[b] - 1 - looks, -1), -1):
            cost = widening(groups, spec, quasi, course.state[1], pool.rows[pool.begin[b] + w], 1)
            if cost < least:
                best, which, least = b, w, cost
    return best, which
