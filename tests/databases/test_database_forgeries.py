"""Forged releases in databases, everything restamped, each refused with a finding of its own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

import polyveil
from databases.servers import Database
from polyveil.verification import verify
from verification.forgeries.forger import FORMS, Forger, StoredForger, people, policy, publish, refused_for
from verification.forgeries.kinds import LINKED, SORTED, kinds


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Forger]:
    """A release of every form, to be forged in each database."""
    found = {}
    for form in FORMS:
        place = tmp_path_factory.mktemp("genuine")
        publish(form, "parquet", place / "release")
        found[form] = Forger(place / "release", place / "copy")
    return found


@pytest.mark.parametrize("form", ["generalized", "sliced"])
def test_a_forgery_in_a_database_is_refused(database: Database, genuine: dict[str, Forger], form: str) -> None:
    """The list of forgeries of folders, but for those of files; a table beside is what a file is in a folder."""
    honest = StoredForger(genuine[form], database.release_url()).forged()
    assert honest.holds, honest.failures
    accepted = []
    every = kinds(form, None)
    chosen = {name: every[name] for name in every if form == "generalized" or name in LINKED}
    for name, (forge, check) in chosen.items():
        found = forge(StoredForger(genuine[form], database.release_url()))
        expected = check.replace("extra file", "extra table")
        if found.holds or expected not in {finding.check for finding in found.failures}:
            accepted.append((name, expected, [finding.check for finding in found.failures]))
    assert not accepted


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
    "option": ({"postgresql"}, "ALTER TABLE {t} SET (autovacuum_vacuum_threshold = 123456789)"),
    "option of a column": ({"postgresql"}, "ALTER TABLE {t} ALTER COLUMN town SET STATISTICS 4711"),
    "hidden rows": ({"postgresql"}, "ALTER TABLE {t} ENABLE ROW LEVEL SECURITY"),
    "column added": ({"postgresql", "duckdb", "sqlite"}, "ALTER TABLE {t} ADD COLUMN name text"),
}


def test_what_stands_beside_the_tables_of_a_release_is_refused(database: Database) -> None:
    table = "release_2026__table" if database.kind == "sqlite" else 'release_2026."table"'
    index = "release_2026__index" if database.kind == "sqlite" else "alice"
    accepted = []
    for name, (databases, statement) in BESIDE.items():
        if database.kind not in databases:
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


def test_sorted_rows_of_a_database_are_refused(database: Database, genuine: dict[str, Forger]) -> None:
    """Whoever reads the table gets the rows in the order in which they were written."""
    for name, (column, change) in SORTED.items():
        forger = StoredForger(genuine["generalized"], database.release_url())
        forger.edit(forger.of[column], change)
        assert "row order" in refused_for(forger.forged()), name


def test_what_sqlite_keeps_of_tables_by_itself_is_named(sqlite: Database) -> None:
    """Its statistics are a table that anybody can write into."""
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=sqlite.release_url(), seed=1)
    sqlite.run("ANALYZE", "INSERT INTO sqlite_stat1 VALUES ('release_2026__table', 'Alice', 'has flu')")
    (named,) = [f for f in verify(sqlite.release_url()).findings if f.check == "file of the database"]
    assert (named.outcome, "statistics" in named.message) == ("not checked", True)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb_file"])
def test_what_else_the_file_of_a_database_holds_is_named(kind: str, request: pytest.FixtureRequest) -> None:
    database: Database = request.getfixturevalue(kind)
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=database.release_url(), seed=1)
    assert "file of the database" not in {finding.check for finding in verify(database.release_url()).findings}
    database.run("CREATE TABLE raw AS SELECT 'Alice' AS name")
    found = verify(database.release_url())
    assert found.holds
    assert "other tables" in next(f.message for f in found.findings if f.check == "file of the database")


def test_row_numbers_of_sqlite_tell_nothing(sqlite: Database) -> None:
    """A reader can ask for them, and they may be those of the rows in the input."""
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=sqlite.release_url(), seed=1)
    sqlite.run("UPDATE release_2026__table SET rowid = 1000000 + abs(random()) % 1000000")
    assert "extra objects" in refused_for(verify(sqlite.release_url()))


def test_a_name_that_hides_the_row_number_of_sqlite_is_no_way_around(sqlite: Database) -> None:
    renamed = people().rename({"ward": "rowid"})
    asked = policy("generalized", "parquet")
    asked["columns"]["rowid"] = asked["columns"].pop("ward")
    polyveil.anonymize(renamed, asked, out=sqlite.release_url(), seed=1)
    assert verify(sqlite.release_url()).holds
    sqlite.run("UPDATE release_2026__table SET _rowid_ = _rowid_ + 1000000")
    assert "extra objects" in refused_for(verify(sqlite.release_url()))


BYTES: dict[str, Callable[[bytearray], bytes]] = {
    "between rows": lambda file: bytes(file).replace(bytes(40), b"Alice has flu".ljust(40, b"\0"), 1),
    "after the last page": lambda file: bytes(file) + b"Alice has flu",
    "in the header": lambda file: bytes(file[:72]) + b"Alice has flu".ljust(20, b"\0") + bytes(file[92:]),
}


@pytest.mark.parametrize("where", BYTES)
def test_bytes_beside_the_rows_of_a_sqlite_file_are_named(sqlite: Database, where: str) -> None:
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=sqlite.release_url(), seed=1)
    file = Path(sqlite.url.removeprefix("sqlite://"))
    genuine = file.read_bytes()
    file.write_bytes(BYTES[where](bytearray(genuine)))
    assert file.read_bytes() != genuine
    (named,) = [f for f in verify(sqlite.release_url()).findings if f.check == "file of the database"]
    assert "no part of a row" in named.message


def test_rows_that_were_deleted_between_others_are_named(sqlite: Database) -> None:
    """They leave no free page. Tables of many pages and rows of several have nothing of the kind."""
    many = pl.concat([people()] * 20).with_columns(pl.lit("long" * 2000).alias("ward"))
    polyveil.anonymize(many, policy("generalized", "parquet"), out=sqlite.release_url(), seed=1)
    assert "file of the database" not in {f.check for f in verify(sqlite.release_url()).findings}
    sqlite.run("INSERT INTO release_2026__table (town) VALUES ('Alice has flu')")
    sqlite.run("DELETE FROM release_2026__table WHERE town = 'Alice has flu'")
    assert b"Alice has flu" in Path(sqlite.url.removeprefix("sqlite://")).read_bytes()
    (named,) = [f for f in verify(sqlite.release_url()).findings if f.check == "file of the database"]
    assert "no part of a row" in named.message


def test_what_stands_in_other_schemas_of_a_duckdb_file_is_named(duckdb_file: Database) -> None:
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=duckdb_file.release_url(), seed=1)
    duckdb_file.run("CREATE SCHEMA more", "CREATE MACRO more.alice() AS 'flu'")
    (named,) = [f for f in verify(duckdb_file.release_url()).findings if f.check == "file of the database"]
    assert "macros" in named.message


def test_a_servers_statistics_of_rows_that_were_deleted_are_refused(postgresql: Database) -> None:
    """Every reader of a table may see them; those of the released rows tell nothing more."""
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=postgresql.release_url(), seed=1)
    postgresql.run("ANALYZE")
    assert verify(postgresql.release_url()).holds
    add = "INSERT INTO release_2026.\"table\" (town) SELECT 'Alice has flu' FROM generate_series(1, 50)"
    postgresql.run(add, "ANALYZE", "DELETE FROM release_2026.\"table\" WHERE town = 'Alice has flu'")
    assert "extra objects" in refused_for(verify(postgresql.release_url()))


def test_a_servers_statistics_of_the_released_rows_are_no_forgery(postgresql: Database) -> None:
    """A server makes them by itself, a minute after the release was written."""
    day = pl.lit(datetime(2026, 2, 28, 12, 30, tzinfo=UTC)) + pl.duration(hours=pl.int_range(pl.len()) % 7)
    more = {
        "insured": pl.int_range(pl.len()) % 3 == 0,
        "visits": pl.int_range(pl.len()) % 5 - 2,
        "weight": (pl.int_range(pl.len()) % 5 - 2) / 3,
        "day": day.dt.date(),
        "moment": day,
        "local": day.dt.replace_time_zone(None),
        "hour": day.dt.time(),
        "said": pl.Series(["", " padded ", "NULL", 'a "b", c', "{a}", "back\\slash", "O'Hara", None] * 30),
    }
    asked = policy("generalized", "parquet")
    asked["columns"] |= {name: {"role": "insensitive"} for name in more}
    polyveil.anonymize(people().with_columns(**more), asked, out=postgresql.release_url(), seed=1)
    postgresql.run("ANALYZE")
    listed = postgresql.run("SELECT attname::text FROM pg_stats WHERE schemaname = 'release_2026'")
    assert set(more) <= {name for (name,) in listed}
    found = verify(postgresql.release_url())
    assert found.holds, found.failures


@pytest.mark.parametrize(
    ("kind", "number", "place"),
    [
        ("postgresql", "-0", "salary = 0"),
        ("postgresql", "NaN", "salary IS NULL"),
        ("duckdb_file", "NaN", "salary IS NULL"),
    ],
)
def test_numbers_whose_checksum_is_that_of_others_are_refused(
    kind: str, number: str, place: str, request: pytest.FixtureRequest
) -> None:
    """They would be one bit for every zero, or every missing cell."""
    database: Database = request.getfixturevalue(kind)
    salary = pl.col("salary").replace({10.5: 0.0, 20.5: None})
    polyveil.anonymize(people().with_columns(salary), policy("generalized", "parquet"), out=database.release_url())
    assert verify(database.release_url()).holds
    database.run(f"UPDATE release_2026.\"table\" SET salary = CAST('{number}' AS DOUBLE PRECISION) WHERE {place}")
    assert "types" in refused_for(verify(database.release_url()))


def test_deleted_rows_in_the_file_of_a_database_are_named(sqlite: Database) -> None:
    sqlite.run("CREATE TABLE raw (name TEXT)", "INSERT INTO raw VALUES (hex(zeroblob(50000)))")
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=sqlite.release_url(), seed=1)
    sqlite.run("DROP TABLE raw")
    messages = [f.message for f in verify(sqlite.release_url()).findings if f.check == "file of the database"]
    assert "space of deleted rows" in messages[0]
