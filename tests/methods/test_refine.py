"""Refining another method's classes: never more loss, always the same guarantees."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.measure import measure_loss
from polyveil.methods import Task
from polyveil.methods.mondrian import Mondrian, MondrianOptions
from polyveil.methods.refine import refine
from polyveil.models import KAnonymity, TCloseness, attributes_of, codes_of, from_classes
from polyveil.partition import Partition, Slice
from polyveil.policy.schema import Privacy
from polyveil.table.coded import CodedTable
from tables import random_table


def task_for(table: CodedTable, t: float) -> Task:
    models = (KAnonymity(3), *(TCloseness(t, column.name) for column in table.sensitive))
    return Task(table, models, attributes_of(table), Privacy(k=3), np.random.default_rng(0))


def holds(task: Task, labels: np.ndarray) -> bool:
    statistics = from_classes(labels, codes_of(task.table), task.attributes)
    return all(model.judge(statistics).holds for model in task.models)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.floats(0.2, 0.6))
def test_loss_never_rises_and_every_model_holds(seed: int, t: float) -> None:
    table = random_table(seed, rows=150)
    task = task_for(table, t)
    plain = Mondrian(MondrianOptions()).partition(task)
    better = refine(task, plain)
    before, after = (measure_loss(table, found.class_of_row).information_loss for found in (plain, better))
    assert after <= before + 1e-9
    assert holds(task, better.class_of_row)
    assert better.found["refined"] == "fast"


def test_mondrian_gains_much_from_it() -> None:
    table = random_table(1, rows=400)
    task = task_for(table, 0.4)
    plain = Mondrian(MondrianOptions()).partition(task)
    losses = [measure_loss(table, found.class_of_row).information_loss for found in (plain, refine(task, plain))]
    assert losses[1] < 0.9 * losses[0]


def test_suppressed_rows_stay_suppressed() -> None:
    table = random_table(2, rows=200)
    task = task_for(table, 0.6)
    labels = Mondrian(MondrianOptions()).partition(task).class_of_row.copy()
    smallest = np.argmin(np.bincount(labels))
    labels[labels == smallest] = -1
    found = refine(task, Partition(np.where(labels > smallest, labels - 1, labels)))
    assert ((found.class_of_row < 0) == (labels < 0)).all()
    assert holds(task, found.class_of_row)


def test_sliced_partitions_are_left_alone() -> None:
    table = random_table(3, rows=60)
    sliced = Partition(np.zeros(60, dtype=np.int64), slices=(Slice(("illness",), np.zeros(60, dtype=np.int64)),))
    assert refine(task_for(table, 0.5), sliced) is sliced
