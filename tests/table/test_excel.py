"""Workbooks: read as what they are, or refused with the place and a way out."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter

import polyveil
from polyveil.errors import InputError

DAY = "yyyy-mm-dd"


def workbook(path: Path, sheets: dict[str, list[list[Any]]], **options: Any) -> Path:
    """A workbook with these sheets; dates are formatted as dates."""
    with xlsxwriter.Workbook(path, options) as book:
        day = book.add_format({"num_format": DAY})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                for j, cell in enumerate(row):
                    if isinstance(cell, dt.date):
                        sheet.write_datetime(i, j, cell, day)
                    elif cell is not None:
                        sheet.write(i, j, cell)
    return path


ROWS = [
    ["id", "name", "born", "income", "smoker", "code", "note"],
    [1, "Ann", dt.date(1980, 2, 29), 10.5, True, "007", None],
    [2, None, dt.date(1999, 12, 31), None, False, "010", "x"],
    [3, " Cy ", None, 12.0, True, "011", 4],
]


@pytest.mark.parametrize("calendar", [False, True], ids=["from 1900", "from 1904"])
def test_a_workbook_is_read_with_its_types_in_both_calendars(tmp_path: Path, calendar: bool) -> None:
    table = polyveil.read(workbook(tmp_path / "people.xlsx", {"People": ROWS}, date_1904=calendar))
    expected = pl.DataFrame(
        {
            "id": [1, 2, 3],
            "name": ["Ann", None, "Cy"],
            "born": [dt.date(1980, 2, 29), dt.date(1999, 12, 31), None],
            "income": [10.5, None, 12.0],
            "smoker": [True, False, True],
            "code": ["007", "010", "011"],
            "note": [None, "x", "4"],
        }
    )
    assert table.frame.equals(expected)
    assert table.frame.schema == expected.schema


def test_one_of_several_sheets_must_be_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "two.xlsx", {"A": ROWS, "B": [["x"], [1], [2]], "Empty": []})
    with pytest.raises(InputError, match=r"2 sheets: 'A' and 'B'\. Choose one with --sheet"):
        polyveil.read(path)
    assert polyveil.read(path, sheet="B").frame.to_dict(as_series=False) == {"x": [1, 2]}
    with pytest.raises(InputError, match="no sheet 'C'"):
        polyveil.read(path, sheet="C")
    with pytest.raises(InputError, match="sheet 'Empty' has no cells"):
        polyveil.read(path, sheet="Empty")


def test_a_hidden_sheet_is_not_the_table(tmp_path: Path) -> None:
    path = tmp_path / "hidden.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("Shown", "Lookup"):
            book.add_worksheet(name).write_column(0, 0, ["a", 1, 2])
        book.get_worksheet_by_name("Lookup").hide()
    assert polyveil.read(path).height == 2


def test_empty_rows_are_no_rows(tmp_path: Path) -> None:
    rows = [["a", "b"], [1, 2], [None, None], [3, 4], [None, "  "]]
    assert polyveil.read(workbook(tmp_path / "gaps.xlsx", {"S": rows})).height == 2


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error:
        polyveil.read(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_merged_cells_are_refused_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "merged.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("S")
        sheet.merge_range("A1:B1", "Blood pressure")
        sheet.write_column(1, 0, [120, 130])
    assert "merged cells in its header (A1:B1)" in refused(path)
    path = tmp_path / "rows.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("S")
        sheet.write_row(0, 0, ["a", "b"])
        sheet.merge_range("A2:A3", "x")
    assert "merged cells among its rows (A2:A3)" in refused(path)


def test_a_formula_without_a_saved_result_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "f.xlsx", {"S": [["a", "b"], [1, "=A2*2"], [2, "=A3*2"]]})
    assert polyveil.read(path).frame["b"].to_list() == [0, 0]  # xlsxwriter saves 0 as the result
    message = refused(rewritten(path, tmp_path / "unsaved.xlsx", b"<v>0</v></c>", b"</c>"))
    assert "2 formulas whose results were not saved; the first is B2" in message
    assert "2 formulas" in refused(rewritten(path, tmp_path / "openpyxl.xlsx", b"<v>0</v></c>", b"<v></v></c>"))


def rewritten(path: Path, new: Path, old: bytes, by: bytes) -> Path:
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(new, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(old, by))
    return new


def test_dates_beside_plain_numbers_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "mixed.xlsx", {"S": [["when"], [dt.date(2020, 1, 1)], [43832]]})
    assert "column 'when' has dates and plain numbers" in refused(path)


def test_errors_are_missing_cells(tmp_path: Path) -> None:
    path = workbook(tmp_path / "e.xlsx", {"S": [["a", "b"], [1, 5], [2, 6]]})
    broken = rewritten(path, tmp_path / "error.xlsx", b'<c r="B2"><v>5</v>', b'<c r="B2" t="e"><v>#N/A</v>')
    assert polyveil.read(broken).frame["b"].to_list() == [None, 6]


def test_what_is_no_workbook_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "protected.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "protected by a password" in refused(tmp_path / "protected.xlsx")
    (tmp_path / "empty.xlsx").write_bytes(b"")
    assert "is empty" in refused(tmp_path / "empty.xlsx")
    (tmp_path / "text.xlsx").write_text("a,b\n1,2\n")
    assert "cannot be read as a workbook" in refused(tmp_path / "text.xlsx")
    whole = workbook(tmp_path / "whole.xlsx", {"S": ROWS}).read_bytes()
    (tmp_path / "cut.xlsx").write_bytes(whole[: len(whole) // 2])
    assert "cannot be read as a workbook" in refused(tmp_path / "cut.xlsx")
    assert "no visible sheet with cells" in refused(workbook(tmp_path / "blank.xlsx", {"S": []}))
    assert "has columns but no rows" in refused(workbook(tmp_path / "head.xlsx", {"S": [["a", "b"]]}))


def test_names_are_checked_as_everywhere(tmp_path: Path) -> None:
    assert "share theirs" in refused(workbook(tmp_path / "twice.xlsx", {"S": [["a", "a"], [1, 2]]}))
    assert "without a name" in refused(workbook(tmp_path / "none.xlsx", {"S": [["a", None], [1, 2]]}))
