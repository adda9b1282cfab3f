"""Utility: nothing is lost where nothing is generalized, hand-worked figures, and less is left the more is joined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.measure import METRICS
from polyveil.measure.utility import measure_utility
from polyveil.measure.utility_model import few_classes
from polyveil.measure.utility_shift import (
    Reconstruction,
    associations,
    contingency,
    cramers_v,
    distribution_shifts,
    total_variation,
)
from polyveil.partition import Partition, Slice
from polyveil.policy.hierarchy import flat, from_tree
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import OrderedDomain, TreeDomain
from tables import random_table


def four_ages() -> CodedTable:
    """Ages 0, 1, 2, 3 with two rows each; the young have x, the old y."""
    ages = OrderedDomain("numeric", np.arange(4.0), ("0", "1", "2", "3"))
    tree = TreeDomain(flat(["x", "y"]))
    codes = np.repeat(np.arange(4), 2)
    levels = np.ones(2, dtype=np.int64)
    return CodedTable(
        8, (QuasiColumn("age", ages, codes),), (SensitiveColumn("kind", tree, codes // 2, "equal", levels),)
    )


def learnable(rows: int = 3000, seed: int = 0) -> CodedTable:
    """The kind follows from the region of a number, with one in ten at random."""
    rng = np.random.default_rng(seed)
    places = OrderedDomain("numeric", np.arange(100.0), tuple(map(str, range(100))))
    codes = rng.integers(0, 100, rows)
    kind = np.where(rng.random(rows) < 0.9, codes // 25, rng.integers(0, 4, rows))
    tree = TreeDomain(flat(["a", "b", "c", "d"]))
    other = OrderedDomain("numeric", np.arange(10.0), tuple(map(str, range(10))))
    return CodedTable(
        rows,
        (QuasiColumn("place", places, codes), QuasiColumn("noise", other, rng.integers(0, 10, rows))),
        (SensitiveColumn("kind", tree, kind, "equal", np.ones(4, dtype=np.int64)),),
    )


def test_a_release_that_changes_nothing_loses_nothing() -> None:
    table = random_table(1, rows=200)
    found = measure_utility(table, Partition(table.quasi_tuples.of_row), learn=False)
    assert found.query_error == 0.0
    assert found.distribution_shift == pytest.approx(0.0, abs=1e-12)
    assert found.association_shift == pytest.approx(0.0, abs=1e-12)
    assert found.model_accuracy is None


def test_one_class_of_everything_by_hand() -> None:
    """Ages 0 to 3 evenly: nothing shifts, but age no longer tells the kind: V falls from 1 to 0."""
    view = Reconstruction(four_ages(), Partition(np.zeros(8, dtype=np.int64)))
    assert distribution_shifts(view) == {"age": 0.0, "kind": 0.0}
    (pair,) = associations(view)
    assert (pair.first, pair.second) == ("age", "kind")
    assert pair.original == pytest.approx(1.0)
    assert pair.released == pytest.approx(0.0)
    assert pair.shift == pytest.approx(1.0)


def test_a_shift_by_hand() -> None:
    """Rows 0, 0, 0, 3 in one class are read as 0, 1, 2, 3 evenly: 3/4 to 1/4, and 0 to 1/4 twice: 1/2 moves."""
    table = four_ages().take(np.array([0, 1, 0, 6]))
    shift = distribution_shifts(Reconstruction(table, Partition(np.zeros(4, dtype=np.int64))))
    assert shift["age"] == pytest.approx(0.5)


def test_suppressed_rows_shift_the_sensitive_column() -> None:
    """Without the two oldest, x is 4 of 6 instead of 4 of 8."""
    class_of_row = np.array([0, 0, 1, 1, 2, 2, -1, -1])
    assert distribution_shifts(Reconstruction(four_ages(), Partition(class_of_row)))["kind"] == pytest.approx(1 / 6)


def test_slices_lose_how_their_columns_go_together_and_one_slice_keeps_it() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 300)
    tree, levels = TreeDomain(flat(list("abc"))), np.ones(3, dtype=np.int64)
    age = QuasiColumn("age", OrderedDomain("numeric", np.arange(300.0), tuple(map(str, range(300)))), np.arange(300))
    columns = tuple(SensitiveColumn(name, tree, codes, "equal", levels) for name in ("s", "t"))
    table = CodedTable(300, (age,), columns)
    groups = np.arange(300) // 30
    apart = Partition(np.arange(300), (Slice(("s",), groups), Slice(("t",), groups)))
    joined = Partition(np.arange(300), (Slice(("s", "t"), groups),))
    of_pair = {
        name: next(
            pair for pair in associations(Reconstruction(table, each)) if (pair.first, pair.second) == ("s", "t")
        )
        for name, each in (("apart", apart), ("joined", joined))
    }
    assert of_pair["joined"].shift == 0.0
    assert of_pair["apart"].original == pytest.approx(1.0)
    assert of_pair["apart"].released < 0.4


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), classes=st.integers(1, 20))
def test_shares_of_every_class_add_up_and_figures_stay_in_their_range(seed: int, classes: int) -> None:
    table = random_table(seed, rows=80)
    class_of_row = np.random.default_rng(seed).integers(-1, classes, 80)
    class_of_row = np.unique(np.append(class_of_row, -1), return_inverse=True)[1][:-1] - 1
    if class_of_row.max() < 0:
        return
    view = Reconstruction(table, Partition(class_of_row))
    for a, column in enumerate(table.quasi):
        shares = view.quasi_shares(a, np.arange(column.domain.size), column.domain.size)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        inside = shares[class_of_row[view.kept], column.codes[view.kept]]
        assert (inside > 0).all()  # the true value is among those a cell stands for
    found = measure_utility(table, Partition(class_of_row), queries=10, learn=False)
    for name in ("query_error", "distribution_shift", "association_shift"):
        value, metric = getattr(found, name), METRICS[name]
        assert metric.low <= value <= (metric.high or np.inf) + 1e-9


def test_a_model_learns_from_fine_classes_and_not_from_one() -> None:
    table = learnable()
    place = table.quasi[0].codes
    fine = measure_utility(table, Partition(np.unique(place // 5, return_inverse=True)[1]), queries=5)
    coarse = measure_utility(table, Partition(np.zeros(table.rows, dtype=np.int64)), queries=5)
    (score,) = fine.models
    assert score.classes == 4
    assert score.original > 0.85
    assert score.released > 0.85
    assert coarse.models[0].released < 0.4
    assert coarse.models[0].blind < 0.4
    assert fine.query_error < coarse.query_error
    assert fine.association_shift < coarse.association_shift


def test_a_model_can_learn_from_an_anatomized_release() -> None:
    table = learnable()
    order = np.argsort(table.quasi[0].codes, kind="stable")
    groups = np.zeros(table.rows, dtype=np.int64)
    groups[order] = np.arange(table.rows) // 4
    partition = Partition(table.quasi_tuples.of_row, (Slice(("kind",), groups),))
    (score,) = measure_utility(table, partition, queries=5).models
    assert score.released > 0.8


def test_many_values_are_learned_in_quarters_or_branches() -> None:
    counts = np.full(20, 5)
    assert np.bincount(few_classes(counts, ordered=True, branch=None)).tolist() == [5, 5, 5, 5]
    branch = np.repeat([0, 1], 10)
    assert few_classes(counts, ordered=False, branch=branch).tolist() == branch.tolist()
    assert np.bincount(few_classes(np.arange(20) + 1, ordered=False, branch=None)).tolist() == [*[1] * 11, 9]
    assert few_classes(counts[:5], ordered=True, branch=None).tolist() == [0, 1, 2, 3, 4]


def test_cramers_v_and_total_variation_by_hand() -> None:
    """chi^2 of [[10, 0], [0, 10]] is 20, V is 1; of [[5, 5], [5, 5]] it is 0; of [[8, 2], [2, 8]] 0.6."""
    assert cramers_v(np.array([[10.0, 0], [0, 10]])) == pytest.approx(1.0)
    assert cramers_v(np.array([[5.0, 5], [5, 5]])) == 0.0
    assert cramers_v(np.array([[8.0, 2], [2, 8]])) == pytest.approx(0.6)
    assert cramers_v(contingency(np.array([0, 0]), np.array([0, 1]), 2, 2)) == 0.0
    assert total_variation(np.array([3, 1]), np.array([1, 3])) == pytest.approx(0.5)
    assert total_variation(np.array([3, 1]), np.array([0, 0])) == 1.0


def test_sets_and_trees_are_read_as_what_they_stand_for() -> None:
    """A set {a, c} is a or c; the node over a and b is a or b."""
    tree = from_tree({"g": ["a", "b"], "h": ["c"]})
    codes = np.array([0, 2, 0, 1])
    kind = SensitiveColumn(
        "s", TreeDomain(flat(["x"])), np.zeros(4, dtype=np.int64), "equal", np.ones(1, dtype=np.int64)
    )
    as_set = CodedTable(4, (QuasiColumn("q", TreeDomain(tree, as_set=True), codes),), (kind,))
    view = Reconstruction(as_set, Partition(np.array([0, 0, 1, 1])))
    assert view.quasi_shares(0, np.arange(3), 3).tolist() == [[0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    as_tree = CodedTable(4, (QuasiColumn("q", TreeDomain(tree), codes),), (kind,))
    view = Reconstruction(as_tree, Partition(np.array([0, 0, 1, 1])))
    assert view.quasi_shares(0, np.arange(3), 3)[1].tolist() == [0.5, 0.5, 0.0]
    assert view.quasi_shares(0, np.arange(3), 3)[0] == pytest.approx([1 / 3] * 3)
