"""The rows most like each row, so that a search looks where classes of little loss are.

In a random order rows next to each other are alike in the attributes that its tree cut by, which is little where there
are many attributes. Of the rows around a row in some orders, those are listed that cost least together with it. Rows
alike in every attribute are listed once, and those like the row itself not at all: they are next to it in any order.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, FloatArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.space import KIND, SET, Flag, Rows, Space, as_int64, cell_loss

LISTED = 16
"""Rows listed for each row."""
WINDOW = 24
"""Places looked at on either side of a row in every order."""


@njit
def nearest_rows(space: Space, rows: Rows, listed: Codes, place: Codes, wanted: bool, stop: Flag) -> Codes:
    """For each row the rows that cost least with it, the cheapest first; -1 behind the last. No lines if not wanted."""
    n = listed.shape[1] if wanted else 0
    near, cost = np.full((n, LISTED), -1, dtype=np.int32), np.empty(LISTED)
    for r in range(n):
        found = 0
        if stop[0] != 0:
            break
        for k in range(listed.shape[0]):
            at = as_int64(place[k, r])
            for i in range(max(at - WINDOW, 0), min(at + WINDOW + 1, n)):
                found = list_if_near(space, rows, r, as_int64(listed[k, i]), near[r], cost, found)
    return near


@njit
def list_if_near(space: Space, rows: Rows, r: int, other: int, near: Codes, cost: FloatArray, found: int) -> int:
    """Put a row among those listed for r if it belongs there; returns how many are listed."""
    most = cost[found - 1] if found == LISTED else np.inf
    loss = pair_loss(space, rows, r, other, most)
    if loss <= 0.0 or loss >= most:
        return found
    at = min(found, LISTED - 1)
    while at > 0 and cost[at - 1] > loss:
        at -= 1
    same = at - 1
    while same >= 0 and cost[same] == loss:
        if are_alike(rows, as_int64(near[same]), other):
            return found
        same -= 1
    found = min(found + 1, LISTED)
    for i in range(found - 1, at, -1):
        near[i], cost[i] = near[i - 1], cost[i - 1]
    near[at], cost[at] = np.int32(other), loss
    return found


@njit
def pair_loss(space: Space, rows: Rows, r: int, other: int, most: float) -> float:
    """What a row costs in a box of two rows; no further than to `most`."""
    total = 0.0
    for a in range(len(space.shape)):
        one, two = rows.codes[r, a], rows.codes[other, a]
        if one != two:
            if space.shape[a, KIND] == SET:
                total += space.cost[a]
            else:
                total += cell_loss(space, a, min(one, two), max(one, two))
            if total >= most:
                break
    return total


@njit
def are_alike(rows: Rows, r: int, other: int) -> bool:
    """Whether two rows are alike in every attribute."""
    alike = True
    for a in range(rows.codes.shape[1]):
        alike &= rows.codes[r, a] == rows.codes[other, a]
    return alike
