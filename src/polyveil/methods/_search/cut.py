"""The cheapest beginning: the table cut top-down where all parts hold, the widest attribute first.

All parts hold at any time, so that this can be stopped whenever time is up: its classes are then larger.
After LeFevre et al. 2006, with the judge of the search, and with the cuts of `tree` or those of `mondrian`: now the one
loses less, now the other, and whoever has tried both is never worse than `mondrian`.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.classes import classes_of, total_loss
from polyveil.methods._search.space import (
    KIND,
    NULL,
    ORDERED,
    SET,
    SIZE,
    TREE,
    TURN,
    Flag,
    Rows,
    Space,
    as_int64,
    clear_box,
    copy_values,
    most_codes,
    numbers,
    widen,
    width,
)
from polyveil.methods._search.tally import class_holds, count_ranges, count_values
from polyveil.methods._search.tree import counting_sort, cut_rows


@njit
def cut(space: Space, rows: Rows, smallest: int, at_medians: bool, stop: Flag) -> tuple[Codes, float]:
    """Labels of plain cuts and their total loss."""
    order, labels = numbers(len(rows.tuple_of)), numbers(len(rows.tuple_of))
    number = cut_table(space, rows, order, smallest, at_medians, labels, stop)
    return labels, total_loss(classes_of(space, rows, labels, number))


@njit
def cut_table(
    space: Space, rows: Rows, order: Codes, smallest: int, at_medians: bool, labels: Codes, stop: Flag
) -> int:
    """Cut all rows (`order`, permuted) into classes; `labels[r]` is the class of row r. Returns their number.

    The first parts come first, so that all of the table is about as fine when time is up. Parts of fewer than
    `smallest` rows are not cut. `at_medians` cuts as `mondrian` does.
    """
    n, attributes = len(order), len(space.shape)
    begin, end = np.empty(2 * n + 1, dtype=np.int64), np.empty(2 * n + 1, dtype=np.int64)
    box, words = np.empty((1, 2 * attributes), dtype=np.int32), np.empty((1, space.words), dtype=np.uint64)
    spare, trial = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    bounds = np.empty(most_codes(space) + 2, dtype=np.int64)
    hist = np.zeros((1, space.length), dtype=np.int32)
    cost = np.empty(attributes)
    begin[0], end[0] = 0, n
    part, waiting, classes = 0, 1, 0
    while part < waiting:
        first, last = begin[part], end[part]
        part += 1
        clear_box(space, box, words, 0)
        for i in range(first, last):
            widen(space, rows.codes, order[i], box, words, 0)
        for a in range(attributes):
            if at_medians and space.shape[a, KIND] == SET:
                cost[a] = widen_to_codes(space, rows.codes, order[first:last], a, box)
            else:
                cost[a] = width(space, a, box, words, 0)
        parts = 0
        while parts == 0 and last - first >= max(2 * space.least, smallest) and stop[0] == 0:
            a = 0
            for other in range(1, attributes):
                earlier = at_medians and space.shape[other, TURN] < space.shape[a, TURN]
                if cost[other] > cost[a] or (earlier and cost[other] == cost[a]):
                    a = other
            if cost[a] <= 0.0:
                break
            cost[a] = 0.0
            half = trial[: last - first]
            low, high = as_int64(box[0, a]), as_int64(box[0, attributes + a])
            for below in range(1, -1, -1):
                copy_values(order[first:last], half)
                if at_medians and space.shape[a, KIND] != TREE:
                    middle = (first + last) // 2 - first
                    parts = cut_at_median(space, rows.codes, half, a, low, high, middle, below, spare, bounds)
                elif below:
                    parts = cut_rows(space, rows.codes, half, a, low, high, 0.0, spare, bounds)
                if parts > 1 and parts_hold(space, rows, half, bounds, parts, hist):
                    break
                parts = 0
        if parts == 0:
            for i in range(first, last):
                labels[order[i]] = classes
            classes += 1
            continue
        copy_values(trial[: last - first], order[first:last])
        for p in range(parts):
            begin[waiting], end[waiting] = first + bounds[p], first + bounds[p + 1]
            waiting += 1
    return classes


@njit
def widen_to_codes(space: Space, codes: Codes, order: Codes, a: int, box: Codes) -> float:
    """The share of its codes that an attribute of sets spans in some rows; the box gets the first and the last."""
    low = high = codes[order[0], a]
    for i in range(len(order)):
        low, high = min(low, codes[order[i], a]), max(high, codes[order[i], a])
    box[0, a], box[0, len(space.shape) + a] = low, high
    return (as_int64(high) - as_int64(low)) / max(space.shape[a, SIZE] - 1, 1)


@njit
def cut_at_median(
    space: Space,
    codes: Codes,
    order: Codes,
    a: int,
    low: int,
    high: int,
    middle: int,
    nearer: int,
    spare: Codes,
    bounds: IntArray,
) -> int:
    """Sort some rows into those before and after the value in the `middle`: at its nearer end, or at the other.

    Missing values are cut off first. Fills `bounds`, returns the number of parts.
    """
    count, part_of = np.zeros(high - low + 1, dtype=np.int64), np.zeros(high - low + 1, dtype=np.int64)
    for i in range(len(order)):
        count[codes[order[i], a] - low] += 1
    if space.shape[a, KIND] == ORDERED and high == space.shape[a, NULL]:
        middle = len(order) - 1
    value, before = 0, 0
    while before + count[value] <= middle:
        before += count[value]
        value += 1
    after = before + count[value]
    first_above = value if (middle - before <= after - middle) == (nearer == 1) else value + 1
    for code in range(first_above, high - low + 1):
        part_of[code] = 1
    return counting_sort(codes[:, a], order, low, part_of, 2, spare, bounds)


@njit
def parts_hold(space: Space, rows: Rows, members: Codes, bounds: IntArray, parts: int, hist: Codes) -> bool:
    """Whether all parts of some rows hold; `hist` is room for a histogram."""
    for p in range(parts):
        if bounds[p + 1] - bounds[p] < space.least:
            return False
    if space.width == 0:
        return True
    for p in range(parts):
        for v in range(space.width):
            hist[0, v] = 0
        for i in range(bounds[p], bounds[p + 1]):
            count_values(space, hist, 0, rows.tuple_of[members[i]], 1)
        count_ranges(space, hist, 0)
        if not class_holds(space, hist, 0, bounds[p + 1] - bounds[p]):
            return False
    return True
