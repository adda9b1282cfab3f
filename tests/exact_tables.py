"""Small random tables with the least loss that any release of them can have, found by trying every grouping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from polyveil.bounds.exact import best_grouping, class_costs, members
from polyveil.methods import Task
from polyveil.models import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Model,
    RecursiveDiversity,
    TCloseness,
    attributes_of,
)
from polyveil.policy.schema import Privacy
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import as_codes
from tables import REGIONS, ordered, random_table, tree


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
    k, models = requirement(seed)
    limit = (0.0, 1.0 / rows, 2.0 / rows)[seed % 3]
    return Task(table, models, attributes_of(table), Privacy(k=k, suppression_limit=limit), np.random.default_rng(0))


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
