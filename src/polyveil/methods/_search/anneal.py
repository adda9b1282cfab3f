"""Trying changes at random while a temperature falls (simulated annealing, Kirkpatrick et al. 1983).

A change that raises the loss by d is made with probability exp(-d / temperature): at temperature 0 loss only falls, and
lowering it slowly lets classes leave poor arrangements.
"""

from __future__ import annotations

import numpy as np

from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.classes import AFTER, CLASS, Classes
from polyveil.methods._search.moves import (
    MOST_LIKE,
    Orders,
    Scratch,
    make_scratch,
    place_by_tuple,
    row_near,
    try_exchange,
    try_move,
)
from polyveil.methods._search.nearest import LISTED
from polyveil.methods._search.space import Flag, Rows, Space, as_int64
from polyveil.methods._search.squeeze import squeeze

SQUEEZES, SWAPS = 0.1, 0.27
"""The shares of attempts to empty an edge of a class, and to change places with a row of the same sensitive tuple."""
FETCHES = 0.5
"""Beside a class without loss, the share of attempts to fetch a row from it instead of moving one into it."""
LOOKS = 64
"""Random rows looked at for one with loss."""
TRIED_CHANGES = 64
"""Attempts between two changes of the temperature."""


@njit
def anneal(
    space: Space,
    rows: Rows,
    classes: Classes,
    orders: Orders,
    attempts: int,
    start: float,
    end: float,
    reach: float,
    stop: Flag,
) -> float:
    """Try changes at random while the temperature falls from start to end; returns how much the loss fell.

    `reach` is the mean distance, in places of an order, at which candidates are looked for.
    """
    scratch = make_scratch(space)
    temperature = start
    cooling = (end / start) ** (TRIED_CHANGES / max(attempts, TRIED_CHANGES)) if start > 0.0 else 1.0
    gained = 0.0
    for attempt in range(attempts):
        if attempt % TRIED_CHANGES == 0:
            temperature *= cooling
            if stop[0] != 0:
                break
        r = row_with_loss(classes)
        if r < 0:
            continue
        allowed = -temperature * np.log(1.0 - np.random.random())  # noqa: NPY002
        kind = np.random.random()  # noqa: NPY002
        if kind < SQUEEZES:
            gained += squeeze(space, rows, classes, orders, scratch, r, allowed)
        elif kind < SQUEEZES + SWAPS:
            other = same_tuple_near(rows, classes, orders, r)
            if other >= 0:
                gained += try_exchange(space, rows, classes, scratch, r, other, allowed)
        else:
            other = row_near(orders, r, reach)
            if other >= 0:
                gained += move_or_fetch(space, rows, classes, scratch, r, other, allowed)
    return gained


@njit
def move_or_fetch(
    space: Space, rows: Rows, classes: Classes, scratch: Scratch, r: int, other: int, allowed: float
) -> float:
    """Move r to the class of another row; or that row to r's class, if its own can spare it and loses nothing.

    Rows of classes without loss are never tried otherwise, and one of them may let a poorer row leave r's class, which
    needs no such help if a class may have a single row.
    """
    own, c = as_int64(classes.member[r, CLASS]), as_int64(classes.member[other, CLASS])
    if own == c:
        return 0.0
    can_spare = classes.loss[c] <= 0.0 and classes.size[c] > space.least > 1
    if can_spare and np.random.random() < FETCHES:  # noqa: NPY002
        return try_move(space, rows, classes, scratch, other, own, allowed, False)
    return try_move(space, rows, classes, scratch, r, c, allowed, True)


@njit
def row_with_loss(classes: Classes) -> int:
    """A random row of a class with loss (-1: none found soon)."""
    for _ in range(LOOKS):
        r = np.random.randint(len(classes.member))  # noqa: NPY002
        if classes.loss[classes.member[r, CLASS]] > 0.0:
            return r
    return -1


@njit
def same_tuple_near(rows: Rows, classes: Classes, orders: Orders, r: int) -> int:
    """A row with r's sensitive tuple, of another class, near some member of r's class (-1: none found).

    The rows most like the member are looked at first, if there are any.
    """
    c = classes.member[r, CLASS]
    member = classes.head[c]
    for _ in range(np.random.randint(min(classes.size[c], 16))):  # noqa: NPY002
        member = as_int64(classes.member[member, AFTER])
    s = rows.tuple_of[r]
    if orders.near.shape[0] > 0 and np.random.random() < MOST_LIKE:  # noqa: NPY002
        found = as_int64(orders.near[member, np.random.randint(LISTED)])  # noqa: NPY002
        if found >= 0 and rows.tuple_of[found] == s and classes.member[found, CLASS] != c:
            return found
    k = np.random.randint(orders.rows.shape[0])  # noqa: NPY002
    at = place_by_tuple(orders, k, s, member) + np.random.randint(7) - 3  # noqa: NPY002
    if at < orders.tuple_begin[s] or at >= orders.tuple_begin[s + 1]:
        return -1
    found = as_int64(orders.by_tuple[k, at])
    return -1 if classes.member[found, CLASS] == c else found
