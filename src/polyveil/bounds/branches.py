"""How a search around a tuple branches: the box grows along one axis after the other.

A number has two axes, below and above the tuple's own; a hierarchy or a set has one. A box with numbers and "missing"
costs 1, whatever its other end: it is told by a reach of 1 along the first axis, which frees the second.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods.kernels import ORDERED, njit


@njit
def count_axes(shape: IntArray) -> int:
    """Axes of all quasi-identifiers."""
    axes = 0
    for a in range(len(shape)):
        axes += 2 if shape[a, 0] == ORDERED else 1
    return axes


@njit
def is_second(shape: IntArray, level: int) -> bool:
    """Whether the axis of this level is the upper one of a number."""
    axis = 0
    for a in range(len(shape)):
        if shape[a, 0] == ORDERED:
            if axis + 1 == level:
                return True
            axis += 2
        else:
            axis += 1
    return False


@njit
def measure_axes(
    shape: IntArray, cost: FloatArray, codes: Codes, r: int, of: Codes, found: int, far: FloatArray
) -> None:
    """Fill `far`, candidates x axes, with how far a box around tuple r must reach for each of the tuples `of`."""
    for i in range(found):
        axis = 0
        for a in range(codes.shape[1]):
            apart = cost[shape[a, 2] + codes[r, a] * shape[a, 1] + codes[of[i], a]]
            if shape[a, 0] == ORDERED:
                above = apart < 1.0 and codes[of[i], a] > codes[r, a]
                far[i, axis], far[i, axis + 1] = (0.0, apart) if above else (apart, 0.0)
                axis += 2
            else:
                far[i, axis] = apart
                axis += 1


@njit
def is_free(shape: IntArray, level: int, reach: FloatArray) -> bool:
    """Whether the axis of a level costs nothing more: that of the level above reaches over the whole number."""
    return level > 0 and is_second(shape, level) and reach[level - 1] >= 1.0


@njit
def next_reach(shape: IntArray, level: int, held: IntArray, alive: Codes, far: FloatArray, reach: FloatArray) -> float:
    """The next reach along the axis of a level beyond the one reached (-1: none yet), infinite if there is none."""
    if reach[level] < 0.0:
        return 0.0
    further = np.inf
    if not is_free(shape, level, reach):
        for i in range(held[level]):
            d = far[alive[level, i], level]
            if d > reach[level] and d < further:
                further = d
    return further


@njit
def within_reach(
    shape: IntArray, level: int, held: IntArray, alive: Codes, rest: FloatArray, far: FloatArray, reach: FloatArray
) -> int:
    """Fill the level below with the candidates up to the reach of a level and what is left of their cost; their number.

    `alive`, levels x candidates, are the candidates of each level, of which the first `held` count, and `rest` is what
    is left of the cost of each.
    """
    free, frees = is_free(shape, level, reach), is_free(shape, level + 1, reach)
    count = 0
    for i in range(held[level]):
        c = alive[level, i]
        d = 0.0 if free else far[c, level]
        if d <= reach[level]:
            alive[level + 1, count] = c
            rest[level + 1, c] = max(rest[level, c] - d - (far[c, level + 1] if frees else 0.0), 0.0)
            count += 1
    return count


@njit
def sort_by(count: int, alive: Codes, rest: FloatArray) -> None:
    """Sort the first candidates by what is left of their cost."""
    for i in range(1, count):
        c = alive[i]
        key, j = rest[c], i
        while j > 0 and rest[alive[j - 1]] > key:
            alive[j] = alive[j - 1]
            j -= 1
        alive[j] = c
