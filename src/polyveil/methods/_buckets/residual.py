"""The residual phase of MSB (steps 18 to 21 of Algorithm 1 of xiao2020): rows left over join groups that stay diverse.

A row fits a group of s rows where (count(v) + 1) * need(v) <= s + 1 for each of its values v; values it does not have
only become rarer. For each bucket, only the groups that accept its tightest value (the one fewest groups accept) are
looked at. As groups grow they accept more, so passes are repeated until one places nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import FloatArray, IntArray, Places
from polyveil.methods._buckets.grouping import Groups, stretch, widening
from polyveil.methods._buckets.pool import Pool
from polyveil.methods._kernels.boxes import QuasiSpec
from polyveil.methods._kernels.compiled import njit

FIRST, LEAST_LOSS = 0, 1


class Counts(NamedTuple):
    """How often each group has each value: open addressing, keyed by group * values + value; -1 is free."""

    key: IntArray
    held: IntArray
    values: int


def empty_counts(entries: int, values: int) -> Counts:
    """Room for that many (group, value) pairs at no more than half load."""
    slots = 1 << max(int(2 * entries - 1).bit_length(), 4)
    return Counts(np.full(slots, -1, dtype=np.int64), np.zeros(slots, dtype=np.int64), values)


@njit
def slot_of(counts: Counts, group: int, value: int) -> int:
    """Where the pair is, or the free slot where it belongs."""
    key = group * counts.values + value
    mask = len(counts.key) - 1
    # Fibonacci hashing; the high half is folded in because the low bits of a product mix badly.
    mixed = key * np.int64(0x9E3779B97F4A7C1)
    slot = (mixed ^ (mixed >> np.int64(29))) & mask
    while counts.key[slot] >= 0 and counts.key[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@njit
def add(counts: Counts, group: int, value: int) -> None:
    slot = slot_of(counts, group, value)
    counts.key[slot] = group * counts.values + value
    counts.held[slot] += 1


@njit
def accepts(counts: Counts, need: FloatArray, size: int, group: int, value: int) -> bool:
    """Whether one more row with this value leaves the group diverse in it."""
    slot = slot_of(counts, group, value)
    held = counts.held[slot] if counts.key[slot] >= 0 else 0
    return (held + 1) * need[value] <= size + 1 + 1e-9


@njit
def fits(pool: Pool, groups: Groups, counts: Counts, need: FloatArray, group: int, b: int) -> bool:
    """Whether a row of the bucket may join the group."""
    for j in range(pool.values.shape[1]):  # noqa: SIM110 - compiled
        if not accepts(counts, need, groups.size[group], group, pool.values[b, j]):
            return False
    return True


@njit
def place_residual(
    pool: Pool,
    groups: Groups,
    count: int,
    counts: Counts,
    need: FloatArray,
    spec: QuasiSpec,
    quasi: Places,
    places: Places,
    rule: int,
    candidates: int,
    once: bool,
) -> None:
    """Place what fits; rows that fit nowhere stay in their buckets. `once` makes a single pass, as printed."""
    for row in range(len(groups.of_row)):
        if groups.of_row[row] >= 0:
            for j in range(places.shape[1]):
                add(counts, groups.of_row[row], places[row, j])
    found = np.empty(count, dtype=np.int64)
    open_to = np.empty(count, dtype=np.int64)
    while place_once(pool, groups, count, counts, need, spec, quasi, rule, candidates, once, found, open_to):
        if once:
            break


@njit
def place_once(
    pool: Pool,
    groups: Groups,
    count: int,
    counts: Counts,
    need: FloatArray,
    spec: QuasiSpec,
    quasi: Places,
    rule: int,
    candidates: int,
    once: bool,
    found: IntArray,
    open_to: IntArray,
) -> bool:
    """One pass over the buckets, the most demanding and the hardest to place first (with `once`, in their own order);
    says whether a row was placed."""
    accepting = accepting_groups(groups, count, counts, need)
    tightest = tightest_values(pool, accepting)
    # Sorted by value within equal difficulty, so that the groups open to a value are listed once.
    hardness = pool.rank * -(2 * count + 2) + accepting[tightest]
    order = np.argsort(hardness * len(need) + tightest, kind="mergesort")
    if once:
        order = np.arange(len(order))
    listed, opened, placed = -1, 0, False
    for b in order:
        if pool.size[b] == 0:
            continue
        if tightest[b] != listed:
            listed, opened = tightest[b], 0
            for group in range(count):
                if accepts(counts, need, groups.size[group], group, listed):
                    open_to[opened] = group
                    opened += 1
        before = pool.size[b]
        fitting = 0
        for i in range(opened):
            if fits(pool, groups, counts, need, open_to[i], b):
                found[fitting] = open_to[i]
                fitting += 1
        if rule == FIRST:
            place_first(pool, groups, counts, need, quasi, b, found, fitting)
        else:
            place_least_loss(pool, groups, counts, need, spec, quasi, b, found, fitting, candidates)
        placed = placed or pool.size[b] < before
    return placed


@njit
def accepting_groups(groups: Groups, count: int, counts: Counts, need: FloatArray) -> IntArray:
    """How many groups accept each value."""
    accepting = np.zeros(len(need), dtype=np.int64)
    largest = 0
    for group in range(count):
        largest = max(largest, groups.size[group])
    by_size = np.zeros(largest + 2, dtype=np.int64)
    for group in range(count):
        by_size[groups.size[group]] += 1
    for size in range(largest, -1, -1):
        by_size[size] += by_size[size + 1]  # now groups of at least this size
    for value in range(len(need)):
        least = max(int(np.ceil(need[value] - 1e-9)) - 1, 0)
        accepting[value] = by_size[least] if least <= largest else 0
    for slot in range(len(counts.key)):
        if counts.key[slot] >= 0:
            group, value = counts.key[slot] // counts.values, counts.key[slot] % counts.values
            size = groups.size[group]
            if need[value] <= size + 1 + 1e-9 and not accepts(counts, need, size, group, value):
                accepting[value] -= 1
    return accepting


@njit
def tightest_values(pool: Pool, accepting: IntArray) -> IntArray:
    """Per bucket, the value that fewest groups accept."""
    tightest = np.empty(len(pool.size), dtype=np.int64)
    for b in range(len(pool.size)):
        tightest[b] = pool.values[b, 0]
        for j in range(1, pool.values.shape[1]):
            if accepting[pool.values[b, j]] < accepting[tightest[b]]:
                tightest[b] = pool.values[b, j]
    return tightest


@njit
def join(pool: Pool, groups: Groups, counts: Counts, quasi: Places, b: int, group: int) -> None:
    """Move the last row of the bucket into the group."""
    pool.size[b] -= 1
    row = pool.rows[pool.begin[b] + pool.size[b]]
    stretch(groups, quasi, group, row, False)
    groups.size[group] += 1
    for j in range(pool.values.shape[1]):
        add(counts, group, pool.values[b, j])


@njit
def place_first(
    pool: Pool,
    groups: Groups,
    counts: Counts,
    need: FloatArray,
    quasi: Places,
    b: int,
    found: IntArray,
    fitting: int,
) -> None:
    """Each row goes to the first group, in the order they were formed, that it fits."""
    for i in range(fitting):
        while pool.size[b] > 0 and fits(pool, groups, counts, need, found[i], b):
            join(pool, groups, counts, quasi, b, found[i])


@njit
def place_least_loss(
    pool: Pool,
    groups: Groups,
    counts: Counts,
    need: FloatArray,
    spec: QuasiSpec,
    quasi: Places,
    b: int,
    found: IntArray,
    fitting: int,
    candidates: int,
) -> None:
    """Each row goes, of up to `candidates` groups it fits, to the one whose rows lose least; ties to the smallest."""
    start = 0
    while pool.size[b] > 0 and fitting > 0:
        row = pool.rows[pool.begin[b] + pool.size[b] - 1]
        best, least = -1, np.inf
        for step in range(min(candidates, fitting)):
            i = (start + step) % fitting
            group = found[i]
            cost = widening(groups, spec, quasi, group, row, groups.size[group]) + groups.size[group] * 1e-9
            if cost < least:
                best, least = i, cost
        join(pool, groups, counts, quasi, b, found[best])
        start += candidates
        if not fits(pool, groups, counts, need, found[best], b):
            fitting -= 1
            found[best] = found[fitting]
