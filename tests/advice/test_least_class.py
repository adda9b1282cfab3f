"""The smallest class that t allows, against every possible class tried one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.advice.least_class import least_class, least_distance
from polyveil.models import Attribute, TCloseness, from_classes
from polyveil.models.ground import GroundDistance, divergence, equal, hierarchical, ordered
from polyveil.policy.hierarchy import from_tree

TREE = from_tree({"a": ["1", "2"], "b": {"c": ["3", "4"], "d": ["5"]}})


def about(whole: list[int], ground: GroundDistance) -> Attribute:
    return Attribute("x", len(whole), np.array(whole), ground, np.ones(len(whole), dtype=np.int64))


def every_class(whole: list[int], rows: int) -> Iterator[list[int]]:
    if not whole:
        if rows == 0:
            yield []
        return
    for count in range(min(whole[0], rows) + 1):
        yield from ([count, *rest] for rest in every_class(whole[1:], rows - count))


def by_trying(attribute: Attribute, rows: int) -> float:
    classes = list(every_class(attribute.whole.tolist(), rows))
    owner = np.repeat(np.arange(len(classes)), rows)
    codes = np.concatenate([np.repeat(np.arange(attribute.size), counts) for counts in classes])
    return float(TCloseness(1, "x").measure_all(from_classes(owner, {"x": codes}, {"x": attribute})).min())


GROUNDS = [
    ordered(5),
    ordered(4, has_null=True),
    equal(5),
    hierarchical(TREE),
    divergence("hellinger"),
    divergence("kl"),
    divergence("js"),
]


@pytest.mark.parametrize("ground", GROUNDS, ids=["ordered", "missing", "equal", "tree", "hellinger", "kl", "js"])
@given(whole=st.lists(st.integers(1, 6), min_size=5, max_size=5), rows=st.integers(1, 6))
@settings(max_examples=12)
def test_the_least_distance_is_that_of_the_best_class(ground: GroundDistance, whole: list[int], rows: int) -> None:
    attribute = about(whole, ground)
    rows = min(rows, sum(whole))
    assert least_distance(attribute, rows) == pytest.approx(by_trying(attribute, rows), abs=1e-9)


def test_nine_salaries_need_three_rows_for_a_sixth_of_the_line() -> None:
    """One row at 7k is 0.278 from nine equal salaries, two reach 0.139, three 0.083 (4k, 7k, 10k)."""
    salaries = about([1] * 9, ordered(9))
    assert least_distance(salaries, 1) == pytest.approx(20 / 72)
    assert least_distance(salaries, 3) == pytest.approx(6 / 72)
    found = least_class({"salary": salaries}, 0.1)
    assert (found.size, found.exact) == (3, True)
    assert least_class({"salary": salaries}, 0.3).size == 1


def test_a_t_of_0_needs_a_divisor_of_the_table() -> None:
    assert least_class({"x": about([2, 4, 6], equal(3))}, 0.0).size == 6
    assert least_class({"x": about([2, 3, 7], equal(3))}, 0.0).size == 12


def test_several_columns_need_at_least_what_each_needs() -> None:
    one, other = about([5, 5], equal(2)), about([1, 9], equal(2))
    sizes = [least_class({"x": each}, 0.01).size for each in (one, other)]
    both = least_class({"a": one, "b": other}, 0.01)
    assert sizes == [2, 10]
    assert (both.size, both.exact) == (10, False)


def test_many_values_give_a_bound_in_moments() -> None:
    line = about([3] * 5_000, ordered(5_000))
    assert least_class({"x": line}, 0.02).size == 13
    assert least_class({"x": about([1] * 5_000, equal(5_000))}, 0.2).size is None
