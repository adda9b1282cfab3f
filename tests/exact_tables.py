"""Small random tables with the least loss that any release of them can have, found by trying every grouping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.measure.boxes import class_boxes
from polyveil.measure.loss import width
from polyveil.methods import Task
from polyveil.methods.kernels import njit
from polyveil.models import (
    AlphaAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    FrequencyDiversity,
    JointCloseness,
    KAnonymity,
    Model,
    PSensitivity,
    RecursiveDiversity,
    TCloseness,
    attributes_of,
    codes_of,
    from_classes,
    joint_name,
)
from polyveil.policy.schema import Privacy
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import as_codes
from tables import REGIONS, ordered, random_table, tree

TOGETHER = ("illness", "salary")
KINDS, JOINT, DIVERGENCE = 14, 12, 13
"""Kinds of requirements, and the one with both columns together and the one whose t is a divergence."""


def requirement(seed: int) -> tuple[int, tuple[Model, ...]]:
    """A k, and models of every kind in turn; those about a column are about illness."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 4))
    kinds: Sequence[Sequence[Model]] = (
        (),
        (TCloseness(float(rng.uniform(0.2, 0.7)), "illness"),),
        (TCloseness(float(rng.uniform(0.3, 0.7)), "illness"), TCloseness(float(rng.uniform(0.2, 0.6)), "salary")),
        (DistinctDiversity(int(rng.integers(2, 4)), "illness"),),
        (EntropyDiversity(float(rng.uniform(1.5, 2.5)), "illness"),),
        (FrequencyDiversity(float(rng.uniform(1.5, 2.5)), "illness"),),
        (RecursiveDiversity(2.0, "illness"),),
        (AlphaAnonymity(float(rng.uniform(0.4, 0.8)), "illness"),),
        (TCloseness(float(rng.uniform(0.3, 0.7)), "illness"), PSensitivity(2, "salary")),
        (DeltaDisclosure(float(rng.uniform(0.7, 1.8)), "illness"),),
        (BasicBetaLikeness(float(rng.uniform(0.7, 2.5)), "illness"),),
        (EnhancedBetaLikeness(float(rng.uniform(0.7, 2.5)), "illness"),),
        (JointCloseness(float(rng.uniform(0.3, 0.8)), joint_name(TOGETHER)),),
        (TCloseness(float(rng.uniform(0.3, 0.9)), "illness"),),
    )
    return k, (KAnonymity(k), *kinds[seed % len(kinds)])


def small_task(seed: int, rows: int) -> Task:
    """A table of few rows: numbers, hierarchies and sets, one to four of them, with and without missing values."""
    rng = np.random.default_rng(seed)
    table = random_table(seed, rows, nulls=bool(seed % 2), sensitive=2)
    more = {"height": ordered(5, rng, null=bool(seed % 3 == 0)), "area": tree(REGIONS, null=False)}
    quasi = (
        *table.quasi,
        *(QuasiColumn(name, d, as_codes(rng.integers(0, d.size, rows), d.size)) for name, d in more.items()),
    )
    chosen = rng.permutation(len(quasi))[: int(rng.integers(1, len(quasi)))]
    table = replace(table, quasi=tuple(quasi[a] for a in sorted(chosen)))
    kind = seed % KINDS
    if kind == JOINT:
        table = replace(table, together=(TOGETHER,))
    if kind == DIVERGENCE:
        illness = replace(table.sensitive[0], distance=("hellinger", "kl", "js")[seed // KINDS % 3])
        table = replace(table, sensitive=(illness, *table.sensitive[1:]))
    k, models = requirement(seed)
    limit = (0.0, 1.0 / rows, 2.0 / rows)[seed % 3]
    return Task(table, models, attributes_of(table), Privacy(k=k, suppression_limit=limit), np.random.default_rng(0))


CHUNK = 1 << 14
"""Sets of rows that are judged at once."""


def class_costs(task: Task) -> FloatArray:
    """What each set of rows costs as a class, by its number (bit i: row i); infinite where it breaks a model."""
    rows = task.table.rows
    costs = np.full(1 << rows, np.inf)
    for first in range(1, 1 << rows, CHUNK):
        sets = np.arange(first, min(first + CHUNK, 1 << rows))
        sets = sets[members(sets, rows).sum(axis=1) >= task.k]
        if len(sets):
            costs[sets] = _costs(task, members(sets, rows))
    return costs


def members(sets: IntArray, rows: int) -> BoolArray:
    """Which rows are in each set."""
    return (sets[:, None] >> np.arange(rows) & 1).astype(bool)


def _costs(task: Task, inside: BoolArray) -> FloatArray:
    """Rows times box of some sets, each as a class of its own."""
    owner, row = np.nonzero(inside)
    statistics = from_classes(
        owner, {name: codes[row] for name, codes in codes_of(task.table).items()}, task.attributes
    )
    holds = np.all([model.passes(model.measure_all(statistics)) for model in task.models], axis=0)
    boxes = class_boxes(task.table.take(row), owner)
    box = np.zeros(len(inside))
    for a, column in enumerate(task.table.quasi):
        box += column.weight * width(column.domain, boxes.low[:, a], boxes.high[:, a], boxes.distinct[:, a])
    return np.where(holds, boxes.sizes * box, np.inf)


@njit
def best_grouping(costs: FloatArray, rows: int) -> tuple[FloatArray, IntArray]:
    """Per set of rows the least cost of a grouping, and the class of its first row in it."""
    total = np.full(len(costs), np.inf)
    chosen = np.zeros(len(costs), dtype=np.int64)
    total[0] = 0.0
    for whole in range(1, len(costs)):
        first = whole & -whole
        others = whole ^ first
        some = others
        while True:
            cost = costs[some | first] + total[others ^ some]
            if cost < total[whole]:
                total[whole] = cost
                chosen[whole] = some | first
            if some == 0:
                break
            some = (some - 1) & others
    return total, chosen


def least_loss(task: Task) -> float:
    """The information loss of the best release, infinite if there is none; a row left out costs 1 per column."""
    rows = task.table.rows
    total, _ = best_grouping(class_costs(task), rows)
    every = np.arange(1 << rows)
    left_out = rows - members(every, rows).sum(axis=1)
    allowed = left_out <= task.suppressible
    return float((total + left_out * len(task.table.quasi))[allowed].min()) / rows


def without_quasi(table: CodedTable) -> CodedTable:
    """The same rows without quasi-identifiers."""
    return replace(table, quasi=())
