"""Kernels against plain Python: nearest tuples, the least box that holds what a class needs, and the least of box less
mean price over all classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from exact_tables import small_task
from polyveil.bounds.costs import Points, points_of
from polyveil.bounds.floors import floors, least_box
from polyveil.bounds.nearest import grow_tree, nearest_tuples
from polyveil.bounds.needs import Needs, needs_of
from polyveil.bounds.reduced import least_reduced
from polyveil.measure import measure_loss
from polyveil.methods.kernels import SET
from polyveil.table.coded import CodedTable

K, ROWS = 2, 8
Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def pair_cost(points: Points, i: int, j: int) -> float:
    size, begin = points.costs.shape[:, 1], points.costs.shape[:, 2]
    return float(points.costs.cost[begin + points.codes[i] * size + points.codes[j]].sum())


@pytest.mark.parametrize("seed", range(6))
def test_nearest_tuples_are_those_of_all_pairs(seed: int) -> None:
    table = small_task(seed, 60).table
    points = points_of(table.quasi, table.quasi_tuples.codes)
    credit = np.random.default_rng(seed).uniform(0, 0.5, len(points.codes))
    found = nearest_tuples(points, grow_tree(points), 5, credit=credit)
    for i in range(len(points.codes)):
        costs = sorted(pair_cost(points, i, j) - credit[j] for j in range(len(points.codes)) if j != i)[:5]
        assert found.costs[i] == pytest.approx(costs)


def box_cost(table: CodedTable, rows: tuple[int, ...]) -> float:
    class_of_row = np.full(table.rows, -1)
    class_of_row[list(rows)] = 0
    lost = measure_loss(table, class_of_row).information_loss * table.rows
    return (lost - (table.rows - len(rows)) * len(table.quasi)) / len(rows)


def least_by_trying(table: CodedTable, prices: Floats, floor: Floats, row: int) -> float:
    others = [r for r in range(table.rows) if r != row]
    classes = [[row, *some] for n in range(K - 1, 2 * K - 1) for some in combinations(others, n)]
    return min(
        max(box_cost(table, tuple(some)), float(floor[some].max())) - float(prices[some].mean()) for some in classes
    )


@pytest.mark.parametrize("with_floors", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_the_least_reduced_box_is_that_of_all_classes(seed: int, with_floors: bool) -> None:
    table = small_task(seed, ROWS).table
    tuples = table.quasi_tuples
    points = points_of(table.quasi, tuples.codes)
    count = len(tuples.counts)
    rng = np.random.default_rng(seed)
    prices, floor = rng.uniform(-0.2, 0.6, count), with_floors * rng.uniform(0.0, 0.8, count)
    near = np.array([[j for j in range(count) if j != i] or [-1] for i in range(count)], dtype=np.int32)
    value, demand = np.empty(count), np.zeros(count)
    nothing, endless = np.full((count, 1), -1, dtype=np.int32), np.full(count, np.inf)
    least_reduced(
        *points.costs,
        points.codes,
        tuples.counts,
        prices,
        floor,
        near,
        nothing,
        endless,
        endless,
        K,
        10**6,
        0,
        value,
        demand,
    )
    kinds = set(points.costs.shape[:, 0].tolist())
    for row in range(table.rows):
        least = least_by_trying(table, prices[tuples.of_row], floor[tuples.of_row], row)
        found = value[tuples.of_row[row]]
        assert found <= least + 1e-9
        if SET not in kinds:  # a set is taken to cost as much as two of its values
            assert found == pytest.approx(least)
    assert demand.sum() == pytest.approx(table.rows)


def lacks_nothing(needs: Needs, tuples: list[int]) -> bool:
    """Whether tuples together hold the values that every need asks for, from its words."""
    for n, size in enumerate(needs.size):
        held = {int(v) for j in tuples for v in needs.value[needs.begin[n, j] : needs.begin[n, j + 1]]}
        far = needs.far[needs.square[n] :][: size * size].reshape(size, size)
        mass = needs.mass[needs.first[n] :][:size]
        if sum(mass[v] * min(far[v, u] for u in held) for v in range(size)) > needs.limit[n]:
            return False
    return True


@pytest.mark.parametrize("seed", [1, 2, 3, 5, 6, 7, 9, 10, 13, 15, 17, 19, 20, 22, 23, 25])
def test_the_least_box_with_all_needs_is_that_of_all_classes(seed: int) -> None:
    task = small_task(seed, ROWS)
    table, tuples = task.table, task.table.quasi_tuples
    needs = needs_of(table, [c for model in task.models for c in model.constraints(task.attributes)])
    assert needs is not None
    points = points_of(table.quasi, tuples.codes)
    found = floors(points, grow_tree(points), tuples.counts, needs, K, lambda: False)
    for row in range(table.rows):
        others = [r for r in range(table.rows) if r != row]
        classes = [(row, *some) for n in range(K - 1, ROWS) for some in combinations(others, n)]
        holding = [some for some in classes if lacks_nothing(needs, tuples.of_row[list(some)].tolist())]
        least = min((box_cost(table, some) for some in holding), default=len(table.quasi))
        assert found[tuples.of_row[row]] <= least + 1e-9
        if SET not in set(points.costs.shape[:, 0].tolist()) and holding:
            assert found[tuples.of_row[row]] == pytest.approx(least)


@pytest.mark.parametrize("seed", range(0, 60, 5))
def test_a_search_of_few_steps_or_short_lists_gives_a_smaller_box_never_a_greater_one(seed: int) -> None:
    task = small_task(seed, 40)
    table, tuples = task.table, task.table.quasi_tuples
    needs = needs_of(table, [c for model in task.models for c in model.constraints(task.attributes)])
    if needs is None:
        return
    points = points_of(table.quasi, tuples.codes)
    tree, count = grow_tree(points), len(tuples.counts)
    full, short, hasty = np.zeros(count), np.zeros(count), np.zeros(count)
    near = nearest_tuples(points, tree, count - 1)
    endless = np.full(count, np.inf)
    for listed, steps, beyond, value in ((count, 10**6, endless, full), (count, 2, endless, hasty)):
        some = np.ascontiguousarray(near.tuples[:, :listed])
        least_box(*points.costs, points.codes, tuples.counts, needs, some, beyond, K, steps, 0, value)
    few = nearest_tuples(points, tree, 4)
    far = few.costs[:, -1].copy()
    least_box(*points.costs, points.codes, tuples.counts, needs, few.tuples, far, K, 10**6, 0, short)
    assert np.all(hasty <= full + 1e-9)
    assert np.all(short <= full + 1e-9)
