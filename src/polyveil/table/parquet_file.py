"""Parquet: one file, or a folder of files (as Spark and others write), with hive-style `column=value` folders."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polyveil.errors import InputError
from polyveil.frames import check_names, checked_frame, refuse_unusable_types

_MAGIC = b"PAR1"


def read_parquet(path: Path) -> pl.DataFrame:
    """The whole table with its own column types; NaN becomes null."""
    files = _files_of(path)
    for file in files:
        _check_ends(file)
    try:
        lazy = pl.scan_parquet(files, glob=False, hive_partitioning=_is_partitioned(path, files))
        schema = lazy.collect_schema()
        # Judged before the data is read: nested columns are often the big ones.
        check_names(schema.names(), path.name)
        refuse_unusable_types(dict(schema), path.name)
        frame = lazy.collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise InputError(_fault(path, files, error)) from None
    return checked_frame(frame, path.name)


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in {".parquet", ".pq"}
        and file.is_file()
        and not any(part.startswith(("_", ".")) for part in file.relative_to(path).parts)
    )
    if not files:
        raise InputError(f"{path} is a folder without Parquet files. Give a file, or a folder with .parquet files.")
    return files


def _is_partitioned(path: Path, files: list[Path]) -> bool:
    return path.is_dir() and any("=" in part for file in files for part in file.relative_to(path).parts[:-1])


def _check_ends(file: Path) -> None:
    """A Parquet file begins and ends with the same four bytes; one cut short in a copy does not."""
    size = file.stat().st_size
    if size == 0:
        raise InputError(f"{file.name} is empty.")
    with file.open("rb") as handle:
        head = handle.read(4)
        handle.seek(max(size - 4, 0))
        tail = handle.read(4)
    if head == b"PARE" or tail == b"PARE":
        raise InputError(f"{file.name} is an encrypted Parquet file. Decrypt it before reading.")
    if head != _MAGIC:
        raise InputError(f"{file.name} is not a Parquet file. Check the name, or declare the format csv.")
    if tail != _MAGIC or size < 12:
        raise InputError(f"{file.name} is an incomplete Parquet file: its end is missing. Copy or write it again.")


def _fault(path: Path, files: list[Path], error: BaseException) -> str:
    if isinstance(error, pl.exceptions.SchemaError | pl.exceptions.SchemaFieldNotFoundError) and len(files) > 1:
        return (
            f"{path.name}: its {len(files):,} Parquet files do not have the same columns. Write them with one schema."
        )
    if isinstance(error, pl.exceptions.DuplicateError):
        return f"{path.name}: column names must differ, but one appears more than once. Rename the repeated columns."
    return f"{path.name} is a damaged Parquet file ({type(error).__name__}). Copy or write it again."
