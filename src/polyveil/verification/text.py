"""The one text of a cell: two ways to write a value would make one value look like two, or carry a message."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import polars as pl

from polyveil.cells import ANYTHING, read_range, read_set, write_range, write_set
from polyveil.errors import listed
from polyveil.frames import has_formulas
from polyveil.policy import Policy
from polyveil.policy.rules import DateParts, Intervals, Mask
from polyveil.policy.scalars import number_label
from polyveil.verification.findings import Finding, fails, holds
from polyveil.verification.nodes import are_nodes_of

YEARS = (-719_162, 2_932_896)
"""The days of the years 1 to 9999, counted from 1970."""
KEY = "^[0-9a-f]{16}$"
"""A random key: of a person, or in place of an identifier."""
EXACT = 2**53
"""Whole numbers below it are exact as floats, and are published as integers."""


def check_cells(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, pl.DataFrame]) -> list[Finding]:
    """Every sensitive and every generalized cell is written in its one way."""
    findings = []
    in_text = policy.release.file_format == "csv" or "tables" in manifest  # SQLite has no type for dates
    for frame in tables.values():
        for name in frame.columns:
            column = policy.columns.get(name)
            cells = frame.get_column(name)
            if column is None or column.role == "insensitive":
                continue
            if column.role in ("person", "identifier"):
                right = cells.dtype == pl.String and bool(cells.str.contains(KEY).fill_null(False).all())
            elif column.role == "weight":
                right = _is_plain("numeric", cells)
            elif column.role == "sensitive":
                kind = str(manifest["sensitive"].get(name, {}).get("kind"))
                right = _is_plain(_kind_of_cells(kind, column.hierarchy), cells)
            else:
                right = _is_generalized(manifest["quasi"].get(name, {}), policy, column.hierarchy, cells)
            if cells.dtype == pl.String and not in_text and _is_typed(manifest, policy, name):
                right = False
            if policy.release.file_format == "csv" and cells.dtype == pl.String:
                right = right and not (cells == "").any()  # readers of CSV take it for a missing cell
            if not right:
                findings.append(fails(f"text of {name}", f"{name} has cells that are not written as releases are"))
    return findings or [holds("cells", "every cell is written in one way")]


def _is_typed(manifest: Mapping[str, Any], policy: Policy, name: str) -> bool:
    """Whether a column holds single numbers or dates, which a file with types has as such."""
    column = policy.columns[name]
    if column.role == "weight":
        return True
    about = manifest["sensitive"].get(name) or manifest["quasi"].get(name, {})
    kind = _kind_of_cells(str(about.get("kind")), column.hierarchy) if column.role == "sensitive" else about.get("kind")
    shown = column.role == "sensitive" or policy.release.generalize == "none"
    return kind in ("numeric", "date") and (shown or (kind == "numeric" and policy.release.numbers != "interval"))


def _kind_of_cells(kind: str, rule: Any) -> str:
    """Numbers and dates below a hierarchy are categories to a model, and numbers and dates in the file."""
    return "numeric" if isinstance(rule, Intervals) else "date" if isinstance(rule, DateParts) else kind


def _is_plain(kind: str, cells: pl.Series) -> bool:
    """Single values, as text (CSV) or as what they are."""
    if kind not in ("numeric", "date"):
        return cells.dtype == pl.String or cells.null_count() == len(cells)
    distinct = cells.drop_nulls().unique()
    if kind == "date":
        if distinct.dtype == pl.Date:
            return bool(distinct.to_physical().is_between(*YEARS).all())
        texts = distinct.cast(pl.String)
        return bool((texts.str.to_date("%Y-%m-%d", strict=False).cast(pl.String) == texts).fill_null(False).all())
    return _are_numbers(distinct)


def _are_numbers(distinct: pl.Series) -> bool:
    if distinct.dtype != pl.String:
        return distinct.dtype == pl.Float64 or (distinct.dtype == pl.Int64 and _are_exact(distinct))
    whole = distinct.cast(pl.Int64, strict=False)
    if not whole.has_nulls():
        return bool((whole.cast(pl.String) == distinct).all()) and _are_exact(whole)
    numbers = distinct.cast(pl.Float64, strict=False)
    if numbers.has_nulls() or not numbers.is_finite().all() or (distinct == "-0.0").any():
        return False
    return _as_csv(numbers) == distinct.to_list()


def _are_exact(whole: pl.Series) -> bool:
    """Whether models see each whole number as a value of its own: they see floats."""
    return bool((whole.cast(pl.Float64).cast(pl.Int64, strict=False) == whole).fill_null(False).all())


def _as_csv(numbers: pl.Series) -> list[str]:
    sink = io.BytesIO()
    numbers.to_frame().write_csv(sink, include_header=False)
    return sink.getvalue().decode().splitlines()


def _is_generalized(about: Mapping[str, Any], policy: Policy, rule: Any, cells: pl.Series) -> bool:
    """Ranges and sets as `polyveil.cells` writes them, of values in their own text, from low to high."""
    kind = str(about.get("kind", "categorical"))
    if policy.release.exact_quasi:
        kind = _kind_of_cells(kind, rule)
        return _is_plain(kind, cells) if kind in ("numeric", "date") else True
    if kind == "categorical":
        labels = cells.drop_nulls().unique().cast(pl.String).to_list()
        return not isinstance(rule, Mask | Intervals | DateParts) or are_nodes_of(rule, labels)
    if policy.release.numbers != "interval" and kind == "numeric":
        return cells.dtype in (pl.Float64, pl.String) and _are_numbers(cells.drop_nulls().unique())
    texts = cells.drop_nulls().unique().to_list()
    try:
        return all(isinstance(cell, str) and _is_own_text(kind, cell) for cell in texts)
    except ValueError:
        return False


def _is_own_text(kind: str, cell: str) -> bool:
    if cell == ANYTHING:
        return True
    if kind == "set":
        members = read_set(cell)
        labels = [label for label in members if label is not None]
        return write_set(members) == cell and labels == sorted(set(labels)) and None not in members[:-1]
    low, high = read_range(kind, cell)
    if write_range(kind, low, high) != cell:
        return False
    if kind == "numeric":
        return float(low) <= float(high) and (number_label_of(low), number_label_of(high)) == (low, high)
    return kind != "date" or low <= high


def number_label_of(text: str) -> str:
    """A number's own label, from any text of it; a whole number keeps all its digits."""
    return text if _is_whole(text) else number_label(float(text))


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text == str(int(text)) and abs(int(text)) >= EXACT


def formula_findings(tables: Mapping[str, pl.DataFrame]) -> list[Finding]:
    """Text cells that a spreadsheet runs as formulas when it opens a CSV file; they are published as they are."""
    columns = [cells for frame in tables.values() for cells in frame.get_columns()]
    found = [cells.name for cells in columns if has_formulas(cells)]
    if not found:
        return []
    message = f"{listed(found)}: cells start with =, +, -, @ or a tab. A spreadsheet may run them; import them as text"
    return [Finding("formulas", "holds", message, note=True)]
