"""Loss of a release, worked out by hand on six rows and compared with plain loops on random tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.measure import METRICS, class_boxes, measure_loss, weighted_hierarchical_distance
from polyveil.measure.distortion import distance_to_nodes
from polyveil.policy.hierarchy import from_tree
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import OrderedDomain, TreeDomain
from tables import random_table

AGE = OrderedDomain("numeric", np.array([20.0, 25.0, 30.0, 60.0]), ("20", "25", "30", "60"), has_null=True)
REGION = TreeDomain(from_tree({"North": ["a", "b"], "South": ["c", "d", "e"]}))
TOWN = TreeDomain(from_tree(["p", "q", "r"]), as_set=True)
# Class 0: ages 20-30, a-b, {p}; class 1: 60 and missing, b-d, {p, q, r}; one row suppressed.
TABLE = CodedTable(
    rows=6,
    quasi=(
        QuasiColumn("age", AGE, np.array([0, 2, 3, 4, 3, 1])),
        QuasiColumn("region", REGION, np.array([0, 1, 1, 3, 2, 0])),
        QuasiColumn("town", TOWN, np.array([0, 0, 0, 1, 2, 0])),
    ),
    sensitive=(),
)
CLASSES = np.array([0, 0, 1, 1, 1, -1])


def test_the_box_of_a_class() -> None:
    boxes = class_boxes(TABLE, CLASSES)
    assert boxes.sizes.tolist() == [2, 3]
    assert boxes.low.tolist() == [[0, 0, 0], [3, 1, 0]]
    assert boxes.high.tolist() == [[2, 1, 0], [4, 3, 2]]
    assert boxes.distinct.tolist() == [[0, 0, 1], [0, 0, 3]]


def test_information_loss_by_hand() -> None:
    """Eq. (1) of wang2018; a range with "missing" costs 1, the suppressed row 1 per quasi-identifier."""
    loss = measure_loss(TABLE, CLASSES)
    age = (2 * (10 / 40) + 3 * 1 + 1) / 6
    region = (2 * (1 / 4) + 3 * 1 + 1) / 6
    town = (2 * 0 + 3 * 1 + 1) / 6
    assert loss.by_attribute == pytest.approx({"age": age, "region": region, "town": town})
    assert loss.information_loss == pytest.approx(age + region + town)
    assert loss.normalized_loss == pytest.approx((age + region + town) / 3)


def test_the_other_measures_by_hand() -> None:
    loss = measure_loss(TABLE, CLASSES)
    assert loss.discernibility == 2**2 + 3**2 + 6
    assert loss.average_class_size == 2.5
    assert loss.suppression_ratio == 1 / 6
    # Classes of 2 and 3 rows, and the suppressed row by itself.
    assert loss.entropy == pytest.approx(np.log2(6) - (2 * np.log2(2) + 3 * np.log2(3)) / 6)
    # North is at height 1 of 2, the root at 2.
    height = (2 * (10 / 40) + 4 + 2 * (1 / 2) + 4 + 4) / 6
    assert loss.precision == pytest.approx(1 - height / 3)
    # From a value to its group weighs 1/2, from there to the root 1: a third and all of 3/2.
    assert loss.distortion == pytest.approx(2 * (10 / 40) + 4 + 2 * (1 / 3) + 4 + 4)


def test_weighted_hierarchical_distance_of_han_2013() -> None:
    """1132* to 11***: levels 5 to 3 of 6."""
    assert weighted_hierarchical_distance(5, 3, 6) == pytest.approx(0.255, abs=5e-4)
    assert weighted_hierarchical_distance(5, 3, 6) == pytest.approx(
        (1 / 4 + 1 / 3) / (1 / 5 + 1 / 4 + 1 / 3 + 1 / 2 + 1)
    )
    assert weighted_hierarchical_distance(6, 6, 6) == 0.0
    assert weighted_hierarchical_distance(6, 1, 6) == 1.0
    with pytest.raises(ValueError, match="towards the root"):
        weighted_hierarchical_distance(3, 5, 6)


def test_weighted_distance_of_nodes_in_an_uneven_tree() -> None:
    tree = from_tree({"g": {"h": ["a", "b"], "d": None}, "c": None})
    found = dict(zip(tree.labels, distance_to_nodes(tree).tolist(), strict=True))
    steps = 1 / 3 + 1 / 2 + 1
    assert found == pytest.approx(
        {"*": 1.0, "g": (1 / 3 + 1 / 2) / steps, "h": 1 / 3 / steps, **dict.fromkeys("abcd", 0)}
    )


def test_nothing_generalized_loses_nothing() -> None:
    table = random_table(3, rows=40)
    loss = measure_loss(table, table.quasi_tuples.of_row)
    assert (loss.information_loss, loss.precision, loss.distortion, loss.suppression_ratio) == (0.0, 1.0, 0.0, 0.0)


def test_everything_suppressed_loses_everything() -> None:
    loss = measure_loss(TABLE, np.full(6, -1))
    assert (loss.information_loss, loss.normalized_loss, loss.precision) == (3.0, 1.0, 0.0)
    assert (loss.discernibility, loss.suppression_ratio, loss.entropy, loss.average_class_size) == (36, 1.0, 0.0, 0.0)


def test_results_have_the_names_the_registry_explains() -> None:
    found = measure_loss(TABLE, CLASSES).to_dict()
    assert set(found) - {"by_attribute"} <= set(METRICS)
    for name, value in found.items():
        if name != "by_attribute":
            metric = METRICS[name]
            assert metric.low <= value <= (np.inf if metric.high is None else metric.high)
            assert metric.unit
            assert metric.description


def plain_information_loss(table: CodedTable, class_of_row: np.ndarray) -> float:
    """Row by row, cell by cell."""
    total = 0.0
    for row in range(table.rows):
        if class_of_row[row] < 0:
            total += len(table.quasi)
            continue
        members = class_of_row == class_of_row[row]
        for column in table.quasi:
            codes, domain = column.codes[members].astype(int), column.domain
            if isinstance(domain, TreeDomain) and domain.as_set:
                total += (len(set(codes.tolist())) - 1) / (domain.size - 1)
            elif isinstance(domain, TreeDomain):
                covering = [
                    stop - start
                    for start, stop in zip(domain.hierarchy.start, domain.hierarchy.stop, strict=True)
                    if start <= codes.min() and codes.max() < stop
                ]
                total += (min(covering) - 1) / (domain.size - 1)
            elif domain.null_code in codes and len(set(codes.tolist())) > 1:
                total += 1.0
            elif domain.null_code not in codes:
                spread = domain.positions[codes.max()] - domain.positions[codes.min()]
                total += spread / (domain.positions[-1] - domain.positions[0])
    return float(total / table.rows)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), nulls=st.booleans())
def test_information_loss_equals_the_plain_loop(seed: int, nulls: bool) -> None:
    table = random_table(seed, rows=30, nulls=nulls)
    labels = np.random.default_rng(seed).integers(-1, 8, table.rows)
    class_of_row = np.unique(np.append(labels, -1), return_inverse=True)[1][:-1] - 1
    assert measure_loss(table, class_of_row).information_loss == pytest.approx(
        plain_information_loss(table, class_of_row), abs=1e-12
    )


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_merging_classes_never_lowers_the_loss(seed: int) -> None:
    table = random_table(seed, rows=30)
    labels = np.unique(np.random.default_rng(seed).integers(0, 8, table.rows), return_inverse=True)[1]
    before, after = measure_loss(table, labels), measure_loss(table, np.maximum(labels - 1, 0))
    for name, metric in METRICS.items():
        if name in before.to_dict():
            fine, coarse = getattr(before, name), getattr(after, name)
            assert coarse >= fine - 1e-9 if metric.better == "lower" else coarse <= fine + 1e-9
