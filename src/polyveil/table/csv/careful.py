"""The slow, exact reader: record by record with the standard csv parser, always knowing its line.

It is the specification of what a text table says. The fast reader hands over whatever it cannot read with certainty,
and every complaint about a line comes from here.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl

from polyveil.errors import InputError
from polyveil.table.csv.content import Content
from polyveil.table.csv.dialect import Dialect, parse

T = TypeVar("T")


@dataclass(frozen=True)
class _Record:
    line: int
    fields: list[str]


class _Misquoted(InputError):
    """Quotes that do not fit: worth a second look without the spaces behind them."""


def read_carefully(content: Content, dialect: Dialect) -> tuple[pl.DataFrame, bool]:
    """All rows as text, and whether each row is one line; InputError with its line for anything not well formed."""
    return _forgiving_spaces(content, dialect, _read)


def line_of_row(content: Content, dialect: Dialect, row: int) -> int:
    """The line on which a row (from 0) begins."""

    def find(content: Content, dialect: Dialect) -> int:
        counted = -1
        for record in _rows(content, dialect):
            counted += bool(record.fields) or len(dialect.names) == 1
            if counted == row:
                return record.line
        return dialect.first_line + row

    return _forgiving_spaces(content, dialect, find)


def _forgiving_spaces(content: Content, dialect: Dialect, work: Callable[[Content, Dialect], T]) -> T:
    """Do the work; where the parser stumbles over spaces between a closing quote and a delimiter, without these."""
    try:
        return work(content, dialect)
    except _Misquoted as fault:
        data = content.whole()
        closed_up = _without_space_after_quotes(data, dialect)
        if closed_up == data:
            raise
        with contextlib.suppress(_Misquoted):
            return work(replace(content, buffer=closed_up, origin=closed_up), dialect)
        raise fault from None


def _read(content: Content, dialect: Dialect) -> tuple[pl.DataFrame, bool]:
    width = len(dialect.names)
    columns: list[list[str]] = [[] for _ in range(width)]
    line_per_row = True
    blank: int | None = None
    for record in _rows(content, dialect):
        fields = record.fields
        if not fields and width > 1:
            blank = blank or record.line
            continue
        if blank is not None:
            raise _blank_line(content.name, blank, record.line)
        if len(fields) != width and (fields or width > 1):
            raise _ragged(content, dialect, record)
        line_per_row &= record.line == dialect.first_line + len(columns[0])
        for column, cell in zip(columns, fields or [""], strict=True):
            column.append(cell)
    series = [pl.Series(name, cells, dtype=pl.String) for name, cells in zip(dialect.names, columns, strict=True)]
    return pl.DataFrame(series), line_per_row


def _rows(content: Content, dialect: Dialect) -> Iterator[_Record]:
    """The records after the header with the line each begins on."""
    text = io.TextIOWrapper(io.BytesIO(content.whole()), encoding="utf-8-sig", newline="")
    for _ in range(dialect.skipped_lines):
        text.readline()
    records = parse(text, dialect.delimiter, dialect.quote, strict=True)
    begins = dialect.skipped_lines + 1
    header_due = dialect.header_lines > 0
    try:
        for fields in records:
            if header_due:
                header_due = False
            else:
                yield _Record(begins, fields)
            begins = dialect.skipped_lines + records.line_num + 1
    except csv.Error as error:
        raise _misquoted(content.name, dialect, begins, error) from None


def _without_space_after_quotes(data: bytes, dialect: Dialect) -> bytes:
    """Drop spaces between a closing quote and the delimiter: padding that the parser would call an error."""
    if dialect.quote is None or dialect.delimiter in " \t":
        return data
    quote, mark = re.escape(dialect.quote.encode()), re.escape(dialect.delimiter.encode())
    # A closing quote follows text, or the opening quote of an empty cell; a doubled quote inside a cell does neither.
    closing = rb"(?:(?<=[^%b])%b|(?<=[%b\r\n])%b)[ \t]+(?=[%b\r\n])" % (quote, quote, mark, quote * 2, mark)
    return re.sub(closing, lambda found: found.group().rstrip(b" \t"), data)


def _misquoted(name: str, dialect: Dialect, line: int, error: csv.Error) -> _Misquoted:
    # The parser's own message is only looked at for its kind: no cell is in it, but it speaks of parser states.
    kind = str(error)
    if "limit" in kind:
        what = f"the row that begins on line {line} has a cell of more than {csv.field_size_limit():,} characters"
    elif "end of data" in kind:
        what = f"a quote opened in the row that begins on line {line} is never closed"
    else:
        what = f"the row that begins on line {line} has text after a closing quote"
    if dialect.quote is None:
        return _Misquoted(f"{name}: {what}. Shorten the cell or check the line ends.")
    return _Misquoted(
        f"{name}: {what}. Close the quote, write quotes inside a quoted cell twice, "
        f"or declare that the file has no quoting."
    )


def _blank_line(name: str, blank: int, after: int) -> InputError:
    return InputError(
        f"{name}: line {blank} is blank, but the table goes on at line {after}. Programs disagree on whether a blank "
        f"line is a row: remove it, or split the file if it contains several tables."
    )


def _ragged(content: Content, dialect: Dialect, first: _Record) -> InputError:
    width = len(dialect.names)
    others = 0
    # A broken quote further down ends the count: the first fault is the one to report.
    with contextlib.suppress(InputError):
        for record in _rows(content, dialect):
            others += record.line > first.line and len(record.fields) not in {0, width}
    more = f" (so it is with {others:,} more line{'s' if others > 1 else ''})" if others else ""
    header = "the header has" if dialect.header_lines else "there are names for"
    mark = {"\t": "tab", " ": "space"}.get(dialect.delimiter, repr(dialect.delimiter))
    return InputError(
        f"{content.name}: line {first.line} has {_fields(len(first.fields))}, {header} {width}{more}. "
        f"Correct the line: cells that contain the delimiter ({mark}) must be quoted, and missing cells left empty "
        f"but delimited. If the delimiter is another one, declare it."
    )


def _fields(count: int) -> str:
    return f"{count} field{'s' if count != 1 else ''}"
