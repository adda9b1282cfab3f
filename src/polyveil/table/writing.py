"""Tables written for Excel, SPSS and Stata. The same table always gives the same bytes: no author, no time."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from polyveil.errors import InputError
from polyveil.table.codebook import Code, Codebook, Variable, code_text

WRITABLE = (".xlsx", ".sav", ".dta")
EXTRA = "pip install 'polyveil[files]'"
_MOST_ROWS, _MOST_COLUMNS, _MOST_TEXT = 1_048_575, 16_384, 32_767
"""What a sheet of Excel holds, beside its line of names."""
_FIRST_DAY = dt.date(1900, 3, 1)
"""Excel counts a day in February 1900 that there was not; earlier dates are written as text."""
_EXACT = 2**53
_NAME_LENGTH = {".sav": 64, ".dta": 32}
_EPOCH = dt.datetime(2000, 1, 1)


def write_sheets(tables: Mapping[str, pl.DataFrame], path: Path) -> None:
    """A workbook with one sheet per table: a line of names, then the rows; text stays text and runs no formula."""
    try:
        import xlsxwriter
    except ModuleNotFoundError:
        raise InputError(f"Excel files need one more package. Install it with: {EXTRA}") from None
    for name, frame in tables.items():
        if frame.height > _MOST_ROWS or frame.width > _MOST_COLUMNS:
            raise InputError(
                f"{name} has {frame.height:,} rows and {frame.width:,} columns; a sheet holds {_MOST_ROWS:,} and "
                f"{_MOST_COLUMNS:,}. Use the CSV or Parquet files of the release"
            )
    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(path, options) as book:
        book.set_properties({"created": _EPOCH})
        formats = {
            pl.Date: book.add_format({"num_format": "yyyy-mm-dd"}),
            pl.Datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }
        for name, frame in tables.items():
            sheet = book.add_worksheet(name[:31])
            for j, cells in enumerate(frame.get_columns()):
                sheet.write_string(0, j, cells.name)
                _write_column(sheet, j, cells, formats)


def _write_column(sheet: Any, j: int, cells: pl.Series, formats: Mapping[Any, Any]) -> None:
    shown = formats.get(cells.dtype.base_type())
    for i, cell in enumerate(cells.to_list(), start=1):
        if cell is None:
            continue
        if isinstance(cell, bool):
            sheet.write_boolean(i, j, cell)
        elif isinstance(cell, int | float) and abs(cell) < _EXACT:
            sheet.write_number(i, j, cell)
        elif isinstance(cell, dt.date) and (cell.date() if isinstance(cell, dt.datetime) else cell) >= _FIRST_DAY:
            sheet.write_datetime(i, j, cell, shown)
        else:
            text = str(cell)
            if len(text) > _MOST_TEXT:
                raise InputError(f"a cell of {cells.name} is longer than Excel's {_MOST_TEXT:,} characters")
            sheet.write_string(i, j, text)


def write_statistical(
    frame: pl.DataFrame, path: Path, codebook: Codebook | None = None, kinds: Mapping[str, pl.Series] | None = None
) -> dict[str, str]:
    """A file for SPSS (.sav) or Stata (.dta), with labels and kinds of missing; gives the names of its columns."""
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise InputError(f"SPSS and Stata files need one more package. Install it with: {EXTRA}") from None
    ending = path.suffix.lower()
    names = _names(frame.columns, _NAME_LENGTH[ending])
    columns, labels, values, missing = [], {}, {}, {}
    for cells in frame.get_columns():
        new, variable = names[cells.name], (codebook or {}).get(cells.name, Variable())
        coded, of_values, of_missing = _coded(cells, variable, (kinds or {}).get(cells.name), ending)
        columns.append(coded.rename(new))
        labels[new] = variable.label or (cells.name if new != cells.name else None)
        if of_values:
            values[new] = of_values
        if of_missing:
            missing[new] = of_missing
    out = pl.DataFrame(columns)
    if ending == ".sav":
        declared = {name: _declared(out.get_column(name), codes) for name, codes in missing.items()}
        pyreadstat.write_sav(
            out,
            path,
            column_labels=labels,
            variable_value_labels=values,
            missing_ranges={name: codes for name, codes in declared.items() if codes},
        )
    else:
        pyreadstat.write_dta(
            out, path, column_labels=labels, variable_value_labels=values, missing_user_values=missing, version=14
        )
    _without_time(path)
    return names


def _coded(
    cells: pl.Series, variable: Variable, kinds: pl.Series | None, ending: str
) -> tuple[pl.Series, dict[Any, str], list[Any]]:
    """Cells as a statistics program holds them, the labels of their values, and the codes that mean missing."""
    if cells.dtype == pl.Boolean:
        return cells.cast(pl.Int64), {}, []
    raw: list[Any] = cells.to_list()
    if variable.is_labelled:
        code_of = {label: code for code, label in variable.values.items()}
        raw = [None if cell is None else code_of[cell] for cell in raw]
    if kinds is not None:
        by_text = {code_text(code): code for code in variable.missing}
        raw = [cell if kind is None else by_text[kind] for cell, kind in zip(raw, kinds.to_list(), strict=True)]
    new = _in_its_own_way(raw, variable, ending)
    values = {_plain(new.get(code, code)): label for code, label in variable.values.items()}
    missing = [_plain(new.get(code, code)) for code in variable.missing]
    if not variable.is_labelled and kinds is None:
        return cells, values, missing
    found = [_plain(new.get(cell, cell)) for cell in raw]
    letters = any(isinstance(cell, str) for cell in found)
    return pl.Series(cells.name, found, dtype=pl.Object if letters else pl.Float64, strict=False), values, missing


def _in_its_own_way(raw: list[Any], variable: Variable, ending: str) -> dict[Code, Code]:
    """Codes that mean missing: letters in Stata; in SPSS numbers below all others."""
    letters = [code for code in variable.missing if isinstance(code, str)]
    numbers = [code for code in variable.missing if not isinstance(code, str)]
    if ending == ".dta":
        free = (letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in letters)
        return dict(zip(numbers, free, strict=False))
    least = min([0.0, *(float(cell) for cell in raw if isinstance(cell, int | float))])
    return {code: float(int(least) - 91 - i) for i, code in enumerate(letters)}


def _plain(code: Any) -> Any:
    return int(code) if isinstance(code, float) and code.is_integer() else code


def _declared(cells: pl.Series, codes: list[Any]) -> list[Any]:
    """SPSS declares three codes, or one range that holds no other value."""
    if len(codes) <= 3:
        return codes
    low, high = min(codes), max(codes)
    inside = cells.is_between(low, high) & ~cells.is_in(codes)
    return [] if inside.any() else [{"lo": low, "hi": high}]


def _names(columns: list[str], most: int) -> dict[str, str]:
    """Names as SPSS and Stata allow them: letters, digits and underscores, not too long, no two alike."""
    taken: set[str] = set()
    names = {}
    for column in columns:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", column)
        plain = (plain if re.match("[A-Za-z]", plain) else f"v{plain}")[:most]
        number = 1
        while plain.lower() in taken:
            number += 1
            plain = f"{plain[: most - 4]}_{number}"
        taken.add(plain.lower())
        names[column] = plain
    return names


def _without_time(path: Path) -> None:
    """The header's date and time, which pyreadstat takes from the clock, become those of a fixed day."""
    content = path.read_bytes()
    if content.startswith(b"$FL"):
        content = content[:92] + b"01 Jan 0000:00:00" + content[109:]
    else:
        content = re.sub(rb"(?<=<timestamp>\x11).{17}(?=</timestamp>)", b"01 Jan 2000 00:00", content, count=1)
    path.write_bytes(content)
