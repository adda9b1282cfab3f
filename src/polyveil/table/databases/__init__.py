"""Tables in databases: PostgreSQL, SQLite and DuckDB, read as a stream in one read-only transaction.

Types map without loss or the column is refused by name. Texts, enums and uuids are text; integers, floats, booleans,
dates, times and timestamps keep their type; decimals become 64-bit floats or integers where every digit is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import polars as pl

from polyveil.errors import InputError, UnreadableTable, listed
from polyveil.frames import check_names, checked_frame
from polyveil.table.databases.described import DescribedColumn
from polyveil.table.databases.exact import refuse_far_times, turned_over
from polyveil.table.databases.names import Query, TableName, Wanted, table_name
from polyveil.table.databases.place import Place, is_url, place_of, shown
from polyveil.table.databases.registry import DATABASES, Database
from polyveil.table.databases.session import Session, opened


def read_database(
    url: str, *, table: str | None = None, query: str | None = None, as_of: str | int | None = None
) -> tuple[pl.DataFrame, str]:
    """The rows of a table or of a query, and what to call them in messages."""
    place = place_of(url)
    if table is not None and query is not None:
        raise InputError("--table and --query exclude each other. Name the table in the query")
    with opened(place) as session:
        if as_of is not None:
            session.at(as_of)
        wanted = _wanted(place, table, query, session)
        return checked_frame(read_wanted(session, wanted), str(wanted)), str(wanted)


def _wanted(place: Place, table: str | None, query: str | None, session: Session) -> Wanted:
    if DATABASES[place.kind].names_table and place.schema is not None:
        if table is not None or query is not None:
            raise InputError(f"{place} names the table itself. Leave --table and --query out")
        return TableName(place.schema, exact=True)
    if query is not None:
        if not query.strip():
            raise InputError("the query is empty. Write one SELECT statement")
        return Query(query.strip().rstrip(";").rstrip())
    if table is None:
        tables = session.tables()
        known = f"It has: {listed(tables)}" if tables else "It has no tables"
        raise InputError(f"{place} is a database. Say what to read with --table NAME or --query SQL. {known}")
    name = table_name(table)
    return name if name.schema or not place.schema else type(name)(name.name, place.schema, name.exact)


def read_wanted(session: Session, wanted: Wanted) -> pl.DataFrame:
    """All rows, typed without loss; nothing about missing values or emptiness is judged here."""
    source = session.locate(wanted)
    columns = session.describe(source, wanted)
    with _unreadable("its columns have no names that a release has"):
        check_names([column.name for column in columns], str(wanted))
    _refuse_types(columns, str(wanted))
    frame = _collected(session.batches(source, columns), columns, str(wanted))
    with _unreadable("it has numbers or days that no release has"):
        frame = frame.select(turned_over(column, frame.get_column(column.name), str(wanted)) for column in columns)
        refuse_far_times(frame, str(wanted))
    return frame


@contextmanager
def _unreadable(why: str) -> Iterator[None]:
    """What is wrong with a table itself, and is no refusal."""
    try:
        yield
    except InputError as error:
        raise UnreadableTable(str(error), why) from None


def _refuse_types(columns: Iterable[DescribedColumn], source: str) -> None:
    refused = [f"{column.name!r} ({column.type})" for column in columns if column.sql is None]
    if refused:
        raise UnreadableTable(
            f"{source}: a column must have one plain value per row. These do not: {listed(refused)}. "
            "Leave them out or cast them, for example to text, in --query",
            "it has columns of a type that no release has",
        )


def _collected(batches: Iterable[object], columns: Iterable[DescribedColumn], source: str) -> pl.DataFrame:
    import pyarrow as pa

    names = [column.name for column in columns]
    pieces: list[pl.DataFrame] = []
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            raise TypeError("a session streams record batches")
        try:
            # Text that is not UTF-8 (SQLite and SQL_ASCII databases take any bytes) must not reach polars unchecked.
            batch.validate(full=True)
        except (pa.ArrowInvalid, UnicodeDecodeError):
            raise UnreadableTable(
                f"{source}: {listed(_not_text(batch))} has bytes that are not UTF-8 text. Correct them in the database",
                "it has bytes that are no text",
            ) from None
        piece = pl.from_arrow(batch.replace_schema_metadata(None))
        if isinstance(piece, pl.DataFrame):
            pieces.append(piece)
    if not pieces:
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String()))
    return pl.concat(pieces)


def _not_text(batch: object) -> list[str]:
    import pyarrow as pa

    found = []
    if isinstance(batch, pa.RecordBatch):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                column.validate(full=True)
            except (pa.ArrowInvalid, UnicodeDecodeError):
                found.append(f"the column {name!r}")
    return found or ["a column"]


__all__ = [
    "DATABASES",
    "Database",
    "DescribedColumn",
    "Place",
    "Session",
    "is_url",
    "opened",
    "place_of",
    "read_database",
    "read_wanted",
    "shown",
]
