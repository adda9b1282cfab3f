"""Exact transport: send whole rows from cells to bins of given sizes at the least total cost.

Successive shortest paths over the bins: every cell first goes to its cheapest bin, then rows are pushed along the
cheapest chain of moves from a bin that is too full to one that has room. Each push keeps the assignment the cheapest
for the sizes it has, so the last one is the cheapest of all. A cell may be shared between bins. Every push moves at
least one row to where there is room, so there is an end to them also where costs are equal but for rounding.

Cost: a push compares pairs of bins up to the nearest with room and touches the cells of the bins on its path; there
are about as many pushes as cells.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit


def transport(cost: FloatArray, mass: IntArray, room: IntArray) -> IntArray:
    """The rows of each cell that go to each bin (bins x cells), for costs bins x cells and equal sums of rows."""
    if mass.sum() != room.sum():
        raise ValueError("the cells and the bins must have the same number of rows")
    flow = np.zeros(cost.shape, dtype=np.int64)
    flow[np.argmin(cost, axis=0), np.arange(len(mass))] = mass
    _level(np.ascontiguousarray(cost), flow, room.astype(np.int64))
    return flow


@njit
def _level(cost: FloatArray, flow: IntArray, room: IntArray) -> None:
    bins = len(room)
    over = np.empty(bins, dtype=np.int64)
    step, mover = np.empty((bins, bins)), np.empty((bins, bins), dtype=np.int64)
    for i in range(bins):
        over[i] = flow[i].sum() - room[i]
        _cheapest_moves(cost, flow, i, step, mover)
    length, before = np.empty(bins), np.empty(bins, dtype=np.int64)
    level = np.zeros(bins)
    while over.max() > 0:
        end = _shortest(step, over, level, length, before)
        amount, i = -over[end], end
        while before[i] >= 0:
            amount = min(amount, flow[before[i], mover[before[i], i]])
            i = before[i]
        amount = min(amount, over[i])
        over[i] -= amount
        over[end] += amount
        i = end
        while before[i] >= 0:
            cell = mover[before[i], i]
            flow[before[i], cell] -= amount
            flow[i, cell] += amount
            i = before[i]
        i = end
        while i >= 0:
            _cheapest_moves(cost, flow, i, step, mover)
            i = before[i]


@njit
def _cheapest_moves(cost: FloatArray, flow: IntArray, i: int, step: FloatArray, mover: IntArray) -> None:
    """For bin i, the cell whose move to each other bin costs least."""
    step[i, :] = np.inf
    for cell in range(flow.shape[1]):
        if flow[i, cell] > 0:
            for other in range(len(step)):
                price = cost[other, cell] - cost[i, cell]
                if price < step[i, other]:
                    step[i, other], mover[i, other] = price, cell
    step[i, i] = np.inf


@njit
def _shortest(step: FloatArray, over: IntArray, level: FloatArray, length: FloatArray, before: IntArray) -> int:
    """The bin with room that the cheapest chain from the bins that are too full leads to; fills the way back.

    Dijkstra's algorithm on the steps, which may be negative, seen from levels that make none of them so: a bin's level
    is how far it was from the full ones so far. Raises the levels for the next chain.
    """
    bins = len(over)
    done = np.zeros(bins, dtype=np.bool_)
    for i in range(bins):
        length[i], before[i] = (0.0 if over[i] > 0 else np.inf), -1
    while True:
        i = -1
        for other in range(bins):
            if not done[other] and (i < 0 or length[other] < length[i]):
                i = other
        done[i] = True
        if over[i] < 0:
            break
        for other in range(bins):
            reached = length[i] + max(step[i, other] + level[i] - level[other], 0.0)
            if not done[other] and reached < length[other]:
                length[other], before[other] = reached, i
    for other in range(bins):
        level[other] += min(length[other], length[i])
    return i
