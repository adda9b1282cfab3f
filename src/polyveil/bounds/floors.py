"""What a row must lose for the values that its class needs: the least box around it that holds them.

`least_box` searches around each tuple, branch and bound: a box of cost c holds only tuples whose pair with this one
costs up to c, so with the others sorted by that cost, the first ones that together have what a class needs give a
bound. A branch fixes how far the box reaches along one axis (`branches`). A search that runs out of steps counts what
its open branches cost at least: the result is never too great.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.bounds.branches import count_axes, measure_axes, next_reach, sort_by, within_reach
from polyveil.bounds.costs import Points
from polyveil.bounds.nearest import Stop, Tree, nearest_in_chunks
from polyveil.bounds.needs import Needs
from polyveil.methods.kernels import njit

LISTED = 128
"""Nearest tuples that are looked at one by one."""
STEPS = 100
"""Branches of the search around one tuple."""
TIED = 1e-12


@njit
def holding(
    count: int,
    alive: Codes,
    rest: FloatArray,
    of: Codes,
    counts: IntArray,
    k: int,
    stop: float,
    needs: Needs,
    near: FloatArray,
) -> float:
    """What is left of the cost of the first candidates that together hold all needs; infinite if not below `stop`."""
    rows, open_needs = 0, len(needs.size)
    lack = np.empty(len(needs.size))
    near[:] = np.inf
    lack[:] = np.inf
    for i in range(count):
        c = alive[i]
        if rest[c] >= stop:
            return np.inf
        rows += counts[of[c]]
        for n in range(len(needs.size)):
            if lack[n] <= needs.limit[n]:
                continue
            size, first = needs.size[n], needs.first[n]
            for at in range(needs.begin[n, of[c]], needs.begin[n, of[c] + 1]):
                u = needs.value[at]
                if near[first + u] == 0.0:
                    continue
                row = needs.square[n] + u * size
                total = 0.0
                for v in range(size):
                    if needs.far[row + v] < near[first + v]:
                        near[first + v] = needs.far[row + v]
                    total += needs.mass[first + v] * near[first + v]
                lack[n] = total
            if lack[n] <= needs.limit[n]:
                open_needs -= 1
        if open_needs == 0 and rows >= k:
            return float(rest[c])
    return np.inf


@njit
def least_box(
    shape: IntArray,
    cost: FloatArray,
    codes: Codes,
    counts: IntArray,
    needs: Needs,
    listed: Codes,
    beyond: FloatArray,
    k: int,
    steps: int,
    begin: int,
    value: FloatArray,
) -> None:
    """Fill `value`, from tuple `begin` on, with the least cost of a box around it that holds k rows and all needs.

    Candidates are the tuples in `listed` (-1: none), by rising cost; a pair with any other costs at least `beyond`.
    """
    axes, most = count_axes(shape), listed.shape[1] + 1
    of, far = np.empty(most, dtype=np.int32), np.empty((most, axes))
    alive, rest = np.empty((axes + 1, most), dtype=np.int32), np.empty((axes + 1, most))
    held, fixed, reach = np.empty(axes + 1, dtype=np.int64), np.empty(axes + 1), np.empty(axes + 1)
    near = np.empty(len(needs.mass))
    for line in range(len(value)):
        r, found = begin + line, 0
        for i in range(most):
            j = r if i == 0 else listed[line, i - 1]
            if j >= 0:
                total = 0.0
                for a in range(codes.shape[1]):
                    total += cost[shape[a, 2] + codes[r, a] * shape[a, 1] + codes[j, a]]
                of[found], rest[0, found], alive[0, found] = j, total, found
                found += 1
        best, level, visited = beyond[line], 0, 0
        root = holding(found, alive[0], rest[0], of, counts, k, best, needs, near)
        if root >= best:
            value[line] = best
            continue
        measure_axes(shape, cost, codes, r, of, found, far)
        held[0], fixed[0], reach[0] = found, 0.0, -1.0
        while level >= 0:
            further = next_reach(shape, level, held, alive, far, reach)
            if fixed[level] + further >= best - TIED:
                level -= 1
                continue
            reach[level] = further
            kept = within_reach(shape, level, held, alive, rest, far, reach)
            sort_by(kept, alive[level + 1], rest[level + 1])
            spent = fixed[level] + further
            left = holding(kept, alive[level + 1], rest[level + 1], of, counts, k, best - spent - TIED, needs, near)
            if left == np.inf:
                continue
            visited += 1
            if level + 1 == axes or visited > steps:
                best = spent + left
            else:
                level += 1
                held[level], fixed[level], reach[level] = kept, spent, -1.0
            if best <= root + TIED:
                break
        value[line] = best


def floors(points: Points, tree: Tree, counts: IntArray, needs: Needs, k: int, stop: Stop) -> FloatArray:
    """What a row of each tuple loses at least; 0 for the tuples that were not reached before `stop`."""
    count, width = points.codes.shape
    found, wanted = np.zeros(count), min(LISTED, count - 1)
    for first, near in nearest_in_chunks(points, tree, wanted, np.zeros(count), stop):
        beyond = near.costs[:, -1].copy() if wanted < count - 1 else np.full(len(near.costs), float(width))
        some = slice(first, first + len(beyond))
        least_box(*points.costs, points.codes, counts, needs, near.tuples, beyond, k, STEPS, first, found[some])
    return found
