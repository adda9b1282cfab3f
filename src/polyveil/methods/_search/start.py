"""A first partition: the tree's classes, with the rows left over absorbed or, as a last resort, merged."""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.absorb import absorb_all, merge_rest
from polyveil.methods._search.classes import CLASS, classes_of, total_loss
from polyveil.methods._search.divide import divide_rows
from polyveil.methods._search.extract import sift_rows
from polyveil.methods._search.rebuild import HASTE, JITTER, TRIES
from polyveil.methods._search.rounds import Round, improve, no_flag
from polyveil.methods._search.space import Flag, Rows, Space, numbers

LADDER = (5, 10, 20, 40)
"""Least sizes of a class to take out of a pool, besides the one asked for: at tight thresholds larger classes leave
fewer rows over. The steps do not depend on what is asked: whoever asks for less tries all that whoever asks for more
does."""

SMALL = 50_000
"""Up to this many rows all floors are tried."""
PASS = Round(moves_per_row=0, rebuilds_per_class=0, passes=1, scattered=True)
"""Rows move once to where they cost least: the cheapest round."""
DIVIDE = -1
"""Stands for dividing top-down among the floors."""


def floors_for(space: Space) -> IntArray:
    """The least sizes to try."""
    above = [step for step in LADDER if step > space.least] if space.width > 0 else []
    return np.array([space.least, *above], dtype=np.int64)


@njit
def sifted(space: Space, rows: Rows, floor: int, stop: Flag) -> tuple[Codes, float]:
    """Labels of classes of at least `floor` rows (absorbing and merging aside), and their total loss.

    The loss is infinite if there was no time to finish.
    """
    order, labels = numbers(len(rows.tuple_of)), numbers(len(rows.tuple_of))
    found = sift_rows(space, rows, order, floor, 0.0, labels, stop)
    classes = classes_of(space, rows, labels, found + 1)
    if absorb_all(space, rows, classes, order, stop) > 0 and not merge_rest(space, rows, classes, stop):
        return labels, np.inf
    for r in range(len(labels)):
        labels[r] = classes.member[r, CLASS]
    return labels, total_loss(classes)


def best_start(space: Space, rows: Rows, rng: np.random.Generator, stop: Flag | None = None) -> Codes:
    """The labels of least loss among the floors, each after rows have moved once to where they cost least.

    Large tables take a floor that does well everywhere instead of trying all; once `stop` is set no more are tried.
    """
    stop = no_flag() if stop is None else stop
    if len(rows.tuple_of) > SMALL:
        return sifted(space, rows, max(space.least, LADDER[1]) if space.width > 0 else space.least, stop)[0]
    best, least = np.zeros(len(rows.tuple_of), dtype=np.int32), np.inf
    for floor in (*floors_for(space), DIVIDE):
        if least < np.inf and stop[0]:
            break
        seed = int(rng.integers(2**31 - 1))
        is_division = floor == DIVIDE
        labels, loss = divided(space, rows, HASTE, seed, stop) if is_division else sifted(space, rows, int(floor), stop)
        if loss < np.inf:
            labels, loss = improve(space, rows, labels, PASS, np.array([space.least]), rng, stop)
            if loss < least:
                best, least = labels, loss
    return best


@njit
def divided(space: Space, rows: Rows, haste: float, seed: int, stop: Flag) -> tuple[Codes, float]:
    """The whole table divided top-down: better where sensitive values depend so much on the others that nothing holds
    near the leaves. Stopped early, its classes are larger."""
    np.random.seed(seed)  # noqa: NPY002
    n = len(rows.tuple_of)
    members, listed, labels = numbers(n), numbers(n), numbers(n)
    found = divide_rows(space, rows, members, TRIES, JITTER, haste, listed, stop)
    for i in range(len(members)):
        labels[members[i]] = listed[i]
    return labels, total_loss(classes_of(space, rows, labels, found))
