"""The pieces of a page: ticks, bins, markup."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.reports.axes import Scale, ticks
from polyveil.reports.markup import Markup, number, percent, tag
from polyveil.reports.released_cells import Spread, spread_of
from polyveil.reports.scatter import Point, scatter
from polyveil.reports.sections import size_bins


def test_text_is_escaped_and_markup_is_not() -> None:
    assert tag("p", "a < b & c", Markup("<b>d</b>"), title='"') == '<p title="&quot;">a &lt; b &amp; c<b>d</b></p>'
    assert tag("i", class_="x", aria_hidden="true", missing=None) == '<i class="x" aria-hidden="true"></i>'


def test_figures_are_written_as_people_write_them() -> None:
    assert [number(x) for x in (5, 1234567.0, 0.123456, None)] == ["5", "1,234,567", "0.1235", "–"]
    assert [percent(x) for x in (0, 0.0001, 0.1234, 1)] == ["0.0 %", "< 0.1 %", "12.3 %", "100.0 %"]


@given(low=st.floats(-1e6, 1e6), span=st.floats(1e-3, 1e6))
@settings(max_examples=50)
def test_ticks_lie_within_and_are_few(low: float, span: float) -> None:
    found = ticks(low, low + span)
    slack = span * 1e-6
    assert all(low - slack <= value <= low + span + slack for value in found)
    assert 1 <= len(found) <= 12


def test_a_scale_goes_from_end_to_end() -> None:
    scale = Scale(0, 10, 100, 200)
    assert [scale(x) for x in (0, 5, 10)] == [100, 150, 200]
    assert Scale(3, 3, 0, 10)(3) == 5


def test_a_range_counts_in_every_bin_by_how_much_of_it_lies_there() -> None:
    """Ten rows at [0-3], two at 3: whole numbers 0 to 3, a bin each."""
    spread = spread_of(pl.Series(["[0-3]"] * 10 + ["3"] * 2 + ["*", None]), {"kind": "numeric"})
    assert spread is not None
    assert spread.bins() == [(i, i + 1, pytest.approx(share / 12)) for i, share in enumerate([2.5, 2.5, 2.5, 4.5])]
    assert spread.unknown == 2
    assert spread.exact == pytest.approx(2 / 14)
    assert spread.median_width == 3


@given(
    ranges=st.lists(st.tuples(st.floats(-100, 100), st.floats(0, 50), st.integers(1, 9)), min_size=1, max_size=20),
    whole=st.booleans(),
)
@settings(max_examples=60)
def test_bins_share_out_every_row(ranges: list[tuple[float, float, int]], whole: bool) -> None:
    low = np.array([r[0] for r in ranges])
    high = low + np.array([r[1] for r in ranges])
    if whole:
        low, high = np.floor(low), np.floor(high)
    bins = Spread(low, high, np.array([float(r[2]) for r in ranges]), 0).bins()
    assert sum(share for _, _, share in bins) == pytest.approx(1)


def test_negative_numbers_and_dates_are_read() -> None:
    below = spread_of(pl.Series(["[-5--1]", "[-1-2.5]"]), {"kind": "numeric"})
    assert below is not None
    assert sorted(zip(below.low.tolist(), below.high.tolist(), strict=True)) == [(-5, -1), (-1, 2.5)]
    days = spread_of(pl.Series(["[1970-01-01/1970-01-11]", "1970-01-02"]), {"kind": "date"})
    assert days is not None
    assert sorted(days.high.tolist()) == [1, 10]
    assert spread_of(pl.Series(["a"]), {"kind": "categorical"}) is None


@given(sizes=st.lists(st.integers(1, 5000), min_size=1, max_size=50))
@settings(max_examples=40)
def test_every_row_is_in_one_column_of_class_sizes(sizes: list[int]) -> None:
    bins = size_bins(np.array(sizes))
    assert sum(b.share for b in bins) == pytest.approx(1)
    assert len(bins) <= 40


def test_shares_are_drawn_in_percent_where_asked() -> None:
    points = [Point(0.1, 0.2, 0, "a", False), Point(0.2, 0.4, 0, "b", False)]
    shares = scatter("Detail lost", points, [], x_label="distance", y_label="detail lost", y_percent=True)
    assert ">20 %<" in shares
    plain = scatter("Detail lost", points, [], x_label="distance", y_label="detail lost")
    assert "%" not in plain
