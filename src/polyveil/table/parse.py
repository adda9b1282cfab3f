"""Parsing a column's cells by its declared type. Missing markers become nulls; what does not parse is a fault."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import polars as pl

from polyveil.errors import Fault
from polyveil.policy.publishing import Publish
from polyveil.policy.rules import DateParts, Intervals, Order, number_label
from polyveil.policy.schema import Column, ColumnType
from polyveil.table.source import Table

EPOCH = dt.date(1970, 1, 1)


def column_type(column: Column, cells: pl.Series) -> ColumnType:
    """The declared type, else what the hierarchy rule implies, else what the cells look like."""
    if column.type is not None:
        return column.type
    rule = column.hierarchy
    if isinstance(rule, Order):
        return "ordinal"
    if isinstance(rule, Intervals):
        return "numeric"
    if isinstance(rule, DateParts):
        return "date"
    if rule is not None or column.recode == "set":
        return "categorical"
    if cells.dtype.is_numeric():
        return "numeric"
    if cells.dtype.is_temporal():
        return "date"
    return "numeric" if _looks_numeric(cells) else "categorical"


def _looks_numeric(cells: pl.Series) -> bool:
    """Every cell is a number and none has a leading zero, which codes have and numbers do not."""
    if cells.dtype != pl.String:
        return False
    text = cells.drop_nulls().unique()
    if text.is_empty() or text.str.contains(r"^[-+]?0[0-9]").any():
        return False
    return text.cast(pl.Float64, strict=False).is_not_null().all()


def without_markers(cells: pl.Series, markers: Sequence[str]) -> pl.Series:
    """Cells that are a missing marker become null; so do NaN."""
    if cells.dtype.is_float():
        cells = cells.fill_nan(None)
    if not markers:
        return cells
    if cells.dtype == pl.String:
        return cells.set(cells.is_in(list(markers)), None)
    if cells.dtype.is_numeric():
        numbers = [float(marker) for marker in markers if _is_number(marker)]
        return cells.set(cells.cast(pl.Float64).is_in(numbers), None) if numbers else cells
    return without_markers(cells.cast(pl.String), markers)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def parse_numbers(name: str, cells: pl.Series, table: Table) -> tuple[pl.Series, list[Fault]]:
    """Cells as Float64."""
    if cells.dtype.is_numeric() or cells.dtype == pl.Boolean:
        numbers = cells.cast(pl.Float64)
    else:
        text = cells.cast(pl.String)
        if table.decimal == ",":
            text = text.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
        numbers = text.cast(pl.Float64, strict=False)
    bad = (numbers.is_null() & cells.is_not_null()) | ~numbers.is_finite().fill_null(True)
    if bad.any():
        return numbers, _unparsed(name, bad, table, "a number", "type: categorical")
    wanted = "a whole number that can be kept exactly, as those up to 2^53 can"
    return numbers, _unparsed(name, _would_change(cells, numbers), table, wanted, "type: categorical")


def _would_change(cells: pl.Series, numbers: pl.Series) -> pl.Series:
    """Whole numbers, as integers or as text, that a 64-bit float would turn into others."""
    large = (numbers.abs() >= 2**53).fill_null(False)
    if not large.any() or not (cells.dtype.is_integer() or cells.dtype == pl.String):
        return large & False
    rounded = numbers.filter(large).map_elements(lambda value: str(int(value)), return_dtype=pl.String)
    texts = cells.filter(large).cast(pl.String).str.strip_prefix("+")
    changed = texts.str.contains(r"^-?\d+$") & (texts != rounded)
    return large.scatter(large.arg_true(), changed) if len(changed) else large


def coarsened(numbers: pl.Series, publish: Publish) -> pl.Series:
    """Numbers as they are published, as text; null if they lie outside the intervals."""
    distinct = numbers.drop_nulls().unique().to_list()
    labels = {value: publish.of(value) for value in distinct}
    return numbers.replace_strict(list(labels), list(labels.values()), default=None, return_dtype=pl.String)


def parse_dates(name: str, cells: pl.Series, column: Column, table: Table) -> tuple[pl.Series, list[Fault]]:
    """Cells as days."""
    if cells.dtype == pl.Date:
        return cells, []
    if cells.dtype == pl.Datetime:
        return cells.cast(pl.Date), []
    text = cells.cast(pl.String)
    days = text.str.to_date(column.date_format or "%Y-%m-%d", strict=False)
    bad = days.is_null() & cells.is_not_null()
    wanted = f"a date like {dt.date(2026, 1, 31).strftime(column.date_format or '%Y-%m-%d')}"
    return days, _unparsed(name, bad, table, wanted, "date_format: to the format of the cells")


def _unparsed(name: str, bad: pl.Series, table: Table, wanted: str, setting: str) -> list[Fault]:
    count = int(bad.sum())
    if count == 0:
        return []
    first = bad.arg_true()[0]
    return [
        Fault(
            f"columns.{name}",
            f"{count} of {len(bad)} cells are not {wanted}; the first is in {place_of(first, table)}",
            f"Mend the cells, declare them in missing:, or set {setting}",
        )
    ]


def place_of(row: int, table: Table) -> str:
    """Where a row stands, in the words of its source."""
    line = f" (about line {row + table.first_line})" if table.first_line is not None else ""
    return f"data row {row + 1}{line}"


def as_text(cells: pl.Series) -> pl.Series:
    """Categories as text; numbers in their shortest form, so that 3.0 and "3" are the same category."""
    if cells.dtype.is_float():
        return cells.map_elements(number_label, return_dtype=pl.String)
    if cells.dtype == pl.Boolean:
        return cells.cast(pl.Int8).replace_strict({0: "false", 1: "true"}, default=None, return_dtype=pl.String)
    return cells.cast(pl.String)


def days_since_epoch(days: Sequence[dt.date]) -> list[float]:
    """Positions of dates on the number line."""
    return [float((day - EPOCH).days) for day in days]
