"""The checksum of a table in a database: blind to the order of rows, awake to everything else."""

from __future__ import annotations

import datetime as dt
import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import settings as rules
from hypothesis import strategies as st

from polyveil.verification.fingerprint import fingerprint

CELL = st.none() | st.sampled_from(["", "a", "ab", "b", "ü", "\n"])
ROWS = st.lists(st.tuples(CELL, CELL, st.none() | st.integers(-3, 3)), max_size=12)
SCHEMA = {"x": pl.String, "y": pl.String, "n": pl.Int64}


def frame(rows: list[tuple[str | None, str | None, int | None]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


@rules(max_examples=60)
@given(ROWS, ROWS, st.randoms(use_true_random=False))
def test_equal_exactly_where_the_rows_are_the_same_as_often(
    first: list[tuple[str | None, str | None, int | None]],
    second: list[tuple[str | None, str | None, int | None]],
    order: random.Random,
) -> None:
    moved = order.sample(first, len(first))
    assert fingerprint(frame(first)) == fingerprint(frame(moved))
    same = sorted(first, key=repr) == sorted(second, key=repr)
    assert (fingerprint(frame(first)) == fingerprint(frame(second))) == same


def test_by_hand_what_differs_and_what_does_not() -> None:
    table = pl.DataFrame({"a": ["x", None], "b": [1.0, -0.0]})
    assert fingerprint(table) == fingerprint(table.with_columns(pl.col("b").abs()))  # -0.0 is 0.0
    others = [
        table.rename({"a": "c"}),
        table.select("b", "a"),
        table.with_columns(pl.col("a").fill_null("")),
        table.with_columns(pl.col("b").cast(pl.Int64)),
        table.head(1),
        pl.concat([table, table]),
        table.with_columns(b=pl.Series([0.0, 1.0])),
        table.with_columns(b=pl.Series([1.0, 5e-324])),
    ]
    assert len({fingerprint(other) for other in [table, *others]}) == len(others) + 1


def test_bytes_cannot_move_from_cell_to_cell() -> None:
    assert fingerprint(pl.DataFrame({"a": ["ab"], "b": ["c"]})) != fingerprint(pl.DataFrame({"a": ["a"], "b": ["bc"]}))
    assert fingerprint(pl.DataFrame({"a": ["ab", "c"]})) != fingerprint(pl.DataFrame({"a": ["a", "bc"]}))


@pytest.mark.parametrize("rows", [0, 3])
def test_a_column_without_values_has_no_type(rows: int) -> None:
    """SQLite gives such a column back without one."""
    empty = [None] * rows
    assert fingerprint(pl.DataFrame({"a": pl.Series(empty, dtype=pl.Int64)})) == fingerprint(
        pl.DataFrame({"a": pl.Series(empty, dtype=pl.String)})
    )


def test_the_fingerprint_is_the_same_in_every_version() -> None:
    """A release verified today is verified in ten years: these figures must never change."""
    table = pl.DataFrame(
        {
            "text": ["b", "ä", None],
            "number": [0.1, None, 2.0],
            "whole": [1, 2, 3],
            "yes": [True, None, False],
            "day": [dt.date(2024, 2, 29), None, dt.date(1, 1, 1)],
            "moment": [dt.datetime(2024, 2, 29, 12, 0, 0, 5), None, None],
            "clock": [dt.time(1, 2, 3), None, None],
        }
    )
    assert fingerprint(table) == "d260154d4d0853b618a52b0d4169519f164cf7466665434a9f46e66bfb0c1f1e"
