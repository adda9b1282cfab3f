"""The bounds that attacks are held against, by hand and against random classes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attack_tables import policy_of
from model_examples import attribute, grounds
from polyveil.attacks.bounds import caps_for, share_at_entropy, total_variation, transported
from polyveil.attacks.result import wilson
from polyveil.models import (
    Attribute,
    ClassStatistics,
    EntropyDiversity,
    FrequencyDiversity,
    LevelDiversity,
    Model,
    RecursiveDiversity,
    TCloseness,
    from_classes,
)
from polyveil.models.ground import equal, ordered
from polyveil.models.space import value_space


def caps(model: Model, about: Attribute, chosen: list[int]) -> float:
    return float(caps_for([model], {"x": about}, "x", 10).of_sets([np.array(chosen)])[0][0])


def test_equal_distance_adds_t_to_the_share_of_the_whole_table() -> None:
    about = attribute([6, 3, 1], equal(3))
    assert caps(TCloseness(0.2, "x"), about, [2]) == pytest.approx(0.3)
    assert caps(TCloseness(0.2, "x"), about, [1, 2]) == pytest.approx(0.6)


def test_ordered_distance_bounds_by_neighbourhoods() -> None:
    """Eleven salaries, one row each. P(lowest) <= Q(nearer than d) + t / d, best at d = 0.5: 5/11 + 0.1 / 0.5."""
    about = attribute([1] * 11, ordered(11))
    candidates = [(d, d / 11 + 0.1 / (d / 10)) for d in range(1, 11)]
    assert caps(TCloseness(0.1, "x"), about, [0]) == pytest.approx(min(value for _, value in candidates), abs=1e-6)


def test_shares_are_bounded_by_what_the_other_models_ask() -> None:
    about = attribute([6, 3, 1], levels=[0, 1, 2])
    assert caps(FrequencyDiversity(3, "x"), about, [0]) == pytest.approx(1 / 3)
    assert caps(FrequencyDiversity(3, "x"), about, [0, 1]) == pytest.approx(2 / 3)
    assert caps(LevelDiversity({0: 1, 1: 2, 2: 4}, "x"), about, [2]) == pytest.approx(1 / 4)
    assert caps(RecursiveDiversity(2.0, "x", 2), about, [0]) == pytest.approx(2 / 3)
    assert caps(EntropyDiversity(3.0, "x"), about, [0]) == pytest.approx(1 / 3, abs=1e-4)


def test_entropy_of_two_values_at_two_thirds() -> None:
    """H(s) = ln 2 is reached by one half alone; a smaller entropy leaves more."""
    assert share_at_entropy(math.log(2), 2) == pytest.approx(0.5, abs=1e-6)
    third = -(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3)
    assert share_at_entropy(third, 2) == pytest.approx(2 / 3)


def statistics(codes: np.ndarray, class_of_row: np.ndarray, about: Attribute) -> ClassStatistics:
    return from_classes(class_of_row, {"x": codes}, {"x": about})


@settings(max_examples=150)
@given(data=st.data())
def test_no_class_believes_more_than_its_own_closeness_allows(data: st.DataObject) -> None:
    """With t set to what a class measures, its share of any set of values stays within the bound."""
    size = data.draw(st.integers(2, 7))
    rows = data.draw(st.lists(st.integers(0, size - 1), min_size=3, max_size=25))
    codes = np.array(rows)
    about = attribute(np.bincount(codes, minlength=size).tolist(), data.draw(grounds(size)))
    chosen = data.draw(st.lists(st.integers(0, size - 1), min_size=1, unique=True))
    class_of_row = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows))))
    class_of_row = np.unique(class_of_row, return_inverse=True)[1]
    found = TCloseness(1.0, "x").measure_all(statistics(codes, class_of_row, about))
    for number, t in enumerate(found):
        share = np.isin(codes[class_of_row == number], chosen).mean()
        if np.isfinite(t):
            assert share <= caps(TCloseness(float(t), "x"), about, chosen) + 1e-9


def test_divergences_bound_total_variation() -> None:
    p, q = np.array([0.7, 0.2, 0.1]), np.array([0.2, 0.5, 0.3])
    varied, middle = np.abs(p - q).sum() / 2, (p + q) / 2

    def kl(a: np.ndarray, b: np.ndarray) -> float:
        return float((a * np.log2(a / b)).sum())

    assert varied <= total_variation("hellinger", math.sqrt(1 - np.sqrt(p * q).sum()))
    assert varied <= total_variation("kl", kl(p, q))
    assert varied <= total_variation("js", (kl(p, middle) + kl(q, middle)) / 2)


def test_transport_without_anything_outside_bounds_nothing() -> None:
    assert transported(np.zeros(3), np.array([0.5, 0.3, 0.2]), 0.1) == 1.0


def test_wilsons_interval_by_hand() -> None:
    """10 of 100: the interval of the textbooks is 0.0552 to 0.1744."""
    assert wilson(10, 100) == pytest.approx((0.0552, 0.1744), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


def test_policies_of_the_attack_tests_are_valid() -> None:
    from polyveil.policy import Policy

    assert Policy.from_dict(policy_of(k=5, l=2)).privacy.k == 5


@settings(max_examples=60)
@given(data=st.data())
def test_the_nearest_of_a_set_is_the_least_distance(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 8))
    space = value_space(data.draw(grounds(size)), size)
    chosen = np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=1, unique=True)))
    plain = space.between(np.arange(size)[:, None], chosen[None, :]).min(axis=1)
    np.testing.assert_allclose(space.to_nearest(chosen), plain, atol=1e-12)
