"""COUNT queries on released tables: expected counts worked by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from paper_tables import HAN, HAN_COLUMNS, coded, task_of
from polyveil.measure.queries import Query, expected_count, query_error, random_queries, true_count
from polyveil.partition import Partition, Slice
from polyveil.table.coded import CodedTable

# Rows: ages 20, 30, 40, 50; illnesses a, b, a, c; salaries x, x, y, y.
FRAME = pl.DataFrame({"age": [20, 30, 40, 50], "illness": list("abac"), "salary": list("xxyy")})
COLUMNS = {
    "age": {"role": "quasi", "type": "numeric"},
    "illness": {"role": "sensitive"},
    "salary": {"role": "sensitive"},
}
YOUNG_WITH_A = Query({"age": np.array([True, True, False, False])}, {"illness": np.array([True, False, False])})
EXACT = np.arange(4)


@pytest.fixture
def table() -> CodedTable:
    return task_of(FRAME, COLUMNS, {"l": 2}).table


def test_the_true_count(table: CodedTable) -> None:
    assert true_count(table, YOUNG_WITH_A) == 1


def test_anatomized_each_row_of_a_group_is_equally_likely_to_have_each_value(table: CodedTable) -> None:
    """Groups {20, 30} with {a, b} and {40, 50} with {a, c}: two young rows, each has a with chance 1/2."""
    groups = np.array([0, 0, 1, 1])
    partition = Partition(EXACT, (Slice(("illness", "salary"), groups),))
    assert expected_count(table, partition, YOUNG_WITH_A) == pytest.approx(2 * 0.5)


def test_generalized_each_value_of_a_cell_is_equally_likely(table: CodedTable) -> None:
    """Classes {20, 40} as [20-40], which stands for 20, 30, 40, and {30, 50}: chance of being young 2/3 and 1/3."""
    partition = Partition(np.array([0, 1, 0, 1]))
    assert expected_count(table, partition, YOUNG_WITH_A) == pytest.approx(2 * (2 / 3) * 1.0 + 2 * (1 / 3) * 0.0)


def test_sliced_values_of_different_slices_are_independent_given_their_groups(table: CodedTable) -> None:
    query = Query({}, {"illness": np.array([True, False, False]), "salary": np.array([True, False])})
    slices = (Slice(("illness",), np.array([0, 0, 1, 1])), Slice(("salary",), np.array([0, 1, 0, 1])))
    # Every illness group has a in one of two rows, every salary group x in one of two.
    assert expected_count(table, Partition(EXACT, slices), query) == pytest.approx(4 * 0.5 * 0.5)


def test_a_suppressed_value_is_guessed_from_the_published_ones(table: CodedTable) -> None:
    query = Query({}, {"illness": np.array([True, False, False])})
    slices = (Slice(("illness",), np.array([0, 0, -1, -1])), Slice(("salary",), np.array([0, 1, 0, 1])))
    # Two rows with share 1/2 each; the other two take the share of a among the published values, 1/2.
    assert expected_count(table, Partition(EXACT, slices), query) == pytest.approx(2.0)


def test_a_suppressed_row_is_counted_nowhere(table: CodedTable) -> None:
    groups = np.array([0, 0, -1, -1])
    partition = Partition(np.array([0, 1, -1, -1]), (Slice(("illness", "salary"), groups),))
    assert expected_count(table, partition, Query({}, {})) == 2.0


def test_without_grouping_there_is_no_error() -> None:
    table = coded(HAN, HAN_COLUMNS)
    names = tuple(column.name for column in table.sensitive)
    exact = Partition(np.arange(9), (Slice(names, np.arange(9)),))
    queries = random_queries(table, np.random.default_rng(0), 50, quasi=2, sensitive=2)
    assert query_error(table, exact, queries).mean == 0.0
    one_group = Partition(np.arange(9), (Slice(names, np.zeros(9, dtype=np.int64)),))
    assert query_error(table, one_group, queries).mean > 0.0


def test_relative_errors_by_hand(table: CodedTable) -> None:
    groups = np.array([0, 0, 0, 0])
    partition = Partition(EXACT, (Slice(("illness", "salary"), groups),))
    old_with_c = Query({"age": np.array([False, False, True, True])}, {"illness": np.array([False, False, True])})
    # Expected 2 * 1/4 against 1; and 2 * 2/4 against 1.
    assert query_error(table, partition, [old_with_c], floor=1.0).mean == pytest.approx(0.5)
    assert query_error(table, partition, [old_with_c, YOUNG_WITH_A], floor=1.0).mean == pytest.approx(0.25)
