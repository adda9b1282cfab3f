"""The databases that the tests talk to: a PostgreSQL server of their own, a SQLite file, a DuckDB file."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

USER = "steward"
# Letters that mean something in URLs, in connection strings and in SQL.
PASSWORD = "p@ss'w\\rd/:#?%&"


def server_programs() -> Path | None:
    """The newest installed PostgreSQL's programs; Debian keeps them out of the PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    found = shutil.which("postgres")
    return versions[-1].parent if versions else Path(found).parent if found else None


@dataclass
class Server:
    """A running server; `stop` and `start` make it vanish and come back."""

    programs: Path
    folder: Path
    port: int

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-o", options, "-l", f"{self.folder}/log", "-w", "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "-w", "stop")

    def create(self) -> None:
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        if os.geteuid() == 0:
            # The server refuses to run as root; Debian's package comes with a user for it.
            for path in (self.folder, secret):
                shutil.chown(path, "postgres")
        self._run("initdb", "-D", f"{self.folder}/data", "-U", USER, "-A", "scram-sha-256", f"--pwfile={secret}", "-N")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        # Output goes nowhere: a pipe would be kept open by the server that pg_ctl leaves running.
        nowhere = subprocess.DEVNULL
        subprocess.run(command, cwd=self.folder, check=True, stdout=nowhere, stderr=nowhere, timeout=120)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, database: str) -> str:
        return f"postgresql://{USER}@{self.address}/{database}"


@contextmanager
def running_server(programs: Path) -> Iterator[Server]:
    """A new server on a free port, in a folder of its own, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="polyveil-pg-"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(programs, folder, port)
    try:
        server.create()
        server.start()
        yield server
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Database:
    """One database for one test: where it is, and a way to do things to it behind polyveil's back."""

    kind: str
    url: str
    connect: Callable[[], Any]

    def release_url(self, schema: str = "release_2026") -> str:
        return f"{self.url}?schema={schema}"

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Execute and commit; the rows of the last statement."""
        connection = self.connect()
        try:
            rows: list[tuple[Any, ...]] = []
            for statement in statements:
                cursor = connection.cursor()
                cursor.execute(statement)
                rows = cursor.fetchall() if statement.lstrip().upper().startswith("SELECT") else []
                cursor.close()
            connection.commit()
            return rows
        finally:
            connection.close()

    def load(self, name: str, frame: pl.DataFrame) -> None:
        """Make a table by the driver's own means."""
        connection = self.connect()
        if self.kind == "duckdb":
            connection.register("incoming", frame.to_arrow())
            connection.execute('CREATE TABLE "' + name.replace('"', '""') + '" AS SELECT * FROM incoming')
        else:
            with connection.cursor() as cursor:
                cursor.adbc_ingest(name, frame.to_arrow(), mode="create")
        connection.commit()
        connection.close()

    def stored(self, table: str, schema: str = "release_2026") -> str:
        """The SQL name of a release's table."""
        return f'"{schema}__{table}"' if self.kind == "sqlite" else f'"{schema}"."{table}"'


def open_duckdb(file: Path) -> Any:
    import duckdb

    connection = duckdb.connect(str(file))
    connection.begin()
    return connection


def open_sqlite(file: Path) -> Any:
    from adbc_driver_sqlite import dbapi

    return dbapi.connect(str(file))


def open_postgresql(server: Server, database: str) -> Any:
    from adbc_driver_postgresql import dbapi

    secret = PASSWORD.replace("\\", "\\\\").replace("'", "\\'")
    settings = f"host=127.0.0.1 port={server.port} user={USER} dbname={database} password='{secret}'"
    return dbapi.connect(settings)
