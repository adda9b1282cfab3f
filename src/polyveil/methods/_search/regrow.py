"""A few rows put into classes of the least size, for a search where only sizes are judged.

After the greedy k-member clustering of Byun et al. 2007, on the rows of a few classes: with many attributes it arranges
them better than a tree, whose cuts each look at one.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.space import (
    Bits,
    Rows,
    Space,
    as_int64,
    clear_box,
    loss_with,
    numbers,
    widen,
)

FAR = 0.5
"""The share of classes that begin with the row farthest from the last class; the others begin with any."""


@njit
def regrow(space: Space, rows: Rows, labels: Codes) -> int:
    """Label rows anew, -1 if fewer than a class needs are left; returns the number of classes."""
    box, words = np.empty((1, 2 * len(space.shape)), dtype=np.int32), np.empty((1, space.words), dtype=np.uint64)
    free = numbers(len(labels))
    left, found = len(labels), 0
    for r in range(left):
        labels[r] = -1
    while left >= space.least:
        at = np.random.randint(left)  # noqa: NPY002 - kernels have no generators
        if found > 0 and np.random.random() < FAR:  # noqa: NPY002
            at = costliest(space, rows, free, left, box, words)
        left = grow_least(space, rows, free, left, at, box, words)
        for i in range(left, left + space.least):
            labels[free[i]] = found
        found += 1
    return found


@njit
def grow_least(space: Space, rows: Rows, free: Codes, left: int, at: int, box: Codes, words: Bits) -> int:
    """Take the free row at a place, and so many that cost least with those taken that a class holds, to the end.

    Returns how many rows are free then; those taken are behind them.
    """
    clear_box(space, box, words, 0)
    for taken in range(space.least):
        if taken > 0:
            at = cheapest(space, rows, free, left, box, words)
        left -= 1
        free[at], free[left] = free[left], free[at]
        widen(space, rows.codes, as_int64(free[left]), box, words, 0)
    return left


@njit
def cheapest(space: Space, rows: Rows, free: Codes, left: int, box: Codes, words: Bits) -> int:
    """Where the free row is that costs least in the box."""
    least, at = np.inf, 0
    for i in range(left):
        loss = loss_with(space, rows.codes, as_int64(free[i]), box, words, 0)
        if loss < least:
            least, at = loss, i
    return at


@njit
def costliest(space: Space, rows: Rows, free: Codes, left: int, box: Codes, words: Bits) -> int:
    """Where the free row is that costs most in the box."""
    most, at = -1.0, 0
    for i in range(left):
        loss = loss_with(space, rows.codes, as_int64(free[i]), box, words, 0)
        if loss > most:
            most, at = loss, i
    return at
