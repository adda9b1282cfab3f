"""Catalogs without a transaction over several tables: a release there is whole or absent by a rule.

A release is marked as being written by a table of its own as long as it is, its tables are written and verified, and
its manifest comes last: with the mark, or without a manifest, a schema is no release. The mark says who writes, so that
of two writers one is refused.
"""

from __future__ import annotations

import secrets
from abc import abstractmethod
from contextlib import suppress
from typing import Any

import polars as pl

from polyveil.errors import InputError
from polyveil.table.databases.names import MANIFEST, TableName, Wanted
from polyveil.table.databases.place import Place
from polyveil.table.databases.session import Session

MARK, WRITER = "polyveil_writing", "writer"


class MarkedSession(Session):
    """A session that writes to one schema. Without `commit`, what it wrote is dropped.

    A catalog says which tables a schema has, and how a table or a schema is made and removed.
    """

    marker = MARK

    def __init__(self, place: Place) -> None:
        self.place = place
        self.manifest: tuple[TableName, pl.DataFrame] | None = None
        """The manifest, which waits for `commit`."""
        self._token = secrets.token_hex(8)
        self._schema: str | None = None
        self._made_schema: str | None = None
        self._made: list[TableName] = []

    @abstractmethod
    def names_in(self, schema: str) -> list[str]:
        """The names of all tables and views in a schema that is there."""

    @abstractmethod
    def make_schema(self, schema: str) -> None:
        """Make a schema that is not there."""

    @abstractmethod
    def remove_schema(self, schema: str) -> None:
        """Remove an empty schema."""

    @abstractmethod
    def write(self, name: TableName, frame: Any) -> None:
        """Create and fill a table; InputError if there is one of this name, also if it appeared just now."""

    @abstractmethod
    def remove(self, name: TableName) -> None:
        """Remove a table if it is there."""

    @abstractmethod
    def writers(self, name: TableName) -> list[str]:
        """What a mark says."""

    def pending(self, wanted: Wanted) -> pl.DataFrame | None:
        """The manifest, if it is asked for and not written yet."""
        return self.manifest[1] if self.manifest is not None and wanted == self.manifest[0] else None

    def relations(self, schema: str) -> list[str]:
        waiting = set() if self.manifest is None else {self.manifest[0].name}
        there = set(self.names_in(schema)) if self.has_schema(schema) else set()
        return sorted((there | waiting) - (set() if self._schema is None else {MARK}))

    def check_creatable(self, schema: str) -> None:
        self.has_schema(schema)  # says what is wrong with its catalog

    def stored(self, schema: str, table: str) -> TableName:
        return TableName(table, schema)

    def create_schema(self, schema: str) -> None:
        if not self.has_schema(schema):
            self.make_schema(schema)
            self._made_schema = schema
        self._begin(schema)

    def create(self, name: TableName, frame: Any) -> None:
        if name.name == MANIFEST:
            self.manifest = name, frame
            return
        self._made.append(name)
        self.write(name, frame)

    def drop(self, name: TableName) -> None:
        """A table of the older release, or the mark of a writer that was killed: it goes before there is an own one."""
        if name.name != MARK:
            self._begin(str(name.schema))
        self.remove(name)

    def commit(self) -> None:
        if self.manifest is None or self._schema is None:
            return
        name, frame = self.manifest
        self._refuse_others()
        self.write(name, frame)
        self._made.append(name)
        self._refuse_others()
        self.remove(self.stored(self._schema, MARK))
        self.manifest, self._made, self._schema, self._made_schema = None, [], None, None

    def close(self) -> None:
        """Drop what was not committed, as far as it is still this writer's."""
        with suppress(InputError):
            if self._schema is not None:
                self._refuse_others()
                for name in (*self._made, self.stored(self._schema, MARK)):
                    self.remove(name)
            if self._made_schema is not None:
                self.remove_schema(self._made_schema)

    def _begin(self, schema: str) -> None:
        """Mark the schema as being written to by this session; refused by the catalog if another one was faster."""
        if self._schema is None:
            self.write(self.stored(schema, MARK), pl.DataFrame({WRITER: [self._token]}))
            self._schema = schema

    def _refuse_others(self) -> None:
        schema = str(self._schema)
        there = self.has_schema(schema) and MARK in self.names_in(schema)
        if not there or self.writers(self.stored(schema, MARK)) != [self._token]:
            raise InputError(
                f"{self.place}: somebody else writes to the schema, so this release was not published. Look at it, "
                "then name another schema or run again with --overwrite"
            )
