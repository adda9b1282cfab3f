"""Merging: repeated until every class holds, by the paper's rule or by the partner that helps most."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._kernels.boxes import code_matrix
from polyveil.methods._kernels.distance import quasi_metric
from polyveil.methods._kernels.judge import compile_constraints, holds_classes, sensitive_matrix
from polyveil.methods._kernels.row_index import tuple_order
from polyveil.methods._strata.merge import merge
from polyveil.models import DistinctDiversity, KAnonymity, Model, TCloseness, attributes_of
from polyveil.policy.hierarchy import flat
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import OrderedDomain, TreeDomain, as_codes
from tables import random_table


def merged(table: CodedTable, models: list[Model], labels: np.ndarray, rule: str, partners: int = 8) -> np.ndarray:
    metric = quasi_metric(table)
    judge = compile_constraints(models, attributes_of(table), table)
    place = tuple_order(table.quasi_tuples.codes, metric)[table.quasi_tuples.of_row]
    result, _ = merge(labels, code_matrix(table), sensitive_matrix(table), judge, metric, place, rule, partners)
    assert holds_classes(judge, result, sensitive_matrix(table)).all()
    return result


@settings(max_examples=20)
@given(st.integers(0, 1000), st.floats(0.05, 0.6), st.sampled_from(["best", "nearest"]))
def test_every_class_holds_and_no_class_is_torn_apart(seed: int, t: float, rule: str) -> None:
    table = random_table(seed, 90)
    labels = np.random.default_rng(seed).permutation(np.arange(90) // 3)
    models = [KAnonymity(4), *(TCloseness(t, column.name) for column in table.sensitive)]
    result = merged(table, models, labels, rule)
    assert sorted(set(result)) == list(range(result.max() + 1))
    for c in range(30):
        assert len(set(result[labels == c])) == 1


def on_a_line(ages: list[int], illness: list[str]) -> CodedTable:
    positions = np.arange(101.0)
    domain = OrderedDomain("numeric", positions, tuple(str(int(p)) for p in positions))
    illnesses = TreeDomain(flat(sorted(set(illness))))
    codes = [illnesses.labels.index(value) for value in illness]
    levels = np.ones(illnesses.size, dtype=np.int64)
    return CodedTable(
        len(ages),
        (QuasiColumn("age", domain, as_codes(ages, 101)),),
        (SensitiveColumn("illness", illnesses, as_codes(codes, illnesses.size), "equal", levels),),
    )


def test_the_paper_takes_the_nearest_centroid_and_best_the_partner_that_helps() -> None:
    # Class 0 (flu, flu) fails 2-diversity. Its nearest neighbour at 12 is flu as well, the one at 20 is not.
    table = on_a_line([10, 10, 12, 12, 20, 20, 90, 90], ["flu", "flu", "flu", "flu", "cold", "flu", "cold", "flu"])
    labels = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    models: list[Model] = [DistinctDiversity(2, "illness")]
    best = merged(table, models, labels, "best")
    assert best[0] == best[4]
    assert best[2] != best[0]
    nearest = merged(table, models, labels, "nearest")
    assert nearest[0] == nearest[2] == nearest[4]
    assert nearest[6] != nearest[0]


def test_classes_that_hold_stay_as_they_are() -> None:
    table = random_table(4, 40)
    labels = np.arange(40) // 10
    assert np.array_equal(merged(table, [KAnonymity(10)], labels, "best"), labels)


def test_one_class_that_fails_is_returned_for_the_caller_to_refuse() -> None:
    table = on_a_line([1, 2, 3], ["flu", "flu", "flu"])
    judge = compile_constraints([DistinctDiversity(2, "illness")], attributes_of(table), table)
    metric = quasi_metric(table)
    place = np.zeros(3, dtype=np.int64)
    sensitive = sensitive_matrix(table)
    labels, failing = merge(np.array([0, 1, 2]), code_matrix(table), sensitive, judge, metric, place)
    assert labels.tolist() == [0, 0, 0]
    assert failing == 3


def test_a_numbers_centroid_is_the_middle_of_its_range() -> None:
    # Class 0 spans 0..40 (middle 20); class 1 at 30, class 2 at 41: nearest by centroid is class 1, though 2 is closer
    # to the class's upper end than its middle is.
    table = on_a_line([0, 40, 30, 30, 41, 41], ["flu", "flu", "cold", "flu", "cold", "flu"])
    result = merged(table, [DistinctDiversity(2, "illness")], np.array([0, 0, 1, 1, 2, 2]), "nearest")
    assert result[0] == result[2]
    assert result[4] != result[0]


def test_more_partners_never_leave_a_failing_class() -> None:
    table = random_table(11, 60)
    models = [TCloseness(0.1, column.name) for column in table.sensitive]
    for partners in (1, 2, 50):
        merged(table, models, np.arange(60), "best", partners)


@pytest.mark.parametrize("rule", ["best", "nearest"])
def test_suppressed_rows_stay_suppressed(rule: str) -> None:
    table = random_table(2, 30)
    labels = np.arange(30) // 2
    labels[labels == 14] = -1
    result = merged(table, [KAnonymity(6)], labels, rule)
    assert (result[28:] == -1).all()
    assert (result[:28] >= 0).all()
