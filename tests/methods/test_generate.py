"""Class generation: every class has every stratum's share, of the rows nearest to its seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._kernels.boxes import code_matrix
from polyveil.methods._kernels.distance import quasi_metric, squared_rows
from polyveil.methods._kernels.row_index import plant, tuple_order
from polyveil.methods._strata.generate import distance_to_centre, generate, seed_sequence, share_of_class
from polyveil.table.coded import CodedTable
from tables import random_table


def classes_of(table: CodedTable, stratum: np.ndarray, classes: int, order: str, seed: int = 0) -> np.ndarray:
    metric = quasi_metric(table)
    sizes = np.bincount(stratum).astype(np.int64)
    place = tuple_order(table.quasi_tuples.codes, metric)
    forest = plant(code_matrix(table), table.quasi_tuples.of_row, place, stratum, len(sizes), metric)
    return generate(forest, sizes, classes, seed_sequence(table, order, np.random.default_rng(seed)))


@settings(max_examples=25)
@given(
    st.integers(0, 1000),
    st.lists(st.integers(1, 25), min_size=1, max_size=6),
    st.integers(1, 30),
    st.sampled_from(["random", "farthest"]),
)
def test_every_class_has_every_stratums_share(seed: int, sizes: list[int], classes: int, order: str) -> None:
    rows = sum(sizes)
    classes = min(classes, rows)
    table = random_table(seed, rows)
    stratum = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    labels = classes_of(table, stratum, classes, order)
    assert labels.min() == 0
    whole = np.bincount(labels, minlength=classes)
    assert whole.min() >= rows // classes
    assert whole.max() <= -(-rows // classes)
    for i, size in enumerate(sizes):
        share = np.bincount(labels[stratum == i], minlength=classes)
        assert share.min() >= size // classes
        assert share.max() <= -(-size // classes)


def test_shares_are_dealt_like_cards() -> None:
    # Strata of 3 and 4 rows end to end, places 0..6 dealt to 3 classes: 0 1 2 | 0 1 2 0.
    begin = np.array([0, 3, 7])
    assert [[share_of_class(begin, i, c, 3) for c in range(3)] for i in range(2)] == [[1, 1, 1], [2, 1, 1]]


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_a_class_takes_the_nearest_unused_rows_of_every_stratum(seed: int) -> None:
    """Pseudocode 1, steps 5-17, replayed with a scan: classes are formed in the order of their numbers."""
    table = random_table(seed, 60)
    codes, metric = code_matrix(table), quasi_metric(table)
    stratum = np.random.default_rng(seed).permutation(np.arange(60) % 4)
    labels = classes_of(table, stratum, 15, "random", seed)
    for number in range(15):
        left = labels > number

        def nearest_to(point: np.ndarray, number: int = number, left: np.ndarray = left) -> bool:
            for i in range(4):
                mine = [squared_rows(metric, point, c) for c in codes[(labels == number) & (stratum == i)]]
                others = [squared_rows(metric, point, c) for c in codes[left & (stratum == i)]]
                if others and max(mine) > min(others) + 1e-12:
                    return False
            return True

        assert any(nearest_to(point) for point in codes[(labels == number) & (stratum == 0)])


def test_farthest_seeds_come_from_the_rim() -> None:
    table = random_table(3, 50)
    away = distance_to_centre(table)
    sequence = seed_sequence(table, "farthest", np.random.default_rng(0))
    assert np.all(np.diff(away[sequence]) <= 1e-12)
    assert sorted(sequence) == list(range(50))


def test_distance_to_the_centre_is_that_of_the_embedding() -> None:
    """|x - mean|^2 = mean over y of d(x, y)^2 - half the mean over y, y' of d(y, y')^2, for Euclidean distances."""
    table = random_table(8, 40, nulls=False)
    codes, metric = code_matrix(table), quasi_metric(table)
    squares = np.array([[squared_rows(metric, x, y) for y in codes] for x in codes])
    expected = squares.mean(axis=1) - squares.mean() / 2
    assert distance_to_centre(table) == pytest.approx(expected)
