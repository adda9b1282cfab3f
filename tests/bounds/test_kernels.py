"""Kernels against plain Python: nearest tuples, and the least of box less mean price over all classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from exact_tables import least_loss, small_task
from polyveil.bounds.costs import Points, points_of
from polyveil.bounds.exact import Exact, best_grouping, class_costs
from polyveil.bounds.nearest import grow_tree, nearest_tuples
from polyveil.bounds.reduced import least_reduced
from polyveil.bounds.required import required_of
from polyveil.bounds.transport import reach_of, together, transport_bound, transported, values_of
from polyveil.errors import PolicyError
from polyveil.measure import measure_loss
from polyveil.methods import Options
from polyveil.methods.kernels import SET
from polyveil.models.constraints import Closeness
from polyveil.table.coded import CodedTable, QuasiColumn
from tables import ordered

K, ROWS = 2, 8


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


def least_by_trying(table: CodedTable, prices: np.ndarray[tuple[int], np.dtype[np.float64]], row: int) -> float:
    others = [r for r in range(table.rows) if r != row]
    classes = [(row, *some) for n in range(K - 1, 2 * K - 1) for some in combinations(others, n)]
    return min(box_cost(table, some) - float(prices[list(some)].mean()) for some in classes)


@pytest.mark.parametrize("seed", range(40))
def test_the_least_reduced_box_is_that_of_all_classes(seed: int) -> None:
    table = small_task(seed, ROWS).table
    tuples = table.quasi_tuples
    points = points_of(table.quasi, tuples.codes)
    count = len(tuples.counts)
    prices = np.random.default_rng(seed).uniform(-0.2, 0.6, count)
    near = np.array([[j for j in range(count) if j != i] or [-1] for i in range(count)], dtype=np.int32)
    value, demand = np.empty(count), np.zeros(count)
    nothing, endless = np.full((count, 1), -1, dtype=np.int32), np.full(count, np.inf)
    least_reduced(
        *points.costs, points.codes, tuples.counts, prices, near, nothing, endless, endless, K, 10**6, 0, value, demand
    )
    kinds = set(points.costs.shape[:, 0].tolist())
    for row in range(table.rows):
        least = least_by_trying(table, prices[tuples.of_row], row)
        found = value[tuples.of_row[row]]
        assert found <= least + 1e-9
        if SET not in kinds:  # a set is taken to cost as much as two of its values
            assert found == pytest.approx(least)
    assert demand.sum() == pytest.approx(table.rows)


@pytest.mark.parametrize("seed", range(1, 140, 7))
def test_what_closeness_costs_is_not_above_the_best_release(seed: int) -> None:
    task = small_task(seed, ROWS)
    close = required_of(task.models, task.attributes, in_people=False).closeness
    assert close
    values = values_of({column.name: column.codes for column in task.table.sensitive}, close)
    may = task.suppressible > 0
    least = least_loss(task) * ROWS + 1e-9
    assert transported(task.table.quasi, values, 5.0, may_leave_out=may).total <= least
    reaches = [reach_of(column) for column in task.table.quasi]
    for one, two in combinations(reaches, 2):
        assert transport_bound(together(one, two), values, 5.0, may_leave_out=may) <= least


def test_a_value_that_only_one_side_has_mixes_both_sides() -> None:
    # Half of the rows have the least code and the first illness, the others the greatest code and the second.
    ages = ordered(4, np.random.default_rng(0), null=False)
    column = QuasiColumn("age", ages, np.repeat([0, 3], ROWS // 2))
    illness = np.repeat([0, 1], ROWS // 2)
    one = np.array([0]), np.array([1]), np.array([1.0]), np.array([ROWS // 2, ROWS // 2])
    close = Closeness("illness", *one, limit=0.0)
    found = transport_bound(reach_of(column), values_of({"illness": illness}, [close]), 5.0)
    assert found == pytest.approx(ROWS)


@pytest.mark.parametrize("seed", [0, 3, 9, 21])
def test_exact_finds_the_loss_that_no_grouping_is_below(seed: int) -> None:
    task = small_task(seed, ROWS)  # no row may be left out
    found = Exact(Options()).partition(task)
    assert measure_loss(task.table, found.class_of_row).information_loss == pytest.approx(least_loss(task))


def test_the_best_grouping_is_that_of_all_groupings() -> None:
    costs = class_costs(small_task(0, 6))

    def least(left: int) -> float:
        if left == 0:
            return 0.0
        first = left & -left
        some = [s | first for s in range(left + 1) if s & (left ^ first) == s]
        return min(float(costs[s]) + least(left ^ s) for s in some)

    assert best_grouping(costs, 6)[0][-1] == pytest.approx(least(63))


def test_exact_refuses_more_rows_than_it_can_try() -> None:
    with pytest.raises(PolicyError, match="up to 20 rows; there are 21"):
        Exact(Options()).partition(small_task(0, 21))
