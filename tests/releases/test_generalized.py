"""How generalized values look in a release, worked by hand on tables of a few rows."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polyveil
from polyveil.verification import verify


def release_of(frame: pl.DataFrame, columns: dict[str, Any], **parts: Any) -> polyveil.Release:
    policy = {"columns": columns, "privacy": {"k": 2}, "method": {"name": "mondrian"}, **parts}
    return polyveil.anonymize(frame, policy, seed=1)


def cells(release: polyveil.Release, name: str) -> list[Any]:
    return sorted(release.table[name].to_list(), key=lambda cell: (cell is None, cell))


def test_numbers_become_intervals_and_equal_numbers_stay() -> None:
    frame = pl.DataFrame({"age": [20, 29, 40, 40], "s": list("abab")})
    release = release_of(frame, {"age": {"role": "quasi"}, "s": {"role": "sensitive"}})
    assert cells(release, "age") == ["40", "40", "[20-29]", "[20-29]"]
    assert release.loss["information_loss"] == pytest.approx((0.45 + 0.45) / 4)


def test_negative_and_fractional_numbers_keep_their_meaning() -> None:
    frame = pl.DataFrame({"x": [-5.5, -1.0, 7.25, 7.25], "s": list("abab")})
    release = release_of(frame, {"x": {"role": "quasi"}, "s": {"role": "sensitive"}})
    assert cells(release, "x") == ["7.25", "7.25", "[-5.5--1]", "[-5.5--1]"]
    assert release.verify().holds


@pytest.mark.parametrize(("numbers", "expected"), [("midpoint", [25.0, 25.0, 25.0]), ("mean", [70 / 3] * 3)])
def test_numbers_as_midpoint_or_mean(numbers: str, expected: list[float]) -> None:
    frame = pl.DataFrame({"age": [20, 20, 30], "s": list("aba")})
    release = release_of(frame, {"age": {"role": "quasi"}, "s": {"role": "sensitive"}}, release={"numbers": numbers})
    assert cells(release, "age") == pytest.approx(expected)
    assert release.verify().holds


def test_missing_numbers_form_classes_of_their_own_or_become_anything() -> None:
    apart = pl.DataFrame({"age": [20, 29, None, None], "s": list("abab")})
    columns = {"age": {"role": "quasi"}, "s": {"role": "sensitive"}}
    assert cells(release_of(apart, columns), "age") == ["[20-29]", "[20-29]", None, None]
    mixed = pl.DataFrame({"age": [20, 29, None], "s": list("aba")})
    release = release_of(mixed, columns)
    assert cells(release, "age") == ["*", "*", "*"]
    assert release.loss["information_loss"] == 1.0


def test_dates_become_intervals_or_parts() -> None:
    days = [dt.date(2026, 1, 5), dt.date(2026, 1, 20), dt.date(2026, 3, 1), dt.date(2026, 3, 1)]
    frame = pl.DataFrame({"day": days, "s": list("abab")})
    plain = release_of(frame, {"day": {"role": "quasi"}, "s": {"role": "sensitive"}})
    assert cells(plain, "day") == ["2026-03-01"] * 2 + ["[2026-01-05/2026-01-20]"] * 2
    rule = {"role": "quasi", "type": "date", "hierarchy": {"date": ["month", "year"]}}
    parts = release_of(frame, {"day": rule, "s": {"role": "sensitive"}})
    assert cells(parts, "day") == ["2026-01", "2026-01", "2026-03-01", "2026-03-01"]


def test_codes_are_masked_and_ordered_categories_become_ranges() -> None:
    frame = pl.DataFrame({"zip": ["01234", "01299", "99999", "99999"], "s": list("abab")})
    release = release_of(frame, {"zip": {"role": "quasi", "hierarchy": {"mask": 5}}, "s": {"role": "sensitive"}})
    assert cells(release, "zip") == ["012**", "012**", "99999", "99999"]
    frame = pl.DataFrame({"size": ["S", "M", "L", "L"], "s": list("abab")})
    rule = {"role": "quasi", "type": "ordinal", "hierarchy": {"order": ["S", "M", "L"]}}
    release = release_of(frame, {"size": rule, "s": {"role": "sensitive"}})
    assert cells(release, "size") == ["L", "L", "[S..M]", "[S..M]"]
    assert release.loss["information_loss"] == pytest.approx(0.25)
    assert release.verify().holds


def test_sets_list_their_values_and_quote_their_own_punctuation() -> None:
    frame = pl.DataFrame({"town": ["Ulm", 'A, "B"', "Rom", "Rom", None, "Wien"], "s": list("ababab")})
    release = release_of(frame, {"town": {"role": "quasi", "recode": "set"}, "s": {"role": "sensitive"}})
    assert cells(release, "town") == ['{"A, ""B""", Rom}'] * 3 + ["{Ulm, Wien, *}"] * 3
    # Five values, missing among them: sets of two and of three lose 1/4 and 2/4.
    assert release.loss["information_loss"] == pytest.approx((3 * 0.25 + 3 * 0.5) / 6)
    assert {finding.check: finding.outcome for finding in release.verify().findings}["loss"] == "holds"


def test_identifiers_are_dropped_and_the_rest_keeps_its_place_and_type() -> None:
    frame = pl.DataFrame({"name": ["A", "B", "C"], "pay": [1.0, 2.0, 3.0], "age": [1, 2, 3], "ward": [7, 8, 9]})
    columns = {
        "name": {"role": "identifier"},
        "pay": {"role": "sensitive"},
        "age": {"role": "quasi"},
        "ward": {"role": "insensitive"},
    }
    table = release_of(frame, columns).table
    assert table.columns == ["pay", "age", "ward"]
    assert table.schema["ward"] == pl.Int64
    assert sorted(table["pay"].to_list()) == [1, 2, 3]


def test_rows_stay_together_but_their_order_is_not_the_inputs() -> None:
    frame = pl.DataFrame({"age": list(range(200)), "s": [f"v{i}" for i in range(200)], "w": list(range(200))})
    columns = {"age": {"role": "quasi"}, "s": {"role": "sensitive"}, "w": {"role": "insensitive"}}
    table = release_of(frame, columns).table
    assert [f"v{w}" for w in table["w"]] == table["s"].to_list()
    assert table["w"].to_list() != sorted(table["w"].to_list())
    assert release_of(frame, columns).table["w"].to_list() != table["w"].to_list()


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_empty_text_missing_cells_and_odd_text_survive_the_files(tmp_path: Path, file_format: str) -> None:
    frame = pl.DataFrame(
        {
            "age": [1, 2, None, 4, 5, 6],
            "s": ["", None, "a,b", 'say "x"', "line\nbreak", "naïve ☂"],
            "ok": [True, False, None, True, False, True],
            "day": [dt.date(2026, 1, i + 1) for i in range(6)],
        }
    )
    columns = {
        "age": {"role": "quasi"},
        "s": {"role": "sensitive"},
        "ok": {"role": "sensitive"},
        "day": {"role": "sensitive"},
    }
    policy = {
        "columns": columns,
        "privacy": {"k": 3},
        "method": {"name": "mondrian"},
        "release": {"format": file_format},
    }
    polyveil.anonymize(frame, policy, out=tmp_path / "release")
    assert verify(tmp_path / "release").holds
