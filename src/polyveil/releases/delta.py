"""Releases as Delta tables in a folder: `delta:///lake/release_2026`, one table in each folder of it.

The folder is made beside its place and gets its name by one rename, as a release folder does: a reader finds the older
release or the new one, and never a part. Tables have one version and no history. Their one file is written as the
tables of release folders are, so that every byte of it can be checked.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from polyveil.errors import InputError, UnreadableTable, listed
from polyveil.releases.bundle import Identity, identity, move_into_place, not_written, sha256_of, staging, sync
from polyveil.table.databases.described import DescribedColumn
from polyveil.table.databases.names import Query, TableName, Wanted
from polyveil.table.databases.place import Place
from polyveil.table.databases.session import Session
from polyveil.table.lakes import delta_rows, is_delta
from polyveil.verification.canonical import check_bytes, write_table

LOG, PART = "_delta_log/00000000000000000000.json", "part-00000.parquet"
_TYPES: dict[type[pl.DataType], str] = {
    pl.Boolean: "boolean",
    pl.Int64: "long",
    pl.Float64: "double",
    pl.String: "string",
    pl.Date: "date",
}
_IDS = uuid.UUID("5d0c2f0e-7a34-4f0f-9a55-0f3c0b7ad1e6")


class DeltaSession(Session):
    """The folder of a lake, and one release in it. What it writes stands in a hidden folder until `commit`."""

    keeps_order = True

    def __init__(self, place: Place, *, writable: bool) -> None:
        import deltalake  # noqa: F401  (says which package is missing)

        self.place = place
        self.lake = Path(str(place.file))
        self._as_of: str | int | None = None
        self._stack = ExitStack()
        self._stage: Path | None = None
        self._older: Identity | None = None
        self._read: dict[Path, pl.DataFrame] = {}

    def at(self, as_of: str | int) -> None:
        self._as_of = as_of

    def locate(self, wanted: Wanted) -> str:
        if isinstance(wanted, Query):
            raise InputError("a query is not taken for Delta tables. Leave --query out")
        folder = self.lake / wanted.name if wanted.schema is None else self._folder(wanted.schema) / wanted.name
        if not is_delta(folder):
            words = f"{folder} is no Delta table: it has no folder _delta_log. Check the path"
            raise UnreadableTable(words, "its log is not there")
        return str(folder)

    def describe(self, source: str, wanted: Wanted) -> list[DescribedColumn]:
        frame = self._read[Path(source)] = delta_rows(Path(source), self._as_of)
        nested = {name for name, kind in frame.schema.items() if kind.is_nested() or kind == pl.Binary}
        return [DescribedColumn(n, str(kind), None if n in nested else n) for n, kind in frame.schema.items()]

    def batches(self, source: str, columns: Sequence[DescribedColumn]) -> Iterator[pa.RecordBatch]:
        yield from self._read.pop(Path(source)).to_arrow().to_batches()

    def tables(self) -> list[str]:
        return sorted(entry.name for entry in self.lake.iterdir() if is_delta(entry))

    def has_schema(self, schema: str) -> bool:
        return self._folder(schema).is_dir()

    def relations(self, schema: str) -> list[str]:
        """Whatever stands in the folder: whoever gets it gets that as well."""
        folder = self._folder(schema)
        return sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []

    def beside_tables(self, schema: str) -> list[str]:
        tables = [self._folder(schema) / name for name in self.relations(schema)]
        return sorted({words for table in tables if is_delta(table) for words in _strange_in(table)})

    def check_creatable(self, schema: str) -> None:
        if not self.lake.is_dir():
            raise InputError(f"{self.lake} does not exist or is not a folder. Create it, or name another place")
        folder = self._folder(schema)
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is not a folder. Name another place")
        if is_delta(folder):
            raise InputError(f"{folder} is a Delta table, and a release is a folder of such tables. Name a new folder")
        with staging(folder):
            """Says what is wrong with a folder that cannot be written to."""

    def stored(self, schema: str, table: str) -> TableName:
        return TableName(table, schema)

    def create_schema(self, schema: str) -> None:
        if self._stage is None:
            folder = self._folder(schema)
            self._older = identity(folder)
            self._stage = self._stack.enter_context(staging(folder))

    def drop(self, name: TableName) -> None:
        """The older release stays until the new one takes its name."""
        self.create_schema(str(name.schema))

    def create(self, name: TableName, frame: pl.DataFrame) -> None:
        times = [column for column, kind in frame.schema.items() if kind == pl.Time]
        if times:
            raise InputError(f"Delta has no type for times of day: {listed(times)}. Make them text, or drop them")
        with self._faults():
            self._write(self._folder(str(name.schema)) / name.name, frame)

    def _write(self, folder: Path, frame: pl.DataFrame) -> None:
        (folder / LOG).parent.mkdir(parents=True)
        with (folder / PART).open("wb") as sink:
            write_table(frame, sink, ".parquet")
        (folder / LOG).write_text(log_of(frame, folder / PART), encoding="utf-8")

    def commit(self) -> None:
        if self._stage is not None:
            stage, self._stage = self._stage, None
            with self._faults():
                sync(stage)
                move_into_place(stage, self._folder(str(self.place.schema)), self._older)

    def close(self) -> None:
        self._stack.close()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise not_written(self.lake, error) from None

    def _folder(self, schema: str) -> Path:
        return self._stage if self._stage is not None else self.lake / schema


def log_of(frame: pl.DataFrame, part: Path) -> str:
    """The log of a table with this one file, which it follows from.

    Written here, because libraries note in it where and by what program a table was made.
    """
    fields = [{"name": n, "type": _type(kind), "nullable": True, "metadata": {}} for n, kind in frame.schema.items()]
    with_ntz = any(field["type"] == "timestamp_ntz" for field in fields)
    features = {"readerFeatures": ["timestampNtz"], "writerFeatures": ["timestampNtz"]} if with_ntz else {}
    versions = (3, 7) if with_ntz else (1, 2)
    about = {
        "id": str(uuid.uuid5(_IDS, sha256_of(part))),
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}, ensure_ascii=False),
        "partitionColumns": [],
        "configuration": {},
    }
    added = {"path": PART, "partitionValues": {}, "size": part.stat().st_size, "modificationTime": 0}
    actions: list[dict[str, Any]] = [
        {"protocol": {"minReaderVersion": versions[0], "minWriterVersion": versions[1], **features}},
        {"metaData": about},
        {"add": {**added, "dataChange": True, "stats": json.dumps({"numRecords": frame.height})}},
    ]
    return "".join(json.dumps(action, ensure_ascii=False) + "\n" for action in actions)


def _type(kind: pl.DataType) -> str:
    if isinstance(kind, pl.Datetime):
        return "timestamp" if kind.time_zone else "timestamp_ntz"
    return _TYPES[type(kind)]


def _strange_in(table: Path) -> list[str]:
    """What a table has beside its rows: a history, notes in the log, other files, other bytes in its file."""
    found = {entry.relative_to(table).as_posix() for entry in table.rglob("*")}
    if table.is_symlink():
        return ["links to other places"]
    if found != {LOG, PART, "_delta_log"} or any((table / name).is_symlink() for name in found):
        return ["older versions or other files"]
    try:
        frame = pl.read_parquet(table / PART)
        if (table / LOG).read_bytes() != log_of(frame, table / PART).encode():
            return ["more in the log of a table than releases have"]
    except (OSError, KeyError, pl.exceptions.PolarsError):
        return ["files that cannot be read"]
    return [words.message for words in check_bytes(table.name, table / PART, frame)]
