"""Rows in no class: into the class they enlarge least and that still holds, or merged with classes until it does."""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.classes import (
    AFTER,
    CLASS,
    USED,
    Classes,
    enter,
    give_back,
    link,
    new_slot,
    unlink,
    weigh,
)
from polyveil.methods._search.space import Flag, Rows, Space, as_int64, loss_joined, loss_with
from polyveil.methods._search.tally import class_holds, holds_changed

WINDOW = 256
"""Classes of rows within this many places of a row are tried first; then twice as many, and so on."""


@njit
def can_enter(space: Space, rows: Rows, classes: Classes, c: int, r: int) -> bool:
    """Whether class c would hold with row r."""
    return holds_changed(space, classes.hist, c, classes.size[c], classes.work, rows.tuple_of[r], 1)


@njit
def cost_of_entering(space: Space, rows: Rows, classes: Classes, c: int, r: int) -> float:
    """How much the total loss rises by r in class c."""
    widened = loss_with(space, rows.codes, r, classes.box, classes.words, c)
    return (classes.size[c] + 1) * widened - classes.size[c] * classes.loss[c]


@njit
def put_in(space: Space, rows: Rows, classes: Classes, c: int, r: int) -> None:
    """Make r, which is in no class, a member of c."""
    link(classes, c, r)
    enter(space, rows, classes, c, r)
    weigh(space, classes, c)


@njit
def absorb_all(space: Space, rows: Rows, classes: Classes, order: Codes, stop: Flag) -> int:
    """Absorb every row that is in no class, again and again while any finds a place; returns how many do not.

    `order` lists rows so that near ones are alike; candidates come from around a row's place in it.
    """
    loose = np.empty(len(order), dtype=np.int32)
    left = 0
    for place in range(len(order)):
        if classes.member[order[place], CLASS] < 0:
            loose[left] = place
            left += 1
    seen = np.full(len(classes.size), -1, dtype=np.int32)
    found_one, turn = True, 0
    while left > 0 and found_one:
        found_one = False
        still = 0
        for i in range(left):
            c = best_class(space, rows, classes, order, as_int64(loose[i]), seen, turn)
            turn += 1
            if stop[0] != 0:
                return left
            if c >= 0:
                put_in(space, rows, classes, c, as_int64(order[loose[i]]))
                found_one = True
            else:
                loose[still] = loose[i]
                still += 1
        left = still
    return left


@njit
def best_class(space: Space, rows: Rows, classes: Classes, order: Codes, place: int, seen: Codes, turn: int) -> int:
    """The class that the row at a place of the order enlarges least and that can take it; -1 if none can.

    The window of candidates grows until one is found, or all classes are fewer than the rows of a larger one;
    `seen[c] == turn` marks classes already tried.
    """
    r = as_int64(order[place])
    used = as_int64(classes.spare[USED])
    reach, done = WINDOW, 0
    while True:
        best, chosen = np.inf, -1
        first, last = max(place - reach, 0), min(place + reach + 1, len(order))
        everywhere = last - first > used or last - first == len(order)
        for i in range(used if everywhere else last - first):
            if not everywhere and abs(first + i - place) < done:
                continue
            c = i if everywhere else as_int64(classes.member[order[first + i], CLASS])
            if c < 0 or classes.size[c] == 0 or seen[c] == turn:
                continue
            seen[c] = turn
            cost = cost_of_entering(space, rows, classes, c, r)
            if cost < best and can_enter(space, rows, classes, c, r):
                best, chosen = cost, c
        if chosen >= 0 or everywhere:
            return chosen
        done, reach = reach + 1, 4 * reach


@njit
def merge_rest(space: Space, rows: Rows, classes: Classes, stop: Flag) -> bool:
    """Make the rows in no class one class and join the class nearest to it until it holds; False: never."""
    if stop[0] != 0:
        return False
    slot = -1
    for r in range(len(classes.member)):
        if classes.member[r, CLASS] < 0:
            if slot < 0:
                slot = new_slot(space, classes)
            link(classes, slot, r)
            enter(space, rows, classes, slot, r)
    if slot >= 0:
        weigh(space, classes, slot)
    while slot >= 0 and not class_holds(space, classes.hist, slot, classes.size[slot]):
        nearest = nearest_class(space, classes, slot)
        if nearest < 0 or stop[0] != 0:
            return False
        join(space, rows, classes, slot, nearest)
    return True


@njit
def nearest_class(space: Space, classes: Classes, c: int) -> int:
    """The class whose union with c costs least (-1: there is no other)."""
    best, nearest = np.inf, -1
    for other in range(classes.spare[USED]):
        if other != c and classes.size[other] > 0:
            joined = loss_joined(space, classes.box, classes.words, c, other)
            both = classes.size[c] + classes.size[other]
            cost = both * joined - classes.size[other] * classes.loss[other]
            if cost < best:
                best, nearest = cost, other
    return nearest


@njit
def join(space: Space, rows: Rows, classes: Classes, c: int, other: int) -> None:
    """Move all members of `other` into c."""
    r = classes.head[other]
    while r >= 0:
        following = as_int64(classes.member[r, AFTER])
        unlink(classes, r)
        link(classes, c, r)
        enter(space, rows, classes, c, r)
        r = following
    weigh(space, classes, c)
    give_back(classes, other)
