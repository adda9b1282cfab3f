"""Hierarchy files: one line per value, the value first, then ever larger groups, the root last (ARX's text format).

ARX asks every line for the same number of levels, repeating labels where a branch is short. That is accepted, and so
are shorter lines, as long as all lines end in the same root; empty cells at the end of a line (spreadsheets write
them) are as if absent. Without a common last label every line needs the same number of levels, and a root is added.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from polyveil.policy.hierarchy import Hierarchy, HierarchyFault, from_paths

DELIMITERS = (";", "\t", "|", ",")
MAX_BYTES = 200_000_000
_LINES_LOOKED_AT = 500

Row = tuple[int, list[str]]


def read_hierarchy(path: Path, name: str, delimiter: str | None = None) -> Hierarchy:
    """Read a hierarchy file; faults name lines, never values. `name` is how the policy calls the file."""
    rows = _rows(_text(path, name), name, delimiter)
    try:
        return from_paths([cells for _, cells in rows], [line for line, _ in rows])
    except HierarchyFault as fault:
        raise HierarchyFault(f"in the hierarchy file {name!r}, {fault.rule}", fault.remedy) from None


def read_pairs(path: Path, name: str, parent: str, child: str) -> list[tuple[str, str]]:
    """The pairs of a CSV file whose first line names its columns."""
    text = _text(path, name)
    delimiter = max(DELIMITERS, key=lambda mark: _fit(text, mark))
    try:
        (_, header), *rows = _cells(text, delimiter)
        at = header.index(parent), header.index(child)
        return [(cells[at[0]], cells[at[1]]) for _, cells in rows]
    except (csv.Error, ValueError, IndexError):
        raise HierarchyFault(
            f"the file {name!r} does not have the columns {parent} and {child} in every line",
            "Write hierarchy: {pairs: FILE, parent: COLUMN, child: COLUMN}",
        ) from None


def _text(path: Path, name: str) -> str:
    try:
        if not path.exists():
            raise HierarchyFault(
                f"the hierarchy file {name!r} does not exist", "Check the name. It is looked up beside the policy file"
            )
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise HierarchyFault(
                f"the hierarchy file {name!r} is not a plain file of at most {MAX_BYTES // 10**6} MB",
                "Give a CSV file with one line per value",
            )
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise HierarchyFault(f"line {line} of the hierarchy file {name!r} is not UTF-8", "Save it as UTF-8") from None
    except (OSError, ValueError) as error:
        if isinstance(error, HierarchyFault):
            raise
        reason = getattr(error, "strerror", None) or "not a file name"
        raise HierarchyFault(
            f"the hierarchy file {name!r} cannot be read ({reason})", "Check its name and permissions"
        ) from None


def _rows(text: str, name: str, delimiter: str | None) -> list[Row]:
    if delimiter is None:
        delimiter = max(DELIMITERS, key=lambda mark: _fit(text, mark))  # the first of equals
    try:
        rows = list(_cells(text, delimiter))
    except csv.Error as error:
        raise HierarchyFault(
            f"the hierarchy file {name!r} is not CSV from {error}",
            "Close every quote and put quotes around whole cells",
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise HierarchyFault(f"line {line} of the hierarchy file {name!r} contains a NUL byte", "Save it as plain text")
    if not rows:
        raise HierarchyFault(f"the hierarchy file {name!r} is empty", "Write one line per value")
    for line, cells in rows:
        if "" in cells:
            raise HierarchyFault(
                f"line {line} of the hierarchy file {name!r} has an empty cell",
                "Repeat a label to fill a level. Missing cells need no line",
            )
    _check_widths(rows, name)
    return rows


def _fit(text: str, delimiter: str) -> tuple[float, bool]:
    """How well a delimiter explains the first lines: the share of lines it splits, and whether evenly."""
    try:
        widths = [len(cells) for _, cells in islice(_cells(text, delimiter), _LINES_LOOKED_AT)]
    except csv.Error:
        lines = text.splitlines()[:_LINES_LOOKED_AT]
        return (sum(delimiter in line for line in lines) / max(len(lines), 1), False)
    return (sum(width > 1 for width in widths) / max(len(widths), 1), len(set(widths)) == 1)


def _cells(text: str, delimiter: str) -> Iterator[Row]:
    """The lines that are not blank, with their numbers; cells stripped, empty ones at the end left out."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise csv.Error(f"line {line}: {error}") from None
        cells = [cell.strip() for cell in row]
        while len(cells) > 1 and not cells[-1]:
            cells.pop()
        if cells and cells != [""]:
            yield line, cells


def _check_widths(rows: list[Row], name: str) -> None:
    width = len(rows[0][1])
    one_root = len({cells[-1] for _, cells in rows}) == 1
    for line, cells in rows:
        if len(cells) != width and not one_root:
            raise HierarchyFault(
                f"line {line} of the hierarchy file {name!r} has {len(cells)} levels, line {rows[0][0]} has {width}, "
                "and they do not all end in the same root",
                "Repeat a label to fill a level, or end every line in the same label, for example *",
            )
