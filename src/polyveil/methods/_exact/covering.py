"""Choosing classes so that every row is in exactly one, with the least sum of costs: depth first, by reduced costs.

The rows' prices sum up to a bound, and a grouping costs as much more as its classes cost above the prices of their
rows. So each step takes the rows with the fewest classes left around them, cheapest first, and ends where the sum is no
longer below the best.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit


@njit
def fitting(classes: IntArray, left: IntArray, c: int) -> bool:
    """Whether there are units enough for class c."""
    for t in range(len(left)):  # noqa: SIM110 - no generators in kernels
        if classes[c, t] > left[t]:
            return False
    return True


@njit
def fewest(classes: IntArray, some: Codes, number: int, left: IntArray) -> int:
    """The type with units left that is in the fewest of some classes; -1 if there is none left."""
    within = np.zeros(len(left), dtype=np.int64)
    for i in range(number):
        for t in range(len(left)):
            within[t] += classes[some[i], t] > 0
    found = -1
    for t in range(len(left)):
        if left[t] > 0 and (found < 0 or within[t] < within[found]):
            found = t
    return found


@njit
def cover(
    classes: IntArray, reduced: FloatArray, units: IntArray, limit: float, tied: float, most_steps: int
) -> tuple[IntArray, float, int]:
    """The classes whose units sum up to `units`, with the least sum of reduced costs below the limit.

    Classes come by rising reduced cost. A sum less than `tied` below the best is not looked for. Returns the classes
    (none: there is no such sum), the sum, and the steps, which are `most_steps` if it ended early.
    """
    deepest = units.sum() + 1
    some = np.empty((deepest + 1, len(classes)), dtype=np.int32)
    number, at = np.zeros(deepest + 1, dtype=np.int64), np.zeros(deepest + 1, dtype=np.int64)
    wanted, chosen = np.zeros(deepest + 1, dtype=np.int64), np.zeros(deepest + 1, dtype=np.int64)
    best = chosen[:0].copy()
    spent, left = np.zeros(deepest + 1), units.copy()
    some[0], number[0] = np.arange(len(classes)).astype(np.int32), len(classes)
    wanted[0] = fewest(classes, some[0], number[0], left)
    level, steps = 0, 1
    while level >= 0 and steps < most_steps:
        c = -1
        while at[level] < number[level] and c < 0:
            if spent[level] + reduced[some[level, at[level]]] >= limit - tied:
                at[level] = number[level]
            elif classes[some[level, at[level]], wanted[level]] > 0:
                c = some[level, at[level]]
            at[level] += 1
        if c < 0:
            level -= 1
            if level >= 0:
                left += classes[chosen[level]]
            continue
        chosen[level] = c
        left -= classes[c]
        kept, total = 0, spent[level] + reduced[c]
        for i in range(number[level]):
            other = some[level, i]
            if total + reduced[other] >= limit - tied:
                break
            tried = i < at[level] - 1 and classes[other, wanted[level]] > 0
            if not tried and fitting(classes, left, other):
                some[level + 1, kept] = other
                kept += 1
        level += 1
        steps += 1
        number[level], at[level], spent[level] = kept, 0, total
        wanted[level] = fewest(classes, some[level], kept, left)
        if wanted[level] < 0:
            best, limit = chosen[:level].copy(), total
            number[level] = 0
    return best, limit, steps
