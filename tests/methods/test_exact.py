"""The exact grouping: its kernels against plain Python, and the whole against every grouping there is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from exact_tables import JOINT, KINDS, least_loss, small_task
from polyveil.arrays import IntArray
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.measure import measure_loss
from polyveil.methods import Options, Task
from polyveil.methods._exact import TooHard, best_grouping, grouping
from polyveil.methods._exact.class_search import classes_below
from polyveil.methods._exact.covering import cover
from polyveil.methods._exact.grouping import types_of
from polyveil.methods._kernels.judge import compile_constraints, holds_plainly
from polyveil.methods.exact import Exact
from polyveil.methods.sift import Sift, SiftOptions
from polyveil.models import KAnonymity, codes_of
from polyveil.policy.schema import Privacy
from polyveil.progress import Progress

ROWS = 8


def keeping_all(task: Task) -> Task:
    return replace(task, privacy=task.privacy.model_copy(update={"suppression_limit": 0.0}))


def classes_plainly(task: Task, size: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every class of so many rows that the models accept, and what its rows lose."""
    table = task.table
    for rows in combinations(range(table.rows), size):
        inside = np.full(table.rows, -1)
        inside[list(rows)] = 0
        if holds_plainly(task.models, task.attributes, inside, codes_of(table))[0]:
            lost = measure_loss(table, inside).information_loss * table.rows
            yield rows, lost - (table.rows - size) * len(table.quasi)


@pytest.mark.parametrize("seed", [seed for seed in range(28) if seed % KINDS != JOINT])
def test_classes_below_their_prices_are_those_of_all_classes(seed: int) -> None:
    task = small_task(seed, ROWS)
    judge = compile_constraints(task.models, task.attributes, task.table)
    types, of_row = types_of(task.table, judge)
    prices = np.random.default_rng(seed).uniform(-0.2, 1.2, len(types.units))
    found: dict[tuple[int, ...], float] = {}
    units, costs = np.zeros((300, len(prices)), dtype=np.int64), np.zeros(300)
    for size in range(1, ROWS + 1):
        for first in range(len(prices)):
            number, _, _ = classes_below(types, judge, prices, size, first, 0.1, False, 10**6, units, costs, 0)
            found |= {tuple(units[i].tolist()): float(costs[i]) for i in range(number)}
    expected = {
        tuple(np.bincount(of_row[list(rows)], minlength=len(prices)).tolist()): cost
        for size in range(1, ROWS + 1)
        for rows, cost in classes_plainly(task, size)
        if cost - prices[of_row[list(rows)]].sum() < 0.1
    }
    assert found == pytest.approx(expected)


def best_sum(classes: IntArray, costs: list[float], left: IntArray) -> float:
    """The least sum of classes that use up all units, by trying."""
    if not left.any():
        return 0.0
    wanted = int(np.flatnonzero(left)[0])
    fitting = [i for i, units in enumerate(classes) if units[wanted] and (units <= left).all()]
    return min((costs[i] + best_sum(classes, costs, left - classes[i]) for i in fitting), default=np.inf)


@pytest.mark.parametrize("seed", range(20))
def test_the_cover_is_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    units = rng.integers(1, 3, 5)
    classes = np.unique(rng.integers(0, 2, (25, 5)), axis=0)
    classes = classes[classes.any(axis=1)]
    costs = np.sort(rng.uniform(0, 1, len(classes)))
    chosen, total, _ = cover(classes, costs, units, 100.0, 0.0, 10**6)
    least = best_sum(classes, costs.tolist(), units)
    if np.isinf(least):
        assert len(chosen) == 0
    else:
        assert classes[chosen].sum(axis=0).tolist() == units.tolist()
        assert total == pytest.approx(least) == pytest.approx(costs[chosen].sum())


@pytest.mark.parametrize("first", range(0, 84, 14))
def test_no_grouping_is_below_the_exact_one(first: int) -> None:
    # Every kind of requirement, recodings, and up to two rows left out.
    for seed in (seed for seed in range(first, first + 14) if seed % KINDS != JOINT):
        task = small_task(seed, ROWS)
        judge = compile_constraints(task.models, task.attributes, task.table)
        found, least = best_grouping(task.table, judge, task.suppressible), least_loss(task)
        if found is None:
            assert np.isinf(least)
            continue
        assert measure_loss(task.table, found.labels).information_loss == pytest.approx(least), f"table {seed}"
        assert found.cost / ROWS == pytest.approx(least)
        assert np.count_nonzero(found.labels < 0) <= task.suppressible
        assert holds_plainly(task.models, task.attributes, found.labels, codes_of(task.table)).all()


def test_rows_alike_are_grouped_once_for_all_of_them() -> None:
    task = small_task(0, 6)  # k = 3 alone
    table = task.table.take(np.repeat(np.arange(6), 5))
    found = best_grouping(table, compile_constraints(task.models, task.attributes, table))
    assert found is not None
    assert found.cost == pytest.approx(0.0)


@pytest.mark.parametrize("seed", [0, 2, 3, 7])
def test_thirty_rows_are_grouped_at_least_as_well_as_by_the_search(seed: int) -> None:
    task = keeping_all(small_task(seed, 30))
    found = Exact(Options()).partition(task)
    searched = Sift(SiftOptions(effort="balanced")).partition(task)
    thorough = Sift(SiftOptions(effort="thorough")).partition(task)
    lost, by_search, by_thorough = (
        measure_loss(task.table, each.class_of_row).information_loss for each in (found, searched, thorough)
    )
    assert lost <= by_search + 1e-9
    assert by_thorough == pytest.approx(lost)
    assert holds_plainly(task.models, task.attributes, found.class_of_row, codes_of(task.table)).all()


def test_what_takes_too_many_steps_is_not_called_the_best() -> None:
    task = small_task(1, 30)
    with pytest.raises(TooHard):
        best_grouping(task.table, compile_constraints(task.models, task.attributes, task.table), steps=100)


def test_the_search_for_the_best_can_be_ended_between_two_calls_of_a_kernel() -> None:
    task, calls = small_task(1, 30), []

    def end() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        best_grouping(task.table, compile_constraints(task.models, task.attributes, task.table), between=end)
    assert len(calls) == 3


def test_calls_that_need_more_steps_begin_anew_and_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    task = keeping_all(small_task(3, 16))
    judge = compile_constraints(task.models, task.attributes, task.table)
    at_once = best_grouping(task.table, judge)
    monkeypatch.setattr(grouping, "SLICE", 2)
    in_slices = best_grouping(task.table, judge)
    assert at_once is not None
    assert in_slices is not None
    assert in_slices.cost == pytest.approx(at_once.cost)


class Stopping(Progress):
    """Stops whatever can be stopped, at once, and keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    @contextmanager
    def stoppable(self, stop: Callable[[], None]) -> Iterator[None]:
        stop()
        yield

    def advance(self, done: float, note: str = "") -> None:
        self.notes.append(note)


def test_a_thorough_search_that_is_stopped_keeps_what_it_has_and_proves_nothing() -> None:
    task = keeping_all(small_task(3, 30))
    stopping = Stopping()
    found = Sift(SiftOptions(effort="thorough")).partition(replace(task, progress=stopping))
    assert holds_plainly(task.models, task.attributes, found.class_of_row, codes_of(task.table)).all()
    assert not any("no grouping loses less" in note for note in stopping.notes)


def test_exact_refuses_more_rows_than_it_can_group() -> None:
    with pytest.raises(PolicyError, match="up to 50 rows; there are 51"):
        Exact(Options()).partition(small_task(0, 51))


def test_exact_refuses_to_leave_rows_out_if_groups_are_compared_with_the_rest() -> None:
    with pytest.raises(PolicyError, match="only if no requirement compares groups with the whole table"):
        Exact(Options()).partition(small_task(1, ROWS))


def test_exact_refuses_t_of_columns_together() -> None:
    with pytest.raises(PolicyError, match="t of several columns together"):
        Exact(Options()).partition(keeping_all(small_task(JOINT, ROWS)))


def test_exact_says_that_nothing_meets_the_requirements() -> None:
    task = small_task(0, ROWS)
    with pytest.raises(Unsatisfiable, match="no grouping of the rows"):
        Exact(Options()).partition(replace(task, models=(KAnonymity(9),), privacy=Privacy(k=9)))


def test_a_search_by_the_clock_ends_once_the_best_is_proven() -> None:
    task = keeping_all(small_task(3, 30))
    begun = time.perf_counter()
    found = Sift(SiftOptions(effort=600)).partition(task)
    assert time.perf_counter() - begun < 120.0  # on a busy machine
    best = best_grouping(task.table, compile_constraints(task.models, task.attributes, task.table))
    assert best is not None
    assert measure_loss(task.table, found.class_of_row).information_loss == pytest.approx(best.cost / 30)
