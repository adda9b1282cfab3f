"""The loss of every row, from its labels alone, and the greatest there is."""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, FloatArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.space import KIND, SET, SIZE, Rows, Space, as_int64, box_loss, clear_box, widen


def losses(space: Space, rows: Rows, labels: Codes) -> FloatArray:
    """The loss of every row."""
    return losses_of_rows(space, rows, labels, int(labels.max()) + 1)


def greatest_loss(space: Space) -> float:
    """The loss of a row whose every quasi-identifier says nothing."""
    values = np.where(space.shape[:, KIND] == SET, np.maximum(space.shape[:, SIZE] - 1, 1), 1)
    return float(space.cost[: len(values)] @ values)


@njit
def losses_of_rows(space: Space, rows: Rows, labels: Codes, number: int) -> FloatArray:
    """The loss of every row in classes numbered from 0."""
    box = np.empty((number, 2 * len(space.shape)), dtype=np.int32)
    words = np.empty((number, space.words), dtype=np.uint64)
    for c in range(number):
        clear_box(space, box, words, c)
    for r in range(len(labels)):
        widen(space, rows.codes, r, box, words, as_int64(labels[r]))
    loss = np.empty(number)
    for c in range(number):
        loss[c] = box_loss(space, box, words, c)
    found = np.empty(len(labels))
    for r in range(len(labels)):
        found[r] = loss[labels[r]]
    return found
