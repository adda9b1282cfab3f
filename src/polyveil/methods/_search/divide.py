"""Dividing a class in two along one attribute, and mending both halves until every model holds in each.

The halves start as the two sides of a cut. While one breaks a model, the row whose change of sides helps the most (by
the pressure of `extract`) changes sides, for each sensitive tuple those nearest to the cut first. So a class whose
sensitive values depend on the attribute is divided as unevenly as the models allow, and no more. Where that fails, each
half gets a share of every sensitive tuple's rows, as near to the cut as the models allow (`blend`).
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.extract import pressure
from polyveil.methods._search.space import (
    GAP,
    KIND,
    NULL,
    ORDERED,
    SET,
    SIZE,
    Bits,
    Flag,
    Rows,
    Space,
    as_int64,
    box_loss,
    cell_loss,
    clear_box,
    copy_values,
    widen,
    width,
)
from polyveil.methods._search.tally import class_holds, count_ranges, count_row, count_values, distances

MANY_ROWS = 100
"""Divisions of fewer rows use all the closeness that is left."""
MOST_CHANGES = 300
"""Changes of sides after which a cut that does not hold yet is hardly ever mended."""
STRETCH = 16
"""Numbers sorted by insertion; longer stretches are merged."""
BLENDS = 7
"""Steps of the search between a cut and equal shares."""
ROW_BITS, CODE_BITS, TUPLE_BITS = 23, 18, 22
"""How a sort key is made up; attributes and classes beyond are not divided."""


@njit
def divide_rows(
    space: Space, rows: Rows, members: Codes, tries: int, jitter: float, haste: float, labels: Codes, stop: Flag
) -> int:
    """Divide rows that hold together again and again, as long as loss falls; permutes `members`, returns the classes.

    `labels[i]` is the class of `members[i]`. Each division is the best of some tries at random cuts. Where
    there are many rows it uses no more than `haste` (0 to 1) of the closeness left, so that its halves can be divided
    too, and need not lower the loss by itself.
    """
    n = len(members)
    begin, end = np.empty(n + 2, dtype=np.int64), np.empty(n + 2, dtype=np.int64)
    attributes = len(space.shape)
    box, words = np.empty((1, 2 * attributes), dtype=np.int32), np.empty((1, space.words), dtype=np.uint64)
    trial, best_trial = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    limits = space.limits.copy()
    begin[0], end[0] = 0, n
    waiting, classes = 1, 0
    while waiting > 0:
        waiting -= 1
        first, last = begin[waiting], end[waiting]
        part = members[first:last]
        best, cut_at = len(part) * stretch_loss(space, rows, part, box, words), 0
        best += 1e-9 if len(part) >= MANY_ROWS else -1e-9
        if best > 1e-8 and stop[0] == 0 and len(part) >= 2 * space.least:
            if len(part) >= MANY_ROWS:
                tighten(space, rows, part, limits, haste)
            for _ in range(tries):
                stretch_loss(space, rows, part, box, words)
                a = random_wide(space, box, words, jitter)
                half = trial[: len(part)]
                copy_values(part, half)
                low, high = as_int64(box[0, a]), as_int64(box[0, attributes + a])
                left = divide_once(space, rows, half, a, low, high, stop)
                if left > 0:
                    cost = left * stretch_loss(space, rows, half[:left], box, words)
                    cost += (len(part) - left) * stretch_loss(space, rows, half[left:], box, words)
                    if cost < best:
                        best, cut_at = cost, left
                        copy_values(half, best_trial)
            for j in range(len(limits)):
                space.limits[j] = limits[j]
        if cut_at > 0:
            copy_values(best_trial[: len(part)], part)
            begin[waiting], end[waiting] = first, first + cut_at
            begin[waiting + 1], end[waiting + 1] = first + cut_at, last
            waiting += 2
        else:
            labels[first:last] = classes
            classes += 1
    return classes


@njit
def tighten(space: Space, rows: Rows, members: Codes, limits: FloatArray, haste: float) -> None:
    """Lower the limits of closeness to what some rows have, plus a part of what is left up to the limits asked for."""
    if len(limits) == 0:
        return
    hist = np.zeros((1, space.length), dtype=np.int32)
    for i in range(len(members)):
        count_values(space, hist, 0, rows.tuple_of[members[i]], 1)
    count_ranges(space, hist, 0)
    distances(space, hist, 0, len(members))
    for j in range(len(limits)):
        space.limits[j] = space.spent[j] + haste * (limits[j] - space.spent[j])


@njit
def stretch_loss(space: Space, rows: Rows, members: Codes, box: Codes, words: Bits) -> float:
    """What a row costs in the box of some rows; fills the box."""
    clear_box(space, box, words, 0)
    for i in range(len(members)):
        widen(space, rows.codes, members[i], box, words, 0)
    return box_loss(space, box, words, 0)


@njit
def random_wide(space: Space, box: Codes, words: Bits, jitter: float) -> int:
    """An attribute with values to divide, the wider the likelier."""
    best, chosen = 0.0, 0
    for a in range(len(space.shape)):
        cost = width(space, a, box, words, 0) * np.exp(jitter * np.random.randn())  # noqa: NPY002
        if cost > best:
            best, chosen = cost, a
    return chosen


@njit
def random_cut(space: Space, codes: Codes, members: Codes, a: int, low: int, high: int) -> int:
    """The last code of the lower side; for sets, the one value of the lower side."""
    code = codes[members[np.random.randint(len(members))], a]  # noqa: NPY002
    if space.shape[a, KIND] == SET:
        return code
    if space.shape[a, KIND] == ORDERED:
        if high == space.shape[a, NULL]:
            return high - 1
        for _ in range(2):  # the median of three, twice: near the middle, yet anywhere
            one = codes[members[np.random.randint(len(members))], a]  # noqa: NPY002
            two = codes[members[np.random.randint(len(members))], a]  # noqa: NPY002
            code = max(min(one, code), min(max(one, code), two))
        return min(code, high - 1)
    top, begin = cell_loss(space, a, low, high), space.shape[a, GAP]
    seen, cut = 0, low
    for c in range(low, high):
        if space.cost[begin + c] >= top - 1e-12:
            seen += 1
            if np.random.randint(seen) == 0:  # noqa: NPY002
                cut = c
    return cut


@njit
def divide_once(space: Space, rows: Rows, members: Codes, a: int, low: int, high: int, stop: Flag) -> int:
    """Divide rows along attribute a; permutes `members` so that one half comes first, returns its size or 0."""
    n = len(members)
    if n >= 1 << ROW_BITS or space.shape[a, SIZE] >= 1 << CODE_BITS or space.places.shape[0] >= 1 << TUPLE_BITS:
        return 0
    cut = random_cut(space, rows.codes, members, a, low, high)
    key = np.empty(n, dtype=np.int64)
    for i in range(n):
        code = as_int64(rows.codes[members[i], a])
        if space.shape[a, KIND] == SET:
            code = 0 if code == cut else 1
        tuple_of = as_int64(rows.tuple_of[members[i]])
        key[i] = (tuple_of << (ROW_BITS + CODE_BITS)) | (code << ROW_BITS) | i
    sort_numbers(key)
    last_code = 0 if space.shape[a, KIND] == SET else cut
    begin, tuples = np.empty(n + 1, dtype=np.int64), np.empty(n, dtype=np.int64)
    left = np.zeros(n, dtype=np.int64)
    found = 0
    for i in range(n):
        if i == 0 or key[i] >> (ROW_BITS + CODE_BITS) != tuples[found - 1]:
            begin[found], tuples[found] = i, key[i] >> (ROW_BITS + CODE_BITS)
            found += 1
        left[found - 1] += (key[i] >> ROW_BITS) & ((1 << CODE_BITS) - 1) <= last_code
    begin[found] = n
    cut_left = left[:found].copy()
    begin, tuples = begin[: found + 1], tuples[:found]
    if not (mend(space, tuples, begin, left, stop) or blend(space, tuples, begin, cut_left, left)):
        return 0
    old = members.copy()
    low_end, high_end = 0, total(left[:found])
    for x in range(found):
        for i in range(begin[x], begin[x + 1]):
            r = old[key[i] & ((1 << ROW_BITS) - 1)]
            if i - begin[x] < left[x]:
                members[low_end] = r
                low_end += 1
            else:
                members[high_end] = r
                high_end += 1
    return low_end


@njit
def mend(space: Space, tuples: IntArray, begin: IntArray, left: IntArray, stop: Flag) -> bool:
    """Change how many rows of each tuple are on the left side until both sides hold; False where that fails."""
    found = len(tuples)
    on_left = total(left[:found])
    on_right = begin[found] - on_left
    if on_left == 0 or on_right == 0:
        return False
    hist = np.zeros((2, space.length), dtype=np.int32)
    left_push, right_push = np.zeros(space.width), np.zeros(space.width)
    for x in range(found):
        count_values(space, hist, 0, tuples[x], left[x])
        count_values(space, hist, 1, tuples[x], begin[x + 1] - begin[x] - left[x])
    count_ranges(space, hist, 0)
    count_ranges(space, hist, 1)
    for _ in range(min(begin[found], MOST_CHANGES)):
        if class_holds(space, hist, 0, on_left) and class_holds(space, hist, 1, on_right):
            return True
        if stop[0] != 0:
            return False
        left_mean = pressure(space, hist, 0, on_left, left_push)
        right_mean = pressure(space, hist, 1, on_right, right_push)
        best, chosen, by = 0.0, -1, 0
        for x in range(found):
            gain = pull(space, tuples[x], left_push, left_mean, on_left)
            gain -= pull(space, tuples[x], right_push, right_mean, on_right)
            to_right = gain + (on_right < space.least)
            if left[x] > 0 and on_left > space.least and to_right > best:
                best, chosen, by = to_right, x, -1
            to_left = -gain + (on_left < space.least)
            if left[x] < begin[x + 1] - begin[x] and on_right > space.least and to_left > best:
                best, chosen, by = to_left, x, 1
        if chosen < 0:
            return False
        by *= batch(begin[found], left[chosen] if by < 0 else begin[chosen + 1] - begin[chosen] - left[chosen])
        left[chosen] += by
        on_left += by
        on_right -= by
        count_row(space, hist, 0, tuples[chosen], by)
        count_row(space, hist, 1, tuples[chosen], -by)
    return False


@njit
def blend(space: Space, tuples: IntArray, begin: IntArray, cut_left: IntArray, left: IntArray) -> bool:
    """Of each tuple, between the rows left of the cut and the same share of all: as near the cut as both sides hold.

    With the same share of every tuple both sides are as close as the whole, but for rounding; False where that fails.
    """
    share = total(cut_left) / begin[len(tuples)]
    near, far, step = 0.0, 2.0, 1.0
    kept = np.empty(len(left), dtype=np.int64)
    for _ in range(BLENDS):
        owed = 0.0
        for x in range(len(tuples)):
            owed += cut_left[x] + step * (share * (begin[x + 1] - begin[x]) - cut_left[x])
            left[x] = min(max(int(np.floor(owed + 0.5)), 0), begin[x + 1] - begin[x])
            owed -= left[x]
        if sides_hold(space, tuples, begin, left):
            far = step
            for x in range(len(left)):
                kept[x] = left[x]
        elif step == 1.0:
            return False
        else:
            near = step
        step = (near + far) / 2.0
    for x in range(len(left)):
        left[x] = kept[x]
    return True


@njit
def sides_hold(space: Space, tuples: IntArray, begin: IntArray, left: IntArray) -> bool:
    """Whether both sides hold with so many rows of each tuple on the left."""
    hist = np.zeros((2, space.length), dtype=np.int32)
    on_left = 0
    for x in range(len(tuples)):
        on_left += left[x]
        count_values(space, hist, 0, tuples[x], left[x])
        count_values(space, hist, 1, tuples[x], begin[x + 1] - begin[x] - left[x])
    count_ranges(space, hist, 0)
    count_ranges(space, hist, 1)
    return class_holds(space, hist, 0, on_left) and class_holds(space, hist, 1, begin[len(tuples)] - on_left)


@njit
def total(values: IntArray) -> int:
    """The sum; a loop compiles sooner than `sum`."""
    found = 0
    for i in range(len(values)):
        found += values[i]
    return found


@njit
def sort_numbers(values: IntArray) -> None:
    """Sort in place: short stretches by insertion, then merged two by two; compiles sooner than NumPy's `sort`."""
    n = len(values)
    for first in range(0, n, STRETCH):
        for i in range(first + 1, min(first + STRETCH, n)):
            value, at = values[i], i
            while at > first and values[at - 1] > value:
                values[at] = values[at - 1]
                at -= 1
            values[at] = value
    spare = np.empty(n if n > STRETCH else 0, dtype=np.int64)
    length = STRETCH
    while length < n:
        for first in range(0, n - length, 2 * length):
            merge_stretches(values, first, first + length, min(first + 2 * length, n), spare)
        length *= 2


@njit
def merge_stretches(values: IntArray, first: int, middle: int, last: int, spare: IntArray) -> None:
    """Merge two sorted stretches that lie one behind the other; `spare` is room for the first."""
    if values[middle - 1] <= values[middle]:
        return
    for i in range(first, middle):
        spare[i] = values[i]
    left, right = first, middle
    for at in range(first, last):
        if left == middle:
            return
        if right < last and values[right] < spare[left]:
            values[at] = values[right]
            right += 1
        else:
            values[at] = spare[left]
            left += 1


@njit
def batch(n: int, most: int) -> int:
    """How many rows change sides at a time: one, or more where there are thousands."""
    return max(min(n // 512, most), 1)


@njit
def pull(space: Space, sensitive_tuple: int, push: FloatArray, mean: float, n: int) -> float:
    """How much a side would gain, per row, by losing a row of the tuple."""
    total = -mean
    for s in range(space.places.shape[1]):
        total += push[space.places[sensitive_tuple, s]]
    return total / n
