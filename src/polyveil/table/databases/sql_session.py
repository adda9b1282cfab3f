"""What the sessions of polyveil's own databases share: errors in one clear line, and SQL that is the same in each."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import polars as pl
import pyarrow as pa

from polyveil.errors import InputError, listed
from polyveil.table.databases.names import TableName, Wanted, quoted
from polyveil.table.databases.place import Place
from polyveil.table.databases.session import Session


class SqlSession(Session):
    """One connection inside one transaction, read-only unless asked otherwise.

    A product names its driver's errors, says each as an InputError (`fault`), and its types of columns (`types`).
    """

    errors: ClassVar[type[Exception]]
    types: ClassVar[Mapping[type[pl.DataType], str]]
    place: Place
    connection: Any

    @abstractmethod
    def fault(self, error: Exception, doing: str) -> InputError:
        """One line for an error of the driver; no data and no secrets in it."""

    def in_sql(self, name: TableName) -> str:
        """A table of a release as statements name it."""
        return name.sql

    def stored(self, schema: str, table: str) -> TableName:
        return TableName(table, schema)

    def drop(self, name: TableName) -> None:
        self._run(f"DROP TABLE {self.in_sql(name)}", f"replacing {name}")

    def commit(self) -> None:
        with self._faults("committing"):
            self.connection.commit()

    def _create_empty(self, name: TableName, frame: pl.DataFrame) -> None:
        columns = ", ".join(f"{quoted(column)} {self._type_of(dtype)}" for column, dtype in frame.schema.items())
        self._run(f"CREATE TABLE {self.in_sql(name)} ({columns})", f"creating {name}")

    def _type_of(self, dtype: pl.DataType) -> str:
        if isinstance(dtype, pl.Datetime):
            return "TIMESTAMPTZ" if dtype.time_zone else "TIMESTAMP"
        return self.types[type(dtype)]

    def _no_table(self, wanted: Wanted) -> InputError:
        tables = self.tables()
        near = f"It has: {listed(tables)}" if tables else "It has no table that this user can see"
        return InputError(f"{self.place.without_schema} has no table {wanted}. {near}")

    def _run(self, statement: str, doing: str) -> None:
        with self._faults(doing), self.connection.cursor() as cursor:
            cursor.execute(statement)

    def _rows(self, statement: str, *values: str, doing: str = "looking into the catalogue") -> list[tuple[Any, ...]]:
        with self._faults(doing), self.connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall())

    def _first_column(self, statement: str, *values: str) -> list[str]:
        return [str(row[0]) for row in self._rows(statement, *values)]

    @contextmanager
    def _faults(self, doing: str) -> Iterator[None]:
        """The driver's errors as one clear line."""
        try:
            yield
        except (self.errors, OSError, pa.ArrowException) as error:
            raise self.fault(error, doing) from None


class FileSession(SqlSession):
    """A database that is one file. A file made for a release goes again if the release is not committed."""

    created: bool
    keeps_order = True

    def check_creatable(self, schema: str) -> None:
        if not self.created and not os.access(str(self.place.file), os.W_OK):
            raise InputError(
                f"{self.place.without_schema} is not writable. Change its permissions, or name another file"
            )

    def commit(self) -> None:
        super().commit()
        self.created = False

    def _remove_if_new(self) -> None:
        if self.created and self.place.file is not None:
            self.place.file.unlink(missing_ok=True)
            self.place.file.with_name(self.place.file.name + ".wal").unlink(missing_ok=True)
