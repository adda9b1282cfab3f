"""Making a class narrower: all its rows at one edge change places with rows of the same sensitive tuples elsewhere.

A large class costs less only once the last of the rows at an edge has left, so changes of single rows are seldom
rewarded. Here they are made together. Sensitive tuples stay where they are, so every model still holds.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.classes import AFTER, CLASS, Classes
from polyveil.methods._search.moves import Orders, Scratch, place_by_tuple, try_exchange
from polyveil.methods._search.space import KIND, SET, SIZE, Rows, Space, as_int64, cell_loss, loss_with

MOST_LEAVING = 24
"""Rows that leave together, at most."""
LOOKS, NEAR = 3, 4
"""Orders in which a partner is looked for, and how many rows of the tuple on either side of the place."""
ROUNDING = 1e-12
"""How far sums of the same costs may lie apart."""


@njit
def squeeze(
    space: Space, rows: Rows, classes: Classes, orders: Orders, scratch: Scratch, pivot: int, allowed: float
) -> float:
    """Empty an edge of the pivot's class if the loss rises by less than `allowed`; returns the fall in loss.

    The pivot stays. Exchanges that do not lead to that are taken back.
    """
    c, a = as_int64(classes.member[pivot, CLASS]), np.random.randint(len(space.shape))  # noqa: NPY002
    low, high, value, number = narrowed(space, rows, classes, c, a, np.random.randint(2) == 1)  # noqa: NPY002
    if number == 0 or not stays(rows, pivot, a, low, high, value):
        return 0.0
    leaving = rows_leaving(rows, classes, c, a, low, high, value, number)
    partners = np.empty(number, dtype=np.int64)
    fell, done = 0.0, 0
    for r in leaving:
        other = partner(space, rows, classes, orders, r, pivot, a, low, high, value)
        if other < 0:
            break
        partners[done] = other
        fell += try_exchange(space, rows, classes, scratch, r, other, np.inf)
        done += 1
    if done == number and -fell < allowed:
        return fell
    for i in range(done - 1, -1, -1):
        try_exchange(space, rows, classes, scratch, leaving[i], partners[i], np.inf)
    return 0.0


@njit
def stays(rows: Rows, r: int, a: int, low: int, high: int, value: int) -> bool:
    """Whether row r is within the narrower range of attribute a, or does not have the value to be given up."""
    code = rows.codes[r, a]
    return low <= code <= high and code != value


@njit
def narrowed(space: Space, rows: Rows, classes: Classes, c: int, a: int, upper: bool) -> tuple[int, int, int, int]:
    """A cheaper range of attribute a for class c, or for sets the value to give up, and how many rows must leave.

    No rows (0): it cannot be narrowed, or too many would have to leave.
    """
    if space.shape[a, KIND] == SET:
        value, number = rarest(space, rows, classes, c, a)
        return 0, as_int64(space.shape[a, SIZE]), value, number
    low, high = as_int64(classes.box[c, a]), as_int64(classes.box[c, len(space.shape) + a])
    most, number = cell_loss(space, a, low, high) - ROUNDING, 0
    while low < high:
        edge, inner = (high, low) if upper else (low, high)
        r = classes.head[c]
        while r >= 0:
            code = as_int64(rows.codes[r, a])
            if code == edge:
                number += 1
            elif low < code < high:
                inner = max(inner, code) if upper else min(inner, code)
            r = as_int64(classes.member[r, AFTER])
        if number > MOST_LEAVING:
            break
        low, high = (low, inner) if upper else (inner, high)
        if cell_loss(space, a, low, high) < most:
            return low, high, -1, number
    return low, high, -1, 0


@njit
def rarest(space: Space, rows: Rows, classes: Classes, c: int, a: int) -> tuple[int, int]:
    """The value of attribute a that the fewest rows of class c have, and how many (0: too many, or it has no other)."""
    count = np.zeros(space.shape[a, SIZE], dtype=np.int64)
    r = classes.head[c]
    while r >= 0:
        count[rows.codes[r, a]] += 1
        r = as_int64(classes.member[r, AFTER])
    value, number = -1, classes.size[c]
    for v in range(len(count)):
        if 0 < count[v] < number:
            value, number = v, count[v]
    return value, number if value >= 0 and number <= MOST_LEAVING else 0


@njit
def rows_leaving(
    rows: Rows, classes: Classes, c: int, a: int, low: int, high: int, value: int, number: int
) -> IntArray:
    """The rows of class c that do not stay; there are so many."""
    found, listed = np.empty(number, dtype=np.int64), 0
    r = classes.head[c]
    while r >= 0:
        if not stays(rows, r, a, low, high, value):
            found[listed] = r
            listed += 1
        r = as_int64(classes.member[r, AFTER])
    return found


@njit
def partner(
    space: Space,
    rows: Rows,
    classes: Classes,
    orders: Orders,
    r: int,
    pivot: int,
    a: int,
    low: int,
    high: int,
    value: int,
) -> int:
    """A row near the pivot with r's sensitive tuple that fits into the narrower class (-1: none found).

    Of several, one whose class r makes costlier by the least.
    """
    c, s = as_int64(classes.member[r, CLASS]), rows.tuple_of[r]
    best, least = -1, np.inf
    for _ in range(LOOKS):
        k = np.random.randint(orders.place.shape[0])  # noqa: NPY002
        at = place_by_tuple(orders, k, s, pivot)
        for i in range(max(at - NEAR, orders.tuple_begin[s]), min(at + NEAR, orders.tuple_begin[s + 1])):
            other = as_int64(orders.by_tuple[k, i])
            d = as_int64(classes.member[other, CLASS])
            if d == c or not stays(rows, other, a, low, high, value):
                continue
            if loss_with(space, rows.codes, other, classes.box, classes.words, c) > classes.loss[c] + ROUNDING:
                continue
            wider = loss_with(space, rows.codes, r, classes.box, classes.words, d)
            rise = classes.size[d] * (wider - classes.loss[d])
            if rise < least:
                best, least = other, rise
        if least <= 0.0:
            break
    return best
