"""Reading tables and queries: every type without loss, or refused by name; nothing but reading."""

from __future__ import annotations

import datetime as dt
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import polyveil
from databases.clinic import POLICY, polyveil_command
from databases.servers import Database, Server
from polyveil.errors import InputError
from polyveil.table.databases import opened, place_of, read_wanted
from polyveil.table.databases.exact import exact_numbers
from polyveil.table.databases.names import TableName
from polyveil.verification import verify

DAY = dt.date(2024, 2, 29)
MOMENT = dt.datetime(2024, 2, 29, 23, 59, 59, 123456)
INSTANT = MOMENT.replace(tzinfo=dt.UTC)


def read(database: Database, **what: str) -> pl.DataFrame:
    return polyveil.read(database.url, **what).frame


def test_postgresql_types_arrive_as_they_are(postgresql: Database) -> None:
    postgresql.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE DOMAIN amount AS numeric(10, 2)",
        "CREATE TABLE t (small int2, whole int4, large int8, single float4, double float8, price numeric(10, 2), "
        "any_price numeric, tax amount, day date, moment timestamp, instant timestamptz, clock time, yes boolean, "
        "mood mood, id uuid, words text, short varchar(9), fixed char(5), network inet)",
        "INSERT INTO t VALUES (-32768, 2147483647, 9223372036854775807, 0.1, 0.30000000000000004, 12345678.90, "
        "0.000001, 2.5, '2024-02-29', '2024-02-29 23:59:59.123456', '2024-03-01 00:59:59.123456+01', "
        "'23:59:59.123456', true, 'ok', 'A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11', "
        "'ünïcode \"quoted\"', 'x', 'ab', '10.0.0.1/8')",
        "INSERT INTO t DEFAULT VALUES",
    )
    frame = read(postgresql, table="t")
    assert dict(frame.row(0, named=True)) == {
        "small": -32768,
        "whole": 2147483647,
        "large": 9223372036854775807,
        "single": 0.1,
        "double": 0.30000000000000004,
        "price": 12345678.90,
        "any_price": 0.000001,
        "tax": 2.5,
        "day": DAY,
        "moment": MOMENT,
        "instant": INSTANT,
        "clock": MOMENT.time(),
        "yes": True,
        "mood": "ok",
        "id": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "words": 'ünïcode "quoted"',
        "short": "x",
        "fixed": "ab",
        "network": "10.0.0.1/8",
    }
    assert set(frame.row(1)) == {None}


def test_duckdb_types_arrive_as_they_are(duckdb_file: Database) -> None:
    duckdb_file.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE t (tiny TINYINT, large UBIGINT, huge HUGEINT, single FLOAT, double DOUBLE, price DECIMAL(10, 2), "
        "day DATE, moment TIMESTAMP, instant TIMESTAMPTZ, seconds TIMESTAMP_S, nanos TIMESTAMP_NS, clock TIME, "
        "yes BOOLEAN, mood mood, id UUID, words VARCHAR)",
        "INSERT INTO t VALUES (-128, 18446744073709551615, 123456789012345678, 0.1, 0.30000000000000004, 12345678.90, "
        "'2024-02-29', '2024-02-29 23:59:59.123456', '2024-03-01 00:59:59.123456+01', '2024-02-29 23:59:59', "
        "'2024-02-29 23:59:59.123456', '23:59:59.123456', true, 'ok', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'ü')",
        "INSERT INTO t (tiny) VALUES (NULL)",
    )
    frame = read(duckdb_file, table="t")
    assert frame.row(0) == (
        *(-128, 18446744073709551615, 123456789012345678, 0.1, 0.30000000000000004, 12345678.90),
        *(DAY, MOMENT, INSTANT, MOMENT.replace(microsecond=0), MOMENT, MOMENT.time()),
        *(True, "ok", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "ü"),
    )
    assert set(frame.row(1)) == {None}


def test_sqlite_columns_take_their_type_from_their_cells(sqlite: Database) -> None:
    sqlite.run(
        "CREATE TABLE t (whole INTEGER, part REAL, words TEXT, day DATE, moment TIMESTAMP, yes BOOLEAN, blank, "
        "code TEXT, loose, numbers)",
        "INSERT INTO t VALUES (9223372036854775807, 0.1, 'ü', '2024-02-29', '2024-02-29 23:59:59.123456', 1, NULL, "
        "'007', 12, 1)",
        "INSERT INTO t VALUES (-1, 2, '', '0001-01-01', '2024-02-29 00:00:00.000000', 0, NULL, '8', 'unknown', 2.5)",
        "INSERT INTO t (whole) VALUES (NULL)",
    )
    frame = read(sqlite, table="t")
    assert frame.row(0) == (9223372036854775807, 0.1, "ü", DAY, MOMENT, True, None, "007", "12", 1.0)
    assert frame.row(1) == (
        *(-1, 2.0, "", dt.date(1, 1, 1), dt.datetime(2024, 2, 29), False, None, "8", "unknown", 2.5),
    )
    assert set(frame.row(2)) == {None}


def test_sqlite_types_beyond_the_first_rows_are_seen(sqlite: Database) -> None:
    """The driver alone looks at the first 1,024 rows and then breaks, or cuts."""
    sqlite.load("t", pl.DataFrame({"age": pl.int_range(5000, eager=True)}))
    sqlite.run("UPDATE t SET age = NULL WHERE age < 3000", "UPDATE t SET age = 3000.5 WHERE age = 3000")
    assert read(sqlite, table="t").get_column("age").drop_nulls().to_list()[:3] == [3000.5, 3001.0, 3002.0]


@pytest.mark.parametrize("declared", ["DATE", "TIMESTAMP", "BOOLEAN"])
def test_sqlite_cells_that_do_not_fit_their_declared_type_stay_as_they_are(sqlite: Database, declared: str) -> None:
    sqlite.run(f"CREATE TABLE t (a {declared})", "INSERT INTO t VALUES ('29.02.2024'), ('maybe')")
    assert read(sqlite, table="t").get_column("a").to_list() == ["29.02.2024", "maybe"]


def test_columns_without_one_plain_value_are_refused_by_name_with_the_remedy(postgresql: Database) -> None:
    types = {"tags": "int[]", "document": "jsonb", "photo": "bytea", "stay": "interval", "cost": "money"}
    columns = ", ".join(f"{name} {kind}" for name, kind in types.items())
    postgresql.run(f"CREATE TABLE t (age int, {columns}, span int4range)", "INSERT INTO t (age) VALUES (1)")
    with pytest.raises(InputError) as caught:
        read(postgresql, table="t")
    for word in ("'tags' (int4[])", "'document' (jsonb)", "'photo' (bytea)", "'stay' (interval)", "'cost' (money)"):
        assert word in str(caught.value)
    assert "'span' (int4range)" in str(caught.value)
    assert "--query" in str(caught.value)
    assert "age" not in str(caught.value)
    cast = "SELECT age, array_to_string(tags, ',') AS tags, document::text, extract(day FROM stay)::int AS days FROM t"
    assert read(postgresql, query=cast).columns == ["age", "tags", "document", "days"]


def test_duckdb_and_sqlite_refuse_them_too(duckdb_file: Database, sqlite: Database) -> None:
    duckdb_file.run("CREATE TABLE t (tags INT[], stay INTERVAL, photo BLOB, about STRUCT(a INT), note JSON)")
    with pytest.raises(InputError, match=r"'tags' \(INTEGER\[\]\), 'stay' \(INTERVAL\).*'note' \(JSON\).*--query"):
        read(duckdb_file, table="t")
    sqlite.run("CREATE TABLE t (photo, mixed)", "INSERT INTO t VALUES (x'00ff', 1.5), (NULL, 'text')")
    with pytest.raises(InputError, match=r"'photo' \(blob\) and 'mixed' \(real and text\).*--query"):
        read(sqlite, table="t")


def test_decimals_that_a_float_cannot_hold_are_refused_and_whole_ones_stay_whole(postgresql: Database) -> None:
    postgresql.run(
        "CREATE TABLE t (long numeric, whole numeric(18, 0))",
        "INSERT INTO t VALUES (1234567890.1234567, 123456789012345678), (1, 2)",
    )
    with pytest.raises(InputError, match=r"'long' has decimals of more than 15 significant digits.*--query"):
        read(postgresql, table="t")
    whole = read(postgresql, query="SELECT whole FROM t").get_column("whole")
    assert whole.to_list() == [123456789012345678, 2]
    text = read(postgresql, query="SELECT long::text AS long FROM t").get_column("long")
    assert text.to_list() == ["1234567890.1234567", "1"]


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["0.1", "-2.50", None, "0.00"], [0.1, -2.5, None, 0.0]),
        (["123456789012345", "0.000000000000001"], [123456789012345.0, 1e-15]),
        (["100000000000000000000", "-0.00000000000000000001"], [1e20, -1e-20]),
        (["9007199254740993", "1.000"], [9007199254740993, 1]),
        (["NaN", "Infinity", "1.5"], None),
    ],
)
def test_exact_numbers_by_hand(texts: list[str | None], numbers: list[float | None] | None) -> None:
    found = exact_numbers(pl.Series("x", texts, dtype=pl.String), "t")
    if numbers is None:
        assert [str(number) for number in found] == ["nan", "inf", "1.5"]
    else:
        assert found.to_list() == numbers


@pytest.mark.parametrize("value", ["infinity", "-infinity", "0001-01-01 BC", "12000-01-01"])
@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
def test_dates_that_are_no_dates_are_refused(postgresql: Database, value: str, kind: str) -> None:
    """The driver turns infinity into a date millions of years ago without a word."""
    postgresql.run(f"CREATE TABLE t (day {kind})", f"INSERT INTO t VALUES ('{value}'), ('2024-01-01')")
    with pytest.raises(InputError, match=r"'day' has dates that are infinite or outside the years 1 to 9999.*--query"):
        read(postgresql, table="t")
    query = "SELECT CASE WHEN isfinite(day) AND extract(year FROM day) BETWEEN 1 AND 9999 THEN day END AS day FROM t"
    assert read(postgresql, query=query).get_column("day").null_count() == 1


def test_rows_come_as_a_stream(database: Database) -> None:
    database.load("t", pl.DataFrame({"a": pl.int_range(200_000, eager=True), "b": "x" * 100}))
    with opened(place_of(database.url)) as session:
        source = session.locate(TableName("t"))
        sizes = [batch.num_rows for batch in session.batches(source, session.describe(source, TableName("t")))]
    assert sum(sizes) == 200_000
    assert len(sizes) > 1


def test_bytes_that_are_no_text_are_refused_not_passed_on(sqlite: Database) -> None:
    sqlite.run("CREATE TABLE t (fine TEXT, a TEXT)", "INSERT INTO t VALUES ('x', CAST(x'ff41' AS TEXT))")
    with pytest.raises(InputError, match="the column 'a' has bytes that are not UTF-8"):
        read(sqlite, table="t")


def test_missing_markers_and_empty_tables_are_judged_as_everywhere(database: Database) -> None:
    database.load("t", pl.DataFrame({"a": ["x", "?", None], "b": [1, -9, 2]}))
    table = polyveil.read(database.url, table="t", missing=["?", "-9"])
    assert sorted(table.frame.rows(), key=str) == [("x", 1), (None, 2), (None, None)]
    database.run("DELETE FROM t")
    with pytest.raises(InputError, match="t has columns but no rows"):
        read(database, table="t")


def test_a_query_reads_and_does_nothing_else(database: Database) -> None:
    database.load("t", pl.DataFrame({"a": [1, 2, 3]}))
    for ending in ("", " ;", "\n", " -- twice", "-- twice\n ; "):
        assert read(database, query=f"SELECT a * 2 AS b FROM t WHERE a > 1{ending}").rows() == [(4,), (6,)]
    for harmful in (
        "DELETE FROM t",
        "DELETE FROM t RETURNING a",
        "SELECT a FROM t; DELETE FROM t",
        "SELECT a FROM t) AS q; DELETE FROM t; SELECT * FROM (SELECT 1 AS a",
        "WITH gone AS (DELETE FROM t RETURNING a) SELECT a FROM gone",
        "DROP TABLE t",
        "CREATE TABLE u AS SELECT * FROM t",
        "COMMIT",
        "",
    ):
        with pytest.raises(InputError):
            read(database, query=harmful)
    assert database.run("SELECT count(*) FROM t") == [(3,)]


def test_a_function_that_writes_is_stopped_by_the_read_only_transaction(postgresql: Database) -> None:
    postgresql.run(
        "CREATE TABLE t (a int)",
        "INSERT INTO t VALUES (1)",
        "CREATE FUNCTION harm() RETURNS int LANGUAGE sql AS 'DELETE FROM t RETURNING a'",
    )
    with pytest.raises(InputError, match=r"read-only transaction.*Only reading is allowed"):
        read(postgresql, query="SELECT harm() AS a")
    with pytest.raises(InputError):
        read(postgresql, query="SELECT set_config('transaction_read_only', 'off', false) AS a")
    assert postgresql.run("SELECT a FROM t") == [(1,)]


def test_sqlite_queries_touch_no_other_file(sqlite: Database, tmp_path: object) -> None:
    sqlite.load("t", pl.DataFrame({"a": [1]}))
    with pytest.raises(InputError, match="syntax error"):
        read(sqlite, query=f"ATTACH '{tmp_path}/other.db' AS other")


def test_tables_are_found_in_schemas_and_views_are_tables(postgresql: Database, duckdb_file: Database) -> None:
    for database in (postgresql, duckdb_file):
        database.run(
            "CREATE SCHEMA clinic",
            "CREATE TABLE clinic.patients (age int)",
            "INSERT INTO clinic.patients VALUES (7)",
            "CREATE VIEW ages AS SELECT age + 1 AS age FROM clinic.patients",
        )
        assert read(database, table="clinic.patients").rows() == [(7,)]
        assert read(database, table="ages").rows() == [(8,)]
        assert polyveil.read(f"{database.url}?schema=clinic", table="patients").frame.rows() == [(7,)]
        with pytest.raises(InputError, match=r"has no table patients. It has: ages and clinic.patients"):
            read(database, table="patients")


def test_upper_case_names_are_found_as_sql_would(postgresql: Database) -> None:
    postgresql.run("CREATE TABLE patients (a int)", "INSERT INTO patients VALUES (1)")
    assert read(postgresql, table="Patients").rows() == [(1,)]
    with pytest.raises(InputError, match="has no table Patients"):
        read(postgresql, table='"Patients"')
    postgresql.run('CREATE TABLE "Patients" (a int)', 'INSERT INTO "Patients" VALUES (2)')
    assert read(postgresql, table="Patients").rows() == [(2,)]


def test_without_a_table_the_tables_are_named(database: Database) -> None:
    database.load("visits", pl.DataFrame({"a": [1]}))
    with pytest.raises(InputError, match=r"--table NAME or --query SQL. It has: visits"):
        read(database)
    with pytest.raises(InputError, match="exclude each other"):
        read(database, table="visits", query="SELECT 1")


def test_a_table_is_asked_of_databases_only(tmp_path: object) -> None:
    with pytest.raises(InputError, match="are for databases"):
        polyveil.read(f"{tmp_path}/t.csv", table="t")


def test_a_path_made_from_a_url_is_refused_without_showing_it() -> None:
    path = Path("postgresql://u:s3cr3t@h/db")
    for action in (polyveil.read, verify, partial(polyveil.anonymize, pl.DataFrame({"a": [1]}), POLICY)):
        with pytest.raises(InputError, match="must be a string, not a Path") as caught:
            action(path) if not isinstance(action, partial) else action(out=path)
        assert "s3cr3t" not in str(caught.value)


def test_a_table_of_very_many_columns(sqlite: Database) -> None:
    frame = pl.DataFrame({f"c{i}": [i] for i in range(1200)})
    sqlite.load("wide", frame)
    assert read(sqlite, table="wide").equals(frame)


def test_polyveil_check_reads_databases_too(database: Database) -> None:
    database.load("t", pl.DataFrame({"age": [1, 1, 2, 2], "disease": ["a", "b", "a", "b"]}))
    arguments = ("--quasi", "age", "--sensitive", "disease", "--k", "2", "--json")
    checked = polyveil_command("check", database.url, "--table", "t", *arguments)
    assert (checked.code, checked.json["data"]) == (0, database.url)
    query = "SELECT * FROM t WHERE disease = 'a'"
    assert polyveil_command("check", database.url, "--query", query, *arguments).code == 1


def test_settings_of_the_server_do_not_cost_digits(server: Server, postgresql: Database) -> None:
    postgresql.run(
        "CREATE TABLE t (a real)",
        "INSERT INTO t VALUES (0.12345679)",
        "ALTER ROLE steward SET extra_float_digits = 0",
    )
    try:
        assert read(postgresql, table="t").rows() == [(0.12345679,)]
    finally:
        postgresql.run("ALTER ROLE steward RESET extra_float_digits")


def test_a_released_table_reads_back_as_it_was_written(database: Database) -> None:
    frame = pl.DataFrame(
        {
            "text": ["a", "", None, "\u00fc\n'\""],
            "whole": [1, None, -(2**63), 2**63 - 1],
            "part": [0.1, None, -1e300, 5e-324],
            "yes": [True, None, False, True],
            "day": [DAY, None, dt.date(1, 1, 1), dt.date(9999, 12, 31)],
            "moment": [MOMENT, None, dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)],
            "instant": [INSTANT, None, INSTANT, INSTANT],
            "clock": [MOMENT.time(), None, dt.time(0), dt.time(23, 59, 59, 999999)],
            "number_like": ["007", "1e5", None, " 8"],
        }
    )
    with opened(place_of(database.url), writable=True) as session:
        name = session.stored("kept", "table")
        session.create_schema("kept")
        session.create(name, frame)
        assert read_wanted(session, name).sort("text", "part").equals(frame.sort("text", "part"))
