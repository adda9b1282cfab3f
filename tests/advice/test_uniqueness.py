"""Which combinations of columns single out rows."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.advice.uniqueness import unique_combinations

FRAME = pl.DataFrame({"sex": ["f", "f", "m", "m", None], "age": [30, 40, 30, 30, 40], "note": ["x"] * 5})


def test_hand_worked() -> None:
    found = {each.columns: each.unique_rows for each in unique_combinations(FRAME, FRAME.columns).combinations}
    assert found == {
        ("sex",): 1,
        ("age",): 0,
        ("note",): 0,
        ("sex", "age"): 3,
        ("sex", "note"): 1,
        ("age", "note"): 0,
        ("sex", "age", "note"): 3,
    }


def test_the_most_telling_of_every_width_come_first() -> None:
    found = unique_combinations(FRAME, FRAME.columns)
    assert [each.columns for each in found.telling(1)] == [("sex",), ("sex", "age"), ("sex", "age", "note")]


def test_when_time_runs_out_the_answer_says_so() -> None:
    found = unique_combinations(FRAME, FRAME.columns, limit=0.0)
    assert not found.complete


cells = st.one_of(st.none(), st.integers(-(10**12), 10**12), st.just(7))


@given(rows=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=40))
@settings(max_examples=25)
def test_as_a_grouping_counts_them(rows: list[tuple[int | None, ...]]) -> None:
    frame = pl.DataFrame(rows, schema=dict.fromkeys("abc", pl.Int64), orient="row")
    for each in unique_combinations(frame, frame.columns).combinations:
        counted = frame.group_by(each.columns).len()
        assert each.unique_rows == counted.filter(pl.col("len") == 1).height
