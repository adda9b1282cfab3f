"""Arranging rows into classes: rebuilding neighbourhoods, or beginning in one of several ways.

One kernel, because compiling all that these ways share several times would take several times as long. Plain cuts and
growth share little with them and are kernels of their own (`cut`, `grow`), compiled meanwhile on another core.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.absorb import absorb_all, merge_rest
from polyveil.methods._search.classes import Classes, classes_of, labels_of, total_loss
from polyveil.methods._search.divide import divide_rows
from polyveil.methods._search.extract import sift_rows
from polyveil.methods._search.moves import Orders
from polyveil.methods._search.rebuild import HASTE, JITTER, TRIES, rebuild
from polyveil.methods._search.space import Flag, Rows, Space, numbers

REBUILD, SIFT, DIVIDE, GROW, CUT, MEDIANS = range(6)
"""Rebuild neighbourhoods of given classes; begin with a tree from the leaves up, with the whole table divided top-down,
with classes grown from seeds, or with plain cuts: those of the tree, or at medians."""


@njit
def arrange(
    space: Space,
    rows: Rows,
    labels: Codes,
    orders: Orders,
    way: int,
    attempts: int,
    temperature: float,
    reach: float,
    most_rows: int,
    most_neighbours: int,
    floor: int,
    seed: int,
    stop: Flag,
) -> tuple[Codes, float]:
    """New labels and their total loss, which is infinite if there was no time to finish.

    A rebuild starts from `labels`, and `GROW` completes those of `grow`; the other ways do not look at them. All but a
    rebuild seed the random numbers. `floor` is the least size of a class that `SIFT` takes out of a pool.
    """
    used = 0
    for r in range(len(labels)):
        used = max(used, labels[r] + 1)
    if way == REBUILD:
        classes = classes_of(space, rows, labels, used + min(used + 64, len(labels) // space.least))
        rebuild(space, rows, classes, orders, attempts, temperature, reach, most_rows, most_neighbours, stop)
        return labels_of(classes), total_loss(classes)
    np.random.seed(seed)  # noqa: NPY002 - kernels have no generators
    order, found = numbers(len(rows.tuple_of)), numbers(len(rows.tuple_of))
    if way == DIVIDE:
        listed = numbers(len(order))
        number = divide_rows(space, rows, order, TRIES, JITTER, HASTE, listed, stop)
        for i in range(len(order)):
            found[order[i]] = listed[i]
        return found, total_loss(classes_of(space, rows, found, number))
    if way == SIFT:
        number = sift_rows(space, rows, order, floor, 0.0, found, stop)
        classes = classes_of(space, rows, found, number + 1)
    else:
        classes = classes_of(space, rows, labels, used + 1)
        for i in range(len(order)):
            order[i] = orders.rows[0, i]
    return completed(space, rows, classes, order, stop)


@njit
def completed(space: Space, rows: Rows, classes: Classes, order: Codes, stop: Flag) -> tuple[Codes, float]:
    """The labels and the loss once the rows in no class are absorbed or merged; infinite if that fails."""
    if absorb_all(space, rows, classes, order, stop) > 0 and not merge_rest(space, rows, classes, stop):
        return labels_of(classes), np.inf
    return labels_of(classes), total_loss(classes)
