"""The cheapest beginning: the table cut top-down where all parts hold, the widest attribute first.

All parts hold at any time, so that this can be stopped whenever time is up: its classes are then larger.
After LeFevre et al. 2006, with the cuts of `tree` and the judge of the search.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.space import SIZE, Flag, Rows, Space, as_int64, clear_box, copy_values, widen, width
from polyveil.methods._search.tally import count_ranges, count_values, keeps
from polyveil.methods._search.tree import cut_rows


@njit
def cut_table(space: Space, rows: Rows, order: Codes, smallest: int, labels: Codes, stop: Flag) -> int:
    """Cut all rows (`order`, permuted) into classes; `labels[r]` is the class of row r. Returns their number.

    The first parts come first, so that all of the table is about as fine when time is up. Parts of fewer than
    `smallest` rows are not cut.
    """
    n, attributes = len(order), len(space.shape)
    begin, end = np.empty(2 * n + 1, dtype=np.int64), np.empty(2 * n + 1, dtype=np.int64)
    box, words = np.empty((1, 2 * attributes), dtype=np.int32), np.empty((1, space.words), dtype=np.uint64)
    spare, trial = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    bounds = np.empty(space.shape[:, SIZE].max() + 2, dtype=np.int64)
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
            cost[a] = width(space, a, box, words, 0)
        parts = 0
        while parts == 0 and last - first >= max(2 * space.least, smallest) and stop[0] == 0:
            a = 0
            for other in range(1, attributes):
                if cost[other] > cost[a]:
                    a = other
            if cost[a] <= 0.0:
                break
            cost[a] = 0.0
            half = trial[: last - first]
            copy_values(order[first:last], half)
            low, high = as_int64(box[0, a]), as_int64(box[0, attributes + a])
            parts = cut_rows(space, rows.codes, half, a, low, high, 0.0, spare, bounds)
            if parts < 2 or not parts_hold(space, rows, half, bounds, parts, hist):
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
        if not keeps(space, hist, 0, bounds[p + 1] - bounds[p]):
            return False
    return True
