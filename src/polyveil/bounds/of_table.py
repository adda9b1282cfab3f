"""The bound of a coded table: of its rows, or of the people whose rows they are."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from polyveil.arrays import IntArray
from polyveil.bounds.costs import points_of
from polyveil.bounds.prices import Crowd, Stop, crowd_bound
from polyveil.bounds.required import Required, required_of
from polyveil.bounds.result import LossBound
from polyveil.measure.boxes import class_boxes
from polyveil.measure.loss import width
from polyveil.models import Attribute, Model
from polyveil.policy.schema import Privacy
from polyveil.table.coded import CodedTable

ROUNDING = 1e-9
"""Taken off, so that sums of rounded numbers do not exceed the true one."""


def bound_of(
    table: CodedTable,
    models: Sequence[Model],
    attributes: Mapping[str, Attribute],
    privacy: Privacy,
    seconds: float,
) -> LossBound:
    """The bound of a coded table under some models, within some seconds."""
    begun = time.perf_counter()

    def stop() -> bool:
        return time.perf_counter() - begun > seconds

    required = required_of(models, attributes, in_people=table.person is not None)
    may_leave_out = int(privacy.suppression_limit * table.rows + 1e-9) > 0
    if table.person is None:
        total = _of_rows(table, required, may_leave_out, stop)
    else:
        total = _of_people(table, table.person, required, stop)
    value = max(total / max(table.rows, 1) - ROUNDING, 0.0)
    return LossBound(
        information_loss=value,
        normalized_loss=value / max(len(table.quasi), 1),
        least_rows=required.size,
        rows=table.rows,
        seconds=time.perf_counter() - begun,
    )


def _of_rows(table: CodedTable, required: Required, may_leave_out: bool, stop: Stop) -> float:
    """The least sum over all rows."""
    tuples = table.quasi_tuples
    left_out = float(len(table.quasi)) if may_leave_out else np.inf
    crowd = Crowd(points_of(table.quasi, tuples.codes), tuples.counts, required.size, left_out)
    return float(tuples.counts @ crowd_bound(crowd, stop))


def _of_people(table: CodedTable, people: IntArray, required: Required, stop: Stop) -> float:
    """People with several rows: each loses the box of their own rows, or that around k people's first rows."""
    _, first, person, rows = np.unique(people, return_index=True, return_inverse=True, return_counts=True)
    one_row_each = table.take(first)
    boxes = class_boxes(table, person)
    own = np.zeros(len(first))
    for a, column in enumerate(table.quasi):
        own += width(column.domain, boxes.low[:, a], boxes.high[:, a], boxes.distinct[:, a])
    tuples = one_row_each.quasi_tuples
    crowd = Crowd(points_of(table.quasi, tuples.codes), tuples.counts, required.size)
    around = crowd_bound(crowd, stop, with_prices=False)[tuples.of_row]
    return float(rows @ np.maximum(own, around))
