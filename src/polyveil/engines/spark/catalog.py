"""Tables of Spark's catalogs, by the verbs that every database has: `spark://catalog.schema.table`.

A catalog has no transaction over several tables, so a release is marked while it is written (`MarkedSession`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from polyveil.engines.spark.digests import described
from polyveil.engines.spark.faults import as_input_errors, damage, refusal
from polyveil.engines.spark.session import in_sql, session_for, table_at
from polyveil.errors import InputError, UnreadableTable, listed
from polyveil.table.databases.described import DescribedColumn
from polyveil.table.databases.marked import WRITER, MarkedSession
from polyveil.table.databases.names import MANIFEST, Query, TableName, Wanted
from polyveil.table.databases.place import Place
from polyveil.table.lakes import as_asked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RELEASED = ("boolean", "bigint", "double", "string", "date", "timestamp", "timestamp_ntz")
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_PLAIN = (*_RELEASED, *_WHOLE)


class CatalogSession(MarkedSession):
    """A Spark session, and one schema of a catalog that it writes to. Without `commit`, what it wrote is dropped."""

    by_leaves = True

    def __init__(self, place: Place, *, writable: bool) -> None:
        super().__init__(place)
        self.spark = session_for(None)
        self._asked: int | datetime | None = None

    def at(self, as_of: str | int) -> None:
        self._asked = as_asked(as_of)

    def locate(self, wanted: Wanted) -> str:
        if isinstance(wanted, Query):
            raise InputError("a query is not taken for Spark's tables. Make a view of it, and name that")
        name = self._sql(wanted)
        with self._faults():
            if self.pending(wanted) is not None or self.spark.catalog.tableExists(name):
                return name
        raise InputError(f"Spark knows no table {wanted}. Check the catalog and the schema, and that you may read it")

    def describe(self, source: str, wanted: Wanted) -> list[DescribedColumn]:
        waiting = self.pending(wanted)
        if waiting is not None:
            return [DescribedColumn(name, "string", name) for name in waiting.columns]
        with self._faults(), self._damage(source):
            return [_described(name, kind) for name, kind in table_at(self.spark, source, self._asked).dtypes]

    def batches(self, source: str, columns: Sequence[DescribedColumn]) -> Iterator[pa.RecordBatch]:
        if self.manifest is not None and source == self._sql(self.manifest[0]):
            yield from self.manifest[1].to_arrow().to_batches()
            return
        with self._faults(), self._damage(source):
            found = table_at(self.spark, source, self._asked)
            table = found.selectExpr(*(f"{column.sql} AS `{column.name}`" for column in columns)).toArrow()
        for i, field in enumerate(table.schema):
            if pa.types.is_timestamp(field.type) and field.type.tz is not None:
                table = table.set_column(i, field.name, table[i].cast(pa.timestamp("us", "UTC")))
        yield from table.combine_chunks().to_batches()

    def frame(self, name: TableName) -> DataFrame:
        """A table where it is."""
        return self.spark.table(self._sql(name))

    def tables(self) -> list[str]:
        with self._faults():
            return [table.name for table in self.spark.catalog.listTables() if not table.isTemporary]

    def has_schema(self, schema: str) -> bool:
        with self._faults():
            return bool(self.spark.catalog.databaseExists(in_sql(schema)))

    def names_in(self, schema: str) -> list[str]:
        with self._faults():
            listing = self.spark.sql(f"SHOW TABLES IN {in_sql(schema)}").collect()
        return [row["tableName"] for row in listing if not row["isTemporary"]]

    def beside_tables(self, schema: str) -> list[str]:
        strange = set()
        with self._faults():
            for name in set(self.relations(schema)) - ({MANIFEST} if self.manifest else set()):
                about = self.spark.catalog.getTable(in_sql(schema, name))
                strange |= {"view"} if about.tableType == "VIEW" else set()
                strange |= {"comment"} if about.description else set()
                for column in self.spark.catalog.listColumns(in_sql(schema, name)):
                    strange |= {"comment"} if column.description else set()
                    strange |= {"partition"} if column.isPartition or column.isBucket else set()
                    strange |= set() if column.dataType in _RELEASED else {"column of another type"}
        return sorted(strange)

    def check_creatable(self, schema: str) -> None:
        self.has_schema(schema)  # says what is wrong with its catalog

    def make_schema(self, schema: str) -> None:
        self._run(f"CREATE SCHEMA {in_sql(schema)}")

    def remove_schema(self, schema: str) -> None:
        self._run(f"DROP SCHEMA {in_sql(schema)}")

    def write(self, name: TableName, frame: Any) -> None:
        if isinstance(frame, pl.DataFrame):
            frame = self.spark.createDataFrame(frame.to_arrow())
        with self._faults():
            frame.write.mode("error").saveAsTable(self._sql(name))

    def remove(self, name: TableName) -> None:
        """With its files, which some catalogs would keep; not every one knows the word for that."""
        from pyspark.errors import PySparkException

        statement = f"DROP TABLE IF EXISTS {self._sql(name)}"
        try:
            self.spark.sql(f"{statement} PURGE")
        except PySparkException:
            self._run(statement)

    def writers(self, name: TableName) -> list[str]:
        with self._faults():
            return [str(row[WRITER]) for row in self.frame(name).collect()]

    def storable(self, frame: Any) -> Any:
        """The frame with the few types that releases have."""
        return frame if isinstance(frame, pl.DataFrame) else storable_on_spark(frame)

    def described(self, name: TableName) -> dict[str, Any]:
        """What the manifest says of a table, read back from the catalog by the workers."""
        with self._faults(), self._damage(self._sql(name)):
            return described(self.frame(name))

    def _sql(self, name: TableName) -> str:
        return in_sql(name.name) if name.schema is None else in_sql(name.schema, name.name)

    @contextmanager
    def _damage(self, source: str) -> Iterator[None]:
        """What Spark says of a table that is there and cannot be read, unless another state of it was asked for."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            yield
        except (PySparkException, Py4JJavaError) as error:
            why = damage(error)
            if why is None or self._asked is not None:
                raise
            words = f"{self.place}: Spark cannot read {source}: {why}. Check the table, and what it is made of"
            raise UnreadableTable(words, why) from None

    def _run(self, statement: str) -> None:
        with self._faults():
            self.spark.sql(statement)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """What a catalog refuses, with what to grant."""
        from pyspark.errors import PySparkException

        with as_input_errors():
            try:
                yield
            except PySparkException as error:
                words = refusal(error)
                if words is None:
                    raise
                raise InputError(f"{self.place}: {words}") from None


def _described(name: str, kind: str) -> DescribedColumn:
    cell = "`" + name.replace("`", "``") + "`"
    if kind.startswith("decimal"):
        return DescribedColumn(name, kind, f"CAST({cell} AS STRING)", "number")
    if kind == "float":
        return DescribedColumn(name, kind, f"CAST(CAST({cell} AS STRING) AS DOUBLE)")
    if kind.startswith(("char", "varchar")):
        return DescribedColumn(name, kind, f"CAST({cell} AS STRING)")
    return DescribedColumn(name, kind, cell if kind in _PLAIN else None)


def storable_on_spark(frame: DataFrame) -> DataFrame:
    """Whole numbers with 64 bits, decimals as text unless nothing is lost, floats without signs of zero or NaN."""
    from pyspark.sql import functions as sf

    columns, refused = [], []
    for name, kind in frame.dtypes:
        quoted = "`" + name.replace("`", "``") + "`"
        cell, exact = sf.col(quoted), re.fullmatch(r"decimal\((\d+),(\d+)\)", kind)
        if kind in _WHOLE or (exact and exact[2] == "0" and int(exact[1]) <= 18):
            cell = cell.cast("bigint")
        elif kind in ("float", "double") or (exact and int(exact[1]) <= 15):
            number = cell.cast("double")
            cell = sf.when(sf.isnan(number), sf.lit(None)).when(number == 0, sf.lit(0.0)).otherwise(number)
        elif exact or kind.startswith(("char", "varchar")):
            cell = cell.cast("string")
        elif kind not in _RELEASED:
            refused.append(f"{name} ({kind.split('<')[0]})")
        columns.append(cell.alias(name))
    if refused:
        raise InputError(f"these columns have types that no release has: {listed(refused)}. Cast or drop them")
    return frame.select(*columns)
