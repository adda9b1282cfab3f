"""The bound of a coded table: of its rows, or of the people whose rows they are."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from polyveil.arrays import IntArray
from polyveil.bounds.costs import points_of
from polyveil.bounds.prices import Crowd, Stop, crowd_bound
from polyveil.bounds.required import Required, required_of
from polyveil.bounds.result import LossBound
from polyveil.bounds.transport import affordable, transported, values_of
from polyveil.measure.boxes import class_boxes
from polyveil.measure.loss import width
from polyveil.models import Attribute, Model
from polyveil.policy.schema import Privacy
from polyveil.table.coded import CodedTable

ROUNDING = 1e-9
"""Taken off, so that sums of rounded numbers do not exceed the true one."""
SHARE = 0.4
"""Of the seconds, for the size of classes and again for closeness; the rest is for both together."""
LITTLE = 0.03
"""A quasi-identifier that closeness costs less than this share is left to the size of classes."""


def bound_of(
    table: CodedTable,
    models: Sequence[Model],
    attributes: Mapping[str, Attribute],
    privacy: Privacy,
    seconds: float,
) -> LossBound:
    """The bound of a coded table under some models, within some seconds."""
    begun = time.perf_counter()
    required = required_of(models, attributes, in_people=table.person is not None)
    may_leave_out = int(privacy.suppression_limit * table.rows + 1e-9) > 0
    if table.person is None:
        total = _of_rows(table, required, may_leave_out, seconds)
    else:
        total = _of_people(table, table.person, required, seconds)
    value = max(total / max(table.rows, 1) - ROUNDING, 0.0)
    return LossBound(
        information_loss=value,
        normalized_loss=value / max(len(table.quasi), 1),
        least_rows=required.size,
        rows=table.rows,
        seconds=time.perf_counter() - begun,
    )


def _of_rows(table: CodedTable, required: Required, may_leave_out: bool, seconds: float) -> float:
    """The least sum over all rows: by the size of classes, by closeness, or by each in some of the columns."""
    by_size = _by_size(table, required.size, may_leave_out, SHARE * seconds if required.closeness else seconds)
    codes = {column.name: column.codes for column in table.sensitive}
    closeness = affordable(codes, required.closeness)
    if not closeness or not table.quasi:
        return by_size
    values = values_of(codes, closeness)
    moved = transported(table.quasi, values, SHARE * seconds, may_leave_out=may_leave_out)
    heavy = moved.by_column > LITTLE * max(moved.total, by_size)
    rest = replace(table, quasi=tuple(c for c, much in zip(table.quasi, heavy, strict=True) if not much))
    mixed = float(moved.by_column[heavy].sum())
    if heavy.any() and rest.quasi:
        mixed += _by_size(rest, required.size, may_leave_out, (1.0 - 2.0 * SHARE) * seconds)
    return max(by_size, moved.total, mixed)


def _by_size(table: CodedTable, size: int, may_leave_out: bool, seconds: float) -> float:
    """The least sum over all rows, if classes have at least so many of them."""
    tuples = table.quasi_tuples
    left_out = float(len(table.quasi)) if may_leave_out else np.inf
    crowd = Crowd(points_of(table.quasi, tuples.codes), tuples.counts, size, left_out)
    return float(tuples.counts @ crowd_bound(crowd, _clock(seconds)))


def _clock(seconds: float) -> Stop:
    begun = time.perf_counter()
    return lambda: time.perf_counter() - begun > seconds


def _of_people(table: CodedTable, people: IntArray, required: Required, seconds: float) -> float:
    """People with several rows: each loses the box of their own rows, or that around k people's first rows."""
    _, first, person, rows = np.unique(people, return_index=True, return_inverse=True, return_counts=True)
    one_row_each = table.take(first)
    boxes = class_boxes(table, person)
    own = np.zeros(len(first))
    for a, column in enumerate(table.quasi):
        own += width(column.domain, boxes.low[:, a], boxes.high[:, a], boxes.distinct[:, a])
    tuples = one_row_each.quasi_tuples
    crowd = Crowd(points_of(table.quasi, tuples.codes), tuples.counts, required.size)
    around = crowd_bound(crowd, _clock(seconds), with_prices=False)[tuples.of_row]
    return float(rows @ np.maximum(own, around))
