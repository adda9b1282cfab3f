"""Lakes: folders in which a log says which rows of which files are the table, and which were deleted.

Delta and Iceberg tables are read by their own libraries. Read as loose Parquet files, they would give deleted people
back, so a folder or file that belongs to a lake is never read that way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from polyveil.errors import InputError, UnreadableTable
from polyveil.frames import check_names, checked_frame, refuse_unusable_types

EXTRA = "pip install 'polyveil[lakes]'"
_METADATA = ".metadata.json"
_NUMBER = re.compile(r"v?(\d+)")


def is_lake(path: Path) -> bool:
    """Whether the path is a Delta or Iceberg table; refuses what is only a part of one, which tells nothing alone."""
    if is_delta(path) or _is_iceberg(path) or path.name.endswith(_METADATA):
        return True
    if (path / ".hoodie").is_dir():
        raise InputError(f"{path} is a Hudi table, which cannot be read here. Export it to Parquet with its own tools")
    for folder in path.absolute().parents:
        if is_delta(folder) or _is_iceberg(folder) or (folder / ".hoodie").is_dir():
            raise InputError(
                f"{path} is a part of the table in {folder}, whose log says which of its rows were deleted. Read "
                f"{folder} instead"
            )
    return False


def read_lake(path: Path, as_of: str | int | None) -> pl.DataFrame:
    """The rows of the table as it is now, or as it was at a version (a snapshot's number, in Iceberg) or a time."""
    reader = delta_rows if is_delta(path) else _iceberg
    frame: pl.DataFrame = reader(path, as_of)
    check_names(frame.columns, path.name)
    refuse_unusable_types(dict(frame.schema), path.name)
    return checked_frame(frame, path.name)


def is_delta(folder: Path) -> bool:
    """Whether the folder is a Delta table."""
    return (folder / "_delta_log").is_dir()


def _is_iceberg(folder: Path) -> bool:
    return any((folder / "metadata").glob(f"*{_METADATA}"))


def delta_rows(path: Path, as_of: str | int | None) -> pl.DataFrame:
    """The rows as they are, or as they were; nothing of them is judged."""
    try:
        from deltalake import DeltaTable, QueryBuilder
    except ImportError:
        raise _not_installed(path, "a Delta table", "deltalake") from None
    asked = None if as_of is None else as_asked(as_of)

    def rows() -> Any:
        table = DeltaTable(path.absolute())
        if asked is not None:
            table.load_as_version(asked)
        # The query engine of the library honours deletion vectors and renamed columns; its other readers refuse them.
        return QueryBuilder().register("lake", table).execute("SELECT * FROM lake").read_all()

    return _read(path, "a Delta", rows)


def _iceberg(path: Path, as_of: str | int | None) -> pl.DataFrame:
    try:
        from pyiceberg.table import StaticTable
    except ImportError:
        raise _not_installed(path, "an Iceberg table", "pyiceberg") from None
    newest = path if path.is_file() else _newest_metadata(path)
    asked = None if as_of is None else as_asked(as_of)

    def rows() -> Any:
        table = StaticTable.from_metadata(str(newest.absolute()))
        return table.scan(snapshot_id=None if asked is None else snapshot_of(table, asked)).to_arrow()

    return _read(path, "an Iceberg", rows)


def _read(path: Path, kind: str, rows: Callable[[], Any]) -> pl.DataFrame:
    try:
        return pl.DataFrame(rows())
    except InputError:
        raise
    except Exception as error:  # what a reader of damaged files may raise is not known
        if closed := [one for one in (path, *path.rglob("*")) if not os.access(one, os.R_OK)]:
            raise InputError(
                f"{path}: {len(closed)} of its files and folders may not be read. Grant this user reading them"
            ) from None
        raise UnreadableTable(
            f"{path} is {kind} table that cannot be read ({type(error).__name__}). Check that it is whole, that the "
            "version or time exists, and that its features are known to the installed reader",
            "its files or its log are damaged",
        ) from None


def as_asked(as_of: str | int) -> int | datetime:
    """A version, or a time; times without a zone are UTC."""
    if isinstance(as_of, int) or as_of.isdigit():
        return int(as_of)
    try:
        moment = datetime.fromisoformat(as_of)
    except ValueError:
        raise InputError(
            f"as_of is {as_of!r}, but must be a version or a time. Write 12, or 2026-01-31T18:00"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _newest_metadata(folder: Path) -> Path:
    """The state with the highest number: without its catalog, a table does not say more about which is current."""
    files = sorted((folder / "metadata").glob(f"*{_METADATA}"))
    number = {file: int(found[1]) for file in files if (found := _NUMBER.match(file.name))}
    newest = [file for file in files if number.get(file, -1) == max(number.values(), default=-1)]
    if len(newest) > 1:
        raise InputError(
            f"{folder} holds {len(newest)} states with the highest number, and only its catalog knows which one is "
            "current. Give the path of the right .metadata.json file instead of the folder"
        )
    return newest[0]


def snapshot_of(table: Any, asked: int | datetime) -> int:
    """The snapshot of an Iceberg table with this number, or the newest one at this time."""
    known = table.metadata.snapshots
    if isinstance(asked, int):
        found = [one.snapshot_id for one in known if one.snapshot_id == asked]
    else:
        past = [one for one in known if one.timestamp_ms <= asked.timestamp() * 1000]
        found = [one.snapshot_id for one in sorted(past, key=lambda one: int(one.timestamp_ms))]
    if not found:
        raise InputError(
            f"the table has no snapshot {asked if isinstance(asked, int) else 'as old as ' + asked.isoformat()}. "
            f"It has {len(known):,}; leave as_of out for the newest"
        )
    return int(found[-1])


def _not_installed(path: Path, kind: str, package: str) -> InputError:
    return InputError(
        f"{path} is {kind}, and reading it needs {package}, which is not installed. Install it with: {EXTRA}"
    )
