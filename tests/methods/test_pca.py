"""pca: the paper's adjustment of k, the central slices, and the projection against numpy's own decomposition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods.pca import adjusted, projection, slice_sizes
from polyveil.table.coded import CodedTable
from polyveil.table.domain import OrderedDomain
from tables import random_table


@pytest.mark.parametrize(("rows", "k", "expected"), [(30, 7, 7), (10, 7, 10), (11, 6, 11), (12, 6, 6), (5, 3, 5)])
def test_k_grows_where_the_remainder_would_not_fit(rows: int, k: int, expected: int) -> None:
    # 10 rows, k = 7: one row per slice, three left over: k = 7 + 3 // 1 = 10.
    assert adjusted(k, rows) == expected


@settings(max_examples=50)
@given(st.integers(1, 500), st.integers(1, 60))
def test_after_the_adjustment_a_central_slice_gives_at_most_two_rows_per_class(rows: int, k: int) -> None:
    k = adjusted(min(k, rows), rows)
    sizes = slice_sizes(rows, k)
    assert sizes.sum() == rows
    assert sizes.max() <= 2 * sizes.min()


def test_the_remainder_goes_to_the_middle() -> None:
    assert slice_sizes(23, 5).tolist() == [4, 4, 7, 4, 4]
    assert slice_sizes(27, 4).tolist() == [6, 8, 7, 6]


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_the_projection_is_the_first_principal_component_of_one_hot_rows(seed: int) -> None:
    table = random_table(seed, 120, nulls=False)
    parts = []
    for column in table.sensitive:
        if isinstance(column.domain, OrderedDomain):
            parts.append(column.domain.normalized[column.codes][:, None])
        else:
            parts.append(np.eye(column.domain.size)[column.codes])
    rows = np.concatenate(parts, axis=1)
    rows = rows - rows.mean(axis=0)
    _, strength, axes = np.linalg.svd(rows, full_matrices=False)
    if strength[0] - strength[1] < 1e-6 * strength[0]:
        return  # two equal components: either is right
    expected = rows @ axes[0]
    found = projection(table)
    assert min(np.abs(found - expected).max(), np.abs(found + expected).max()) < 1e-8


def test_without_sensitive_attributes_all_rows_are_alike() -> None:
    table = CodedTable(5, random_table(0, 5).quasi, ())
    assert projection(table).tolist() == [0.0] * 5
