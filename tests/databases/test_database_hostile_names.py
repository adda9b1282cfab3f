"""Tables, columns and schemas may be called anything: quotes, semicolons, comments, unicode, spaces, keywords."""

from __future__ import annotations

from urllib.parse import quote

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as rules
from hypothesis import strategies as st

import polyveil
from databases.clinic import POLICY, made, patients
from databases.servers import Database
from polyveil.errors import InputError
from polyveil.frames import is_pattern
from polyveil.releases.database import write_release
from polyveil.table.databases import opened, place_of, read_wanted
from polyveil.table.databases.names import quoted
from polyveil.verification import verify

HOSTILE = (
    'a"b',
    "a'b",
    'x"; DROP TABLE safe; --',
    "x'; DROP TABLE safe; --",
    "select",
    "Größe 身長 🤒",
    "two words",
    "  padded  ",
    "%s $1 ? :name {0} \\",
    "line\nbreak",
    "*",
    "a.b",
)
COLUMNS = tuple(name for name in HOSTILE if not is_pattern(name))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_table_of_any_name_is_read_and_nothing_else_happens(database: Database, name: str) -> None:
    database.load("safe", pl.DataFrame({"a": [1]}))
    frame = pl.DataFrame({column: [i] for i, column in enumerate(COLUMNS)})
    columns = ", ".join(f"{quoted(column)} INTEGER" for column in COLUMNS)
    values = ", ".join(str(i) for i in range(len(COLUMNS)))
    database.run(f"CREATE TABLE {quoted(name)} ({columns})", f"INSERT INTO {quoted(name)} VALUES ({values})")
    assert polyveil.read(database.url, table=quoted(name)).frame.rows() == frame.rows()
    assert polyveil.read(database.url, table=quoted(name)).columns == COLUMNS
    if "." not in name:
        assert polyveil.read(database.url, table=name).columns == COLUMNS
    assert database.run("SELECT a FROM safe") == [(1,)]


@pytest.fixture(scope="module")
def hostile_release() -> polyveil.Release:
    new_names = dict(zip(POLICY["columns"], HOSTILE, strict=False))
    columns = {new_names[name]: about for name, about in POLICY["columns"].items()}
    return polyveil.anonymize(patients().rename(new_names), {**POLICY, "columns": columns})


@pytest.mark.parametrize("schema", HOSTILE)
def test_a_release_with_hostile_names_is_published_and_verified(
    database: Database, schema: str, hostile_release: polyveil.Release
) -> None:
    database.load("safe", pl.DataFrame({"a": [1]}))
    url = f"{database.url}?schema={quote(schema, safe='')}"
    for _ in range(2):
        hostile_release.save(url, overwrite=True)
        assert verify(url).holds
    assert database.run("SELECT a FROM safe") == [(1,)]
    # All but the identifier, which is the first.
    assert polyveil.read(url, table="table").columns == HOSTILE[1 : len(POLICY["columns"])]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=15).filter(str.strip)


@rules(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    names=st.lists(NAMES.filter(lambda name: not is_pattern(name)), min_size=1, max_size=4, unique_by=str.casefold),
    cells=st.lists(st.none() | TEXTS, min_size=1, max_size=8),
    schema=NAMES.filter(lambda name: "__" not in name and not name.endswith("_")),
)
def test_any_text_in_any_column_comes_back(
    database: Database, names: list[str], cells: list[str | None], schema: str
) -> None:
    """Written, read back in the same transaction and given up again, so that every example starts from nothing."""
    frame = pl.DataFrame({name: pl.Series(cells, dtype=pl.String) for name in names})
    with opened(place_of(database.url), writable=True) as session:
        try:
            session.check_creatable(schema)
        except InputError:
            return
        name = session.stored(schema, "table")
        session.create_schema(schema)
        session.create(name, frame)
        found = read_wanted(session, name)
        assert found.columns == names
        assert sorted(found.rows(), key=str) == sorted(frame.rows(), key=str)


def test_a_schema_may_be_called_as_its_duckdb_file(duckdb_file: Database) -> None:
    """DuckDB calls the database by its file name, here `tables`, and takes `tables.table` for ambiguous."""
    url = duckdb_file.release_url("tables")
    for _ in range(2):
        made().save(url, overwrite=True)
        assert verify(url).holds
    assert polyveil.read(duckdb_file.url, table="tables.table").height == 200


def test_names_that_postgresql_would_cut_off_are_refused(postgresql: Database) -> None:
    """It keeps 63 bytes and says nothing; 32 letters of two bytes are too many."""
    manifest = {"format": "polyveil-release", "format_version": 1}
    with pytest.raises(InputError, match="64 bytes; PostgreSQL keeps 63"):
        write_release(postgresql.release_url(), {"table": pl.DataFrame({"ü" * 32: [1]})}, manifest)
    with pytest.raises(InputError, match="64 bytes; PostgreSQL keeps 63"):
        write_release(postgresql.release_url("s" * 64), {"table": pl.DataFrame({"a": [1]})}, manifest)
    assert postgresql.run("SELECT count(*) FROM pg_namespace WHERE nspname ~ '^(release|sss)'") == [(0,)]


def test_names_that_differ_in_case_only_are_told_apart_or_refused(database: Database) -> None:
    frame = pl.DataFrame({"Age": [1], "age": [2]})
    manifest = {"format": "polyveil-release", "format_version": 1}
    if database.kind == "postgresql":
        write_release(database.release_url(), {"table": frame}, manifest)
        assert database.run('SELECT "Age", age FROM release_2026.table') == [(1, 2)]
    else:
        with pytest.raises(InputError, match=r"(?i)age"):
            write_release(database.release_url(), {"table": frame}, manifest)


def test_a_text_that_postgresql_cannot_hold_is_one_clear_line(postgresql: Database) -> None:
    manifest = {"format": "polyveil-release", "format_version": 1}
    with pytest.raises(InputError, match=r"code 22021.*zero byte"):
        write_release(postgresql.release_url(), {"table": pl.DataFrame({"a": ["Jane\0Roe"]})}, manifest)
