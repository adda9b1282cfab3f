"""Round trips: what is written for Excel, SPSS or Stata is read back equal, with labels and kinds of missing."""

from __future__ import annotations

import datetime as dt
import time
import zipfile
from pathlib import Path

import polars as pl
import pyreadstat
import pytest

import polyveil
from polyveil.table.source import Table
from polyveil.table.writing import write_sheets, write_statistical

PLAIN = pl.DataFrame(
    {
        "whole": [1, None, -3],
        "number": [1.5, 2.25, None],
        "text": ["Ärzte", "=1+1", None],
        "code": ["007", None, "010"],
        "day": [dt.date(1931, 2, 3), None, dt.date(2026, 12, 31)],
        "moment": [dt.datetime(2026, 1, 2, 3, 4, 5), dt.datetime(1999, 1, 1, 0, 0, 1), None],
    }
)


@pytest.mark.parametrize("name", ["t.xlsx", "t.sav", "t.dta"])
def test_plain_cells_are_read_back_equal(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".xlsx"):
        write_sheets({"table": PLAIN}, path)
    else:
        write_statistical(PLAIN, path)
    assert polyveil.read(path).frame.equals(PLAIN)


def survey(path: Path) -> Table:
    """A file with labels of columns and values, and with kinds of missing, in categories and among numbers."""
    if path.suffix == ".sav":
        frame = pl.DataFrame({"sex": [1.0, 2.0, 9.0, None], "age": [30.0, 999.0, 998.0, None], "plain": [1.5, 2, 3, 4]})
        values = {"sex": {1: "Male", 2: "Female", 9: "Refused"}, "age": {999: "Unknown", 998: "Not asked"}}
        missing = {"sex": [9], "age": [{"lo": 900, "hi": 999}]}
        pyreadstat.write_sav(
            frame, path, column_labels={"age": "Age"}, variable_value_labels=values, missing_ranges=missing
        )
    else:
        frame = pl.DataFrame(
            {"sex": [1, 2, "a", None], "age": [30, "a", "b", None], "plain": [1.5, 2, 3, 4]},
            schema_overrides={"sex": pl.Object, "age": pl.Object},
            strict=False,
        )
        letters = {"sex": {1: "Male", 2: "Female", "a": "Refused"}, "age": {"a": "Unknown", "b": "Not asked"}}
        pyreadstat.write_dta(
            frame,
            path,
            column_labels={"age": "Age"},
            variable_value_labels=letters,
            missing_user_values={"sex": ["a"], "age": ["a", "b"]},
        )
    return polyveil.read(path)


def kinds(table: Table) -> dict[str, list[str | None]]:
    """The kind of missing of each cell, in words."""
    words = {}
    for name, codes in table.missing_kinds.items():
        labels = {str(code).removesuffix(".0"): label for code, label in table.codebook[name].values.items()}
        words[name] = [None if code is None else labels[code] for code in codes.to_list()]
    return words


@pytest.mark.parametrize("ending", [".sav", ".dta"])
@pytest.mark.parametrize("into", [".sav", ".dta"])
def test_labels_and_kinds_of_missing_survive(tmp_path: Path, ending: str, into: str) -> None:
    first = survey(tmp_path / f"first{ending}")
    again = tmp_path / f"again{into}"
    write_statistical(first.frame, again, first.codebook, first.missing_kinds)
    second = polyveil.read(again)
    assert second.frame.equals(first.frame)
    assert second.frame["sex"].to_list() == ["Male", "Female", "Refused", None]
    assert second.labels == first.labels == {"age": "Age"}
    assert kinds(second) == kinds(first) == {"age": [None, "Unknown", "Not asked", None]}
    assert len(second.codebook["sex"].missing) == 1
    if into == ending:
        assert second.codebook == first.codebook


@pytest.mark.parametrize("name", ["t.xlsx", "t.sav", "t.dta"])
def test_the_same_table_gives_the_same_bytes_at_any_time(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = []
    for second in ("first", "second"):
        path = tmp_path / f"{second}{Path(name).suffix}"
        if name.endswith(".xlsx"):
            write_sheets({"table": PLAIN}, path)
        else:
            write_statistical(PLAIN, path)
        contents.append(path.read_bytes())
        if second == "first":
            time.sleep(1.1)
    assert contents[0] == contents[1]
    assert time.strftime("%d %b %Y").encode() not in contents[0]


def test_a_workbook_has_nothing_but_its_cells(tmp_path: Path) -> None:
    write_sheets({"table": PLAIN}, tmp_path / "t.xlsx")
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        about = archive.read("docProps/core.xml").decode()
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
        assert not [name for name in archive.namelist() if "comment" in name or "media" in name]
    assert "<dc:creator></dc:creator>" in about
    assert about.count("2000-01-01T00:00:00Z") == 2
    assert "<f>" not in sheet


def test_names_that_a_program_refuses_become_labels(tmp_path: Path) -> None:
    frame = pl.DataFrame({"years of age": [1, 2], "years-of-age": [3, 4], "1st": [5, 6], "x" * 70: [7, 8]})
    for name in ("t.sav", "t.dta"):
        names = write_statistical(frame, tmp_path / name)
        assert len(set(names.values())) == 4
        assert polyveil.read(tmp_path / name).labels == {new: old for old, new in names.items()}
