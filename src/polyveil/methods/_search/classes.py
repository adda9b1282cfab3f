"""Classes under change: size, box, histogram and loss of each, and its members as a linked list.

Slots may be empty (size 0); empty slots are kept on a stack so that classes come and go without copying. All statistics
are exact at all times: tests recount them after every kind of change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.space import (
    KIND,
    SET,
    WORD,
    Bits,
    Counts,
    Rows,
    Space,
    as_int64,
    box_loss,
    clear_box,
    copy_box,
    widen,
    width,
)
from polyveil.methods._search.tally import count_ranges, count_row, count_values, workload

CLASS, AFTER, BEFORE = range(3)
"""Columns of `Classes.member`: a row's class, and the rows after and before it in the list of the class (-1: none)."""
USED, EMPTY, STACK = range(3)
"""Places of `Classes.spare`: slots ever used, how many of them are empty, and from STACK on which."""


class Classes(NamedTuple):
    """Slots for classes."""

    member: Codes
    size: IntArray
    head: IntArray  # the first member
    box: Codes
    words: Bits
    hist: Counts
    loss: FloatArray
    work: FloatArray  # earth mover's distances times size
    spare: IntArray


@njit
def empty_classes(space: Space, rows: int, slots: int) -> Classes:
    """No classes yet, and room for `slots`."""
    return Classes(
        np.full((rows, 3), -1, dtype=np.int32),
        np.zeros(slots, dtype=np.int64),
        np.full(slots, -1, dtype=np.int64),
        np.empty((slots, 2 * len(space.shape)), dtype=np.int32),
        np.empty((slots, space.words), dtype=np.uint64),
        np.zeros((slots, space.length), dtype=np.int32),
        np.zeros(slots, dtype=np.float64),
        np.zeros((slots, len(space.limits)), dtype=np.float64),
        np.zeros(slots + STACK, dtype=np.int64),
    )


@njit
def classes_of(space: Space, rows: Rows, labels: Codes, slots: int) -> Classes:
    """Classes from labels 0, 1, ...; rows labelled -1 are in none. `slots` is at least the number of labels."""
    classes = empty_classes(space, len(labels), slots)
    used = 0
    for c in range(slots):
        clear_box(space, classes.box, classes.words, c)
    for r in range(len(labels) - 1, -1, -1):
        c = as_int64(labels[r])
        if c >= 0:
            link(classes, c, r)
            classes.size[c] += 1
            widen(space, rows.codes, r, classes.box, classes.words, c)
            count_values(space, classes.hist, c, rows.tuple_of[r], 1)
            used = max(used, c + 1)
    classes.spare[USED] = used
    for c in range(used):
        if classes.size[c] > 0:
            count_ranges(space, classes.hist, c)
            weigh(space, classes, c)
        else:
            give_back(classes, c)
    return classes


@njit
def new_slot(space: Space, classes: Classes) -> int:
    """An empty slot, its statistics cleared (-1: there is none)."""
    spare = classes.spare
    if spare[EMPTY] > 0:
        spare[EMPTY] -= 1
        c = spare[STACK + spare[EMPTY]]
    elif spare[USED] < len(classes.size):
        spare[USED] += 1
        c = spare[USED] - 1
    else:
        return -1
    clear_box(space, classes.box, classes.words, c)
    for v in range(space.length):
        classes.hist[c, v] = 0
    return c


@njit
def give_back(classes: Classes, c: int) -> None:
    """Put a slot without members on the stack of empty ones."""
    classes.size[c] = 0
    classes.loss[c] = 0.0
    classes.head[c] = -1
    classes.spare[STACK + classes.spare[EMPTY]] = c
    classes.spare[EMPTY] += 1


@njit
def link(classes: Classes, c: int, r: int) -> None:
    """Make r a member of c, first in its list."""
    old = classes.head[c]
    classes.member[r, CLASS] = c
    classes.member[r, AFTER] = old
    classes.member[r, BEFORE] = -1
    if old >= 0:
        classes.member[old, BEFORE] = r
    classes.head[c] = r


@njit
def unlink(classes: Classes, r: int) -> None:
    """Take r out of its class's list."""
    before, after = classes.member[r, BEFORE], classes.member[r, AFTER]
    if before >= 0:
        classes.member[before, AFTER] = after
    else:
        classes.head[classes.member[r, CLASS]] = after
    if after >= 0:
        classes.member[after, BEFORE] = before


@njit
def enter(space: Space, rows: Rows, classes: Classes, c: int, r: int) -> None:
    """Count r in the size, box and histogram of c."""
    classes.size[c] += 1
    widen(space, rows.codes, r, classes.box, classes.words, c)
    count_row(space, classes.hist, c, rows.tuple_of[r], 1)


@njit
def weigh(space: Space, classes: Classes, c: int) -> None:
    """Find the loss and the distances of c anew from its box and histogram."""
    classes.loss[c] = box_loss(space, classes.box, classes.words, c)
    workload(space, classes.hist, c, classes.size[c], classes.work)


@njit
def box_without(space: Space, rows: Rows, classes: Classes, r: int, box: Codes, words: Bits, to: int) -> float:
    """The box of r's class without r, into box `to`; returns its loss.

    Only if r stands at an edge must other members be looked at, and mostly one with the same value is soon found.
    """
    attributes = len(space.shape)
    copy_box(space, classes.box, classes.words, as_int64(classes.member[r, CLASS]), box, words, to)
    total = 0.0
    for a in range(attributes):
        code = rows.codes[r, a]
        cost = width(space, a, box, words, to)
        if space.shape[a, KIND] == SET:
            if cost > 0.0 and not is_shared(rows, classes, r, a):
                words[to, space.shape[a, WORD] + (code >> 6)] &= ~(np.uint64(1) << np.uint64(code & 63))
                cost -= space.cost[a]
        elif cost > 0.0 and code in (box[to, a], box[to, attributes + a]):
            narrow(rows, classes, r, a, box, to)
            cost = width(space, a, box, words, to)
        total += cost
    return total


@njit
def is_shared(rows: Rows, classes: Classes, r: int, a: int) -> bool:
    """Whether another member of r's class has r's value of attribute a."""
    other = classes.head[classes.member[r, CLASS]]
    while other >= 0:
        if other != r and rows.codes[other, a] == rows.codes[r, a]:
            return True
        other = as_int64(classes.member[other, AFTER])
    return False


@njit
def narrow(rows: Rows, classes: Classes, r: int, a: int, box: Codes, to: int) -> None:
    """Narrow attribute a of box `to` to the members of r's class other than r, if none of them has r's value."""
    least, greatest = np.int32(2**31 - 1), np.int32(-1)
    other = classes.head[classes.member[r, CLASS]]
    while other >= 0:
        if other != r:
            code = rows.codes[other, a]
            if code == rows.codes[r, a]:
                return
            least, greatest = min(least, code), max(greatest, code)
        other = as_int64(classes.member[other, AFTER])
    box[to, a], box[to, rows.codes.shape[1] + a] = least, greatest


@njit
def total_loss(classes: Classes) -> float:
    """The loss of all rows together."""
    total = 0.0
    for c in range(classes.spare[USED]):
        total += classes.size[c] * classes.loss[c]
    return total


@njit
def labels_of(classes: Classes) -> Codes:
    """The class of every row."""
    labels = np.empty(len(classes.member), dtype=np.int32)
    for r in range(len(labels)):
        labels[r] = classes.member[r, CLASS]
    return labels
