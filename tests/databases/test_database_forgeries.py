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


BESIDE = {
    "comment on the table": ({"postgresql", "duckdb"}, "COMMENT ON TABLE {t} IS 'Alice'"),
    "comment on a column": ({"postgresql", "duckdb"}, "COMMENT ON COLUMN {t}.age IS 'Alice'"),
    "comment on the schema": ({"postgresql"}, "COMMENT ON SCHEMA release_2026 IS 'Alice'"),
    "index": ({"postgresql", "duckdb", "sqlite"}, "CREATE INDEX {i} ON {t} (age)"),
    "view": ({"postgresql", "duckdb"}, "CREATE VIEW release_2026.more AS SELECT 'Alice' AS name"),
    "view by prefix": ({"sqlite"}, "CREATE VIEW release_2026__more AS SELECT 'Alice' AS name"),
    "sequence": ({"postgresql", "duckdb"}, "CREATE SEQUENCE release_2026.alice"),
    "type": ({"postgresql", "duckdb"}, "CREATE TYPE release_2026.alice AS ENUM ('has flu')"),
    "function": ({"postgresql"}, "CREATE FUNCTION release_2026.alice() RETURNS text LANGUAGE sql AS 'SELECT 1::text'"),
    "macro": ({"duckdb"}, "CREATE MACRO release_2026.alice() AS 'flu'"),
    "default": ({"postgresql", "duckdb"}, "ALTER TABLE {t} ALTER COLUMN town SET DEFAULT 'Alice'"),
    "constraint": ({"postgresql"}, "ALTER TABLE {t} ADD CONSTRAINT alice CHECK (town <> 'Alice')"),
    "not null": ({"postgresql", "duckdb"}, "ALTER TABLE {t} ALTER COLUMN town SET NOT NULL"),
    "rule": ({"postgresql"}, "CREATE RULE alice AS ON DELETE TO {t} DO INSTEAD NOTHING"),
    "row policy": ({"postgresql"}, "CREATE POLICY alice ON {t} USING (town <> 'Alice')"),
    "statistics": ({"postgresql"}, "CREATE STATISTICS release_2026.alice ON age, town FROM {t}"),
    "inherited": ({"postgresql"}, "CREATE TABLE public.more () INHERITS ({t})"),
    "other type": ({"postgresql"}, "ALTER TABLE {t} ALTER COLUMN town TYPE varchar(50)"),
    "categories": ({"duckdb"}, "ALTER TABLE {t} ALTER town TYPE ENUM ('Bern', 'Basel', 'Paris', 'Lyon', '*', 'Alice')"),
    "trigger": ({"sqlite"}, "CREATE TRIGGER alice AFTER INSERT ON {t} BEGIN SELECT 1; END"),
    "column added": ({"postgresql", "duckdb", "sqlite"}, "ALTER TABLE {t} ADD COLUMN name text"),
}


def test_what_stands_beside_the_tables_of_a_release_is_refused(database: Database) -> None:
    table = "release_2026__table" if database.kind == "sqlite" else 'release_2026."table"'
    index = "release_2026__index" if database.kind == "sqlite" else "alice"
    accepted = []
    for name, (kinds, statement) in BESIDE.items():
        if database.kind not in kinds:
            continue
        polyveil.anonymize(people(), policy("generalized", "parquet"), out=database.release_url(), seed=1)
        assert verify(database.release_url()).holds
        database.run(statement.format(t=table, i=index))
        found = verify(database.release_url())
        if found.holds or not {"extra objects", "columns"} & {finding.check for finding in found.failures}:
            accepted.append(name)
        clear(database)
    assert not accepted


def clear(database: Database) -> None:
    """The schema and what a forgery put there, gone."""
    if database.kind != "sqlite":
        database.run("DROP SCHEMA release_2026 CASCADE")
        return
    for kind in ("VIEW", "TABLE"):
        names = database.run(f"SELECT name FROM sqlite_master WHERE type = '{kind.lower()}'")
        database.run(*(f'DROP {kind} "{name}"' for (name,) in names))


def test_a_statement_with_a_comment_is_refused(sqlite: Database) -> None:
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=sqlite.release_url(), seed=1)
    [(text,)] = sqlite.run("SELECT sql FROM sqlite_master WHERE name = 'release_2026__table'")
    said = text.replace(" (", " /* Alice has flu */ (", 1)
    sqlite.run(
        "ALTER TABLE release_2026__table RENAME TO aside", said, "INSERT INTO release_2026__table SELECT * FROM aside",
        "DROP TABLE aside",
    )  # fmt: skip
    assert "extra objects" in refused_for(verify(sqlite.release_url()))
