"""Masks, intervals and date parts: the groups they make, worked by hand."""

from __future__ import annotations

import datetime as dt
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.tree_shape import groups, path_of
from polyveil.policy import DateParts, Hierarchy, HierarchyFault, Intervals, Mask
from polyveil.policy.rules import interval_label

# Masks


def test_a_mask_hides_one_character_more_per_level() -> None:
    tree = Mask(mask=5).build(["12345", "12399", "54321"])
    assert path_of(tree, "12345") == ["12345", "1234*", "123**", "12***", "1****", "*"]
    assert groups(tree)["123**"] == ("12345", "12399")


def test_a_short_mask_stops_early() -> None:
    assert path_of(Mask(mask=2).build(["12345", "54321"]), "12345") == ["12345", "1234*", "123**", "*"]


def test_a_mask_from_the_left_keeps_the_end() -> None:
    assert path_of(Mask(mask=2, side="left").build(["abc", "xyz"]), "abc") == ["abc", "*bc", "**c", "*"]


def test_values_of_different_length_meet_in_their_common_beginning() -> None:
    tree = Mask(mask=6).build(["J45", "J45.1", "J45.10", "K2"])
    assert path_of(tree, "J45") == ["J45", "J45***", "J4****", "J*****", "*"]
    assert path_of(tree, "J45.1") == ["J45.1", "J45.1*", "J45.**", "J45***", "J4****", "J*****", "*"]
    assert groups(tree)["J45***"] == ("J45", "J45.1", "J45.10")
    left = Mask(mask=3, side="left").build(["7", "17", "217", "28"])
    assert path_of(left, "17") == ["17", "*17", "**7", "*"]
    assert groups(left)["**7"] == ("7", "17", "217")


def test_a_mask_shorter_than_the_difference_leaves_short_values_to_the_root() -> None:
    tree = Mask(mask=2).build(["a", "abcd", "abce", "x"])
    assert path_of(tree, "a") == ["a", "*"]
    assert path_of(tree, "abcd") == ["abcd", "abc*", "ab**", "*"]


def test_an_empty_value_and_a_single_character_hang_from_the_root() -> None:
    tree = Mask(mask=3).build(["", "a", "b"])
    assert tree.labels == ("*", "", "a", "b")


def test_a_group_that_holds_everything_is_the_root() -> None:
    """Otherwise no two values could be as far apart as the root is high."""
    tree = Mask(mask=4).build(["1000", "1001", "1010"])
    assert path_of(tree, "1000") == ["1000", "100*", "*"]


def test_values_that_hold_the_mask_character_ask_for_another() -> None:
    with pytest.raises(HierarchyFault, match="Choose another one with hierarchy"):
        Mask(mask=2).build(["1*", "12"])
    assert path_of(Mask(mask=2, char="#").build(["1*", "12", "2x"]), "1*") == ["1*", "1#", "*"]


@settings(max_examples=100)
@given(
    st.lists(st.text(string.ascii_lowercase[:3], max_size=6), min_size=1, max_size=20, unique=True),
    st.integers(1, 8),
    st.sampled_from(["left", "right"]),
)
def test_a_mask_s_groups_share_what_their_label_shows(values: list[str], mask: int, side: Any) -> None:
    tree = Mask(mask=mask, side=side).build(values)
    assert sorted(map(str, tree.leaves)) == sorted(values)
    for label, members in groups(tree).items():
        shown = label.strip("*")
        for value in members:
            assert str(value).startswith(shown) if side == "right" else str(value).endswith(shown)
        assert label == "*" or label.count("*") <= mask


# Intervals


def intervals(rule: Any, values: list[float]) -> Hierarchy:
    return Intervals.model_validate({"intervals": rule}).build(values, [f"{value:g}" for value in values])


def test_whole_numbers_get_closed_intervals() -> None:
    tree = intervals({"width": 10, "levels": 2}, [3.0, 17.0, 20.0, 39.0, 45.0])
    assert groups(tree) == {
        "*": ("3", "17", "20", "39", "45"),
        "[0-19]": ("3", "17"),
        "[0-9]": ("3",),
        "[10-19]": ("17",),
        "[20-39]": ("20", "39"),
        "[20-29]": ("20",),
        "[30-39]": ("39",),
        "[40-59]": ("45",),
        "[40-49]": ("45",),
    }


def test_fractions_get_half_open_intervals_without_rounding_noise() -> None:
    tree = intervals({"width": 0.1, "levels": 1}, [0.1, 0.25, 0.3, 0.35, 0.7])
    assert groups(tree) == {
        "*": ("0.1", "0.25", "0.3", "0.35", "0.7"),
        "[0.1-0.2)": ("0.1",),
        "[0.2-0.3)": ("0.25",),
        "[0.3-0.4)": ("0.3", "0.35"),
        "[0.7-0.8)": ("0.7",),
    }


def test_negative_numbers_and_an_origin() -> None:
    tree = intervals({"width": 10, "levels": 1, "origin": 5}, [-7.0, -5.0, 4.0, 5.0])
    assert groups(tree) == {
        "*": ("-7", "-5", "4", "5"),
        "[-15--6]": ("-7",),
        "[-5-4]": ("-5", "4"),
        "[5-14]": ("5",),
    }


def test_given_edges_close_the_last_interval() -> None:
    tree = intervals([[0, 18, 65, 120], [0, 18, 120]], [0.0, 17.0, 18.0, 64.0, 65.0, 120.0])
    assert groups(tree) == {
        "*": ("0", "17", "18", "64", "65", "120"),
        "[0-17]": ("0", "17"),
        "[18-120]": ("18", "64", "65", "120"),
        "[18-64]": ("18", "64"),
        "[65-120]": ("65", "120"),
    }
    halves = intervals([0, 0.5, 1], [0.25, 0.5, 1.0])
    assert groups(halves) == {"*": ("0.25", "0.5", "1"), "[0-0.5)": ("0.25",), "[0.5-1]": ("0.5", "1")}


def test_edges_may_be_infinite() -> None:
    tree = intervals([float("-inf"), 18, 65, float("inf")], [3.0, 18.0, 99.0])
    assert groups(tree) == {"*": ("3", "18", "99"), "<18": ("3",), "[18-64]": ("18",), ">=65": ("99",)}
    assert interval_label(float("-inf"), 5.0, closed=True) == "<=5"
    assert intervals([float("-inf"), float("inf")], [1.0, 2.0]).labels == ("*", "1", "2")


def test_an_interval_of_one_whole_number_is_the_number() -> None:
    assert intervals({"width": 1, "levels": 2}, [1.0, 2.0, 3.0, 5.0]).labels[:4] == ("*", "[0-1]", "1", "[2-3]")


def test_a_number_outside_the_edges_is_a_fault() -> None:
    for value in (-1.0, 11.0):
        with pytest.raises(HierarchyFault, match="outside the given intervals"):
            intervals([0, 5, 10], [3.0, value])


@settings(max_examples=100)
@given(
    st.lists(st.floats(-1e9, 1e9, allow_nan=False) | st.integers(-50, 50).map(float), min_size=1, unique=True),
    st.sampled_from([0.1, 0.3, 1.0, 2.5, 1e-3, 7.0]),
    st.integers(1, 6),
    st.integers(2, 5),
    st.sampled_from([0.0, 0.1, -3.0, 1e6]),
)
def test_equal_intervals_always_nest(
    values: list[float], width: float, levels: int, fanout: int, origin: float
) -> None:
    values.sort()
    rule = Intervals.model_validate(
        {"intervals": {"width": width, "levels": levels, "fanout": fanout, "origin": origin}}
    )
    tree = rule.build(values, [repr(value) for value in values])
    assert tree.leaves == tuple(repr(value) for value in values)
    assert tree.depth <= levels + 1


# Dates


def test_dates_are_grouped_by_their_parts() -> None:
    days = [dt.date(2019, 12, 31), dt.date(2026, 1, 1), dt.date(2026, 2, 28), dt.date(2026, 11, 5)]
    tree = DateParts(date=["month", "quarter", "year", "decade"]).build(days)
    assert path_of(tree, "2026-02-28") == ["2026-02-28", "2026-02", "2026-Q1", "2026", "2020s", "*"]
    assert groups(tree)["2026-Q1"] == ("2026-01-01", "2026-02-28")
    assert DateParts.model_validate({"date": "year"}).date == ["year"]
