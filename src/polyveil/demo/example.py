"""What an example is, and how it is written to a folder: the table, its policy and its hierarchies."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import polars as pl

from polyveil.errors import InputError

Tree = Mapping[str, Any]
"""Names with the names below them; a value of the table has none below."""
Format = Literal["csv", "parquet"]
# Rows made at a time: each chunk has its own random stream, so writing chunk by chunk gives the same table as
# making it whole, and ten million rows need no more memory than one million.
CHUNK_ROWS = 1_000_000


@dataclass(frozen=True)
class Example:
    """A made-up table with everything needed to anonymize it. No row describes a real person."""

    name: str
    title: str
    description: str
    make_chunk: Callable[[np.random.Generator, int, int], pl.DataFrame]
    """(random stream, rows, number of the first row) -> rows"""
    default_rows: int
    policy_yaml: str
    hierarchies: Mapping[str, str]

    def chunks(self, rows: int, seed: int) -> Iterator[pl.DataFrame]:
        """The table in pieces of at most a million rows."""
        _check(rows, seed)
        for number, first in enumerate(range(0, rows, CHUNK_ROWS)):
            rng = np.random.Generator(np.random.PCG64([seed, number]))
            yield self.make_chunk(rng, min(CHUNK_ROWS, rows - first), first)

    def generate(self, rows: int, seed: int) -> pl.DataFrame:
        """The whole table; the same rows and seed give the same table on any machine."""
        return pl.concat(list(self.chunks(rows, seed)), rechunk=True)


@dataclass(frozen=True)
class WrittenExample:
    """Where the table and its policy were written; the hierarchies lie beside the policy."""

    data: Path
    policy: Path


def _check(rows: int, seed: int, format: str = "csv") -> None:  # noqa: A002
    if rows < 1 or seed < 0:
        raise InputError(
            f"rows is {rows} and seed is {seed}: an example table has at least one row and its seed is not negative. "
            "Give whole numbers, rows from 1 and seed from 0."
        )
    if format not in _WRITERS:
        raise InputError(f"the format {format!r} is not known. Choose {' or '.join(_WRITERS)}.")


def arx_text(tree: Tree) -> str:
    """Nested names as the text of a hierarchy file: one line a value, value first, `*` last.

    A value nearer to the root than others repeats its own name, which is how ARX writes uneven trees.
    """
    paths = [[*path, "*"] for path in _paths(tree)]
    longest = max(len(path) for path in paths)
    return "".join(";".join([path[0]] * (longest - len(path)) + path) + "\n" for path in paths)


def _paths(tree: Tree) -> Iterator[list[str]]:
    for name, below in tree.items():
        if not below:
            yield [name]
        for path in _paths(below or {}):
            yield [*path, name]


def write_table(example: Example, path: Path, *, rows: int, seed: int, format: Format = "csv") -> None:  # noqa: A002
    """Write the table chunk by chunk; the file appears whole or not at all."""
    _check(rows, seed, format)
    chunks = example.chunks(rows, seed)
    first = next(chunks)
    _write_whole(path, lambda file: _WRITERS[format](file, first, chunks))


def _write_csv(file: IO[bytes], first: pl.DataFrame, others: Iterator[pl.DataFrame]) -> None:
    first.write_csv(file)
    for chunk in others:
        chunk.write_csv(file, include_header=False)


def _write_parquet(file: IO[bytes], first: pl.DataFrame, others: Iterator[pl.DataFrame]) -> None:
    import pyarrow.parquet as pq

    table = first.to_arrow()
    with pq.ParquetWriter(file, table.schema, compression="zstd") as writer:
        writer.write_table(table)
        for chunk in others:
            writer.write_table(chunk.to_arrow())


_WRITERS = {"csv": _write_csv, "parquet": _write_parquet}


def _write_whole(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            fill(file)
        partial.chmod(0o644)  # mkstemp makes files only their owner can read
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_files(
    example: Example,
    folder: Path,
    *,
    rows: int,
    seed: int,
    format: Format,  # noqa: A002
    overwrite: bool,
) -> WrittenExample:
    """Write the example's files, the policy last; what is already in the folder stays unless `overwrite`."""
    _check(rows, seed, format)
    written = WrittenExample(data=folder / f"{example.name}.{format}", policy=folder / "policy.yaml")
    names = [written.data.name, *example.hierarchies, written.policy.name]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = [name for name in names if (folder / name).exists()]
        if there and not overwrite:
            raise InputError(
                f"{folder} already holds {', '.join(there)}, and the example does not write over files. "
                "Choose another folder, or ask to overwrite."
            )
        write_table(example, written.data, rows=rows, seed=seed, format=format)
        texts = {**example.hierarchies, written.policy.name: example.policy_yaml}
        for name, text in texts.items():
            content = text.encode()
            _write_whole(folder / name, lambda file, content=content: file.write(content))  # type: ignore[misc]
    except OSError as problem:
        raise InputError(
            f"the example cannot be written to {folder}: {problem.strerror or problem}. "
            "Choose a folder that can be written to and has enough space."
        ) from problem
    return written
