"""Fixtures: one PostgreSQL server for the whole run, a fresh database or file for every test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import require
from databases.servers import (
    PASSWORD,
    Database,
    Server,
    open_duckdb,
    open_postgresql,
    open_sqlite,
    running_server,
    server_programs,
)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A real PostgreSQL server that this test run starts on a free port and stops again."""
    programs = server_programs()
    require(programs, "PostgreSQL is not installed (Debian: apt-get install postgresql)")
    assert programs is not None
    with running_server(programs) as started:
        yield started


@pytest.fixture
def postgresql(server: Server, monkeypatch: pytest.MonkeyPatch) -> Database:
    """An empty PostgreSQL database; the password comes from the environment, as it should."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    database = Database("postgresql", server.url("postgres"), lambda: open_postgresql(server, "postgres"))
    schemas = database.run("SELECT quote_ident(nspname) FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema)'")
    database.run(*(f"DROP SCHEMA {name} CASCADE" for (name,) in schemas))
    database.run("CREATE SCHEMA public", "GRANT USAGE ON SCHEMA public TO PUBLIC")
    return database


@pytest.fixture
def sqlite(tmp_path: Path) -> Database:
    file = tmp_path / "tables.db"
    return Database("sqlite", f"sqlite://{file}", lambda: open_sqlite(file))


@pytest.fixture
def duckdb_file(tmp_path: Path) -> Database:
    file = tmp_path / "tables.duckdb"
    return Database("duckdb", f"duckdb://{file}", lambda: open_duckdb(file))


@pytest.fixture(params=["postgresql", "sqlite", "duckdb_file"])
def database(request: pytest.FixtureRequest) -> Database:
    """Every test that asks for a database runs on all three."""
    found: Database = request.getfixturevalue(request.param)
    return found
