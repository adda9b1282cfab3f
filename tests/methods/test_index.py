"""The tree of quasi-identifier tuples answers exactly what a scan answers, also while rows are used up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._kernels.boxes import code_matrix
from polyveil.methods._kernels.distance import least, most, quasi_metric, squared, squared_plainly, squared_rows
from polyveil.methods._kernels.row_index import (
    RowForest,
    farthest,
    left_over,
    nearest,
    nearest_few,
    nearest_plainly,
    plant,
    put_back,
    take,
    tuple_order,
)
from polyveil.methods._strata.class_index import between_classes, nearest_classes, remove, tree_of_classes
from polyveil.table.coded import CodedTable, QuasiColumn
from tables import random_table

seeds = st.integers(0, 10_000)


def weighted(table: CodedTable, weights: tuple[float, ...]) -> CodedTable:
    quasi = tuple(QuasiColumn(c.name, c.domain, c.codes, w) for c, w in zip(table.quasi, weights, strict=True))
    return CodedTable(table.rows, quasi, table.sensitive)


def planted(table: CodedTable, group: np.ndarray, groups: int) -> RowForest:
    metric = quasi_metric(table)
    place = tuple_order(table.quasi_tuples.codes, metric)
    return plant(code_matrix(table), table.quasi_tuples.of_row, place, group, groups, metric)


@settings(max_examples=20)
@given(seeds)
def test_squared_distance_equals_its_definition(seed: int) -> None:
    table = weighted(random_table(seed, 5), (1.0, 2.5, 0.5))
    metric = quasi_metric(table)
    for a, column in enumerate(table.quasi):
        for one in range(column.domain.size):
            for other in range(column.domain.size):
                assert squared(metric, a, one, other) == pytest.approx(squared_plainly(table, a, one, other))


@settings(max_examples=20)
@given(seeds)
def test_a_box_is_nowhere_nearer_than_least_and_nowhere_farther_than_most(seed: int) -> None:
    table = random_table(seed, 30)
    metric, codes = quasi_metric(table), code_matrix(table)
    low, high = codes[:12].min(axis=0), codes[:12].max(axis=0)
    for point in codes:
        distances = [squared_rows(metric, point, inside) for inside in codes[:12]]
        assert least(metric, point, low, high) <= min(distances) + 1e-12
        assert most(metric, point, low, high) >= max(distances) - 1e-12


@settings(max_examples=25)
@given(seeds, st.integers(1, 4), st.booleans())
def test_nearest_unused_row_is_that_of_a_scan_until_all_are_used(seed: int, groups: int, heavy: bool) -> None:
    table = weighted(random_table(seed, 150), (3.0, 1.0, 0.2) if heavy else (1.0, 1.0, 1.0))
    rng = np.random.default_rng(seed)
    forest = planted(table, rng.integers(0, groups, table.rows), groups)
    taken = []
    for t in range(groups):
        while left_over(forest, t):
            point = code_matrix(table)[rng.integers(table.rows)]
            item = nearest(forest, t, point)
            expected = nearest_plainly(forest, t, point)
            assert squared_rows(forest.metric, point, forest.codes[item]) == pytest.approx(expected)
            taken.append(take(forest, item))
        assert nearest(forest, t, code_matrix(table)[0]) == -1
    assert sorted(taken) == list(range(table.rows))


@settings(max_examples=15)
@given(seeds, st.integers(1, 30))
def test_nearest_few_come_in_order_and_miss_nothing(seed: int, wanted: int) -> None:
    table = random_table(seed, 120)
    forest = planted(table, np.zeros(table.rows, dtype=np.int64), 1)
    for _ in range(40):
        take(forest, nearest(forest, 0, code_matrix(table)[0]))
    point = code_matrix(table)[7]
    items, distances = np.empty(wanted, dtype=np.int64), np.empty(wanted)
    found = nearest_few(forest, 0, point, items, distances)
    all_distances = sorted(
        squared_rows(forest.metric, point, forest.codes[i]) for i in range(len(forest.unused)) if forest.unused[i]
    )
    assert found == min(wanted, len(all_distances))
    assert distances[:found] == pytest.approx(all_distances[:found])
    assert len(set(items[:found])) == found


@settings(max_examples=15)
@given(seeds)
def test_farthest_unused_row_is_that_of_a_scan(seed: int) -> None:
    table = random_table(seed, 100)
    forest = planted(table, np.zeros(table.rows, dtype=np.int64), 1)
    point = code_matrix(table)[3]
    while left_over(forest, 0):
        item = farthest(forest, 0, point)
        expected = max(
            squared_rows(forest.metric, point, forest.codes[i]) for i in range(len(forest.unused)) if forest.unused[i]
        )
        assert squared_rows(forest.metric, point, forest.codes[item]) == pytest.approx(expected)
        take(forest, item)
    assert farthest(forest, 0, point) == -1


def test_a_row_put_back_is_given_out_again_and_none_twice() -> None:
    table = random_table(5, 80)
    forest = planted(table, np.zeros(table.rows, dtype=np.int64), 1)
    point = code_matrix(table)[0]
    first = [take(forest, nearest(forest, 0, point)) for _ in range(30)]
    for row in first[::2]:
        put_back(forest, row)
    rest = [take(forest, nearest(forest, 0, point)) for _ in range(left_over(forest, 0))]
    assert sorted(first[1::2] + rest) == list(range(80))


def test_a_table_without_quasi_identifiers_has_one_tuple() -> None:
    table = CodedTable(6, (), random_table(1, 6).sensitive)
    forest = planted(table, np.array([0, 0, 1, 1, 1, 0]), 2)
    rows = [take(forest, nearest(forest, 1, np.zeros(0, dtype=np.int32))) for _ in range(3)]
    assert sorted(rows) == [2, 3, 4]


@settings(max_examples=20)
@given(seeds, st.integers(1, 6))
def test_nearest_classes_are_those_of_a_scan(seed: int, wanted: int) -> None:
    table = random_table(seed, 90)
    metric, codes = quasi_metric(table), code_matrix(table)
    owner = np.arange(90) // 3
    low = np.stack([codes[owner == c].min(axis=0) for c in range(30)])
    high = np.stack([codes[owner == c].max(axis=0) for c in range(30)])
    tree = tree_of_classes(metric, low, high, np.arange(30))
    alive = set(range(30))
    for c in range(0, 27, 2):
        remove(tree, c)
        alive.remove(c)
        found, distances = np.empty(wanted, dtype=np.int64), np.empty(wanted)
        count = nearest_classes(tree, c, found, distances)
        expected = sorted(between_classes(metric, low, high, c, other) for other in alive)
        assert distances[:count] == pytest.approx(expected[:count])
        assert count == min(wanted, len(alive))
        assert set(found[:count]) <= alive
