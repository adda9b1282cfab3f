"""k, (alpha,k), l-diversity of every kind and p-sensitivity: answers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from model_examples import attribute, classes, measured
from polyveil.models import (
    AlphaAnonymity,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    LevelDiversity,
    PSensitivity,
    RecursiveDiversity,
    from_classes,
)

FOUR = attribute([4, 1, 1, 0])


def test_k_is_the_size_of_the_smallest_class() -> None:
    verdict = KAnonymity(3).judge(classes([[4, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]], FOUR))
    assert (verdict.value, verdict.outcome, verdict.worst_class) == (2.0, "fails", 1)
    assert KAnonymity(2).judge(classes([[4, 0, 0, 0], [1, 1, 0, 0]], FOUR)).holds


def test_a_unique_row_with_a_missing_quasi_identifier_gives_k_1() -> None:
    """Three rows: two alike, one with a missing value, which is a value of its own and not a row to drop."""
    quasi = np.array([0, 0, 1])  # 1 is the code of "missing"
    statistics = from_classes(quasi, {"x": np.array([0, 1, 2])}, {"x": FOUR})
    assert KAnonymity(2).judge(statistics).value == 1.0


def test_the_share_of_the_most_common_value() -> None:
    assert measured(AlphaAnonymity(0.5, "x"), [[4, 1, 1, 0], [1, 1, 1, 1]], FOUR) == [4 / 6, 0.25]
    assert AlphaAnonymity(0.25, "x").judge(classes([[1, 1, 1, 1]], FOUR)).holds


def test_counting_different_values() -> None:
    counts = [[4, 1, 1, 0], [6, 0, 0, 0]]
    assert measured(DistinctDiversity(2, "x"), counts, FOUR) == [3.0, 1.0]
    assert measured(PSensitivity(2, "x"), counts, FOUR) == [3.0, 1.0]


def test_frequency_l_is_the_size_over_the_greatest_count() -> None:
    assert measured(FrequencyDiversity(2, "x"), [[4, 1, 1, 0], [2, 2, 2, 0]], FOUR) == [1.5, 3.0]
    assert FrequencyDiversity(3, "x").judge(classes([[2, 2, 2, 0]], FOUR)).holds


def test_frequency_l_is_decided_by_one_row_in_ten_million() -> None:
    """c(v) <= n / 3 with n = 9,999,999."""
    model = FrequencyDiversity(3, "x")
    assert model.judge(classes([[3_333_333, 3_333_333, 3_333_333]], attribute([1, 1, 1]))).holds
    assert not model.judge(classes([[3_333_334, 3_333_333, 3_333_332]], attribute([1, 1, 1]))).holds


def test_entropy_l_of_two_equal_values_is_exactly_2() -> None:
    for count in (1, 3, 7, 1_000_003):
        assert measured(EntropyDiversity(2, "x"), [[count, count, 0, 0]], FOUR) == [2.0]
    assert EntropyDiversity(2, "x").judge(classes([[5, 5, 0, 0]], FOUR)).holds
    assert not EntropyDiversity(2, "x").judge(classes([[6, 5, 0, 0]], FOUR)).holds


def test_entropy_l_by_hand() -> None:
    """Shares 1/2, 1/4, 1/4: entropy 1.5 bits, as uncertain as 2^1.5 equal values."""
    assert measured(EntropyDiversity(2, "x"), [[2, 1, 1, 0]], FOUR) == [pytest.approx(2**1.5, abs=1e-14)]


def test_recursive_diversity_of_4_1_1_with_l_3_needs_c_greater_than_4() -> None:
    """r1 = 4 is the most common value, r3 = 1 the tail: 4 < c * 1."""
    statistics = classes([[1, 4, 1, 0]], FOUR)
    assert RecursiveDiversity(4.0, "x", 3).judge(statistics).value == 4.0
    assert not RecursiveDiversity(4.0, "x", 3).judge(statistics).holds, "the comparison is strict"
    assert RecursiveDiversity(4.001, "x", 3).judge(statistics).holds


def test_recursive_diversity_with_too_few_values_never_holds() -> None:
    assert measured(RecursiveDiversity(100.0, "x", 3), [[4, 1, 0, 0]], FOUR) == [np.inf]
    assert measured(RecursiveDiversity(2.0, "x", 1), [[3, 1, 0, 0]], FOUR) == [0.75]


def test_level_diversity_hides_secret_values_more() -> None:
    """Levels 0, 1, 2 ask for l = 1, 2, 3: flu may fill a class, HIV at most a third of it."""
    about = attribute([5, 5, 5], levels=[0, 1, 2])
    model = LevelDiversity({0: 1, 1: 2, 2: 3}, "x")
    counts = [[4, 0, 0], [1, 1, 0], [1, 1, 1], [1, 2, 0], [1, 0, 1]]
    assert measured(model, counts, about) == [1.0, 1.0, 1.0, 0.75, pytest.approx(2 / 3)]
    assert list(model.passes(model.measure_all(classes(counts, about)))) == [True, True, True, False, False]


def test_a_level_without_its_own_l_takes_the_next_higher_one() -> None:
    model = LevelDiversity({0: 1, 2: 3}, "x")
    assert list(model.asked(np.array([0, 1, 2, 3]))) == [1.0, 3.0, 3.0, 3.0]


def test_a_table_without_classes_is_not_checked() -> None:
    nothing = classes(np.zeros((0, 4), dtype=int), FOUR)  # type: ignore[arg-type]
    assert KAnonymity(2).judge(nothing).outcome == "not checked"
    assert not KAnonymity(2).judge(nothing).holds


def test_class_numbers_with_gaps_are_refused() -> None:
    with pytest.raises(ValueError, match="without gaps"):
        from_classes(np.array([0, 2]), {}, {})
