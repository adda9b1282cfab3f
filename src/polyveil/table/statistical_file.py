"""SPSS, Stata and SAS files, read by pyreadstat, with labels of columns and values and the kinds of missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from polyveil.errors import InputError
from polyveil.frames import checked_frame
from polyveil.table.codebook import Code, Variable, read_column

PROGRAMS = {".sav": "SPSS", ".zsav": "SPSS", ".dta": "Stata", ".sas7bdat": "SAS", ".xpt": "SAS transport"}
"""The program of each ending."""
CELL = 16
"""Bytes that a cell takes in memory, whatever it holds."""
EXTRA = "pip install 'polyveil[files]'"


def read_statistical(path: Path) -> tuple[pl.DataFrame, dict[str, Variable], dict[str, pl.Series]]:
    """The table, what the file says of its columns, and the kinds of missing cells of each column that has any."""
    frame, about = _parsed(path)
    if frame.width == 0 or frame.height == 0:
        raise InputError(f"{path.name} has no {'columns' if frame.width == 0 else 'rows'}. A table needs at least one.")
    variables: dict[str, Variable] = {}
    kinds: dict[str, pl.Series] = {}
    columns = []
    for cells in frame.get_columns():
        name = cells.name
        cells = cells.set(cells == "", None) if cells.dtype == pl.String else cells
        found, kind, variable = read_column(cells, _variable(name, cells, about))
        columns.append(_whole(found))
        if variable != Variable():
            variables[name] = variable
        if kind is not None:
            kinds[name] = kind
    return checked_frame(pl.DataFrame(columns), path.name), variables, kinds


def size_in_memory(path: Path) -> int:
    """Bytes that the cells take in memory, labels written out, from the file's header alone."""
    _, about = _call(path, metadataonly=True)
    labels = [max(map(len, each.values()), default=0) for each in (about.variable_value_labels or {}).values()]
    row = sum((about.variable_storage_width or {}).values()) + sum(labels) + CELL * (about.number_columns or 0)
    # A SAS transport file does not say how many rows it has; it is not packed.
    return int(about.number_rows * row if about.number_rows else CELL * path.stat().st_size)


def _parsed(path: Path) -> tuple[pl.DataFrame, Any]:
    frame, about = _call(path)
    if not isinstance(frame, pl.DataFrame):
        raise TypeError("pyreadstat gives the kind of frame it was asked for")
    catalog = path.with_suffix(".sas7bcat")
    if path.suffix.lower() == ".sas7bdat" and catalog.is_file():
        about.variable_value_labels = _labels_of_catalog(_call(catalog)[1], about)
    return frame, about


def _labels_of_catalog(catalog: Any, about: Any) -> dict[str, dict[Any, str]]:
    """Labels of values lie in a file of their own, by the name of the column's format.

    The reader gives the labels of SAS's kinds of missing (.A to .Z) as the label of 0, so that label is left
    out where such kinds occur.
    """
    kinds = about.missing_user_values or {}
    found = {name: catalog.value_labels.get(form, {}) for name, form in (about.variable_to_label or {}).items()}
    return {
        name: {code: label for code, label in labels.items() if code != 0 or name not in kinds}
        for name, labels in found.items()
    }


def _call(path: Path, **options: Any) -> tuple[Any, Any]:
    suffix = path.suffix.lower()
    program = PROGRAMS.get(suffix, "SAS")
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise InputError(f"{program} files need one more package. Install it with: {EXTRA}") from None
    readers: Mapping[str, Callable[..., Any]] = {
        ".sav": pyreadstat.read_sav,
        ".zsav": pyreadstat.read_sav,
        ".dta": pyreadstat.read_dta,
        ".sas7bdat": pyreadstat.read_sas7bdat,
        ".sas7bcat": pyreadstat.read_sas7bcat,
        ".xpt": pyreadstat.read_xport,
    }
    if suffix not in (".xpt", ".sas7bcat"):
        options["user_missing"] = True
    if path.stat().st_size == 0:
        raise InputError(f"{path.name} is empty.")
    try:
        read: tuple[Any, Any] = readers[suffix](str(path), output_format="polars", **options)
    except Exception as error:  # the reader's own errors, and whatever a damaged file brings about
        raise InputError(
            f"{path.name} cannot be read as a file of {program} ({type(error).__name__}). It is damaged, "
            "protected, or of another program: save it again, and check that its name fits."
        ) from None
    return read


def _variable(name: str, cells: pl.Series, about: Any) -> Variable:
    values: dict[Code, str] = {_code(code): str(label) for code, label in _of(about, "variable_value_labels", name)}
    missing: list[Code] = [_code(code) for code in (about.missing_user_values or {}).get(name, [])]
    for span in (about.missing_ranges or {}).get(name, []):
        low, high = _code(span["lo"]), _code(span["hi"])
        candidates = {*values, *cells.unique().drop_nulls().to_list()}
        missing += [code for code in candidates if type(code) is type(low) and low <= code <= high]  # type: ignore[operator]
    label = (about.column_names_to_labels or {}).get(name) or ""
    return Variable(label.strip(), values, tuple(sorted(set(missing), key=str)))


def _of(about: Any, part: str, name: str) -> list[tuple[Any, Any]]:
    return list(((getattr(about, part) or {}).get(name) or {}).items())


def _code(code: Any) -> Code:
    return code if isinstance(code, str) else float(code)


def _whole(cells: pl.Series) -> pl.Series:
    """Statistical files hold whole numbers as floating ones; they are read as what they are."""
    if not cells.dtype.is_float():
        return cells.cast(pl.String) if cells.dtype == pl.Object else cells
    numbers = cells.fill_nan(None)
    present = numbers.drop_nulls()
    if len(present) and bool(((present % 1 == 0) & (present.abs() < 2**53)).all()):
        return numbers.cast(pl.Int64)
    return numbers
