"""Uploads of every kind: what they take in memory is reckoned before they are read."""

from __future__ import annotations

import zipfile
from pathlib import Path

import polars as pl
import pyreadstat
import pytest
import xlsxwriter

from polyveil.errors import InputError
from polyveil.web.intake import check_unpacked

ROWS = 5_000
TEXT = "a long text that every row repeats " * 20


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", "a,b\n" + f"1,{TEXT}\n" * ROWS)


def workbook(path: Path) -> None:
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("S").write_column(0, 0, ["name", *[TEXT] * ROWS])


def spss(path: Path) -> None:
    frame = pl.DataFrame({"a": [1.0] * ROWS})
    pyreadstat.write_sav(frame, path, variable_value_labels={"a": {1: TEXT[:100]}}, compress=True)


def transport(path: Path) -> None:
    pyreadstat.write_xport(pl.DataFrame({"a": [1.0] * ROWS}), path, file_format_version=8)


@pytest.mark.parametrize(
    ("ending", "write", "least"),
    [(".zip", zipped, ROWS * 700), (".xlsx", workbook, ROWS * 700), (".sav", spss, ROWS * 100), (".xpt", transport, 1)],
)
def test_a_small_file_may_be_a_large_table(tmp_path: Path, ending: str, write, least: int) -> None:
    path = tmp_path / f"data{ending}"
    write(path)
    check_unpacked(path, 50_000_000)
    with pytest.raises(InputError, match="in memory, the table takes more than"):
        check_unpacked(path, least)


@pytest.mark.parametrize("ending", [".zip", ".xlsx", ".sav", ".dta", ".sas7bdat", ".xpt"])
def test_damaged_uploads_are_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"data{ending}"
    path.write_bytes(b"PK\x03\x04 nothing of the kind")
    with pytest.raises(InputError, match="damaged"):
        check_unpacked(path, 1_000_000)
