"""Trees over quasi-identifier codes that answer "the nearest unused row" exactly and forget rows as they are used.

A `RowForest` holds one tree per group of rows (a stratum, or everything). Its items are the distinct quasi-identifier
tuples of the group with the rows that have them. How to use it:

    order = tuple_order(table.quasi_tuples.codes, metric)            # once per table
    forest = plant(codes, tuples.of_row, order, group_of_row, groups, metric)
    item = nearest(forest, group, point)        # -1 if the group is used up; also `farthest`, `nearest_few`
    row = take(forest, item)                    # any unused row with that tuple; it is then used

All distinct tuples are first put into one order by cutting the table in two again and again (a k-d order): near tuples
come to stand near each other. Each group's tree is then a heap over blocks of consecutive items, every node with the
box of codes below it and the number of unused rows below it: a node whose rows are used up is skipped, a node whose
box is farther than the best item found so far is skipped too. Both bounds are exact by eq. (2) of wang2018.

Cost: planting O(d n log n); a query visits a few dozen nodes at first and never more than the unused ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.distance import QuasiMetric, least, most, squared, squared_rows

BLOCK = 8
"""Items per leaf of a tree."""


class RowForest(NamedTuple):
    """One tree per group. Node 1 of group t is its root; node v has children 2v and 2v + 1; all at `node_begin[t]`."""

    metric: QuasiMetric
    codes: Codes  # items x attributes
    group: IntArray  # of each item
    row_begin: IntArray  # item i has the rows rows[row_begin[i] : row_begin[i] + unused[i]]
    unused: IntArray
    rows: IntArray
    item_of_row: IntArray
    item_begin: IntArray  # group t has the items item_begin[t] to item_begin[t + 1]
    node_begin: IntArray
    leaves: IntArray  # per group, a power of two
    low: Codes  # nodes x attributes
    high: Codes
    below: IntArray  # unused rows below each node


def tuple_order(codes: IntArray, metric: QuasiMetric) -> IntArray:
    """The place of each distinct tuple in the k-d order."""
    order = _cut_order(np.ascontiguousarray(codes, dtype=np.int32), metric)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


@njit
def _cut_order(codes: Codes, metric: QuasiMetric) -> IntArray:
    """Cut the longest side of the box in the middle of its tuples, then both parts, until a part fits a block."""
    order = np.arange(codes.shape[0])
    begin, end = np.empty(128, dtype=np.int64), np.empty(128, dtype=np.int64)
    begin[0], end[0], waiting = 0, codes.shape[0], 1
    while waiting > 0:
        waiting -= 1
        first, last = begin[waiting], end[waiting]
        if last - first <= BLOCK:
            continue
        side = _longest_side(codes, order[first:last], metric)
        if side < 0:
            continue
        part = order[first:last]
        order[first:last] = part[np.argsort(codes[part, side], kind="mergesort")]
        middle = _clean_cut(codes, order, first, last, side)
        # The smaller part is worked on first, so the stack never grows beyond the logarithm of the tuples.
        if middle - first < last - middle:
            begin[waiting], end[waiting], begin[waiting + 1], end[waiting + 1] = middle, last, first, middle
        else:
            begin[waiting], end[waiting], begin[waiting + 1], end[waiting + 1] = first, middle, middle, last
        waiting += 2
    return order


@njit
def _longest_side(codes: Codes, part: IntArray, metric: QuasiMetric) -> int:
    """The attribute whose ends are farthest apart in this part; -1 if all tuples are equal."""
    best, longest = -1, 0.0
    for a in range(codes.shape[1]):
        low, high = codes[part[0], a], codes[part[0], a]
        for i in part:
            low, high = min(low, codes[i, a]), max(high, codes[i, a])
        length = squared(metric, a, low, high)
        if length > longest:
            best, longest = a, length
    return best


@njit
def _clean_cut(codes: Codes, order: IntArray, first: int, last: int, side: int) -> int:
    """The cut between different codes that is nearest to the middle."""
    left = right = (first + last) // 2
    while left > first and codes[order[left - 1], side] == codes[order[left], side]:
        left -= 1
    while right < last and codes[order[right - 1], side] == codes[order[right], side]:
        right += 1
    if left == first or (right < last and right - (first + last) // 2 < (first + last) // 2 - left):
        return right
    return left


def plant(
    codes: Codes, of_row: IntArray, place: IntArray, group_of_row: IntArray, groups: int, metric: QuasiMetric
) -> RowForest:
    """Trees over the rows of each group.

    `codes` are the rows' quasi-identifier codes, `of_row` the distinct tuple of each row and `place` that tuple's place
    in the k-d order. Rows with a negative group are left out.
    """
    tuples = max(len(place), 1)
    key = group_of_row * tuples + place[of_row]
    rows = np.argsort(key, kind="stable").astype(np.int64)
    rows = rows[np.searchsorted(key[rows], 0) :]
    ordered = key[rows]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1)).astype(np.int64)
    group = ordered[starts] // tuples
    item_begin = np.searchsorted(group, np.arange(groups + 1)).astype(np.int64)
    blocks = np.maximum(-(-np.diff(item_begin) // BLOCK), 1)
    leaves = (2 ** np.ceil(np.log2(blocks))).astype(np.int64)
    node_begin = np.concatenate([[0], np.cumsum(2 * leaves)]).astype(np.int64)
    item_of_row = np.full(len(of_row), -1, dtype=np.int64)
    counts = np.diff(np.append(starts, len(rows)))
    item_of_row[rows] = np.repeat(np.arange(len(starts)), counts)
    forest = RowForest(
        metric=metric,
        codes=np.ascontiguousarray(codes[rows[starts]]),
        group=group,
        row_begin=starts,
        unused=counts.astype(np.int64),
        rows=rows,
        item_of_row=item_of_row,
        item_begin=item_begin,
        node_begin=node_begin,
        leaves=leaves,
        low=np.full((int(node_begin[-1]), codes.shape[1]), np.iinfo(np.int32).max, dtype=np.int32),
        high=np.full((int(node_begin[-1]), codes.shape[1]), -1, dtype=np.int32),
        below=np.zeros(int(node_begin[-1]), dtype=np.int64),
    )
    _fill(forest)
    return forest


@njit
def _fill(forest: RowForest) -> None:
    """Boxes and counts of all nodes, leaves first."""
    attributes = forest.codes.shape[1]
    for t in range(len(forest.leaves)):
        base, leaves = forest.node_begin[t], forest.leaves[t]
        for item in range(forest.item_begin[t], forest.item_begin[t + 1]):
            node = base + leaves + (item - forest.item_begin[t]) // BLOCK
            forest.below[node] += forest.unused[item]
            for a in range(attributes):
                forest.low[node, a] = min(forest.low[node, a], forest.codes[item, a])
                forest.high[node, a] = max(forest.high[node, a], forest.codes[item, a])
        for v in range(leaves - 1, 0, -1):
            node, one, two = base + v, base + 2 * v, base + 2 * v + 1
            forest.below[node] = forest.below[one] + forest.below[two]
            for a in range(attributes):
                forest.low[node, a] = min(forest.low[one, a], forest.low[two, a])
                forest.high[node, a] = max(forest.high[one, a], forest.high[two, a])


@njit
def take(forest: RowForest, item: int) -> int:
    """Use up one row of the item and return it."""
    forest.unused[item] -= 1
    t = forest.group[item]
    v = forest.leaves[t] + (item - forest.item_begin[t]) // BLOCK
    while v > 0:
        forest.below[forest.node_begin[t] + v] -= 1
        v >>= 1
    return forest.rows[forest.row_begin[item] + forest.unused[item]]


@njit
def put_back(forest: RowForest, row: int) -> None:
    """Make a row unused again that `take` gave out; it need not be the last one taken of its item."""
    item = forest.item_of_row[row]
    forest.rows[forest.row_begin[item] + forest.unused[item]] = row
    forest.unused[item] += 1
    t = forest.group[item]
    v = forest.leaves[t] + (item - forest.item_begin[t]) // BLOCK
    while v > 0:
        forest.below[forest.node_begin[t] + v] += 1
        v >>= 1


@njit
def left_over(forest: RowForest, t: int) -> int:
    """How many rows of the group are unused."""
    return forest.below[forest.node_begin[t] + 1]


@njit
def nearest(forest: RowForest, t: int, point: Codes) -> int:
    """The unused item of the group nearest to the point; -1 if all are used. Ties go to the first one met."""
    items, distances = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.float64)
    return items[0] if nearest_few(forest, t, point, items, distances) > 0 else -1


@njit
def nearest_few(forest: RowForest, t: int, point: Codes, items: IntArray, distances: FloatArray) -> int:
    """The unused items nearest to the point, nearest first, as many as fit; returns how many (squared distances)."""
    base, leaves = forest.node_begin[t], forest.leaves[t]
    found = 0
    if forest.below[base + 1] == 0:
        return 0
    stack, bound = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.float64)
    stack[0], bound[0], waiting = 1, 0.0, 1
    while waiting > 0:
        waiting -= 1
        v = stack[waiting]
        if found == len(items) and bound[waiting] >= distances[found - 1]:
            continue
        if v >= leaves:
            found = _search_block(forest, t, v - leaves, point, items, distances, found)
            continue
        one, two = base + 2 * v, base + 2 * v + 1
        first = least(forest.metric, point, forest.low[one], forest.high[one]) if forest.below[one] > 0 else np.inf
        second = least(forest.metric, point, forest.low[two], forest.high[two]) if forest.below[two] > 0 else np.inf
        near, far = (2 * v, 2 * v + 1) if first <= second else (2 * v + 1, 2 * v)
        if max(first, second) < np.inf:
            stack[waiting], bound[waiting] = far, max(first, second)
            waiting += 1
        stack[waiting], bound[waiting] = near, min(first, second)
        waiting += 1
    return found


@njit
def _search_block(
    forest: RowForest, t: int, block: int, point: Codes, items: IntArray, distances: FloatArray, found: int
) -> int:
    first = forest.item_begin[t] + block * BLOCK
    for item in range(first, min(first + BLOCK, forest.item_begin[t + 1])):
        if forest.unused[item] == 0:
            continue
        found = keep_nearest(items, distances, found, item, squared_rows(forest.metric, point, forest.codes[item]))
    return found


@njit
def keep_nearest(items: IntArray, distances: FloatArray, found: int, item: int, distance: float) -> int:
    """Put an item among the `found` nearest, which are sorted, if there is room or it is nearer than the last."""
    if found < len(items):
        found += 1
    elif distance >= distances[found - 1]:
        return found
    i = found - 1
    while i > 0 and distances[i - 1] > distance:
        distances[i], items[i] = distances[i - 1], items[i - 1]
        i -= 1
    distances[i], items[i] = distance, item
    return found


@njit
def farthest(forest: RowForest, t: int, point: Codes) -> int:
    """The unused item of the group farthest from the point; -1 if all are used."""
    base, leaves = forest.node_begin[t], forest.leaves[t]
    best, distance = -1, -1.0
    stack, bound = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.float64)
    stack[0], bound[0], waiting = 1, np.inf, 1
    while waiting > 0:
        waiting -= 1
        v = stack[waiting]
        if bound[waiting] <= distance or forest.below[base + v] == 0:
            continue
        if v >= leaves:
            first = forest.item_begin[t] + (v - leaves) * BLOCK
            for item in range(first, min(first + BLOCK, forest.item_begin[t + 1])):
                away = squared_rows(forest.metric, point, forest.codes[item])
                if forest.unused[item] > 0 and away > distance:
                    best, distance = item, away
            continue
        one, two = base + 2 * v, base + 2 * v + 1
        first_most = most(forest.metric, point, forest.low[one], forest.high[one]) if forest.below[one] > 0 else -1.0
        second_most = most(forest.metric, point, forest.low[two], forest.high[two]) if forest.below[two] > 0 else -1.0
        far, near = (2 * v, 2 * v + 1) if first_most >= second_most else (2 * v + 1, 2 * v)
        stack[waiting], bound[waiting] = near, min(first_most, second_most)
        stack[waiting + 1], bound[waiting + 1] = far, max(first_most, second_most)
        waiting += 2
    return best


def nearest_plainly(forest: RowForest, t: int, point: npt.NDArray[np.int32]) -> float:
    """The plain twin of `nearest`: a scan of the group; gives the squared distance, infinite if all are used."""
    inside = range(int(forest.item_begin[t]), int(forest.item_begin[t + 1]))
    return min(
        (squared_rows(forest.metric, point, forest.codes[item]) for item in inside if forest.unused[item] > 0),
        default=np.inf,
    )
