"""PostgreSQL through ADBC: rows come and go as binary COPY, one transaction from connecting to closing.

Passwords come from PGPASSWORD, ~/.pgpass, a service file, or the URL, all by the driver's own rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar

import adbc_driver_manager
import polars as pl
import pyarrow as pa
from adbc_driver_postgresql import dbapi

from polyveil.errors import InputError
from polyveil.table.databases.described import DescribedColumn
from polyveil.table.databases.faults import postgresql_fault
from polyveil.table.databases.names import Query, TableName, Wanted, quoted
from polyveil.table.databases.place import Place
from polyveil.table.databases.session import in_batches
from polyveil.table.databases.sql_session import SqlSession

# Types read as text: the driver knows them as bytes only, and their text is all there is to them.
_AS_TEXT = ("uuid", "inet", "cidr", "macaddr", "macaddr8", "citext", "bpchar")
_WHOLE = ("int2", "int4", "int8")
_PLAIN = (
    pa.types.is_string,
    pa.types.is_boolean,
    pa.types.is_float64,
    pa.types.is_date,
    pa.types.is_timestamp,
    pa.types.is_time,
)
_TIMESTAMPS = ("timestamp without time zone", "timestamp with time zone")
LONGEST_NAME = 63
CONNECT_SECONDS = "10"
# Replacing a release waits for its readers, but not for ever.
LOCK_WAIT = "30s"


class PostgresqlSession(SqlSession):
    """A PostgreSQL database."""

    errors = adbc_driver_manager.Error
    keeps_order = True
    """A table whose rows nobody changed is read in the order in which they were written, which `ctid` tells as well."""
    types: ClassVar = {
        pl.Boolean: "boolean",
        pl.Int64: "bigint",
        pl.Float64: "double precision",
        pl.String: "text",
        pl.Date: "date",
        pl.Time: "time",
    }

    def __init__(self, place: Place, *, writable: bool) -> None:
        self.place = place
        with self._faults("connecting"):
            self.connection = dbapi.connect(_connection_string(place.settings))
        try:
            mode = "READ WRITE" if writable else "ISOLATION LEVEL REPEATABLE READ, READ ONLY"
            self._run(f"SET TRANSACTION {mode}", "preparing")
            # Enough digits for a `real` to be told from its neighbours, whatever the server's settings say.
            self._run("SET LOCAL extra_float_digits = 3", "preparing")
            self._run(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'", "preparing")
        except BaseException:
            self.close()
            raise

    def locate(self, wanted: Wanted) -> str:
        if isinstance(wanted, Query):
            with self._faults("reading the query"), self.connection.cursor() as cursor:
                # Prepared alone, the text must be one whole statement before it is put between brackets.
                if not len(cursor.adbc_execute_schema(wanted.sql)):
                    raise InputError("the query gives no columns. Write one SELECT statement")
            return f"(\n{wanted.sql}\n) AS q"
        found = self._find(wanted)
        if found is None:
            raise self._no_table(wanted)
        return found.sql

    def _find(self, wanted: TableName) -> TableName | None:
        """The table by its exact name, else, as SQL does with unquoted names, by its name in lower case."""
        where = "n.nspname = $2" if wanted.schema else "pg_table_is_visible(c.oid) AND $2 = ''"
        for name in (wanted.name, *(() if wanted.exact else (wanted.name.lower(),))):
            rows = self._rows(
                "SELECT n.nspname::text, c.relname::text "  # noqa: S608 - values are parameters
                "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                f"WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname = $1 AND {where}",
                name,
                wanted.schema or "",
            )
            if rows:
                return TableName(rows[0][1], rows[0][0])
        return None

    def describe(self, source: str, wanted: Wanted) -> list[DescribedColumn]:
        with self._faults(f"reading {wanted}"), self.connection.cursor() as cursor:
            schema = cursor.adbc_execute_schema(f"SELECT * FROM {source}")  # noqa: S608 - names are quoted
        columns = [_described(column) for column in schema]
        return [self._with_type_name(column) if column.sql is None else column for column in columns]

    def _with_type_name(self, column: DescribedColumn) -> DescribedColumn:
        """The driver calls a type it does not know by its number; the server knows its name."""
        number = re.fullmatch(r"unnamed<oid:(\d+)>", column.type)
        if not number:
            name = f"{column.type[1:]}[]" if column.type.startswith("_") else column.type
            return DescribedColumn(column.name, name, None)
        return DescribedColumn(column.name, str(self._rows(f"SELECT format_type({number[1]}, NULL)")[0][0]), None)

    def batches(self, source: str, columns: Sequence[DescribedColumn]) -> Iterator[pa.RecordBatch]:
        chosen = ", ".join(f"{column.sql} AS {quoted(column.name)}" for column in columns)
        with self._faults("reading"), self.connection.cursor() as cursor:
            cursor.execute(f"SELECT {chosen} FROM {source}")  # noqa: S608 - names are quoted
            yield from cursor.fetch_record_batch()

    def tables(self) -> list[str]:
        return self._first_column(
            "SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname::text ELSE n.nspname || '.' || c.relname END "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') "
            "AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_' "
            "AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1"
        )

    def has_schema(self, schema: str) -> bool:
        return bool(self._rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", schema))

    def relations(self, schema: str) -> list[str]:
        return self._first_column(
            "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = $1 AND c.relkind NOT IN ('i', 'I', 't', 'c') ORDER BY 1",
            schema,
        )

    def beside_tables(self, schema: str) -> list[str]:
        """The catalogue knows what depends on the schema, and what belongs to its tables."""
        types = ", ".join(f"'{name}'" for name in (*self.types.values(), "time without time zone", *_TIMESTAMPS))
        found = self._first_column(
            "WITH s AS (SELECT oid FROM pg_namespace WHERE nspname = $1), "  # noqa: S608 - the types are constants
            "r AS (SELECT c.* FROM pg_class c, s WHERE c.relnamespace = s.oid AND c.relkind = 'r') "
            "SELECT (pg_identify_object(d.classid, d.objid, d.objsubid)).type FROM pg_depend d, s "
            "WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = s.oid "
            "AND NOT (d.classid = 'pg_class'::regclass AND d.objid IN (SELECT oid FROM r)) "
            "UNION SELECT (pg_identify_object(d.classid, d.objid, d.objsubid)).type FROM pg_depend d "
            "WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid IN (SELECT oid FROM r) "
            "AND d.deptype IN ('a', 'i') AND d.classid <> 'pg_type'::regclass AND NOT EXISTS (SELECT 1 FROM pg_class t "
            "WHERE d.classid = 'pg_class'::regclass AND t.oid = d.objid AND t.relkind = 't') "
            "UNION SELECT 'comment' FROM pg_description WHERE objoid IN (SELECT oid FROM s UNION SELECT oid FROM r) "
            "UNION SELECT 'label' FROM pg_seclabel WHERE objoid IN (SELECT oid FROM s UNION SELECT oid FROM r) "
            "UNION SELECT 'inheritance' FROM pg_inherits WHERE inhparent IN (SELECT oid FROM r) "
            "UNION SELECT 'option' FROM r WHERE reloptions IS NOT NULL OR relrowsecurity OR relforcerowsecurity "
            "UNION SELECT 'option' FROM pg_attribute WHERE attrelid IN (SELECT oid FROM r) AND attnum > 0 "
            "AND COALESCE(attstattarget, -1) <> -1 "
            "UNION SELECT CASE WHEN a.attisdropped THEN 'dropped column' WHEN a.attnotnull THEN 'constraint' "
            "ELSE 'column of another type' END FROM pg_attribute a WHERE a.attrelid IN (SELECT oid FROM r) "
            "AND a.attnum > 0 AND (a.attisdropped OR a.attnotnull OR a.attoptions IS NOT NULL "
            f"OR format_type(a.atttypid, a.atttypmod) NOT IN ({types})) ORDER BY 1",
            schema,
        )
        return found or (["statistics of other rows"] if self._has_older_statistics(schema) else [])

    def _has_older_statistics(self, schema: str) -> bool:
        """Whether the server's statistics, which every reader of a table may see, name values that it does not have."""
        columns = self._rows(
            "SELECT tablename::text, attname::text FROM pg_stats WHERE schemaname = $1 "
            "AND (most_common_vals IS NOT NULL OR histogram_bounds IS NOT NULL)",
            schema,
        )
        for table, column in columns:
            name, cell = TableName(table, schema).sql, quoted(column)
            known = (
                "SELECT unnest(most_common_vals::text::text[]) AS value FROM pg_stats "  # noqa: S608 - names are quoted
                "WHERE schemaname = $1 AND tablename = $2 AND attname = $3 UNION "
                "SELECT unnest(histogram_bounds::text::text[]) FROM pg_stats "
                "WHERE schemaname = $1 AND tablename = $2 AND attname = $3 "
                # As a part of an array as well: on its own a truth value is written as true, there as t.
                f"EXCEPT SELECT (ARRAY[{cell}]::text::text[])[1] FROM {name} LIMIT 1"
            )
            if self._rows(known, schema, table, column):
                return True
        return False

    def check_creatable(self, schema: str) -> None:
        _check_name(schema, "schema")
        if self.has_schema(schema):
            allowed = self._rows("SELECT has_schema_privilege($1, 'CREATE')", schema)[0][0]
        else:
            allowed = self._rows("SELECT has_database_privilege(current_database(), 'CREATE')")[0][0]
        if not allowed:
            raise InputError(
                f"{self.place}: this user may not create the tables of a release there. Ask for the CREATE privilege, "
                "or have an empty schema made and its CREATE privilege granted"
            )

    def stored(self, schema: str, table: str) -> TableName:
        return TableName(table, schema, exact=True)

    def create_schema(self, schema: str) -> None:
        if not self.has_schema(schema):
            self._run(f"CREATE SCHEMA {quoted(schema)}", "creating the schema")

    def create(self, name: TableName, frame: pl.DataFrame) -> None:
        for column in frame.columns:
            _check_name(column, "column")
        self._create_empty(name, frame)
        with self._faults(f"writing {name}"), self.connection.cursor() as cursor:
            cursor.adbc_ingest(name.name, in_batches(frame), mode="append", db_schema_name=name.schema)

    def close(self) -> None:
        # A connection the server has already ended cannot be ended in order, and need not be.
        with suppress(adbc_driver_manager.Error):
            self.connection.close()

    def fault(self, error: Exception, doing: str) -> InputError:
        return postgresql_fault(error, self.place, doing)


def _described(column: pa.Field) -> DescribedColumn:
    name = quoted(column.name)
    metadata: Mapping[bytes, bytes] = column.metadata or {}
    type_name = metadata.get(b"POSTGRESQL:type", b"").decode() or str(column.type)
    if type_name == "numeric":
        return DescribedColumn(column.name, type_name, f"{name}::text", "number")
    if type_name == "float4":
        # By its shortest text: 0.1 stays 0.1 and does not become 0.10000000149.
        return DescribedColumn(column.name, type_name, f"{name}::text::float8")
    if type_name in _AS_TEXT:
        return DescribedColumn(column.name, type_name, f"{name}::text")
    plain = type_name in _WHOLE or any(is_type(column.type) for is_type in _PLAIN)
    return DescribedColumn(column.name, type_name, name if plain else None)


def _check_name(name: str, what: str) -> None:
    """PostgreSQL cuts longer names off without a word, and two columns could become one."""
    if len(name.encode()) > LONGEST_NAME:
        raise InputError(
            f"the {what} name {name!r} has {len(name.encode())} bytes; PostgreSQL keeps {LONGEST_NAME}. "
            "Use a shorter name"
        )


def _connection_string(settings: Mapping[str, str]) -> str:
    """Keyword form, every value quoted; a server that does not answer is given up after a while."""
    ours = {"client_encoding": "UTF8", "fallback_application_name": "polyveil"}
    if "PGCONNECT_TIMEOUT" not in os.environ:
        ours["connect_timeout"] = CONNECT_SECONDS
    escaped = {name: value.replace("\\", "\\\\").replace("'", "\\'") for name, value in {**ours, **settings}.items()}
    return " ".join(f"{name}='{value}'" for name, value in escaped.items())
