"""DuckDB through its own Arrow interface: one file, one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import duckdb
import polars as pl
import pyarrow as pa

from polyveil.errors import InputError
from polyveil.table.databases.described import DescribedColumn
from polyveil.table.databases.faults import duckdb_fault
from polyveil.table.databases.files import check_file
from polyveil.table.databases.names import Query, TableName, Wanted, quoted
from polyveil.table.databases.place import Place
from polyveil.table.databases.session import BATCH_ROWS, in_batches
from polyveil.table.databases.sql_session import FileSession

# Nothing is fetched from anywhere because a view or a query mentions it.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
_PLAIN = {
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "DOUBLE"),
    *("VARCHAR", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP WITH TIME ZONE"),
}
_TIMESTAMPS = ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
_ROWS = "polyveil_rows"


class DuckdbSession(FileSession):
    """A DuckDB file."""

    errors = duckdb.Error
    types: ClassVar = {
        pl.Boolean: "BOOLEAN",
        pl.Int64: "BIGINT",
        pl.Float64: "DOUBLE",
        pl.String: "VARCHAR",
        pl.Date: "DATE",
        pl.Time: "TIME",
    }

    def __init__(self, place: Place, *, writable: bool) -> None:
        self.place = place
        self.created = check_file(place, writable=writable)
        with self._faults("opening"):
            self.connection = duckdb.connect(str(place.file), read_only=not writable, config=_CONFIG)
        try:
            with self._faults("opening"):
                self.connection.execute("SET TimeZone = 'UTC'")
                self.connection.begin()
            self.catalogue = str(self._rows("SELECT current_database()")[0][0])
        except BaseException:
            self.close()
            raise

    def locate(self, wanted: Wanted) -> str:
        if isinstance(wanted, Query):
            with self._faults("reading the query"):
                statements = self.connection.extract_statements(wanted.sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise InputError("the query must be one SELECT statement: only reading is allowed")
            return f"(\n{wanted.sql}\n) AS q"
        found = self._rows(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE lower(table_name) = lower($1) "
            "AND table_catalog = current_database() "
            "AND (lower(table_schema) = lower($2) OR ($2 = '' AND table_schema = current_schema()))",
            wanted.name,
            wanted.schema or "",
        )
        if not found:
            raise self._no_table(wanted)
        return self.in_sql(TableName(found[0][1], found[0][0]))

    def in_sql(self, name: TableName) -> str:
        """With the database before the schema: alone, a schema called as the file could be either."""
        return f"{quoted(self.catalogue)}.{name.sql}"

    def describe(self, source: str, wanted: Wanted) -> list[DescribedColumn]:
        with self._faults(f"reading {wanted}"):
            relation = self.connection.sql(f"SELECT * FROM {source}")  # noqa: S608 - names are quoted
            return [_described(name, str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True)]

    def batches(self, source: str, columns: Sequence[DescribedColumn]) -> Iterator[pa.RecordBatch]:
        chosen = ", ".join(f"{column.sql} AS {quoted(column.name)}" for column in columns)
        with self._faults("reading"):
            relation = self.connection.sql(f"SELECT {chosen} FROM {source}")  # noqa: S608 - names are quoted
            yield from relation.to_arrow_reader(BATCH_ROWS)

    def tables(self) -> list[str]:
        return self._first_column(
            "SELECT CASE WHEN table_schema = current_schema() THEN table_name "
            "ELSE table_schema || '.' || table_name END FROM information_schema.tables "
            "WHERE table_catalog = current_database() ORDER BY 1"
        )

    def has_schema(self, schema: str) -> bool:
        return bool(
            self._rows(
                "SELECT 1 FROM duckdb_schemas() WHERE lower(schema_name) = lower($1) "
                "AND database_name = current_database()",
                schema,
            )
        )

    def relations(self, schema: str) -> list[str]:
        return self._first_column(
            "SELECT name FROM (SELECT table_name AS name, schema_name, database_name FROM duckdb_tables() "
            "UNION ALL SELECT view_name, schema_name, database_name FROM duckdb_views() WHERE NOT internal "
            "UNION ALL SELECT sequence_name, schema_name, database_name FROM duckdb_sequences()) "
            "WHERE lower(schema_name) = lower($1) AND database_name = current_database() ORDER BY 1",
            schema,
        )

    def beside_tables(self, schema: str) -> list[str]:
        types = ", ".join(f"'{name}'" for name in (*self.types.values(), *_TIMESTAMPS))
        here = "lower(schema_name) = lower($1) AND database_name = current_database()"
        kinds = {
            "view": "duckdb_views() WHERE NOT internal",
            "sequence": "duckdb_sequences() WHERE true",
            "index": "duckdb_indexes() WHERE true",
            "constraint": "duckdb_constraints() WHERE true",
            "type": "duckdb_types() WHERE NOT internal",
            "function": "duckdb_functions() WHERE NOT internal",
            "comment": "(SELECT schema_name, database_name, comment FROM duckdb_tables() UNION ALL "
            "SELECT schema_name, database_name, comment FROM duckdb_schemas() UNION ALL "
            "SELECT schema_name, database_name, comment FROM duckdb_columns()) WHERE comment IS NOT NULL",
            "default": "duckdb_columns() WHERE column_default IS NOT NULL",
            "column of another type": f"duckdb_columns() WHERE data_type NOT IN ({types})",
        }
        found = " UNION ".join(f"SELECT '{kind}' FROM {source} AND {here}" for kind, source in kinds.items())  # noqa: S608
        return self._first_column(f"{found} ORDER BY 1", schema)

    def beside_schema(self, schema: str) -> list[str]:
        here = "lower(schema_name) <> lower($1) AND database_name = current_database()"
        tables = "duckdb_tables() WHERE NOT internal", "duckdb_views() WHERE NOT internal"
        others = (
            "duckdb_schemas() WHERE NOT internal",
            "duckdb_sequences() WHERE true",
            "duckdb_types() WHERE NOT internal",
            "duckdb_functions() WHERE NOT internal",
        )
        found = []
        for words, kinds in (("other tables", tables), ("other schemas, types, sequences or macros", others)):
            each = " UNION ALL ".join(f"SELECT 1 FROM {kind} AND {here}" for kind in kinds)  # noqa: S608 - constants
            found += [words] if self._rows(f"{each} LIMIT 1", schema) else []
        free = self._rows("SELECT free_blocks FROM pragma_database_size()")[0][0]
        return [*found, *(["space of deleted rows"] if free else [])]

    def create_schema(self, schema: str) -> None:
        self._run(f"CREATE SCHEMA IF NOT EXISTS {quoted(self.catalogue)}.{quoted(schema)}", "creating the schema")

    def create(self, name: TableName, frame: pl.DataFrame) -> None:
        self._create_empty(name, frame)
        with self._faults(f"writing {name}"):
            self.connection.register(_ROWS, in_batches(frame))
            self.connection.execute(f"INSERT INTO {self.in_sql(name)} FROM {_ROWS}")
            self.connection.unregister(_ROWS)

    def close(self) -> None:
        with suppress(duckdb.Error):
            self.connection.rollback()
        with suppress(duckdb.Error):
            self.connection.close()
        self._remove_if_new()

    def _run(self, statement: str, doing: str) -> None:
        with self._faults(doing):
            self.connection.execute(statement)

    def _rows(self, statement: str, *values: str, doing: str = "looking into the catalogue") -> list[tuple[Any, ...]]:
        with self._faults(doing):
            return list(self.connection.execute(statement, list(values)).fetchall())

    def fault(self, error: Exception, doing: str) -> InputError:
        return duckdb_fault(error, self.place, doing)


def _described(name: str, kind: str) -> DescribedColumn:
    cell = quoted(name)
    if kind.startswith("DECIMAL(") or kind in ("HUGEINT", "UHUGEINT"):
        return DescribedColumn(name, kind, f"CAST({cell} AS VARCHAR)", "number")
    if kind.startswith("ENUM("):
        return DescribedColumn(name, "ENUM", f"CAST({cell} AS VARCHAR)")
    if kind == "UUID":
        return DescribedColumn(name, kind, f"CAST({cell} AS VARCHAR)")
    if kind == "FLOAT":
        # By its shortest text: 0.1 stays 0.1 and does not become 0.10000000149.
        return DescribedColumn(name, kind, f"CAST(CAST({cell} AS VARCHAR) AS DOUBLE)")
    if kind == "TIMESTAMP_S":
        return DescribedColumn(name, kind, f"CAST({cell} AS TIMESTAMP)")
    return DescribedColumn(name, kind, cell if kind in _PLAIN else None)
