"""Guarantees about all groups together, such as a mean risk: groups may be small where that saves most.

A method knows only what one class must keep. It is run with classes so large that each keeps the mean by itself, and
with smaller ones, as small as a mean over all of them suggests. Of the latter, classes are then merged, those first
that cost least for what they add to the guarantee, until it holds. Methods with an effort go on to move rows between
these classes, which changes their sizes and not their number. The result with less loss is used, so that a mean never
costs more detail than the same limit for every group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.errors import Unsatisfiable
from polyveil.measure import class_boxes
from polyveil.measure.loss import measure_loss
from polyveil.methods._repair import people
from polyveil.methods._repair.merging import candidates
from polyveil.methods.base import Method, Task
from polyveil.models import KAnonymity
from polyveil.models.people import rows_of_people
from polyveil.models.risk import OverAll
from polyveil.partition import Partition, partition_of
from polyveil.table.coded import CodedTable

STEP, FEW = 3.0, 16.0
"""In a round as many classes are merged as take away one part in three of what is too much; the last few at once."""
OF_CLASSES_AS_MADE = ("levels", "optimal")
"""What a method says of its own classes, and not of those that were merged."""
TRIES = 3
"""How many smaller sizes are tried, until classes are so small that the guarantee does not hold without merging."""
MOVES, ROUNDS = {"balanced": 180.0, "thorough": 900.0}, 6
"""Moves per row in all to improve the classes, and in how many rounds; `fast` does what it always does."""


def partition(method: Method[Any], task: Task) -> Partition:
    """The method's classes; with a guarantee about all groups together, the better of two ways to reach it."""
    wide = over_all(task)
    if not wide:
        return people.partition(method, task)
    alone = replace(task, models=tuple(model for model in task.models if model.per_group))
    effort = getattr(method.options, "effort", None)
    if isinstance(effort, (int, float)):
        method = type(method)(method.options.model_copy(update={"effort": effort / (TRIES + 1)}))
    sure = max(task.k, *(model.sure_size for model in wide))
    found, size = [], task.k
    try:
        found = [people.partition(method, _with_groups_of(alone, sure))]
        size = _smaller_size(task.table, found[0], task.k, sure, wide)
    except Unsatisfiable:
        if sure == task.k:
            raise
    for smaller in range(min(size, sure - 1), max(size - TRIES, task.k - 1, 0), -1):
        other = people.partition(method, _with_groups_of(alone, smaller))
        found.append(_reached(method, alone, other, wide))
        if not holds(task.table, other.class_of_row, wide):
            break  # smaller classes would have to be merged more
    return min(found, key=lambda each: _loss(task.table, each, wide))


def over_all(task: Task) -> tuple[OverAll, ...]:
    """The guarantees about all groups together."""
    return tuple(model for model in task.models if isinstance(model, OverAll))


def _with_groups_of(task: Task, size: int) -> Task:
    return replace(
        task,
        models=(*task.models, KAnonymity(size)),
        privacy=task.privacy.model_copy(update={"k": max(size, task.k)}),
    )


def _smaller_size(table: CodedTable, found: Partition, least: int, sure: int, wide: Sequence[OverAll]) -> int:
    """How small classes may be, if they come out larger than asked for by as much as those found."""
    sizes = units(table, found.class_of_row)
    if not len(sizes):
        return sure
    larger = max(float(sizes.mean()) / sure, 1.0)
    target = max(_mean_size(model, sure) for model in wide)
    return max(least, min(int(target / larger), sure - 1))


def _mean_size(model: OverAll, sure: int) -> float:
    """The size of groups, all alike, that just keep the mean: a fraction for the prosecutor, else a whole number."""
    return 1.0 / model.threshold if model.part(np.array([1, sure]))[1] == 1.0 else float(sure)


def _reached(method: Method[Any], task: Task, found: Partition, wide: Sequence[OverAll]) -> Partition:
    """The classes merged until the guarantees hold, and then improved."""
    labels = merged(task.table, found.class_of_row, wide)
    told = {key: value for key, value in found.found.items() if key not in OF_CLASSES_AS_MADE}
    result = replace(partition_of(labels), found=told)
    if not hasattr(method.options, "effort"):
        return result
    return improved(replace(task, models=(*task.models, *wide)), result, method.options.effort)


def _loss(table: CodedTable, found: Partition, wide: Sequence[OverAll]) -> float:
    return (
        measure_loss(table, found.class_of_row).information_loss if holds(table, found.class_of_row, wide) else np.inf
    )


def units(table: CodedTable, labels: IntArray) -> IntArray:
    """The people of each class, or its rows if every row is a person."""
    kept = labels >= 0
    owner = labels[kept]
    if table.person is not None:
        owner = np.unique(np.stack([owner, table.person[kept]]), axis=1)[0]
    return np.bincount(owner, minlength=int(labels.max(initial=-1)) + 1).astype(np.int64)


def holds(table: CodedTable, labels: IntArray, wide: Sequence[OverAll]) -> bool:
    """Whether all of the guarantees hold."""
    sizes = units(table, labels)
    return all(model.too_much(sizes) <= 0.0 for model in wide)


def merged(table: CodedTable, labels: IntArray, wide: Sequence[OverAll]) -> IntArray:
    """Classes merged until the guarantees hold, or nothing is left to merge; rows left out (-1) stay so.

    Where keys tell how many rows a person has, only people with as many rows are brought together.
    """
    if not table.keyed or table.person is None:
        return _merged(table, labels, wide)
    result = labels.copy()
    strata = rows_of_people(table.person)
    for number in np.unique(strata):
        rows = np.flatnonzero(strata == number)
        some = _merged(table.take(rows), partition_of(labels[rows]).class_of_row, wide)
        result[rows] = np.where(some < 0, -1, some + number * len(labels))
    return partition_of(result).class_of_row


def _merged(table: CodedTable, labels: IntArray, wide: Sequence[OverAll]) -> IntArray:
    rng = np.random.default_rng(0)
    for model in wide:
        while True:
            sizes = units(table, labels)
            too_much = model.too_much(sizes)
            if too_much <= 0.0 or len(sizes) < 2:
                break
            into = _round(table, labels, sizes, model, too_much if too_much < FEW else too_much / STEP, rng)
            labels = np.where(labels >= 0, into[labels], -1)
    return labels


def _round(
    table: CodedTable, labels: IntArray, sizes: IntArray, model: OverAll, wanted: float, rng: np.random.Generator
) -> IntArray:
    """The new number of every class, after merging pairs that take away what is wanted from the sum."""
    boxes = class_boxes(table, labels)
    part = model.part(sizes)
    ones = np.arange(len(sizes))
    others, cost = candidates(table, boxes, ones, rng)
    saved = _saved(model, sizes, part, ones, others)
    price = np.where((saved > 0) & np.isfinite(cost), np.maximum(cost, 0.0) / np.maximum(saved, 1e-300), np.inf)
    best = np.argmin(price, axis=1)
    partner, price, saved = others[ones, best], price[ones, best], saved[ones, best]
    leader, used, taken = ones.copy(), np.zeros(len(ones), dtype=bool), 0.0
    for one in np.argsort(price, kind="stable"):
        other = partner[one]
        if taken >= wanted or not (np.isfinite(price[one]) or taken == 0.0):
            break
        if used[one] or used[other]:
            continue
        used[[one, other]] = True
        leader[other] = one
        taken += saved[one]
    left = leader == ones
    return np.asarray((np.cumsum(left) - 1)[leader])


def _saved(model: OverAll, sizes: IntArray, part: FloatArray, ones: IntArray, others: IntArray) -> FloatArray:
    """What merging takes away from the sum."""
    together = sizes[ones][:, None] + sizes[others]
    joined = model.part(together.ravel()).reshape(others.shape)
    return np.asarray(part[ones][:, None] + part[others] - joined)


def improved(task: Task, found: Partition, effort: Any = "fast") -> Partition:
    """Rows moved between classes as long as the loss falls; the classes as they are if a guarantee would not hold."""
    kept = np.flatnonzero(found.class_of_row >= 0)
    if task.table.person is not None or found.slices or not task.table.quasi or found.classes < 2:
        return found
    from polyveil.methods._kernels.reachable import with_suppressed  # kernels are slow to load
    from polyveil.methods._search.losses import losses
    from polyveil.methods._search.rounds import Round, improve
    from polyveil.methods._search.schedule import ALL_MOVES, COLD, FEW_MOVES, MOST_MOVES, cooling
    from polyveil.methods._search.space import make_space
    from polyveil.methods.refine import basis_of

    wide = over_all(task)
    basis = basis_of(replace(task, models=tuple(model for model in task.models if model.per_group)), kept)
    space, rows = make_space(basis.table, basis.judge)
    labels = found.class_of_row[kept].astype(np.int32)
    best, least = labels, np.inf
    moves = MOVES.get(str(effort), min(max(ALL_MOVES / len(kept), FEW_MOVES), MOST_MOVES))
    plan = (*cooling(Round(moves / ROUNDS, 0.0), ROUNDS, COLD), Round(2.0, 0.0, passes=2))
    for number, work in enumerate(plan):
        labels, loss = improve(space, rows, labels, work, task.rng)
        if loss < least and holds(basis.table, labels.astype(np.int64), wide):
            best, least = labels, loss
        task.progress.advance((number + 1) / len(plan), "moving rows between groups")
    # Moving rows may have made a few groups too small: these are merged, which costs little of what was gained.
    last = merged(basis.table, labels.astype(np.int64), wide).astype(np.int32)
    if float(losses(space, rows, last).sum()) < least and holds(basis.table, last.astype(np.int64), wide):
        best = last
    result = partition_of(with_suppressed(best.astype(np.int64), basis, task.table.rows))
    before, after = (measure_loss(task.table, each.class_of_row).information_loss for each in (found, result))
    return replace(result, found=dict(found.found)) if after < before else found
