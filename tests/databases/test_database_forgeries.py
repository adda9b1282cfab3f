"""Forged releases in databases, everything restamped, each refused with a finding of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import polyveil
from databases.servers import Database
from polyveil.table.databases import opened, place_of
from polyveil.verification import load_release, verify
from polyveil.verification.canonical import manifest_text
from polyveil.verification.fingerprint import fingerprint
from verification.forgeries.forger import FORMS, people, policy, refused_for

SCHEMA = "release_2026"


def rewrite(database: Database, change: Callable[[dict[str, Any], dict[str, pl.DataFrame]], str | None]) -> None:
    """Everything in the schema written anew after a change, with checksums, rows and columns to fit."""
    manifest, tables, _ = load_release(database.release_url())
    manifest, tables = json.loads(json.dumps(manifest)), dict(tables)
    with opened(place_of(database.url), writable=True) as session:
        for name in session.relations(SCHEMA):
            session.drop(session.stored(SCHEMA, name))
        text = change(manifest, tables)
        for name, frame in tables.items():
            session.create(session.stored(SCHEMA, name), frame)
            about = {"sha256": fingerprint(frame), "rows": frame.height, "columns": frame.columns}
            manifest["tables"][name] = about
        document = pl.DataFrame({"document": [text or manifest_text(manifest)]})
        session.create(session.stored(SCHEMA, "manifest"), document)
        session.commit()


def first(tables: dict[str, pl.DataFrame]) -> str:
    return "table" if "table" in tables else "quasi"


def add_raw(manifest: dict[str, Any], tables: dict[str, pl.DataFrame]) -> None:
    tables["raw"] = people()


def add_column(manifest: dict[str, Any], tables: dict[str, pl.DataFrame]) -> None:
    tables[first(tables)] = tables[first(tables)].with_columns(pl.lit("x").alias("name"))


def drop_row(manifest: dict[str, Any], tables: dict[str, pl.DataFrame]) -> None:
    tables[first(tables)] = tables[first(tables)][1:]


def strange_value(manifest: dict[str, Any], tables: dict[str, pl.DataFrame]) -> None:
    name = next(name for name, frame in tables.items() if "illness" in frame.columns)
    frame = tables[name]
    tables[name] = frame.with_columns(pl.Series("illness", ["Alice", *frame["illness"][1:]]))


def add_key(manifest: dict[str, Any], tables: dict[str, pl.DataFrame]) -> None:
    manifest["claims"][0]["note"] = "Alice"


def other_text(manifest: dict[str, Any], tables: dict[str, pl.DataFrame]) -> str:
    return json.dumps(manifest)


FORGERIES = {
    "raw table": (add_raw, "extra table"),
    "column": (add_column, "columns"),
    "row removed": (drop_row, "rows"),
    "value of nobody": (strange_value, "values of illness"),
    "key": (add_key, "manifest"),
    "text": (other_text, "manifest"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_forgery_in_a_database_is_refused(database: Database, form: str) -> None:
    for change, check in FORGERIES.values():
        polyveil.anonymize(people(), policy(form, "parquet"), out=database.release_url(), overwrite=True, seed=1)
        assert verify(database.release_url()).holds
        rewrite(database, change)  # type: ignore[arg-type]
        assert check in refused_for(verify(database.release_url()))
        with opened(place_of(database.url), writable=True) as session:
            for name in session.relations(SCHEMA):
                session.drop(session.stored(SCHEMA, name))
            session.commit()
