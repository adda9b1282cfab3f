"""Multidimensional buckets (Definition 13 of xiao2020) and the choice of the next one.

A bucket holds the rows that share all sensitive values. `Pool` is what remains in the buckets while rows are taken out.

The bucket to take from is the one with the highest security level, then the greatest priority - its size (MBF), plus
its greatest capacity (MSDCF) or the sum of its capacities (MMDCF) - then the first by the tie policy, among those not
shielded. Capacities and sizes only shrink, so a stored priority is never too small: the lazy heap re-computes a
priority when it reaches the top, and finds the same bucket as a scan of all of them (`choose_by_scan`, its plain twin).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polyveil.methods.compiled import njit
from polyveil.policy.hierarchy import FloatArray, IntArray

Places = npt.NDArray[np.int32]

MBF, MSDCF, MMDCF = 0, 1, 2
RANDOM, LARGEST_CAPACITY, RAREST_VALUE, CLOSEST_QUASI = 0, 1, 2, 3
_TIE_BITS = 24
_PRIORITY_BITS = 44


class Pool(NamedTuple):
    """Bucket b has the values `values[b]` (places in one numbering of all values) and the rows that remain,
    `rows[begin[b] : begin[b] + size[b]]`. `rank` orders the buckets by the l they need."""

    values: Places
    size: IntArray
    begin: IntArray
    rows: IntArray
    rank: IntArray
    rarity: IntArray  # rows of the whole table that have the bucket's rarest value
    capacity: IntArray  # per value: rows that remain in the buckets of the ranks in play
    limit: IntArray  # per value: how often a group may have it
    used: IntArray  # per value: how often the group has it
    salt: int
    priority: int
    ties: int


class Heap(NamedTuple):
    """A binary max-heap over (key, tie, -bucket); count[0] is its length."""

    key: IntArray
    tie: IntArray
    bucket: IntArray
    count: IntArray


@njit
def key_of(pool: Pool, b: int) -> int:
    """Security level first, then the priority of eqs. (10) to (12) of han2013."""
    found = pool.size[b]
    if pool.priority == MSDCF:
        greatest = np.int64(0)
        for j in range(pool.values.shape[1]):
            greatest = max(greatest, pool.capacity[pool.values[b, j]])
        found += greatest
    elif pool.priority == MMDCF:
        for j in range(pool.values.shape[1]):
            found += pool.capacity[pool.values[b, j]]
    return (pool.rank[b] << _PRIORITY_BITS) + found


@njit
def tie_of(pool: Pool, b: int) -> int:
    """Order among equal keys: the policy's figure, then a random number that changes with every row taken."""
    chance = scramble(b, pool.size[b], pool.salt)
    if pool.ties == LARGEST_CAPACITY:
        total = np.int64(0)
        for j in range(pool.values.shape[1]):
            total += pool.capacity[pool.values[b, j]]
        return (total << _TIE_BITS) + chance
    if pool.ties == RAREST_VALUE:
        return (-pool.rarity[b] << _TIE_BITS) + chance
    return chance


@njit
def scramble(a: int, b: int, salt: int) -> int:
    """24 bits that look random and follow from the three numbers (the finalizer of SplitMix64)."""
    x = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(b) * np.uint64(0xD1342543DE82EF95) + np.uint64(salt)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((x ^ (x >> np.uint64(31))) >> np.uint64(40))


@njit
def shielded(pool: Pool, b: int) -> bool:
    """Whether one more row of the bucket would give the group too many of some value."""
    for j in range(pool.values.shape[1]):
        value = pool.values[b, j]
        if pool.used[value] >= pool.limit[value]:
            return True
    return False


@njit
def take(pool: Pool, b: int, which: int) -> int:
    """Take the `which`-th remaining row out of the bucket into the group; returns the row."""
    last = pool.begin[b] + pool.size[b] - 1
    place = pool.begin[b] + which
    row = pool.rows[place]
    pool.rows[place], pool.rows[last] = pool.rows[last], row
    pool.size[b] -= 1
    for j in range(pool.values.shape[1]):
        pool.capacity[pool.values[b, j]] -= 1
        pool.used[pool.values[b, j]] += 1
    return row


@njit
def choose_by_scan(pool: Pool, top_rank: int) -> int:
    """The plain twin of the heap: look at every bucket, keep the best (-1: all are empty or shielded)."""
    best, best_key, best_tie = -1, np.int64(0), np.int64(0)
    for b in range(len(pool.size)):
        if pool.size[b] == 0 or pool.rank[b] > top_rank or shielded(pool, b):
            continue
        key, tie = key_of(pool, b), tie_of(pool, b)
        if best < 0 or key > best_key or (key == best_key and tie > best_tie):
            best, best_key, best_tie = b, key, tie
    return best


@njit
def choose(pool: Pool, heap: Heap, aside: IntArray, waiting: int) -> tuple[int, int]:
    """Pop the best bucket that is not shielded (-1: none); shielded ones wait in `aside` until the group is done."""
    while heap.count[0] > 0:
        b = heap.bucket[0]
        if pool.size[b] == 0:
            pop(heap)
            continue
        key, tie = key_of(pool, b), tie_of(pool, b)
        if key != heap.key[0] or tie != heap.tie[0]:
            heap.key[0], heap.tie[0] = key, tie
            sink(heap, 0)
            continue
        pop(heap)
        if not shielded(pool, b):
            return b, waiting
        aside[waiting] = b
        waiting += 1
    return -1, waiting


@njit
def above(heap: Heap, i: int, j: int) -> bool:
    """Whether entry i comes before entry j."""
    if heap.key[i] != heap.key[j]:
        return heap.key[i] > heap.key[j]
    if heap.tie[i] != heap.tie[j]:
        return heap.tie[i] > heap.tie[j]
    return heap.bucket[i] < heap.bucket[j]


@njit
def swap(heap: Heap, i: int, j: int) -> None:
    heap.key[i], heap.key[j] = heap.key[j], heap.key[i]
    heap.tie[i], heap.tie[j] = heap.tie[j], heap.tie[i]
    heap.bucket[i], heap.bucket[j] = heap.bucket[j], heap.bucket[i]


@njit
def sink(heap: Heap, i: int) -> None:
    """Move an entry down to its place."""
    count = heap.count[0]
    while True:
        child = 2 * i + 1
        if child >= count:
            return
        if child + 1 < count and above(heap, child + 1, child):
            child += 1
        if not above(heap, child, i):
            return
        swap(heap, i, child)
        i = child


@njit
def pop(heap: Heap) -> None:
    """Remove the top entry."""
    heap.count[0] -= 1
    if heap.count[0] > 0:
        swap(heap, 0, heap.count[0])
        sink(heap, 0)


@njit
def push(pool: Pool, heap: Heap, b: int) -> None:
    """Put a bucket in with its present key."""
    i = heap.count[0]
    heap.key[i], heap.tie[i], heap.bucket[i] = key_of(pool, b), tie_of(pool, b), b
    heap.count[0] += 1
    while i > 0 and above(heap, i, (i - 1) // 2):
        swap(heap, i, (i - 1) // 2)
        i = (i - 1) // 2


@njit
def fill(pool: Pool, heap: Heap, top_rank: int, values: int) -> None:
    """Start over with the buckets of the ranks up to `top_rank`: their capacities and their heap."""
    pool.capacity[:values] = 0
    heap.count[0] = 0
    for b in range(len(pool.size)):
        if pool.rank[b] <= top_rank:
            for j in range(pool.values.shape[1]):
                pool.capacity[pool.values[b, j]] += pool.size[b]
    for b in range(len(pool.size)):
        if pool.rank[b] <= top_rank and pool.size[b] > 0:
            push(pool, heap, b)


@njit
def set_limits(pool: Pool, need: FloatArray, group_size: int) -> None:
    """Shielding is judged against the finished size: value v may appear floor(size / need(v)) times."""
    for value in range(len(need)):
        pool.limit[value] = np.int64(np.floor(group_size / need[value] + 1e-9))
