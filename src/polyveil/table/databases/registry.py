"""The databases that can be read and written, by the scheme of their URL; installed packages may add some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from polyveil.plugins import Registry


@dataclass(frozen=True)
class Database:
    """One product: its name for people, what its URL names (a file, a server, a table), and what opens a session.

    `session` is called with the place and `writable`; the text "module:name" is imported when a session is opened.
    """

    title: str
    session: Callable[..., Any] | str
    names_file: bool = True
    names_table: bool = False
    """Whether the URL is nothing but the name of a table, or of the schema of a release, in a catalog or a folder."""
    extra: str = "db"
    """The extra of polyveil that has its driver."""

    def open(self, place: Any, *, writable: bool) -> Any:
        """A session; ModuleNotFoundError if the driver is not installed."""
        if isinstance(self.session, str):
            module, name = self.session.split(":")
            return getattr(import_module(module), name)(place, writable=writable)
        return self.session(place, writable=writable)


def _unfit(scheme: str, item: Any) -> str:
    """What is wrong with a database of an installed package, or nothing."""
    if not isinstance(item, Database):
        return "it is not a polyveil.table.databases.Database"
    return "" if scheme == scheme.lower() and scheme.isalnum() else "a scheme has lower-case letters and digits only"


_HERE = "polyveil.table.databases"
DATABASES: Registry[Database] = Registry(
    "polyveil.databases",
    {
        "postgresql": Database("PostgreSQL", f"{_HERE}.postgresql:PostgresqlSession", names_file=False),
        "sqlite": Database("SQLite", f"{_HERE}.sqlite_file:SqliteSession"),
        "duckdb": Database("DuckDB", f"{_HERE}.duckdb_file:DuckdbSession"),
        # Opened by the engine that has it, and only if a URL asks for it.
        "spark": Database(
            "Spark", "polyveil.engines.spark.catalog:CatalogSession", names_file=False, names_table=True, extra="spark"
        ),
        # They write releases, so they are where releases are written.
        "delta": Database("Delta", "polyveil.releases.delta:DeltaSession", names_table=True, extra="lakes"),
        "iceberg": Database(
            "Iceberg", "polyveil.releases.iceberg:IcebergSession", names_file=False, names_table=True, extra="lakes"
        ),
    },
    _unfit,
)
"""Every database by the scheme of its URL: polyveil's own and, from the group polyveil.databases, installed ones."""

ALIASES = {"postgres": "postgresql"}
"""Other spellings of a scheme."""


def known_scheme(scheme: str) -> str | None:
    """The scheme under which a database is registered, None if there is none."""
    scheme = ALIASES.get(scheme.lower(), scheme.lower())
    return scheme if scheme in DATABASES else None
