"""Taking a few neighbouring classes apart and building them anew: large neighbourhood search (Shaw 1998).

A class with loss is chosen at random, with some of its nearest neighbours. Their rows are pooled and sifted by a random
tree, divided top-down, or grown anew if only sizes are judged. Rows left over are absorbed, and rows then move
between the new classes. A large class is divided alone. The result replaces the old classes if it has less loss - or,
at a temperature above 0, not much more.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.absorb import absorb_all
from polyveil.methods._search.classes import (
    AFTER,
    CLASS,
    EMPTY,
    USED,
    Classes,
    classes_of,
    give_back,
    link,
    new_slot,
    total_loss,
)
from polyveil.methods._search.divide import divide_rows
from polyveil.methods._search.extract import sift_rows
from polyveil.methods._search.moves import Orders, Scratch, make_scratch, most_saved, row_near, try_move
from polyveil.methods._search.regrow import regrow
from polyveil.methods._search.space import (
    Flag,
    Rows,
    Space,
    as_int64,
    copy_box,
    loss_joined,
    numbers,
    shuffle,
    some_rows,
)

CANDIDATES = 48
"""Rows looked at for neighbouring classes."""
TOLERANCE = 1.3
"""A new arrangement is worth polishing if its loss is at most this many times the old."""
POLISHES = 3
DIVIDED = 0.2
"""The share of pools that are divided top-down instead of sifted bottom-up."""
REGROWN = 0.8
"""The share of the other pools that are grown anew if only sizes are judged."""
TRIES = 3
JITTER = 0.5
HASTE = 0.25


@njit
def rebuild(
    space: Space,
    rows: Rows,
    classes: Classes,
    orders: Orders,
    attempts: int,
    temperature: float,
    reach: float,
    most_rows: int,
    most_neighbours: int,
    stop: Flag,
) -> float:
    """Try to rebuild neighbourhoods of up to `most_rows` rows, or to divide large classes; returns the fall in loss."""
    scratch = make_scratch(space)
    chosen = np.empty(most_neighbours + 1, dtype=np.int64)
    gained = 0.0
    for _ in range(attempts):
        if stop[0] != 0:
            break
        seed = poor_class(classes)
        if seed < 0:
            continue
        large = classes.size[seed] > most_rows // 2
        chosen[0], number = seed, 1
        if not large:
            number = neighbourhood(space, rows, classes, orders, seed, reach, most_rows, chosen)
        old, pool = pooled(classes, chosen[:number])
        local = some_rows(rows, pool)
        allowed = old - temperature * np.log(1.0 - np.random.random())  # noqa: NPY002
        labels = np.empty(len(pool), dtype=np.int32)
        order = numbers(len(pool))
        if large or np.random.random() < DIVIDED:  # noqa: NPY002
            listed = np.empty(len(pool), dtype=np.int32)
            found = divide_rows(space, local, order, TRIES, JITTER, HASTE, listed, stop)
            for i in range(len(order)):
                labels[order[i]] = listed[i]
        elif space.width == 0 and np.random.random() < REGROWN:  # noqa: NPY002
            found = regrow(space, local, labels)
        else:
            found = sift_rows(space, local, order, space.least, JITTER, labels, stop)
        if found == 0 or stop[0] != 0:
            continue
        fresh = classes_of(space, local, labels, found)
        if total_loss(fresh) >= allowed * TOLERANCE or absorb_all(space, local, fresh, order, stop) > 0:
            continue
        if total_loss(fresh) >= allowed * TOLERANCE:
            continue
        if not large:
            polish(space, local, fresh, scratch)
        new = total_loss(fresh)
        if new < allowed - 1e-9 and replace(space, classes, chosen[:number], pool, fresh):
            gained += old - new
    return gained


@njit
def poor_class(classes: Classes) -> int:
    """A class with loss, by a random row of it, the greater the loss the likelier; -1: none found soon."""
    for _ in range(1000):
        c = as_int64(classes.member[np.random.randint(len(classes.member)), CLASS])  # noqa: NPY002
        if np.random.random() < classes.loss[c]:  # noqa: NPY002
            return c
    return -1


@njit
def neighbourhood(
    space: Space,
    rows: Rows,
    classes: Classes,
    orders: Orders,
    seed: int,
    reach: float,
    most_rows: int,
    chosen: IntArray,
) -> int:
    """Choose classes near the seed into `chosen`, the seed first; returns how many."""
    near, cost = np.empty(CANDIDATES, dtype=np.int64), np.empty(CANDIDATES, dtype=np.float64)
    found = find_near(space, classes, orders, seed, reach, most_rows, near, cost)
    wanted = 2 + np.random.randint(len(chosen) - 1)  # noqa: NPY002
    chosen[0] = seed
    number, pool = 1, classes.size[seed]
    while found > 0 and number < wanted:
        i = 0
        for other in range(1, found):
            if cost[other] < cost[i]:
                i = other
        c = near[i]
        found -= 1
        near[i], cost[i] = near[found], cost[found]
        if pool + classes.size[c] <= most_rows and np.random.random() < 0.8:  # noqa: NPY002
            chosen[number] = c
            number += 1
            pool += classes.size[c]
    return number


@njit
def find_near(
    space: Space,
    classes: Classes,
    orders: Orders,
    seed: int,
    reach: float,
    most_rows: int,
    near: IntArray,
    cost: FloatArray,
) -> int:
    """Different classes of rows near the seed's members, with what joining them to the seed would cost per row."""
    found = 0
    member = classes.head[seed]
    for _ in range(len(near)):
        if member < 0:
            member = classes.head[seed]
        other = row_near(orders, member, reach)
        member = as_int64(classes.member[member, AFTER])
        if other < 0:
            continue
        c = as_int64(classes.member[other, CLASS])
        if c == seed or classes.size[c] > most_rows // 2:
            continue
        if is_among(near, found, c):
            continue
        joined = loss_joined(space, classes.box, classes.words, seed, c)
        rise = (classes.size[c] + classes.size[seed]) * joined
        rise -= classes.size[c] * classes.loss[c] + classes.size[seed] * classes.loss[seed]
        near[found], cost[found] = c, rise / min(classes.size[c], classes.size[seed])
        found += 1
    return found


@njit
def is_among(values: IntArray, number: int, wanted: int) -> bool:
    """Whether one of the first so many values is the one wanted."""
    found = False
    for i in range(number):
        found |= values[i] == wanted
    return found


@njit
def pooled(classes: Classes, chosen: IntArray) -> tuple[float, Codes]:
    """The loss of some classes, and their rows in random order."""
    size, loss = 0, 0.0
    for c in chosen:
        size += classes.size[c]
        loss += classes.size[c] * classes.loss[c]
    pool = np.empty(size, dtype=np.int32)
    filled = 0
    for c in chosen:
        r = classes.head[c]
        while r >= 0:
            pool[filled] = r
            filled += 1
            r = as_int64(classes.member[r, AFTER])
    shuffle(pool)
    return loss, pool


@njit
def polish(space: Space, rows: Rows, classes: Classes, scratch: Scratch) -> None:
    """Move every row to the class where the loss falls most, a few times; for few classes."""
    for _ in range(POLISHES):
        fell = 0.0
        for r in range(len(classes.member)):
            if classes.loss[classes.member[r, CLASS]] <= 0.0:
                continue
            saved = most_saved(space, rows, classes, r)
            for c in range(classes.spare[USED]):
                if c != classes.member[r, CLASS] and classes.size[c] > 0 and classes.loss[c] < saved:
                    fell += try_move(space, rows, classes, scratch, r, c, -1e-9, True)
        if fell <= 1e-7:
            break


@njit
def replace(space: Space, classes: Classes, chosen: IntArray, pool: Codes, fresh: Classes) -> bool:
    """Put fresh classes, over the rows of the pool, in place of the chosen ones; False if no slots are left."""
    found = fresh.spare[USED]
    needed = found - fresh.spare[EMPTY]
    if needed > len(chosen) + classes.spare[EMPTY] + len(classes.size) - classes.spare[USED]:
        return False
    for i in range(len(chosen)):
        give_back(classes, chosen[i])
    slot = np.full(found, -1, dtype=np.int64)
    for c in range(found):
        if fresh.size[c] > 0:
            s = new_slot(space, classes)
            slot[c] = s
            classes.size[s], classes.loss[s] = fresh.size[c], fresh.loss[c]
            copy_box(space, fresh.box, fresh.words, c, classes.box, classes.words, s)
            for j in range(len(space.limits)):
                classes.work[s, j] = fresh.work[c, j]
            for v in range(space.length):
                classes.hist[s, v] = fresh.hist[c, v]
    for i in range(len(pool)):
        link(classes, slot[fresh.member[i, CLASS]], as_int64(pool[i]))
    return True
