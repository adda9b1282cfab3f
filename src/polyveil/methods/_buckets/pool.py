"""Multidimensional buckets (Definition 13 of xiao2020) and the choice of the next one.

A bucket holds the rows that share all sensitive values. `Pool` is what remains in the buckets while rows are taken out.

The bucket to take from is the one with the highest security level, then the greatest priority - its size (MBF), plus
its greatest capacity (MSDCF) or the sum of its capacities (MMDCF) - then the first by the tie policy, among those not
shielded. Capacities and sizes only shrink, so a stored priority is never too small: the lazy heaps re-compute a
priority when it is met at the top, and find the same bucket as a scan of all (`choose_by_scan`, the plain twin).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import FloatArray, IntArray, Places
from polyveil.methods._kernels.compiled import njit

MBF, MSDCF, MMDCF, SCARCEST = 0, 1, 2, 3
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
    need: FloatArray  # per value: its l
    salt: int
    priority: int
    ties: int


class BucketForest(NamedTuple):
    """Binary max-heaps over (key, tie, -bucket), one for each combination of values of the most concentrated
    attributes, so that a shielded value hides whole heaps at one look. Heap t holds the buckets with the values
    `root[t]` in begin[t] .. begin[t + 1]; spent ones have key -1."""

    key: IntArray
    tie: IntArray
    bucket: IntArray
    root: Places
    begin: IntArray
    stack: IntArray


@njit
def key_of(pool: Pool, b: int) -> int:
    """Security level first, then the priority of eqs. (10) to (12) of han2013.

    `SCARCEST` is ours: the values first whose rows need the most others beside them, whatever their level.
    """
    found = pool.size[b]
    if pool.priority == SCARCEST:
        for j in range(pool.values.shape[1]):
            found += np.int64(pool.capacity[pool.values[b, j]] * pool.need[pool.values[b, j]])
        return found
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
        total = 0
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
    return int((x ^ (x >> np.uint64(31))) >> np.uint64(40))


@njit
def shielded(pool: Pool, b: int) -> bool:
    """Whether one more row of the bucket would give the group too many of some value."""
    return one_is_full(pool, pool.values[b])


@njit
def one_is_full(pool: Pool, values: Places) -> bool:
    """Whether the group has as many rows of one of the values as it may."""
    for value in values:  # noqa: SIM110 - compiled
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
    best, best_key, best_tie = -1, 0, 0
    for b in range(len(pool.size)):
        if pool.size[b] == 0 or pool.rank[b] > top_rank or shielded(pool, b):
            continue
        key, tie = key_of(pool, b), tie_of(pool, b)
        if best < 0 or key > best_key or (key == best_key and tie > best_tie):
            best, best_key, best_tie = b, key, tie
    return best


@njit
def choose(pool: Pool, forest: BucketForest) -> int:
    """The best bucket that is not shielded (-1: none), found in the heaps of the values that are not shielded."""
    best = -1
    for tree in range(len(forest.root)):
        if not one_is_full(pool, forest.root[tree]):  # a value that all its buckets share
            best = best_of_tree(pool, forest, forest.begin[tree], forest.begin[tree + 1], best)
    return int(forest.bucket[best]) if best >= 0 else -1


@njit
def best_of_tree(pool: Pool, forest: BucketForest, first: int, stop: int, best: int) -> int:
    """Walk one heap from the top, below shielded buckets only and as long as it can beat `best` (an entry, or -1)."""
    stack = forest.stack
    stack[0], depth = first, 1
    while depth > 0:
        depth -= 1
        i = stack[depth]
        while forest.key[i] >= 0 and (best < 0 or above(forest, i, best)):
            if not is_current(pool, forest, i):
                sink(forest, i, first, stop)  # another bucket stands here now
                continue
            if not shielded(pool, forest.bucket[i]):
                best = i
            else:
                depth = push_children(forest, i, first, stop, depth)
            break
    return best


@njit
def is_current(pool: Pool, forest: BucketForest, i: int) -> bool:
    """Whether an entry's stored key is still true; if not, it is now."""
    b = forest.bucket[i]
    if pool.size[b] == 0:
        forest.key[i] = -1
        return False
    key, tie = key_of(pool, b), tie_of(pool, b)
    if key == forest.key[i] and tie == forest.tie[i]:
        return True
    forest.key[i], forest.tie[i] = key, tie
    return False


@njit
def push_children(forest: BucketForest, i: int, first: int, stop: int, depth: int) -> int:
    """Put the entries below i on the stack, the better one on top."""
    left = 2 * (i - first) + 1 + first
    if left >= stop:
        return depth
    if left + 1 >= stop:
        forest.stack[depth] = left
        return depth + 1
    better, worse = (left, left + 1) if above(forest, left, left + 1) else (left + 1, left)
    forest.stack[depth], forest.stack[depth + 1] = worse, better
    return depth + 2


@njit
def collect_tied(pool: Pool, forest: BucketForest, key: int, tied: IntArray) -> int:
    """All buckets, up to the room in `tied`, that are not shielded and have this key."""
    found = 0
    for tree in range(len(forest.root)):
        first, stop = forest.begin[tree], forest.begin[tree + 1]
        if one_is_full(pool, forest.root[tree]):
            continue
        forest.stack[0], depth = first, 1
        while depth > 0 and found < len(tied):
            depth -= 1
            i = forest.stack[depth]
            while forest.key[i] >= key:
                if not is_current(pool, forest, i):
                    sink(forest, i, first, stop)
                    continue
                if not shielded(pool, forest.bucket[i]):
                    tied[found] = forest.bucket[i]
                    found += 1
                depth = push_children(forest, i, first, stop, depth)
                break
    return found


@njit
def above(forest: BucketForest, i: int, j: int) -> bool:
    """Whether entry i comes before entry j."""
    if forest.key[i] != forest.key[j]:
        return forest.key[i] > forest.key[j]
    if forest.tie[i] != forest.tie[j]:
        return forest.tie[i] > forest.tie[j]
    return forest.bucket[i] < forest.bucket[j]


@njit
def sink(forest: BucketForest, i: int, first: int, stop: int) -> None:
    """Move an entry down to its place in the heap that lies in first..stop."""
    while True:
        child = 2 * (i - first) + 1 + first
        if child >= stop:
            return
        if child + 1 < stop and above(forest, child + 1, child):
            child += 1
        if not above(forest, child, i):
            return
        forest.key[i], forest.key[child] = forest.key[child], forest.key[i]
        forest.tie[i], forest.tie[child] = forest.tie[child], forest.tie[i]
        forest.bucket[i], forest.bucket[child] = forest.bucket[child], forest.bucket[i]
        i = child


@njit
def fill(pool: Pool, forest: BucketForest, top_rank: int) -> None:
    """Start over with the buckets of the ranks up to `top_rank`: their capacities and their heaps."""
    pool.capacity[:] = 0
    for b in range(len(pool.size)):
        if pool.rank[b] <= top_rank:
            for j in range(pool.values.shape[1]):
                pool.capacity[pool.values[b, j]] += pool.size[b]
    for i in range(len(forest.bucket)):
        b = forest.bucket[i]
        in_play = pool.rank[b] <= top_rank and pool.size[b] > 0
        forest.key[i] = key_of(pool, b) if in_play else -1
        forest.tie[i] = tie_of(pool, b)
    for tree in range(len(forest.root)):
        first, stop = forest.begin[tree], forest.begin[tree + 1]
        for i in range((first + stop) // 2, first - 1, -1):
            sink(forest, i, first, stop)


@njit
def set_limits(pool: Pool, need: FloatArray, group_size: int) -> None:
    """Shielding is judged against the finished size: value v may appear floor(size / need(v)) times."""
    for value in range(len(need)):
        pool.limit[value] = np.int64(np.floor(group_size / need[value] + 1e-9))
