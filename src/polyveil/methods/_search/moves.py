"""Changing single rows between classes: a row moves, or two rows of different classes change places.

Two rows with equal sensitive tuples change no guarantee by changing places; every other change is made only if both
classes still hold, judged from their histograms. Candidates come from the neighbourhood of a row in random orders in
which near rows are alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.absorb import can_enter
from polyveil.methods._search.classes import AFTER, CLASS, USED, Classes, box_without, give_back, link, unlink
from polyveil.methods._search.nearest import LISTED, nearest_rows
from polyveil.methods._search.space import (
    KIND,
    SET,
    Bits,
    Flag,
    Rows,
    Space,
    as_int64,
    cell_loss,
    copy_box,
    copy_values,
    has_value,
    loss_with,
    numbers,
    set_size,
    shuffle,
    widen,
)
from polyveil.methods._search.tally import count_row, holds_changed, holds_exchanged, workload
from polyveil.methods._search.tree import random_order

EXCHANGES = 6
"""Members tried for an exchange if a move alone would break a model."""
MOST_LIKE = 0.5
"""The share of candidates that are drawn from the rows most like a row; the others come from the orders."""
CHEAPEST = 50
"""Classes tried for a row, the cheapest first."""


class Orders(NamedTuple):
    """Random orders of the rows: `rows[k, place]`, `place[k, row]`, and the rows by sensitive tuple and place.

    Also the rows most like each row, if they were looked for.
    """

    rows: Codes
    place: Codes
    by_tuple: Codes
    tuple_begin: IntArray
    near: Codes


class Scratch(NamedTuple):
    """Two boxes to try changes in."""

    box: Codes
    words: Bits


@njit
def make_orders(space: Space, rows: Rows, number: int, jitter: float, with_near: bool, stop: Flag) -> Orders:
    """Some random orders, each from the leaves of a random tree; and on request what is near each row in them."""
    n, tuples = len(rows.tuple_of), space.places.shape[0]
    listed = np.empty((number, n), dtype=np.int32)
    place, by_tuple = np.empty((number, n), dtype=np.int32), np.empty((number, n), dtype=np.int32)
    begin = np.zeros(tuples + 1, dtype=np.int64)
    for r in range(n):
        begin[rows.tuple_of[r] + 1] += 1
    for s in range(tuples):
        begin[s + 1] += begin[s]
    for k in range(number):
        copy_values(random_order(space, rows.codes, jitter, stop), listed[k])
        at = begin.copy()
        for i in range(n):
            r = listed[k, i]
            place[k, r] = i
            by_tuple[k, at[rows.tuple_of[r]]] = r
            at[rows.tuple_of[r]] += 1
    near = nearest_rows(space, rows, listed, place, with_near, stop)
    return Orders(listed, place, by_tuple, begin, near)


@njit
def make_scratch(space: Space) -> Scratch:
    """Room for two boxes."""
    box = np.empty((2, 2 * len(space.shape)), dtype=np.int32)
    return Scratch(box, np.empty((2, space.words), dtype=np.uint64))


@njit
def best_moves(space: Space, rows: Rows, classes: Classes, stop: Flag) -> float:
    """Move every row with loss, in random order, to the class where the loss falls most; returns how much it fell.

    All classes are candidates; most are dismissed by their loss or by one attribute alone.
    """
    scratch = make_scratch(space)
    used = classes.spare[USED]
    near, rise = np.empty(used, dtype=np.int64), np.empty(used, dtype=np.float64)
    fell = 0.0
    turn = numbers(len(rows.tuple_of))
    shuffle(turn)
    for t in range(len(turn)):
        r = as_int64(turn[t])
        own = as_int64(classes.member[r, CLASS])
        if stop[0] != 0:
            break
        if classes.loss[own] <= 0.0 or not can_leave(space, rows, classes, r):
            continue
        n = classes.size[own]
        left = 0.0 if n == 1 else box_without(space, rows, classes, r, scratch.box, scratch.words, 0)
        found = cheaper(space, rows, classes, r, n * classes.loss[own] - (n - 1) * left, near, rise)
        for _ in range(min(found, CHEAPEST)):
            i = 0
            for other in range(1, found):
                if rise[other] < rise[i]:
                    i = other
            fall = try_move(space, rows, classes, scratch, r, near[i], -1e-9, False)
            if fall > 0.0:
                fell += fall
                break
            rise[i] = np.inf
    return fell


@njit
def cheaper(space: Space, rows: Rows, classes: Classes, r: int, saved: float, near: IntArray, rise: FloatArray) -> int:
    """The classes that r would make costlier by less than `saved`, with by how much; returns how many."""
    own = classes.member[r, CLASS]
    found = 0
    attributes = len(space.shape)
    for c in range(classes.spare[USED]):
        if c == own or classes.size[c] == 0 or classes.loss[c] >= saved:
            continue
        n = classes.size[c]
        most = (saved + n * classes.loss[c]) / (n + 1)
        cost = 0.0
        for a in range(attributes):
            if space.shape[a, KIND] != SET:
                code = rows.codes[r, a]
                cost += cell_loss(space, a, min(code, classes.box[c, a]), max(code, classes.box[c, attributes + a]))
                if cost >= most:
                    break
        if cost < most:
            cost = (n + 1) * loss_with(space, rows.codes, r, classes.box, classes.words, c) - n * classes.loss[c]
            if cost < saved:
                near[found], rise[found] = c, cost
                found += 1
    return found


@njit
def random_step(reach: float) -> int:
    """A number of places, either way, small ones likelier."""
    step = int(-reach * np.log(1.0 - np.random.random())) + 1  # noqa: NPY002
    return step if np.random.random() < 0.5 else -step  # noqa: NPY002


@njit
def row_near(orders: Orders, r: int, reach: float) -> int:
    """A row near r: one of those most like it, or one some places away in an order (-1: none found)."""
    if orders.near.shape[0] > 0 and np.random.random() < MOST_LIKE:  # noqa: NPY002
        return as_int64(orders.near[r, np.random.randint(LISTED)])  # noqa: NPY002
    k = np.random.randint(orders.rows.shape[0])  # noqa: NPY002
    place = orders.place[k, r] + random_step(reach)
    return as_int64(orders.rows[k, place]) if 0 <= place < orders.rows.shape[1] else -1


@njit
def place_by_tuple(orders: Orders, k: int, sensitive_tuple: int, row: int) -> int:
    """Where the rows of a sensitive tuple, in order k, come to the place of a row."""
    wanted = orders.place[k, row]
    low, high = orders.tuple_begin[sensitive_tuple], orders.tuple_begin[sensitive_tuple + 1]
    while low < high:
        middle = (low + high) >> 1
        if orders.place[k, orders.by_tuple[k, middle]] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def try_move(
    space: Space, rows: Rows, classes: Classes, scratch: Scratch, r: int, c: int, allowed: float, exchange: bool
) -> float:
    """Move r into class c if the loss rises by less than `allowed` and both classes hold; returns the fall in loss.

    If only a model stands in the way, `exchange` tries some members of c in exchange for r.
    """
    own = as_int64(classes.member[r, CLASS])
    widened = loss_with(space, rows.codes, r, classes.box, classes.words, c)
    rise = (classes.size[c] + 1) * widened - classes.size[c] * classes.loss[c]
    if rise - most_saved(space, rows, classes, r) >= allowed:
        return 0.0
    n = classes.size[own]
    if not (can_leave(space, rows, classes, r) and can_enter(space, rows, classes, c, r)):
        return exchange_with_some(space, rows, classes, scratch, r, c, allowed) if exchange else 0.0
    loss = 0.0 if n == 1 else box_without(space, rows, classes, r, scratch.box, scratch.words, 0)
    rise += (n - 1) * loss - n * classes.loss[own]
    if rise >= allowed:
        return 0.0
    unlink(classes, r)
    link(classes, c, r)
    count_row(space, classes.hist, own, rows.tuple_of[r], -1)
    count_row(space, classes.hist, c, rows.tuple_of[r], 1)
    classes.size[own] -= 1
    classes.size[c] += 1
    copy_box(space, scratch.box, scratch.words, 0, classes.box, classes.words, own)
    widen(space, rows.codes, r, classes.box, classes.words, c)
    classes.loss[own], classes.loss[c] = loss, widened
    workload(space, classes.hist, c, classes.size[c], classes.work)
    if classes.size[own] == 0:
        give_back(classes, own)
    else:
        workload(space, classes.hist, own, classes.size[own], classes.work)
    return -rise


@njit
def can_leave(space: Space, rows: Rows, classes: Classes, r: int) -> bool:
    """Whether r's class would hold without r, or would be gone."""
    c = as_int64(classes.member[r, CLASS])
    if classes.size[c] == 1:
        return True
    return holds_changed(space, classes.hist, c, classes.size[c], classes.work, rows.tuple_of[r], -1)


@njit
def most_saved(space: Space, rows: Rows, classes: Classes, r: int) -> float:
    """No less than what r's class would save without r: all that the attributes cost if r stands at an edge."""
    c = classes.member[r, CLASS]
    total = 0.0
    attributes = len(space.shape)
    for a in range(attributes):
        if space.shape[a, KIND] == SET:
            total += space.cost[a]
        else:
            low, high, code = classes.box[c, a], classes.box[c, attributes + a], rows.codes[r, a]
            if low < high and code in (low, high):
                total += cell_loss(space, a, low, high)
    return classes.loss[c] + (classes.size[c] - 1) * total


@njit
def exchange_with_some(
    space: Space, rows: Rows, classes: Classes, scratch: Scratch, r: int, c: int, allowed: float
) -> float:
    """Try to change places with a few members of c, from a random one on; returns the fall in loss."""
    other = classes.head[c]
    for _ in range(np.random.randint(min(classes.size[c], 8))):  # noqa: NPY002
        other = as_int64(classes.member[other, AFTER])
    for _ in range(EXCHANGES):
        if other < 0:
            break
        following = as_int64(classes.member[other, AFTER])
        fall = try_exchange(space, rows, classes, scratch, r, other, allowed)
        if classes.member[r, CLASS] == c:
            return fall
        other = following
    return 0.0


@njit
def try_exchange(
    space: Space, rows: Rows, classes: Classes, scratch: Scratch, r: int, other: int, allowed: float
) -> float:
    """Let two rows of different classes change places if loss and models allow it; returns the fall in loss."""
    one, two = as_int64(classes.member[r, CLASS]), as_int64(classes.member[other, CLASS])
    bound = classes.size[one] * (least_after(space, rows, classes, r, other) - classes.loss[one])
    bound += classes.size[two] * (least_after(space, rows, classes, other, r) - classes.loss[two])
    if bound >= allowed or not can_exchange(space, rows, classes, r, other):
        return 0.0
    box_without(space, rows, classes, r, scratch.box, scratch.words, 0)
    loss = loss_with(space, rows.codes, other, scratch.box, scratch.words, 0)
    box_without(space, rows, classes, other, scratch.box, scratch.words, 1)
    other_loss = loss_with(space, rows.codes, r, scratch.box, scratch.words, 1)
    rise = classes.size[one] * (loss - classes.loss[one]) + classes.size[two] * (other_loss - classes.loss[two])
    if rise >= allowed:
        return 0.0
    widen(space, rows.codes, other, scratch.box, scratch.words, 0)
    widen(space, rows.codes, r, scratch.box, scratch.words, 1)
    copy_box(space, scratch.box, scratch.words, 0, classes.box, classes.words, one)
    copy_box(space, scratch.box, scratch.words, 1, classes.box, classes.words, two)
    classes.loss[one], classes.loss[two] = loss, other_loss
    swap_counts(space, classes, one, rows.tuple_of[r], rows.tuple_of[other])
    swap_counts(space, classes, two, rows.tuple_of[other], rows.tuple_of[r])
    if rows.tuple_of[r] != rows.tuple_of[other]:
        workload(space, classes.hist, one, classes.size[one], classes.work)
        workload(space, classes.hist, two, classes.size[two], classes.work)
    unlink(classes, r)
    unlink(classes, other)
    link(classes, two, r)
    link(classes, one, other)
    return -rise


@njit
def swap_counts(space: Space, classes: Classes, c: int, gone: int, come: int) -> None:
    """Count one row of a tuple less and one of another more in class c."""
    count_row(space, classes.hist, c, gone, -1)
    count_row(space, classes.hist, c, come, 1)


@njit
def can_exchange(space: Space, rows: Rows, classes: Classes, r: int, other: int) -> bool:
    """Whether both classes would hold after r and other change places."""
    gone, come = rows.tuple_of[r], rows.tuple_of[other]
    if gone == come:
        return True
    one, two = as_int64(classes.member[r, CLASS]), as_int64(classes.member[other, CLASS])
    hist, work = classes.hist, classes.work
    if not holds_exchanged(space, hist, one, classes.size[one], work, gone, come):
        return False
    return holds_exchanged(space, hist, two, classes.size[two], work, come, gone)


@njit
def least_after(space: Space, rows: Rows, classes: Classes, gone: int, come: int) -> float:
    """No more than what the class of `gone` costs with `come` in its place; needs no look at the members."""
    c = as_int64(classes.member[gone, CLASS])
    total = 0.0
    attributes = len(space.shape)
    for a in range(attributes):
        old, new = rows.codes[gone, a], rows.codes[come, a]
        if space.shape[a, KIND] == SET:
            values = set_size(space, a, classes.words, c)
            values += (not has_value(space, a, classes.words, c, new)) - (old != new)
            total += max(values - 1, 0) * space.cost[a]
            continue
        low, high = classes.box[c, a], classes.box[c, attributes + a]
        if old == new or (old != low and old != high):
            total += cell_loss(space, a, min(low, new), max(high, new))
        elif new < low and old != low:
            total += cell_loss(space, a, new, low)
        elif new > high and old != high:
            total += cell_loss(space, a, high, new)
    return total
