"""A release in a database: its tables and its manifest, written, read back, verified and published in one transaction.

A catalog of Spark has no transactions: its session keeps the manifest back until the rest is accepted.

The tables stand in a schema of their own (SQLite, which has none: with the schema's name and two underscores before
theirs), beside a table `manifest` whose one cell is the manifest as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from polyveil.errors import InputError, listed
from polyveil.table.databases import DATABASES, Session, opened, place_of
from polyveil.table.databases.files import check_file
from polyveil.table.databases.names import MANIFEST
from polyveil.table.databases.place import Place
from polyveil.verification.canonical import manifest_text
from polyveil.verification.database import DOCUMENT, StoredRelease, stored_document
from polyveil.verification.fingerprint import fingerprint


def write_release(
    url: str,
    tables: Mapping[str, Any],
    manifest: Mapping[str, Any],
    *,
    overwrite: bool = False,
    accept: Callable[[StoredRelease], object] = lambda _: None,
) -> None:
    """Write the release into its schema, whole or not at all.

    `accept` reads what was written before anyone else can see it, and raises to refuse it: then nothing stays.
    """
    place, schema = _target(url)
    with opened(place, writable=True) as session:
        ready = {name: session.storable(frame) for name, frame in tables.items()}
        session.check_creatable(schema)
        _make_room(session, schema, overwrite)
        session.create_schema(schema)
        for name, frame in ready.items():
            session.create(session.stored(schema, name), frame)
        about = {name: _describe(session, schema, name, frame) for name, frame in ready.items()}
        text = manifest_text({**manifest, "tables": about})
        session.create(session.stored(schema, MANIFEST), pl.DataFrame({DOCUMENT: [text]}))
        accept(StoredRelease(session, schema))
        session.commit()


def check_release_target(url: str, *, overwrite: bool = False) -> None:
    """Refuse early what would fail late: no connection, no right to write, an existing release."""
    place, schema = _target(url)
    is_file = place.file is not None and not DATABASES[place.kind].names_table
    if is_file and check_file(place, writable=True):
        return
    with opened(place, writable=True) as session:
        session.check_creatable(schema)
        _older_tables(session, schema, overwrite)


def _target(url: str) -> tuple[Place, str]:
    place = place_of(url)
    if place.schema is None:
        raise InputError(f"a release needs a schema of its own in the database. Add ?schema=NAME to {place}")
    return place, place.schema


def _make_room(session: Session, schema: str, overwrite: bool) -> None:
    """Drop the older release; others see it until the new one is committed, or wait for that."""
    for name in _older_tables(session, schema, overwrite):
        session.drop(session.stored(schema, name))


def _older_tables(session: Session, schema: str, overwrite: bool) -> list[str]:
    """The tables of the release that is to be replaced; an empty schema may have been made for us and has none."""
    present = session.relations(schema)
    if not present:
        return []
    if not overwrite:
        raise InputError(
            f"{session.place}: the schema {schema!r} exists already, and a release is never mixed with other tables. "
            "Name a new schema or use --overwrite"
        )
    if session.marker in present:  # an unfinished release of a catalog, whose schema was empty or a release before
        return sorted(present, key=lambda name: (name != session.marker, name != MANIFEST))
    if MANIFEST not in present:
        raise InputError(
            f"{session.place}: the schema {schema!r} is not a release (it has no table {MANIFEST}), so it is not "
            "overwritten. Name a new schema"
        )
    ours = {MANIFEST, *stored_document(StoredRelease(session, schema))["tables"]}
    others = [name for name in present if name not in ours]
    if others:
        raise InputError(
            f"{session.place}: the schema {schema!r} holds more than the older release ({listed(others)}), so it is "
            "not overwritten. Move that elsewhere, or name a new schema"
        )
    return sorted(present, key=lambda name: name != MANIFEST)


def _describe(session: Session, schema: str, name: str, frame: Any) -> dict[str, Any]:
    described = session.described(session.stored(schema, name))
    if described is not None:
        return dict(described)
    return {"sha256": fingerprint(frame), "rows": frame.height, "columns": frame.columns}
