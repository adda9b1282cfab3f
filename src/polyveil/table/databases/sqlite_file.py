"""SQLite through ADBC. Any cell of a SQLite column may have any type, so the types are looked up before reading."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import adbc_driver_manager
import polars as pl
import pyarrow as pa
from adbc_driver_sqlite import dbapi

from polyveil.errors import InputError
from polyveil.table.databases.described import Becomes, DescribedColumn
from polyveil.table.databases.faults import sqlite_fault
from polyveil.table.databases.files import check_file
from polyveil.table.databases.names import Query, TableName, Wanted, quoted
from polyveil.table.databases.place import Place
from polyveil.table.databases.session import BATCH_ROWS, in_batches
from polyveil.table.databases.sql_session import FileSession
from polyveil.table.databases.sqlite_pages import beside_rows

# Declared types that SQLite stores as text or integers; what they hold is turned over if every cell fits.
_DECLARED: dict[str, Becomes] = {
    "BOOLEAN": "boolean",
    "BOOL": "boolean",
    "DATE": "date",
    "TIME": "time",
    "DATETIME": "timestamp",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPTZ": "timestamp UTC",
}
_AS_TEXT: dict[type[pl.DataType], str] = {pl.Date: "%Y-%m-%d", pl.Time: "%H:%M:%S%.6f"}
# The driver takes each column's type from its first rows; a row of our own before them settles it.
_FIRST_ROW = {"integer": "0", "real": "0.5", "text": "''"}
_EXACT = 2**53
SEPARATOR = "__"
COLUMNS_AT_ONCE = 500
BUSY_MILLISECONDS = 10_000


class SqliteSession(FileSession):
    """A SQLite file."""

    errors = adbc_driver_manager.Error
    types: ClassVar = {
        pl.Boolean: "BOOLEAN",
        pl.Int64: "INTEGER",
        pl.Float64: "REAL",
        pl.String: "TEXT",
        pl.Date: "DATE",
        pl.Time: "TIME",
    }

    def __init__(self, place: Place, *, writable: bool) -> None:
        self.place = place
        self.created = check_file(place, writable=writable)
        mode = "rwc" if writable else _mode_for_reading(Path(str(place.file)))
        with self._faults("opening"):
            self.connection = dbapi.connect(f"file:{quote(str(Path(str(place.file)).absolute()))}?mode={mode}")
        try:
            self._run(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}", "opening")
            # What is dropped is overwritten: the rows of a release that is replaced do not stay in the file.
            self._run("PRAGMA secure_delete = ON" if writable else "PRAGMA query_only = ON", "opening")
            self._rows("SELECT count(*) FROM sqlite_master")
        except BaseException:
            self.close()
            raise

    def locate(self, wanted: Wanted) -> str:
        if isinstance(wanted, Query):
            # Alone the text must be a statement, and between brackets only a SELECT can stand. EXPLAIN runs nothing.
            self._run(f"EXPLAIN {wanted.sql}", "reading the query")
            return f"(\n{wanted.sql}\n)"
        name = _in_file(wanted)
        if name.name.lower() not in [each.lower() for each in self.tables()]:
            raise self._no_table(wanted)
        return name.sql

    def describe(self, source: str, wanted: Wanted) -> list[DescribedColumn]:
        with self._faults(f"reading {wanted}"), self.connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {source} LIMIT 0")  # noqa: S608 - names are quoted
            names = [str(column[0]) for column in cursor.description or ()]
        declared = self._declared(wanted)
        kinds = self._kinds(source, names)
        return [_described(name, kinds[name], declared.get(name, "")) for name in names]

    def _declared(self, wanted: Wanted) -> dict[str, str]:
        if isinstance(wanted, Query):
            return {}
        rows = self._rows("SELECT name, type FROM pragma_table_xinfo(?)", _in_file(wanted).name)
        return {str(name): str(kind).split("(")[0].strip().upper() for name, kind in rows}

    def _kinds(self, source: str, names: Sequence[str]) -> dict[str, set[str]]:
        """The storage classes in each column: one pass over all, a second over those that have more than one."""
        found: dict[str, set[str]] = {}
        for start in range(0, len(names), COLUMNS_AT_ONCE):
            some = names[start : start + COLUMNS_AT_ONCE]
            ends = ", ".join(
                f"{end}(nullif(typeof({quoted(name)}), 'null'))" for name in some for end in ("min", "max")
            )
            row = self._rows(f"SELECT {ends} FROM {source}", doing="reading")[0]  # noqa: S608 - names are quoted
            found |= {name: {str(kind) for kind in row[2 * i : 2 * i + 2] if kind} for i, name in enumerate(some)}
        for name in [name for name in names if len(found[name]) > 1]:
            cell = quoted(name)
            rows = self._rows(
                f"SELECT DISTINCT typeof({cell}) || CASE WHEN typeof({cell}) = 'integer' AND {cell} "  # noqa: S608
                f"NOT BETWEEN {-_EXACT} AND {_EXACT} THEN ' beyond 2^53' ELSE '' END FROM {source}",
                doing="reading",
            )
            found[name] = {str(row[0]) for row in rows} - {"null"}
        return found

    def batches(self, source: str, columns: Sequence[DescribedColumn]) -> Iterator[pa.RecordBatch]:
        first = ", ".join(f"{_FIRST_ROW[column.type]} AS {quoted(column.name)}" for column in columns)
        chosen = ", ".join(str(column.sql) for column in columns)
        with self._faults("reading"), self.connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(BATCH_ROWS)})
            cursor.execute(f"SELECT {first} UNION ALL SELECT {chosen} FROM {source}")  # noqa: S608 - names are quoted
            ours = 1
            for batch in cursor.fetch_record_batch():
                yield batch.slice(ours)
                ours = 0

    def tables(self) -> list[str]:
        return self._first_column(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~' "
            "ORDER BY name"
        )

    def has_schema(self, schema: str) -> bool:
        return bool(self.relations(schema))

    def relations(self, schema: str) -> list[str]:
        prefix = f"{schema}{SEPARATOR}".lower()
        return [name[len(prefix) :] for name in self.tables() if name.lower().startswith(prefix)]

    def beside_tables(self, schema: str) -> list[str]:
        """Each table's statement is compared with the one its columns give: it keeps comments and constraints."""
        prefix = f"{schema}{SEPARATOR}".lower()
        found = set()
        for kind, name, table, statement in self._rows("SELECT type, name, tbl_name, sql FROM sqlite_master"):
            if not str(table).lower().startswith(prefix):
                continue
            columns = self._rows("SELECT name, type FROM pragma_table_xinfo(?)", str(name))
            if kind != "table":
                found.add(str(kind))
            elif statement != _statement(str(name), [f"{quoted(str(column))} {of}" for column, of in columns]):
                found.add("comment, constraint or default")
            elif {of for _, of in columns} - {*self.types.values(), "TIMESTAMP", "TIMESTAMPTZ"}:
                found.add("column of another type")
            elif not self._is_numbered_in_order(str(name), [str(column).lower() for column, _ in columns]):
                found.add("row numbers that are not 1, 2, 3")
        return sorted(found)

    def _is_numbered_in_order(self, table: str, columns: Sequence[str]) -> bool:
        """Every row has a number that a reader can ask for, and that could be any: that of the row in the input."""
        names = [name for name in ("rowid", "_rowid_", "oid") if name not in columns]
        if not names:
            return True  # no reader can ask for it
        number = names[0]
        statement = f"SELECT count(*), min({number}), max({number}) FROM {quoted(table)}"  # noqa: S608 - names are quoted
        rows, first, last = self._rows(statement)[0]
        return rows == 0 or (int(first), int(last)) == (1, int(rows))

    def beside_schema(self, schema: str) -> list[str]:
        """Other tables, SQLite's own, pages that still have rows from before, and numbers that anybody can set."""
        prefix = f"{schema}{SEPARATOR}".lower()
        found = ["other tables"] if any(not name.lower().startswith(prefix) for name in self.tables()) else []
        if self._rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name LIKE 'sqlite\\_%' ESCAPE '\\'"):
            found.append("statistics or last numbers of tables")
        for pragma, words in (
            ("freelist_count", "space of deleted rows"),
            ("user_version", "a version number"),
            ("application_id", "a number of an application"),
        ):
            found += [words] if self._rows(f"SELECT {pragma} FROM pragma_{pragma}")[0][0] else []  # noqa: S608
        tables = self._rows("SELECT tbl_name, rootpage FROM sqlite_master WHERE rootpage > 0")
        own = [int(page) for table, page in tables if str(table).lower().startswith(prefix)]
        return [*found, *beside_rows(Path(str(self.place.file)), [1, *own])]

    def check_creatable(self, schema: str) -> None:
        if SEPARATOR in schema or schema.endswith("_") or schema.lower().startswith("sqlite_"):
            raise InputError(
                f"SQLite has no schemas: the tables of a release are named SCHEMA{SEPARATOR}TABLE there, so {schema!r} "
                f"cannot be used. Choose a name without {SEPARATOR}, without _ at its end, not beginning with sqlite_"
            )
        super().check_creatable(schema)

    def create_schema(self, schema: str) -> None:
        """SQLite has none: the prefix is all there is."""

    def in_sql(self, name: TableName) -> str:
        return _in_file(name).sql

    def create(self, name: TableName, frame: pl.DataFrame) -> None:
        self._create_empty(name, frame)
        with self._faults(f"writing {name}"), self.connection.cursor() as cursor:
            cursor.adbc_ingest(_in_file(name).name, in_batches(_with_texts(frame)), mode="append")

    def close(self) -> None:
        with suppress(adbc_driver_manager.Error):
            self.connection.close()
        self._remove_if_new()

    def _run(self, statement: str, doing: str) -> None:
        with self._faults(doing), self.connection.cursor() as cursor:
            cursor.execute(statement)
            # The driver only takes the first step of a statement once its result is asked for.
            cursor.fetchall()

    def fault(self, error: Exception, doing: str) -> InputError:
        return sqlite_fault(error, self.place, doing)


def _in_file(name: TableName) -> TableName:
    """`schema.table` as SQLite has it: schemas are prefixes there, and `main` is the file itself."""
    return TableName(name.name if name.schema in (None, "main") else f"{name.schema}{SEPARATOR}{name.name}")


def _mode_for_reading(file: Path) -> str:
    """Read-only, unless a run that was killed left its journal: SQLite must be able to undo what that run wrote."""
    return "rw" if file.with_name(file.name + "-journal").exists() and os.access(file, os.W_OK) else "ro"


def _statement(name: str, columns: Sequence[str]) -> str:
    return f"CREATE TABLE {quoted(name)} ({', '.join(columns)})"


def _described(name: str, kinds: set[str], declared: str) -> DescribedColumn:
    """How to read a column that holds cells of these storage classes; mixtures that would lose digits are refused."""
    if not kinds:
        return DescribedColumn(name, "text", quoted(name))
    plain = {kind.removesuffix(" beyond 2^53") for kind in kinds}
    if len(plain) == 1 and plain <= set(_FIRST_ROW):
        return DescribedColumn(name, plain.pop(), quoted(name), _DECLARED.get(declared, "as it is"))
    if kinds == {"integer", "real"}:
        return DescribedColumn(name, "real", quoted(name))
    if plain == {"integer", "text"}:
        return DescribedColumn(name, "text", f"CAST({quoted(name)} AS TEXT)")
    return DescribedColumn(name, " and ".join(sorted(kinds)), None)


def _with_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Dates and times as the texts SQLite's own functions understand."""
    texts = []
    for name, dtype in frame.schema.items():
        if isinstance(dtype, pl.Datetime):
            text_format = "%Y-%m-%d %H:%M:%S%.6f" + ("+00:00" if dtype.time_zone else "")
            texts.append(pl.col(name).dt.to_string(text_format))
        elif type(dtype) in _AS_TEXT:
            texts.append(pl.col(name).dt.to_string(_AS_TEXT[type(dtype)]))
    return frame.with_columns(texts)
