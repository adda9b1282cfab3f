"""KACA: weighted hierarchical distances by hand, the tree against the scan, classes that hold."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyveil
from paper_tables import HAN, HAN_COLUMNS, coded, policy_of
from polyveil.errors import Unsatisfiable
from polyveil.measure import measure_loss, weighted_hierarchical_distance
from polyveil.methods._kaca.tree import Boxes, distance, distortion_spec, nearest, nearest_by_scan, plant
from polyveil.methods._kernels.judge import compile_constraints
from polyveil.methods.kaca import k_classes, merge_classes
from polyveil.models import KAnonymity, LevelDiversity, TCloseness, attributes_of, from_classes
from tables import random_table


def test_weighted_hierarchical_distance_of_the_paper() -> None:
    """From 1132* (level 5) to 11*** (level 3) of a five-digit code, six levels in all."""
    expected = (1 / 4 + 1 / 3) / (1 / 5 + 1 / 4 + 1 / 3 + 1 / 2 + 1)
    assert expected == pytest.approx(0.255, abs=5e-4)
    assert weighted_hierarchical_distance(5, 3, 6) == pytest.approx(expected)


def test_distance_between_two_classes_by_hand() -> None:
    """Eq. (7) for t1 (M, 31200, 23) and t3 (M, 31204, 24): the zip codes meet in 3120*, ages span 1 of 12 years."""
    table = coded(HAN.head(9), HAN_COLUMNS)
    codes = np.stack([column.codes for column in table.quasi], axis=1).astype(np.int32)
    boxes = Boxes(codes.copy(), codes.copy(), np.array([2, 1, 3, *[1] * 6]), np.zeros(9))
    zip_step = (1 / 5) / (1 / 5 + 1 / 4 + 1 / 3 + 1 / 2 + 1)
    spec = distortion_spec(table)
    assert distance(spec, boxes, 0, 2) == pytest.approx((2 + 3) * (zip_step + 1 / 12))
    # t2 is a woman from 32100 aged 27: gender is generalized fully, zip codes meet in 3****.
    zip_far = (1 / 5 + 1 / 4 + 1 / 3 + 1 / 2) / (1 / 5 + 1 / 4 + 1 / 3 + 1 / 2 + 1)
    assert distance(spec, boxes, 0, 1) == pytest.approx((2 + 1) * (1 + zip_far + 4 / 12))


def test_distortion_of_table_vi_by_hand() -> None:
    """Table VI: * 3120* [23,26]; F 32*** [27,30]; M 4200* [31,35], three rows each."""
    table = coded(HAN, HAN_COLUMNS)
    classes = np.array([0, 1, 0, 2, 1, 2, 2, 1, 0])
    total = 1 / 5 + 1 / 4 + 1 / 3 + 1 / 2 + 1
    one, three = (1 / 5) / total, (1 / 5 + 1 / 4 + 1 / 3) / total
    expected = 3 * (1 + one + 3 / 12) + 3 * (three + 3 / 12) + 3 * (one + 4 / 12)
    assert measure_loss(table, classes).distortion == pytest.approx(expected)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 80), st.integers(2, 6))
def test_the_tree_finds_the_class_the_scan_finds(seed: int, rows: int, k: int) -> None:
    table = random_table(seed, rows)
    judge = compile_constraints((KAnonymity(min(k, rows)),), {}, table.__class__(rows, table.quasi, ()))
    by_tree, by_scan = (merge_classes(table, judge, np.random.default_rng(seed), scan=scan) for scan in (False, True))
    assert by_tree.tolist() == by_scan.tolist()
    assert np.bincount(by_tree).min() >= min(k, rows)


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_nearest_over_random_boxes(seed: int) -> None:
    table = random_table(seed, 40)
    rng = np.random.default_rng(seed)
    codes = np.stack([column.codes for column in table.quasi], axis=1).astype(np.int32)
    other = codes[rng.permutation(len(codes))]
    low, high = np.minimum(codes, other), np.maximum(codes, other)
    spec = distortion_spec(table)
    boxes = Boxes(low, high, rng.integers(0, 9, len(low)), np.zeros(len(low)))
    boxes.cost[:] = [_cost(table, low[i], high[i]) for i in range(len(low))]
    tree = plant(boxes, np.arange(len(low)))
    for c in np.flatnonzero(boxes.size > 0)[:10]:
        assert nearest(spec, boxes, tree, int(c)) == nearest_by_scan(spec, boxes, int(c))


def _cost(table: object, low: np.ndarray, high: np.ndarray) -> float:  # type: ignore[type-arg]
    from polyveil.methods._kernels.boxes import range_loss

    spec = distortion_spec(table)  # type: ignore[arg-type]
    return float(sum(range_loss(spec, a, int(low[a]), int(high[a])) for a in range(len(low))))


def test_a_class_that_fails_any_model_is_merged_on() -> None:
    table = random_table(11, 200, nulls=False)
    attributes = attributes_of(table)
    models = (KAnonymity(4), LevelDiversity({1: 2}, "illness"), TCloseness(0.3, "salary"))
    classes = merge_classes(table, compile_constraints(models, attributes, table), np.random.default_rng(0))
    statistics = from_classes(classes, {c.name: c.codes for c in table.sensitive}, attributes)
    assert statistics.classes > 1
    for model in models:
        assert model.judge(statistics).holds


def test_k_beyond_the_rows_is_refused() -> None:
    with pytest.raises(Unsatisfiable, match="at least 10 rows"):
        k_classes(coded(HAN, HAN_COLUMNS), 10, np.random.default_rng(0))


@pytest.mark.parametrize("form", ["generalized", "anatomized", "sliced"])
def test_kaca_publishes_verified_releases_in_every_form(form: str) -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 120),
            "sex": rng.choice(["f", "m"], 120),
            "illness": rng.choice(["flu", "cold", "ulcer", "asthma"], 120),
            "salary": rng.integers(1, 5, 120),
        }
    )
    columns = {
        "age": {"role": "quasi", "type": "numeric"},
        "sex": {"role": "quasi"},
        "illness": {"role": "sensitive", "t": 0.4},
        "salary": {"role": "sensitive", "type": "numeric"},
    }
    policy = policy_of(columns, privacy={"k": 4, "l": 2}, method={"name": "kaca"}, release={"form": form})
    release = polyveil.anonymize(frame, policy, seed=2)
    assert release.form == form
    assert release.verify().holds
