"""What polyveil asks of a database: one connection, one transaction, the same few verbs for every product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from polyveil.errors import InputError
from polyveil.plugins import PluginError
from polyveil.table.databases.described import DescribedColumn
from polyveil.table.databases.exact import storable
from polyveil.table.databases.names import TableName, Wanted
from polyveil.table.databases.place import Place
from polyveil.table.databases.registry import DATABASES

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 65_536


class Session(Protocol):
    """An open connection inside a transaction. Nothing it wrote stays unless `commit` was called.

    Every session inherits from this, also that of a database that another package adds.
    """

    place: Place
    marker: str | None = None
    """The table that stands in a schema as long as a release is written there, if there is no transaction over all."""
    by_leaves: bool = False
    """Whether checksums of tables are those that many workers make together."""
    keeps_order: bool = False
    """Whether rows are read in the order in which they were written, so that the order tells something."""

    def locate(self, wanted: Wanted) -> str:
        """SQL to stand after FROM; InputError if the table does not exist or the query is not one SELECT."""

    def describe(self, source: str, wanted: Wanted) -> list[DescribedColumn]:
        """The columns of what `locate` found."""

    def batches(self, source: str, columns: Sequence[DescribedColumn]) -> Iterator[pa.RecordBatch]:
        """The rows, streamed."""

    def at(self, as_of: str | int) -> None:
        """Read tables as they were at a version or a time; InputError if there is only one state of them."""
        raise InputError("--as-of is for Delta and Iceberg tables. Leave it out.")

    def tables(self) -> list[str]:
        """What could be read, as `--table` takes it."""

    def has_schema(self, schema: str) -> bool:
        """Whether a schema of that name is there (in SQLite: tables with its prefix)."""

    def relations(self, schema: str) -> list[str]:
        """Everything in a schema that has a name: tables, views, sequences."""

    def beside_tables(self, schema: str) -> list[str] | None:
        """The kinds of everything in a schema that is no plain table as `create` makes them, nor a column of one.

        Views, indexes, triggers, constraints, defaults, comments, types and functions are part of what a reader gets.
        A database that cannot tell says None, and the verifier says that it was not checked.
        """
        return None

    def beside_schema(self, schema: str) -> list[str]:
        """What a database that is one file holds beside a schema: whoever gets the file gets it. Servers have none."""
        return []

    def check_creatable(self, schema: str) -> None:
        """InputError if the user may not create this schema, or tables in it."""

    def stored(self, schema: str, table: str) -> TableName:
        """The name under which a release's table is kept."""

    def create_schema(self, schema: str) -> None:
        """Make the schema unless it is there."""

    def storable(self, frame: Any) -> Any:
        """The frame with the few types that releases have."""
        return storable(frame)

    def described(self, name: TableName) -> Mapping[str, Any] | None:
        """What the manifest says of a table that was created, if it is too large to be described by this machine."""
        return None

    def create(self, name: TableName, frame: pl.DataFrame) -> None:
        """Create a table and fill it."""

    def drop(self, name: TableName) -> None:
        """Drop a table that nothing else depends on."""

    def commit(self) -> None:
        """Let what was written appear, all at once."""

    def close(self) -> None:
        """End the connection; what was not committed is gone."""


@contextmanager
def opened(place: Place, *, writable: bool = False) -> Iterator[Session]:
    """A session that is closed afterwards, whatever happens."""
    session = _connect(place, writable)
    try:
        yield session
    finally:
        session.close()


def _connect(place: Place, writable: bool) -> Session:
    try:
        session = DATABASES[place.kind].open(place, writable=writable)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{place.title} needs a driver that is not installed ({error.name}). "
            f"Install it with: pip install 'polyveil[{DATABASES[place.kind].extra}]'"
        ) from None
    if Session not in type(session).__mro__:
        raise PluginError(f"the session of {place.title} must inherit from polyveil.table.databases.Session")
    found: Session = session
    return found


def in_batches(frame: pl.DataFrame) -> Any:
    """A frame as an Arrow stream, so that a driver never needs a second copy of the whole."""
    import pyarrow as pa

    schema = frame.clear().to_arrow().schema
    pieces = (batch for piece in frame.iter_slices(BATCH_ROWS) for batch in piece.to_arrow().to_batches())
    return pa.RecordBatchReader.from_batches(schema, pieces)
