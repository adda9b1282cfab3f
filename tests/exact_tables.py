"""Small random tables with the least loss that any release of them can have, found by trying every grouping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from polyveil.bounds.exact import best_grouping, class_costs, members
from polyveil.methods import Task
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
