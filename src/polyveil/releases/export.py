"""Copies of a release for Excel, SPSS and Stata.

A release folder holds CSV or Parquet, whose every byte the verifier can account for. A workbook or a statistics file
cannot be closed in that way, so it is never part of a release: it is a copy, made of a release that was just verified.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from polyveil.errors import InputError, VerificationFailed
from polyveil.policy import Policy, from_public
from polyveil.table.codebook import Codebook, Variable
from polyveil.table.parse import column_type, parse_dates, parse_numbers
from polyveil.table.source import Table, read
from polyveil.table.writing import WRITABLE, write_sheets, write_statistical
from polyveil.verification import ReleaseLike, load_release, verify

MOST_CATEGORIES = 1_000
"""Text with more different values is written as text, not as codes with labels."""
_LONGEST_LABEL = 100


def export(
    release: ReleaseLike,
    to: Path | str,
    *,
    table: str | None = None,
    labels_from: Any = None,
    overwrite: bool = False,
) -> tuple[str, ...]:
    """Write a verified release as one file for Excel (.xlsx), SPSS (.sav) or Stata (.dta).

    Parameters
    ----------
    release : path, database address or Release
        The release. It is verified first, and not copied if a check fails.
    to : path
        The file. A workbook has one sheet per table of the release.
    table : str, optional
        Which table of an anatomized or sliced release SPSS or Stata get.
    labels_from : path, optional
        An SPSS, Stata or SAS file, such as the original, whose labels of columns and values are used. Labels of values
        that the release does not have are left out.
    overwrite : bool
        Replace an older file.

    Returns
    -------
    tuple of str
        The tables that were written.
    """
    path = Path(to)
    _check_target(path, overwrite)
    found = verify(release)
    if found.failures:
        raise VerificationFailed(f"the release does not pass verification, so it was not copied. {found.answer()}")
    manifest, frames, _ = load_release(release)
    policy = from_public(manifest["policy"])
    tables = {
        name: pl.DataFrame([_typed(policy, cells) for cells in frame.get_columns()]) for name, frame in frames.items()
    }
    source = None if labels_from is None else read(labels_from)
    if path.suffix.lower() == ".xlsx":
        chosen = tables if table is None else {table: _chosen(tables, table)}
    else:
        only = table if table is not None else next(iter(tables)) if len(tables) == 1 else None
        chosen = {only or "": _chosen(tables, only)}
    draft = path.with_name(f".{secrets.token_hex(4)}.{path.name}")
    try:
        if path.suffix.lower() == ".xlsx":
            write_sheets(chosen, draft)
        else:
            (frame,) = chosen.values()
            write_statistical(frame, draft, _codebook(policy, frame, source))
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or type(error).__name__}).") from None
    finally:
        draft.unlink(missing_ok=True)
    return tuple(chosen)


def _check_target(path: Path, overwrite: bool) -> None:
    if path.suffix.lower() not in WRITABLE:
        raise InputError(f"{path.name}: name a file that ends in .xlsx (Excel), .sav (SPSS) or .dta (Stata)")
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists already. Name a new file, or use --overwrite")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path.absolute().parent} does not exist. Create it, or name another place")


def _chosen(tables: Mapping[str, pl.DataFrame], wanted: str | None) -> pl.DataFrame:
    if wanted is None or wanted not in tables:
        raise InputError(f"the release has the tables {', '.join(tables)}. Choose one with --table, or write .xlsx")
    return tables[wanted]


def _typed(policy: Policy, cells: pl.Series) -> pl.Series:
    """Numbers and dates of a release in CSV as what they are; everything else as it is published."""
    column = policy.columns.get(cells.name)
    if column is None or column.role in ("person", "identifier") or cells.dtype != pl.String:
        return cells
    kind, about = column_type(column, cells), Table(cells.to_frame(), "the release", first_line=None)
    if kind == "numeric":
        parsed, faults = parse_numbers(cells.name, cells, about)
    elif kind == "date":
        parsed, faults = parse_dates(cells.name, cells, column.model_copy(update={"date_format": None}), about)
    else:
        return cells
    return cells if faults else _whole(parsed)


def _whole(cells: pl.Series) -> pl.Series:
    present = cells.drop_nulls()
    return cells.cast(pl.Int64) if cells.dtype.is_float() and bool((present % 1 == 0).all()) else cells


def _codebook(policy: Policy, frame: pl.DataFrame, source: Table | None) -> Codebook:
    """Labels of columns, and codes with labels for text: the source's codes where all values have one there."""
    known = {} if source is None else source.codebook
    book = {}
    for cells in frame.get_columns():
        role = policy.columns[cells.name].role if cells.name in policy.columns else "group"
        about = known.get(cells.name, Variable())
        if cells.dtype != pl.String or role in ("person", "identifier", "group"):
            book[cells.name] = Variable(about.label)
            continue
        present = sorted(cells.drop_nulls().unique().to_list())
        values = {code: label for code, label in about.values.items() if about.is_labelled and label in present}
        if len(values) != len(present):
            values = {float(i): text for i, text in enumerate(present, start=1)}
        fits = len(present) <= MOST_CATEGORIES and all(len(text.encode()) <= _LONGEST_LABEL for text in present)
        missing = tuple(code for code in about.missing if code in values)
        book[cells.name] = Variable(about.label, values, missing, True) if fits else Variable(about.label)
    return book
