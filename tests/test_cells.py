"""What is written in the grammar of released cells is read back as the same values, whatever the labels contain."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from polyveil.cells import day_at, place_of, read_range, read_set, write_range, write_set

labels = st.one_of(st.text(alphabet='ab"{}[],.* -', max_size=6), st.text(max_size=5))
numbers = st.one_of(st.integers(-(10**20), 10**20), st.floats(allow_nan=False))
days = st.dates(min_value=dt.date(1000, 1, 1))


@given(st.lists(st.none() | labels, min_size=1, max_size=5, unique=True))
@example(["*"])
@example([None, "*"])
@example(["{a, b}"])
@example(["", " "])
def test_a_set_is_read_back(members: list[str | None]) -> None:
    assert read_set(write_set(members)) == members


@given(labels, labels)
@example("a.", ".b")
@example("[a..b]", "[a..b]")
@example("*", "*")
@example('"a"', "b..c")
def test_a_range_of_ordered_categories_is_read_back(low: str, high: str) -> None:
    cell = write_range("ordinal", low, high)
    assert read_range("ordinal", cell) == (low, high)
    assert cell != "*"


@given(numbers, numbers)
@example(-5, -3)
@example(1e-05, 2e-05)
@example(-1e300, float("inf"))
def test_a_range_of_numbers_is_read_back(low: float, high: float) -> None:
    cell = write_range("numeric", str(low), str(high))
    assert read_range("numeric", cell) == (str(low), str(high))
    assert [place_of("numeric", end) for end in read_range("numeric", cell)] == [float(low), float(high)]


@given(days, days)
def test_a_range_of_dates_is_read_back(low: dt.date, high: dt.date) -> None:
    ends = read_range("date", write_range("date", low.isoformat(), high.isoformat()))
    assert [day_at(place_of("date", end)) for end in ends] == [low.isoformat(), high.isoformat()]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (write_range("numeric", "20", "29"), "[20-29]"),
        (write_range("numeric", "-5", "-3"), "[-5--3]"),
        (write_range("date", "2026-01-01", "2026-01-31"), "[2026-01-01/2026-01-31]"),
        (write_range("ordinal", "low", "high"), "[low..high]"),
        (write_range("ordinal", "low", "low"), "low"),
        (write_set(["Austria", "Spain"]), "{Austria, Spain}"),
        (write_set(["Spain", None]), "{Spain, *}"),
        (write_set(["Korea, South", 'the "Isles"']), '{"Korea, South", "the ""Isles"""}'),
        (write_set(["Spain"]), "Spain"),
    ],
)
def test_the_written_form(cell: str, expected: str) -> None:
    assert cell == expected


@pytest.mark.parametrize("cell", ["{}", "{a,}", "{a, }", '{"a}', "{a}b}", "{, a}"])
def test_what_is_in_braces_but_no_set_is_refused(cell: str) -> None:
    with pytest.raises(ValueError, match="not a set"):
        read_set(cell)
