"""Can the policy be reached at all? The whole table as one class is the best that merging can do.

Every model is convex in a class's distribution: if all classes hold, so does their union. So a table that breaks a
model as a whole cannot be released whole, and rows must be left out - as few as possible, and no more than the policy
allows - or the policy is unreachable. Where rows are left out, closeness must hold against the input's distribution
and against that of the rows released: the judge then checks both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from polyveil.arrays import IntArray
from polyveil.errors import Unsatisfiable
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.judge import (
    JudgeSpec,
    asks_more,
    compile_constraints,
    distances_of,
    sensitive_matrix,
    violation,
)
from polyveil.methods.base import Task
from polyveil.models import Attribute, Model, attribute_of, codes_of, from_classes, joint_attributes_of
from polyveil.models.constraints import Constraint
from polyveil.table.coded import CodedTable


@dataclass(frozen=True, eq=False)
class Basis:
    """The rows to work on (all, or those kept), their table, and the judge of their classes."""

    rows: IntArray
    table: CodedTable
    judge: JudgeSpec


@dataclass(frozen=True, eq=False)
class _Pinned:
    """A model judged against a reference of its own instead of the one the compiler passes in."""

    model: Model
    attributes: Mapping[str, Attribute]

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return self.model.constraints(self.attributes)


def reachable_basis(task: Task) -> Basis:
    """All rows where the table holds as one class; otherwise the rows left after suppressing the fewest found.

    Raises Unsatisfiable, naming the binding model and what the whole table reaches, where that is not enough.
    """
    table = task.table
    judge = compile_constraints(task.models, task.attributes, table)
    everyone = np.arange(table.rows, dtype=np.int64)
    tuples = table.sensitive_tuples
    first = np.zeros(len(tuples.counts), dtype=np.int64)
    first[tuples.of_row] = everyone
    places = sensitive_matrix(table)[first].astype(np.int64)
    if whole_holds(judge, places, tuples.counts):
        return Basis(everyone, table, judge)
    left = _shed(judge, places, tuples.counts.copy(), task.suppressible)
    if whole_violation(judge, places, left) > 0.0:
        raise unreachable(task)
    return basis_without(task, _rows_left(tuples.of_row, left, task.rng))


def basis_without(task: Task, kept: IntArray) -> Basis:
    """The rows kept where others are suppressed: closeness to the input and to the rows kept must both hold."""
    table = task.table
    smaller = table.take(kept)
    # Combinations of columns are compared with those of the released rows only, single columns with both.
    names = {column.name for column in table.sensitive}
    of_input = {name: about for name, about in task.attributes.items() if name in names}
    of_released = {column.name: attribute_of(column.only(kept)) for column in table.sensitive}
    against_input, against_released = (
        {**single, **joint_attributes_of(smaller, single)} for single in (of_input, of_released)
    )
    both = [*task.models, *(cast(Model, _Pinned(model, against_released)) for model in task.models)]
    return Basis(kept, smaller, compile_constraints(both, against_input, smaller))


def unreachable(task: Task) -> Unsatisfiable:
    """The error that names every model the whole table breaks, and what it reaches."""
    one_class = np.zeros(task.table.rows, dtype=np.int64)
    statistics = from_classes(one_class, codes_of(task.table), task.attributes)
    verdicts = [model.judge(statistics) for model in task.models]
    broken = [verdict for verdict in verdicts if not verdict.holds]
    demands = "; ".join(verdict.statement for verdict in broken) or "the models asked for, taken together"
    allowed = task.suppressible
    nearest = ", ".join(
        f"{verdict.parameter} = {verdict.value:.4g}" + (f" for {verdict.attribute}" if verdict.attribute else "")
        for verdict in broken
    )
    return Unsatisfiable(
        f"{demands} - not even the whole table as one group meets this, with at most {allowed} rows left out",
        f"{nearest} (the whole table), or a greater privacy.suppression_limit" if nearest else None,
    )


def whole_holds(judge: JudgeSpec, places: IntArray, counts: IntArray) -> bool:
    """Whether one class of all rows keeps every constraint; the usual ones are judged without compiling anything."""
    if asks_more(judge):
        return float(whole_violation(judge, places, counts)) == 0.0
    repeated = np.repeat(counts, places.shape[1])
    hist = np.bincount(places.ravel(), weights=repeated, minlength=judge.width).astype(np.int64)
    n = int(counts.sum())
    if n < judge.min_size or n == 0 or (judge.has_caps and (hist > judge.cap * n).any()):
        return False
    return bool((distances_of(judge, hist[None], np.array([n])) <= judge.close_limit).all())


@njit
def whole_violation(judge: JudgeSpec, places: IntArray, counts: IntArray) -> float:
    """The violation of one class with `counts[i]` rows of tuple i, whose values are counted at `places[i]`."""
    hist = np.zeros(judge.width, dtype=np.int64)
    for i in range(len(counts)):
        for s in range(places.shape[1]):
            hist[places[i, s]] += counts[i]
    return violation(judge, hist, counts.sum())


@njit
def _shed(judge: JudgeSpec, places: IntArray, counts: IntArray, most: int) -> IntArray:
    """Take away the row that lowers the violation most, again and again; larger steps where many may go."""
    hist = np.zeros(judge.width, dtype=np.int64)
    for i in range(len(counts)):
        for s in range(places.shape[1]):
            hist[places[i, s]] += counts[i]
    total, taken = counts.sum(), 0
    while taken < most and violation(judge, hist, total) > 0.0:
        step = max((most - taken) // 200, 1)
        best, least_broken, best_step = -1, np.inf, 0
        for i in range(len(counts)):
            size = min(step, counts[i])
            if size == 0:
                continue
            for s in range(places.shape[1]):
                hist[places[i, s]] -= size
            broken = violation(judge, hist, total - size)
            for s in range(places.shape[1]):
                hist[places[i, s]] += size
            if broken < least_broken:
                best, least_broken, best_step = i, broken, size
        if best < 0:
            break
        for s in range(places.shape[1]):
            hist[places[best, s]] -= best_step
        counts[best] -= best_step
        total -= best_step
        taken += best_step
    return counts


def _rows_left(of_row: IntArray, left: IntArray, rng: np.random.Generator) -> IntArray:
    """Of every tuple as many rows as are left, chosen at random; in row order."""
    shuffled = rng.permutation(len(of_row))
    by_tuple = shuffled[np.argsort(of_row[shuffled], kind="stable")]
    owner = of_row[by_tuple]
    begin = np.searchsorted(owner, np.arange(len(left)))
    rank = np.arange(len(owner)) - begin[owner]
    return np.sort(by_tuple[rank < left[owner]]).astype(np.int64)


def with_suppressed(labels: IntArray, basis: Basis, rows: int) -> IntArray:
    """Labels of the kept rows spread over all rows; the others are suppressed (-1)."""
    everyone = np.full(rows, -1, dtype=np.int64)
    everyone[basis.rows] = labels
    return everyone


def trivially_close(columns: Sequence[str], attributes: Mapping[str, Attribute]) -> list[str]:
    """The sensitive attributes with one value only: every class has the whole table's distribution."""
    return [name for name in columns if np.count_nonzero(attributes[name].whole) <= 1]
