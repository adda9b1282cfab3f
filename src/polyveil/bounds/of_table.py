"""The bound of a coded table: of its rows, or of the people whose rows they are."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from polyveil.arrays import IntArray
from polyveil.bounds.costs import points_of
from polyveil.bounds.floors import floors
from polyveil.bounds.mixed import mixing_bound
from polyveil.bounds.nearest import Stop, grow_tree
from polyveil.bounds.needs import needs_of
from polyveil.bounds.prices import Crowd, crowd_bound
from polyveil.bounds.required import Required, required_of
from polyveil.bounds.result import LossBound
from polyveil.measure.boxes import class_boxes
from polyveil.measure.loss import width
from polyveil.models import AnyColumns, Attribute, Model
from polyveil.policy.schema import Privacy
from polyveil.table.coded import CodedTable

ROUNDING = 1e-9
"""Taken off, so that sums of rounded numbers do not exceed the true one."""
FLOORS, MIXING, REST = 0.35, 0.4, 0.05
"""Shares of the seconds: for the values that classes need, for closeness, and twice for columns that it leaves over.
The size of classes has what is left."""
ORDERS = 8
"""Ways to put columns together that are tried if k is about any few of them."""


def bound_of(
    table: CodedTable,
    models: Sequence[Model],
    attributes: Mapping[str, Attribute],
    privacy: Privacy,
    seconds: float,
) -> LossBound:
    """The bound of a coded table under some models, within some seconds."""
    begun = time.perf_counter()
    may_leave_out = int(privacy.suppression_limit * table.rows + 1e-9) > 0
    left_out = privacy.suppression_limit if may_leave_out else 0.0
    required = required_of(models, attributes, in_people=table.person is not None, left_out=left_out)
    any_columns = next((model for model in models if isinstance(model, AnyColumns)), None)
    if any_columns is not None:
        required = Required(int(any_columns.threshold), (), ())
        total = _of_any(table, any_columns.columns, required, may_leave_out, seconds)
    elif table.person is None:
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
    """The least sum over all rows: by size and values of classes, by closeness, or by each in some of the columns."""
    if not table.quasi:
        return 0.0
    begun = time.perf_counter()
    crowd = _crowd_of(table, required, may_leave_out, _clock(FLOORS * seconds))
    floor = crowd.floor[table.quasi_tuples.of_row]
    mixed = mixing_bound(table, required.closeness, floor, MIXING * seconds, may_leave_out=may_leave_out)
    beside = 0.0
    if mixed is not None and len(mixed.columns) < len(table.quasi):
        rest = replace(table, quasi=tuple(column for a, column in enumerate(table.quasi) if a not in mixed.columns))
        beside = _summed(_crowd_of(rest, required, may_leave_out, _clock(REST * seconds)), REST * seconds)
    by_size = _summed(crowd, max(seconds - (time.perf_counter() - begun), 0.0))
    return by_size if mixed is None else max(by_size, mixed.with_floors, mixed.alone + beside)


def _of_any(table: CodedTable, together: int, required: Required, may_leave_out: bool, seconds: float) -> float:
    """If k is about any few columns: rows that are alike in these are classes of k, so blocks of columns add up."""
    number, best = len(table.quasi), 0.0
    orders = 1 if together in (1, number) or together > number else ORDERS
    for order in range(orders):
        columns = np.arange(number) if order == 0 else np.random.default_rng(order).permutation(number)
        blocks = [columns[first : first + together] for first in range(0, number, together)]
        some = [replace(table, quasi=tuple(table.quasi[a] for a in sorted(block))) for block in blocks]
        share = seconds / orders / max(len(blocks), 1)
        best = max(best, sum(_of_rows(block, required, may_leave_out, share) for block in some))
    return best


def _summed(crowd: Crowd, seconds: float) -> float:
    return float(crowd.counts @ crowd_bound(crowd, _clock(seconds)))


def _crowd_of(table: CodedTable, required: Required, may_leave_out: bool, stop: Stop) -> Crowd:
    """The tuples of a table, and what each must lose for the values that a class needs."""
    tuples = table.quasi_tuples
    points = points_of(table.quasi, tuples.codes)
    tree, needs, floor = grow_tree(points), needs_of(table, required.constraints, stop), np.zeros(len(tuples.counts))
    if needs is not None:
        floor = floors(points, tree, tuples.counts, needs, required.size, stop)
    left_out = float(len(table.quasi)) if may_leave_out else np.inf
    return Crowd(points, tree, tuples.counts, required.size, np.minimum(floor, left_out), left_out)


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
    points = points_of(table.quasi, tuples.codes)
    crowd = Crowd(points, grow_tree(points), tuples.counts, required.size, np.zeros(len(tuples.counts)))
    around = crowd_bound(crowd, _clock(seconds), with_prices=False)[tuples.of_row]
    return float(rows @ np.maximum(own, around))
