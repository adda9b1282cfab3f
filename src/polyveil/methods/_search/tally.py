"""Histograms of a class's sensitive values, and what they are judged by: size, caps, closeness, and all else.

A histogram counts the values of all sensitive attributes and, behind them, the ranges of values that earth mover's
distances add up over: one row in or out changes few of them.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.judge import JudgeSpec, holds
from polyveil.methods._search.space import Counts, Space

ROUNDING = 1e-9
"""How far sums added up in different order may lie apart."""


@njit
def count_row(space: Space, hist: Counts, i: int, sensitive_tuple: int, by: int) -> None:
    """Count a sensitive tuple `by` times more in histogram i: its values, and the ranges around them."""
    for s in range(space.places.shape[1]):
        v = space.places[sensitive_tuple, s]
        hist[i, v] += by
        for x in range(space.covers[v], space.covers[v + 1]):
            hist[i, space.covers[x]] += by


@njit
def count_values(space: Space, hist: Counts, i: int, sensitive_tuple: int, by: int) -> None:
    """Count a sensitive tuple's values only; `count_ranges` then counts the ranges of all rows at once."""
    for s in range(space.places.shape[1]):
        hist[i, space.places[sensitive_tuple, s]] += by


@njit
def count_ranges(space: Space, hist: Counts, i: int) -> None:
    """Count the ranges of histogram i from its values: cheaper than row by row if values have many ranges."""
    if len(space.ranges) == 0:
        return
    upto = np.zeros(space.width + 1, dtype=np.int64)
    for v in range(space.width):
        upto[v + 1] = upto[v] + hist[i, v]
    for r in range(len(space.ranges)):
        hist[i, space.width + r] = upto[space.ranges[r, 1]] - upto[space.ranges[r, 0]]


@njit
def class_holds(space: Space, hist: Counts, i: int, n: int) -> bool:
    """Whether a class of n rows with histogram i holds."""
    if n < space.least:
        return False
    if space.width == 0:
        return True
    for v in range(len(space.caps)):
        if hist[i, v] > space.caps[v] * n:
            return False
    for j in range(len(space.limits)):
        if not is_close(space, hist, i, n, j, -1, 0):
            return False
    return keeps_more(space.other_constraints, hist, i, space.width, n)


@njit
def is_close(space: Space, hist: Counts, i: int, n: int, j: int, value: int, by: int) -> bool:
    """Whether a class of n rows is as close as constraint j asks, with `by` rows of a value more than in histogram i.

    Added up in the judge's order and form, so that both agree to the last digit; ends as soon as the sum is too great.
    """
    most = (space.limits[j] + ROUNDING) * n
    spent = 0.0
    for r in range(space.first_range[j], space.first_range[j + 1]):
        inside = hist[i, space.width + r]
        if space.ranges[r, 0] <= value < space.ranges[r, 1]:
            inside += by
        spent += space.terms[r, 0] * abs(inside - space.terms[r, 1] * n)
        if spent > most:
            return False
    return spent / n <= space.limits[j]


@njit
def distances(space: Space, hist: Counts, i: int, n: int) -> None:
    """The earth mover's distances of histogram i, into the space's room for them.

    Added up in the judge's order and form, so that both agree to the last digit.
    """
    space.spent[:] = 0.0
    for r in range(len(space.ranges)):
        inside = hist[i, space.width + r]
        space.spent[space.ranges[r, 2]] += space.terms[r, 0] * abs(inside - space.terms[r, 1] * n)
    for j in range(len(space.limits)):
        space.spent[j] /= n


@njit
def keeps_more(more: JudgeSpec | None, hist: Counts, i: int, width: int, n: int) -> bool:
    """The constraints other than size, closeness and caps."""
    if more is None:
        return True
    return holds(more, hist[i, :width].astype(np.int64), n)


@njit
def workload(space: Space, hist: Counts, i: int, n: int, work: FloatArray) -> None:
    """The earth mover's distances of histogram i times its rows, into `work[i]`."""
    if len(space.limits) > 0:
        distances(space, hist, i, n)
        for j in range(len(space.limits)):
            work[i, j] = space.spent[j] * n


@njit
def holds_changed(space: Space, hist: Counts, i: int, n: int, work: FloatArray, sensitive_tuple: int, by: int) -> bool:
    """Whether a class of n rows with histogram i holds with one row of a tuple more (`by` = 1) or less (-1).

    `work[i]` is what `workload` found. A row changes the work of a constraint by no more than the distance of its value
    from the whole table; only constraints that this leaves open are counted.
    """
    n += by
    if n < space.least:
        return False
    if space.width == 0:
        return True
    if space.other_constraints is not None or len(space.caps) > 0 or len(space.steps) == 0:
        count_row(space, hist, i, sensitive_tuple, by)
        found = class_holds(space, hist, i, n)
        count_row(space, hist, i, sensitive_tuple, -by)
        return found
    for s in range(space.places.shape[1]):
        v = space.places[sensitive_tuple, s]
        j = space.owners[v]
        if j >= 0 and work[i, j] - space.steps[v] > (space.limits[j] + ROUNDING) * n:
            return False
    for s in range(space.places.shape[1]):
        v = space.places[sensitive_tuple, s]
        j = space.owners[v]
        is_open = j >= 0 and work[i, j] + space.steps[v] > (space.limits[j] - ROUNDING) * n
        if is_open and not is_close(space, hist, i, n, j, v, by):
            return False
    return True


@njit
def holds_exchanged(space: Space, hist: Counts, i: int, n: int, work: FloatArray, gone: int, come: int) -> bool:
    """Whether a class of n rows with histogram i holds with one row of a tuple in place of one of another.

    `work[i]` is what `workload` found. Only ranges with one of the two values in them change; if that leaves a
    distance too near its limit to tell, all is counted.
    """
    if space.other_constraints is None and len(space.caps) == 0:
        for j in range(len(space.limits)):
            space.spent[j] = work[i, j]
        for s in range(space.places.shape[1]):
            old, new = space.places[gone, s], space.places[come, s]
            if old != new and not is_free(space, i, n, work, old, new):
                shift(space, hist, i, n, old, new, -1)
                shift(space, hist, i, n, new, old, 1)
        near = False
        for j in range(len(space.limits)):
            if space.spent[j] > (space.limits[j] + ROUNDING) * n:
                return False
            near |= space.spent[j] > (space.limits[j] - ROUNDING) * n
        if not near:
            return True
    count_row(space, hist, i, gone, -1)
    count_row(space, hist, i, come, 1)
    found = class_holds(space, hist, i, n)
    count_row(space, hist, i, come, -1)
    count_row(space, hist, i, gone, 1)
    return found


@njit
def is_free(space: Space, i: int, n: int, work: FloatArray, old: int, new: int) -> bool:
    """Whether class i surely stays close with one value in place of another, by how far a row changes the work."""
    if len(space.steps) == 0:
        return False
    j = space.owners[old]
    return j < 0 or work[i, j] + space.steps[old] + space.steps[new] < (space.limits[j] - ROUNDING) * n


@njit
def shift(space: Space, hist: Counts, i: int, n: int, value: int, other: int, by: int) -> None:
    """Add to the work spent what `by` rows more cost in the ranges that cover a value and not the other."""
    for x in range(space.covers[value], space.covers[value + 1]):
        r = space.covers[x] - space.width
        if space.ranges[r, 0] <= other < space.ranges[r, 1]:
            if space.nested == 1:
                return
            continue
        over = hist[i, space.width + r] - space.terms[r, 1] * n
        space.spent[space.ranges[r, 2]] += space.terms[r, 0] * (abs(over + by) - abs(over))
