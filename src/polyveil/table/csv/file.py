"""Text tables: CSV and its relatives, plain or packed, in whatever dialect they come.

The order of work: open and unpack, find the dialect on the first lines, count the bytes, let polars parse and check its
ledger, fall back to the careful reader where that fails, then tidy the cells. Every column comes out as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import polars as pl

from polyveil.errors import InputError
from polyveil.table.csv.careful import line_of_row, read_carefully
from polyveil.table.csv.census import take_census
from polyveil.table.csv.content import (
    Content,
    line_at,
    open_content,
    settle_encoding,
    with_single_line_ends,
)
from polyveil.table.csv.decimal import likely_decimal
from polyveil.table.csv.dialect import Dialect, find_dialect
from polyveil.table.csv.fast import read_fast


@dataclass(frozen=True)
class TextOptions:
    """What the caller declares about a text table; None (and "auto" for the quote) means: find out."""

    delimiter: str | None
    encoding: str | None
    decimal: str | None
    quote: str | None
    names: Sequence[str] | None
    missing: Sequence[str]
    strip: bool
    member: str | None = None
    """The file in a ZIP archive."""


# What may stand around cells: nothing, only plain spaces, or any whitespace.
Padding = Literal["none", "spaces", "any"]


@dataclass(frozen=True)
class TextTable:
    """The rows of a text file and how it was written."""

    frame: pl.DataFrame
    content: Content
    dialect: Dialect
    line_per_row: bool
    padding: Padding

    @property
    def first_line(self) -> int | None:
        """Line of the first row, if the rows after it follow line by line."""
        return self.dialect.first_line if self.line_per_row else None


def read_text_table(path: Path, options: TextOptions) -> tuple[TextTable, str]:
    """The table in a text file, all cells tidied, and its decimal mark."""
    if options.decimal not in {None, ".", ","}:
        raise InputError("the decimal mark must be a point or a comma.")
    read = _rows(open_content(path, options.encoding, options.member), options)
    if read.frame.height == 0:
        raise InputError(f"{path.name} has a header but no rows. A table needs at least one row.")
    frame = _stripped(read.frame, read.padding) if options.strip else read.frame
    frame = _with_nulls(frame, options.missing)
    _refuse_second_header(frame, read)
    return replace(read, frame=frame), options.decimal or likely_decimal(frame)


def _rows(content: Content, options: TextOptions) -> TextTable:
    """The rows as text, by the fast reader if it is certain, otherwise by the careful one."""
    try:
        dialect = find_dialect(content, options.delimiter, options.quote, options.names)
    except UnicodeDecodeError:
        return _rows(settle_encoding(content), options)
    start = _body_start(content, dialect)
    end = _body_end(content, start, len(dialect.names))
    census = take_census(content.buffer, start, end, dialect)
    nul = census.nul if b"\0" not in content.buffer[:start] else content.buffer.find(b"\0")
    if nul is not None:
        raise _nul_byte(content, nul)
    frame = read_fast(content, dialect, census)
    if frame is not None:
        line_per_row = census.is_line_per_row(frame.height)
        # A line end inside a cell may stand at its edge, and is whitespace like any other; so is a quoted tab.
        hidden = not line_per_row or (census.quotes > 0 and dialect.delimiter.isspace())
        unsure = census.other_whitespace or hidden
        padding: Padding = "any" if unsure else "spaces" if census.padded else "none"
        return TextTable(frame, content, dialect, line_per_row, padding)
    settled = settle_encoding(content)
    if census.lone_returns:
        settled = with_single_line_ends(settled)
    if settled is not content:
        return _rows(settled, options)
    frame, line_per_row = read_carefully(content, dialect)
    return TextTable(frame, content, dialect, line_per_row, "any")


def _body_start(content: Content, dialect: Dialect) -> int:
    """Offset of the first byte after the header."""
    offset = content.start
    for _ in range(dialect.first_line - 1):
        newline = content.buffer.find(b"\n", offset)
        if newline < 0:
            return len(content.buffer)
        offset = newline + 1
    return offset


def _body_end(content: Content, start: int, width: int) -> int:
    """Offset after the last row. Blank lines behind it are no rows, except in a table of one column."""
    buffer = content.buffer
    end = len(buffer)
    if width == 1:
        return end
    while end > start and buffer[end - 1 : end] in {b"\n", b"\r"}:
        end -= 1
    line_end = 2 if buffer[end : end + 2] == b"\r\n" else 1
    return min(end + line_end, len(buffer))


def _nul_byte(content: Content, offset: int) -> InputError:
    line = line_at(content.buffer[:offset], offset)
    return InputError(
        f"{content.name}: line {line} contains a NUL byte (byte {offset:,} of the text), which text never contains. "
        f"The file is damaged, not text, or in an encoding such as utf-16: repair it or declare the encoding."
    )


def _stripped(frame: pl.DataFrame, padding: Padding) -> pl.DataFrame:
    """Cells without the whitespace around them. Stripping is slow, so it is kept to the columns that need it."""
    if padding == "none":
        return frame
    columns = frame.columns
    if padding == "spaces":
        cells = pl.all().str
        spaced = frame.select(cells.starts_with(" ").any()), frame.select(cells.ends_with(" ").any())
        columns = [column for column in columns if any(found[column].item() for found in spaced)]
    return frame.with_columns(pl.col(columns).str.strip_chars()) if columns else frame


def _with_nulls(frame: pl.DataFrame, missing: Sequence[str]) -> pl.DataFrame:
    """Missing markers become null."""
    present = pl.all() != missing[0] if len(missing) == 1 else ~pl.all().is_in(list(missing))
    return frame.select(pl.when(present).then(pl.all()))


def _refuse_second_header(frame: pl.DataFrame, read: TextTable) -> None:
    """Files joined end to end carry their header along; tables glued together have another one after an empty row."""
    names = read.dialect.names
    if len(names) == 1 or not read.dialect.header_lines:
        return
    for row in frame.select((pl.col(names[0]) == names[0]).arg_true()).to_series():
        if frame.row(row) == names:
            raise InputError(
                f"{read.content.name}: line {line_of_row(read.content, read.dialect, row)} repeats the header. "
                f"Several files seem to have been joined: remove the repeated header lines."
            )
    if min(frame.null_count().row(0)) == 0:
        return
    for row in frame.select(pl.all_horizontal(pl.all().is_null()).arg_true()).to_series():
        if row + 1 < frame.height and any(a == b for a, b in zip(frame.row(row + 1), names, strict=True)):
            raise InputError(
                f"{read.content.name}: line {line_of_row(read.content, read.dialect, row + 1)} looks like the header "
                f"of another table: it follows an empty row and repeats a column name. "
                f"Split the file into one table per file."
            )
