"""Classes grown from seeds: from a row far from the last class, the rows that enlarge it least are added one by one.

After the greedy k-member clustering of Byun et al. 2007, which looks at every row for every row it adds. Here
candidates are the free rows next to the members in some random orders in which near rows are alike, so time grows with
the rows.
In tables of many quasi-identifiers this begins better than a tree, whose cuts each look at one attribute.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, FloatArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.absorb import cost_of_entering
from polyveil.methods._search.classes import CLASS, Classes, empty_classes, give_back, labels_of, link, new_slot, unlink
from polyveil.methods._search.extract import pressure
from polyveil.methods._search.moves import Orders
from polyveil.methods._search.space import Flag, Rows, Space, as_int64, box_loss, loss_with, numbers, widen
from polyveil.methods._search.tally import class_holds, count_ranges, count_row, count_values, workload

WINDOW = 24
"""Free rows looked at on either side of a member in every order."""
POOL = 1024
"""Candidates of a class at a time."""
SEEDS = 32
"""Free rows drawn at random; the one farthest from the last class begins the next."""
LARGEST = 8
"""A class that does not hold at so many times the least size is given up; its rows are left over."""


@njit
def grow(space: Space, rows: Rows, orders: Orders, floor: int, seed: int, stop: Flag) -> Codes:
    """Labels of grown classes, -1 for rows in none."""
    np.random.seed(seed)  # noqa: NPY002 - kernels have no generators
    return labels_of(grow_classes(space, rows, orders, floor, stop))


@njit
def grow_classes(space: Space, rows: Rows, orders: Orders, floor: int, stop: Flag) -> Classes:
    """Classes that hold and have `floor` rows; rows for which none was found are in none."""
    n = len(rows.tuple_of)
    classes = empty_classes(space, n, n // floor + 2)
    free, place = numbers(n), numbers(n)
    left = n
    state = np.zeros(n, dtype=np.int32)  # 0: free, 1: taken or left over
    turn = np.full(n, -1, dtype=np.int32)
    pool = np.empty(POOL, dtype=np.int32)
    push = np.empty(max(space.width, 1))
    number, last = 0, -1
    while left >= floor and stop[0] == 0:
        r = far_row(space, rows, classes, free, left, last)
        c = new_slot(space, classes)
        if c < 0:
            break
        found, holds = 0, False
        while True:
            add_member(space, rows, classes, c, r, floor)
            left = take_free(free, place, state, left, r)
            n_now = classes.size[c]
            holds = n_now >= floor and class_holds(space, classes.hist, c, n_now)
            if holds or n_now >= LARGEST * floor or left == 0:
                break
            found = add_candidates(orders, state, turn, number, r, pool, found)
            chosen = cheapest(space, rows, classes, c, floor, pool, found, push)
            if chosen < 0:
                break
            r, found = as_int64(pool[chosen]), found - 1
            pool[chosen] = pool[found]
        number += 1
        if holds:
            last = c
            workload(space, classes.hist, c, classes.size[c], classes.work)
        else:
            give_up(classes, c)
    return classes


@njit
def add_member(space: Space, rows: Rows, classes: Classes, c: int, r: int, floor: int) -> None:
    """Make r a member of c; ranges of values are counted from the size on at which the class is judged."""
    link(classes, c, r)
    classes.size[c] += 1
    widen(space, rows.codes, r, classes.box, classes.words, c)
    classes.loss[c] = box_loss(space, classes.box, classes.words, c)
    if classes.size[c] > floor:
        count_row(space, classes.hist, c, rows.tuple_of[r], 1)
        return
    count_values(space, classes.hist, c, rows.tuple_of[r], 1)
    if classes.size[c] == floor:
        count_ranges(space, classes.hist, c)


@njit
def far_row(space: Space, rows: Rows, classes: Classes, free: Codes, left: int, last: int) -> int:
    """Of some free rows the one that would make the last class costliest."""
    best, chosen = -1.0, as_int64(free[np.random.randint(left)])  # noqa: NPY002
    if last < 0:
        return chosen
    for _ in range(SEEDS):
        r = as_int64(free[np.random.randint(left)])  # noqa: NPY002
        loss = loss_with(space, rows.codes, r, classes.box, classes.words, last)
        if loss > best:
            best, chosen = loss, r
    return chosen


@njit
def take_free(free: Codes, place: Codes, state: Codes, left: int, r: int) -> int:
    """Take a row from the free ones; returns how many are left."""
    state[r] = 1
    other = free[left - 1]
    free[place[r]] = other
    place[other] = place[r]
    return left - 1


@njit
def add_candidates(orders: Orders, state: Codes, turn: Codes, number: int, r: int, pool: Codes, found: int) -> int:
    """Add the free rows next to a member to the pool, each once a turn; returns how many the pool has."""
    n = orders.rows.shape[1]
    for k in range(orders.rows.shape[0]):
        for step in (-1, 1):
            at, seen = as_int64(orders.place[k, r]) + step, 0
            looked = 0
            while 0 <= at < n and seen < WINDOW and looked < 8 * WINDOW:
                other = orders.rows[k, at]
                looked += 1
                if state[other] == 0:
                    seen += 1
                    if turn[other] != number and found < len(pool):
                        turn[other] = number
                        pool[found] = other
                        found += 1
                at += step
    return found


@njit
def cheapest(
    space: Space,
    rows: Rows,
    classes: Classes,
    c: int,
    floor: int,
    pool: Codes,
    found: int,
    push: FloatArray,
) -> int:
    """Where in the pool the row is that enlarges the class least, or -1; once it has its size, that helps it hold."""
    best, chosen = np.inf, -1
    n = classes.size[c]
    mending = space.width > 0 and n >= floor
    mean = pressure(space, classes.hist, c, n, push) if mending else 0.0
    for i in range(found):
        r = as_int64(pool[i])
        if mending:
            total = -mean
            for s in range(space.places.shape[1]):
                total += push[space.places[rows.tuple_of[r], s]]
            if total >= 0.0:
                continue
        rise = cost_of_entering(space, rows, classes, c, r)
        if rise < best:
            best, chosen = rise, i
    return chosen


@njit
def give_up(classes: Classes, c: int) -> None:
    """Take all rows out of a class and give its slot back."""
    while classes.head[c] >= 0:
        r = as_int64(classes.head[c])
        unlink(classes, r)
        classes.member[r, CLASS] = -1
    give_back(classes, c)
