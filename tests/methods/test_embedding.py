"""Sensitive tuples as points: distances are eq. (3) of wang2018 exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._strata.embedding import coordinates, sensitive_cells
from polyveil.table.coded import CodedTable, SensitiveColumn
from polyveil.table.domain import OrderedDomain, TreeDomain, as_codes
from tables import ILLNESSES, random_table, tree


def column(domain: OrderedDomain | TreeDomain, distance: str) -> SensitiveColumn:
    codes = as_codes(np.arange(domain.size), domain.size)
    return SensitiveColumn("s", domain, codes, distance, np.ones(domain.size, dtype=np.int64))


def between(points: np.ndarray) -> np.ndarray:
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("null", [False, True])
def test_a_tree_distance_is_euclidean(null: bool) -> None:
    domain = tree(ILLNESSES, null=null)
    hierarchy = domain.hierarchy
    codes = np.arange(domain.size)
    low, high = np.minimum(codes[:, None], codes), np.maximum(codes[:, None], codes)
    expected = hierarchy.height[hierarchy.common_ancestor(low, high)] / hierarchy.depth
    assert between(coordinates(column(domain, "hierarchical"))) == pytest.approx(expected, abs=1e-12)


def test_equal_distance_puts_every_two_values_one_apart() -> None:
    expected = 1.0 - np.eye(ILLNESSES.leaf_count)
    assert between(coordinates(column(TreeDomain(ILLNESSES), "equal"))) == pytest.approx(expected)


def test_ordered_values_stand_on_a_line_by_rank() -> None:
    domain = OrderedDomain("numeric", np.array([1.0, 2.0, 50.0]), ("1", "2", "50"))
    assert between(coordinates(column(domain, "ordered")))[0] == pytest.approx([0.0, 0.5, 1.0])


def test_a_missing_number_is_one_away_from_both_ends() -> None:
    domain = OrderedDomain("numeric", np.array([1.0, 2.0, 3.0]), ("1", "2", "3"), has_null=True)
    assert between(coordinates(column(domain, "ordered")))[3, [0, 2]] == pytest.approx([1.0, 1.0])


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_cells_are_the_distinct_tuples_where_these_are_few(seed: int) -> None:
    table = random_table(seed, 80)
    cells = sensitive_cells(table)
    assert len(cells.counts) == len(table.sensitive_tuples.counts)
    assert np.array_equal(np.bincount(cells.of_row), cells.counts)


def test_many_tuples_are_gathered_into_cells_of_about_equal_weight_at_their_mean() -> None:
    rng = np.random.default_rng(0)
    values = np.arange(2000.0)
    domain = OrderedDomain("numeric", values, tuple(str(v) for v in values))
    codes = as_codes(rng.permutation(np.repeat(np.arange(2000), 2)), 2000)
    table = CodedTable(4000, (), (SensitiveColumn("s", domain, codes, "ordered", np.ones(2000, dtype=np.int64)),))
    cells = sensitive_cells(table, most=40)
    assert len(cells.counts) == 40
    assert cells.counts.max() <= 2 * 4000 / 40
    for cell in range(0, 40, 7):
        mine = codes[cells.of_row == cell] / 1999
        assert cells.points[cell, 0] == pytest.approx(mine.mean())
        assert np.ptp(mine) < 0.2
