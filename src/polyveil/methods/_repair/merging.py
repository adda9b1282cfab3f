"""Merging classes that fail a judgement with near ones until none does.

A failing class joins, of the few other classes that cost least to join, the cheapest whose union holds, else the
cheapest. In a round every class takes part in one merge at most, so classes grow evenly. Near classes are looked for
among the neighbours in a few random projections of their middles; each round costs about F times 240 cell losses for
F failing classes, and a judgement of their unions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.measure import Boxes, class_boxes
from polyveil.measure.loss import width
from polyveil.partition import partition_of
from polyveil.table.coded import CodedTable

Failing = Callable[[IntArray, IntArray], BoolArray]
"""Which classes fail, given rows and the class of each, numbered from 0 without gaps; a row may be in several."""

PROJECTIONS = 5
REACH = 24
"""Neighbours looked at on either side in each projection."""
TRIED = 4
"""Unions judged for every failing class."""
AT_ONCE = 2_000
"""Failing classes whose candidates are weighed at once."""


def merge_failing(table: CodedTable, class_of_row: IntArray, failing: Failing) -> IntArray:
    """Classes none of which fails, or one class; negative rows (left out) stay so."""
    labels = class_of_row.copy()
    rng = np.random.default_rng(0)
    kept = np.flatnonzero(labels >= 0)
    fails = failing(kept, labels[kept])
    while fails.any() and len(fails) > 1:
        into, fails = _round(table, labels, fails, failing, rng)
        labels = np.where(labels >= 0, into[labels], -1)
    return partition_of(labels).class_of_row


def _round(
    table: CodedTable, labels: IntArray, fails: BoolArray, failing: Failing, rng: np.random.Generator
) -> tuple[IntArray, BoolArray]:
    """The new number of every class after one round of merges, and which of the new classes fail."""
    boxes = class_boxes(table, labels)
    rows = np.argsort(labels, kind="stable")[int(np.count_nonzero(labels < 0)) :]
    begin = np.append(0, np.cumsum(boxes.sizes))
    ones = np.flatnonzero(fails)
    others, cost = candidates(table, boxes, ones, rng)
    bad = _unions_fail(rows, begin, ones, others, failing)
    choice = np.argmin(np.where(np.isfinite(cost), cost, np.inf) + np.where(bad, 1e12, 0.0), axis=1)
    at = np.arange(len(ones))
    partner, price, fails_still = others[at, choice], cost[at, choice], bad[at, choice]
    leader = np.arange(len(fails))
    result = fails.copy()
    used = np.zeros(len(fails), dtype=bool)
    for i in np.lexsort((price, fails_still)):
        one, other = int(ones[i]), int(partner[i])
        if used[one] or used[other]:
            continue
        used[[one, other]] = True
        leader[other] = one
        result[one] = fails_still[i]
    left = leader == np.arange(len(fails))
    number = np.cumsum(left) - 1
    return number[leader], result[left]


def candidates(
    table: CodedTable, boxes: Boxes, ones: IntArray, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """For each failing class the few others that cost least to join, and what that costs; at least one is real."""
    scale = np.array([max(column.domain.size - 1, 1) / column.weight for column in table.quasi])
    middle = (boxes.low + boxes.high) / 2.0 / scale if len(scale) else np.zeros((boxes.classes, 1))
    shifts = np.append(np.arange(-REACH, 0), np.arange(1, REACH + 1))
    found = []
    for _ in range(PROJECTIONS):
        order = np.argsort(middle @ rng.normal(size=middle.shape[1]), kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        found.append(order[(place[ones, None] + shifts) % len(order)])
    near = np.sort(np.concatenate(found, axis=1), axis=1)
    repeated = np.zeros(near.shape, dtype=bool)
    repeated[:, 1:] = near[:, 1:] == near[:, :-1]
    own = _loss(table, boxes.low, boxes.high, boxes.distinct)
    cost = np.concatenate(
        [_rise(table, boxes, own, ones[i : i + AT_ONCE], near[i : i + AT_ONCE]) for i in range(0, len(ones), AT_ONCE)]
    )
    cost[repeated | (near == ones[:, None])] = np.inf
    best = np.argsort(cost, axis=1, kind="stable")[:, :TRIED]
    return np.take_along_axis(near, best, axis=1), np.take_along_axis(cost, best, axis=1)


def _rise(table: CodedTable, boxes: Boxes, own: FloatArray, ones: IntArray, others: IntArray) -> FloatArray:
    """By how much the loss of all rows rises if each of `ones` joins each of its `others`."""
    one, other = np.repeat(ones, others.shape[1]), others.ravel()
    joined = _loss(
        table,
        np.minimum(boxes.low[one], boxes.low[other]),
        np.maximum(boxes.high[one], boxes.high[other]),
        boxes.distinct[one] + boxes.distinct[other],
    )
    sizes = boxes.sizes
    rise = (sizes[one] + sizes[other]) * joined - sizes[one] * own[one] - sizes[other] * own[other]
    return np.asarray(rise.reshape(others.shape))


def _loss(table: CodedTable, low: IntArray, high: IntArray, distinct: IntArray) -> FloatArray:
    """The loss of a row in each box; sets that are joined are taken to have no value in common."""
    total = np.zeros(len(low))
    for a, column in enumerate(table.quasi):
        values = np.minimum(distinct[:, a], column.domain.size)
        total += column.weight * width(column.domain, low[:, a], high[:, a], values)
    return total


def _unions_fail(rows: IntArray, begin: IntArray, ones: IntArray, others: IntArray, failing: Failing) -> BoolArray:
    """Which unions of a failing class with one of its candidates fail."""
    one, other = np.repeat(ones, others.shape[1]), others.ravel()
    parts, sizes = [], []
    for members in (one, other):
        length = begin[members + 1] - begin[members]
        inside = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        parts.append(rows[np.repeat(begin[members], length) + inside])
        sizes.append(np.repeat(np.arange(len(members)), length))
    return failing(np.concatenate(parts), np.concatenate(sizes)).reshape(others.shape)
