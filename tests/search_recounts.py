"""Spaces and classes for tests of the search, and their statistics by plain counting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from polyveil.measure import measure_loss
from polyveil.methods._kernels.judge import compile_constraints
from polyveil.methods._search.absorb import absorb_all, merge_rest
from polyveil.methods._search.classes import CLASS, USED, Classes, classes_of, total_loss
from polyveil.methods._search.extract import sift_rows
from polyveil.methods._search.rounds import no_flag
from polyveil.methods._search.space import Rows, Space, make_space
from polyveil.methods._search.tally import (
    class_holds,
)
from polyveil.models import KAnonymity, Model, TCloseness, attributes_of
from polyveil.table.coded import CodedTable


def space_of(table: CodedTable, k: int = 3, t: float | None = 0.4) -> tuple[Space, Rows]:
    models: list[Model] = [KAnonymity(k)]
    if t is not None:
        models += [TCloseness(t, column.name) for column in table.sensitive]
    return make_space(table, compile_constraints(models, attributes_of(table), table))


def recounted(table: CodedTable, space: Space, rows: Rows, classes: Classes) -> None:
    """All statistics of the classes are what counting anew gives, and every class holds."""
    labels = classes.member[:, CLASS]
    fresh = classes_of(space, rows, labels.copy(), len(classes.size))
    for c in range(classes.spare[USED]):
        assert classes.size[c] == fresh.size[c]
        if classes.size[c] > 0:
            assert classes.loss[c] == pytest.approx(fresh.loss[c], abs=1e-12)
            assert (classes.hist[c] == fresh.hist[c]).all()
            assert classes.work[c] == pytest.approx(fresh.work[c], abs=1e-12)
            assert class_holds(space, classes.hist, c, classes.size[c])
    _, numbered = np.unique(labels, return_inverse=True)
    assert total_loss(classes) / table.rows == pytest.approx(measure_loss(table, numbered).information_loss)


def built(table: CodedTable, k: int = 3, t: float | None = 0.4) -> tuple[Space, Rows, Classes]:
    space, rows = space_of(table, k, t)
    order, labels = np.arange(table.rows, dtype=np.int32), np.empty(table.rows, dtype=np.int32)
    found = sift_rows(space, rows, order, k, 0.0, labels, no_flag())
    classes = classes_of(space, rows, labels, 2 * found + 20)
    if absorb_all(space, rows, classes, order, no_flag()) > 0:
        assert merge_rest(space, rows, classes, no_flag())
    return space, rows, classes


def counted(space: Space, tuples: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """One histogram of some sensitive tuples, by plain counting: values, then ranges of values."""
    hist = np.zeros((1, space.length), dtype=np.int32)
    for s in tuples:
        hist[0, space.places[s]] += 1
    for r, (start, stop, _) in enumerate(space.ranges):
        hist[0, space.width + r] = hist[0, start:stop].sum()
    return hist
