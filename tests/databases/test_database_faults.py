"""What goes wrong with databases: each is one clear line, exit code 2, and no secret or cell anywhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest

import children
import polyveil
from databases.clinic import POLICY, made, patients, polyveil_command
from databases.servers import PASSWORD, USER, Database, Server
from polyveil.errors import InputError
from polyveil.policy import Policy
from polyveil.table.databases import opened, place_of
from polyveil.table.databases.names import Query

WRONG = "s3cr3t-but-wr0ng"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text(Policy.from_dict(POLICY).to_yaml())
    return file


def refused(url: str, policy: Path, *more: str, out: str | None = None) -> str:
    target = out or str(policy.parent / "release")
    line = polyveil_command("anonymize", url, "--policy", str(policy), "--out", target, "-q", *more).line
    assert not Path(target).exists()
    return line


def test_a_wrong_password(postgresql: Database, policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", WRONG)
    line = refused(postgresql.url, policy, "--table", "patients")
    assert "password authentication failed" in line
    assert "Set PGPASSWORD, or put the password in ~/.pgpass" in line
    assert WRONG not in line


def test_a_wrong_password_in_the_url_is_not_repeated(postgresql: Database, policy: Path) -> None:
    for url in (postgresql.url.replace("@", f":{WRONG}@"), f"{postgresql.url}?password={WRONG}"):
        line = refused(url, policy, "--table", "patients")
        assert "password authentication failed" in line
        assert WRONG not in line
        line = refused("no.csv", policy, out=f"{url}{'&' if '?' in url else '?'}schema=r")
        assert "password authentication failed" in line
        assert WRONG not in line
        verified = polyveil_command("verify", f"{url}{'&' if '?' in url else '?'}schema=r", "--json")
        assert verified.code == 2
        assert "password authentication failed" in verified.json["error"]["message"]
        assert WRONG not in verified.stdout + verified.stderr


def test_no_password_at_all(postgresql: Database, policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("PGPASSFILE", "/nonexistent")
    assert "no password supplied. Set PGPASSWORD" in refused(postgresql.url, policy, "--table", "patients")


def test_passwords_come_from_the_drivers_own_files(
    server: Server, postgresql: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgresql.load("t", pl.DataFrame({"a": [1]}))
    name = postgresql.url.rsplit("/", 1)[1]
    monkeypatch.delenv("PGPASSWORD")
    passfile = tmp_path / "pgpass"
    escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    passfile.write_text(f"127.0.0.1:{server.port}:*:{USER}:{escaped}\n")
    passfile.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passfile))
    assert polyveil.read(postgresql.url, table="t").height == 1
    services = tmp_path / "services"
    services.write_text(f"[clinic]\nhost=127.0.0.1\nport={server.port}\nuser={USER}\ndbname={name}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert polyveil.read("postgresql://?service=clinic", table="t").height == 1
    monkeypatch.delenv("PGPASSFILE")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".pgpass").write_text(passfile.read_text())
    (tmp_path / ".pgpass").chmod(0o600)
    assert polyveil.read("postgresql:///?service=clinic", table="t").height == 1
    with_secret = postgresql.url.replace("@", f":{quote(PASSWORD, safe='')}@")
    monkeypatch.setenv("HOME", "/nonexistent")
    assert polyveil.read(with_secret, table="t").height == 1


def test_a_server_that_is_not_there(policy: Path) -> None:
    line = refused(f"postgresql://u:{WRONG}@127.0.0.1:1/db", policy, "--table", "t")
    assert line == (
        "cannot connect to postgresql://u@127.0.0.1:1/db: Connection refused. "
        "Check host and port, and that the server runs"
    )


@pytest.fixture
def stopped(server: Server) -> Iterator[Server]:
    server.stop()
    yield server
    server.start()


def test_a_vanished_server(stopped: Server, policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert "Check host and port, and that the server runs" in refused(stopped.url("x"), policy, "--table", "t")


def test_a_server_that_vanishes_while_reading(postgresql: Database) -> None:
    with opened(place_of(postgresql.url)) as session:
        query = Query("SELECT i, repeat('x', 1000) AS a FROM generate_series(1, 300000) i")
        source = session.locate(query)
        rows = session.batches(source, session.describe(source, query))
        next(rows)
        end_all_others(postgresql)
        with pytest.raises(InputError, match=r"^the connection to postgresql://\S+ was lost while reading"):
            list(rows)


def end_all_others(postgresql: Database) -> None:
    postgresql.run(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


def test_a_missing_database_role_and_service(
    server: Server, postgresql: Database, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 'database "nowhere" does not exist. Check the name' in refused(server.url("nowhere"), policy, "--table", "t")
    stranger = refused(f"postgresql://stranger@{server.address}/x", policy, "--table", "t")
    assert "password authentication failed" in stranger
    monkeypatch.setenv("PGSERVICEFILE", "/dev/null")
    assert "Check the service file" in refused("postgresql://?service=clinic", policy, "--table", "t")


def test_a_missing_table(database: Database, policy: Path) -> None:
    database.load("patients", patients())
    line = refused(database.url, policy, "--table", "patient")
    assert line == f"{database.url} has no table patient. It has: patients"
    assert "has no table clinic.patients" in refused(database.url, policy, "--table", "clinic.patients")


def test_a_missing_column_in_a_query(database: Database, policy: Path) -> None:
    database.load("patients", patients())
    line = refused(database.url, policy, "--query", "SELECT agee FROM patients")
    assert "agee" in line


def test_a_query_that_stumbles_over_a_cell_does_not_quote_it(postgresql: Database, duckdb_file: Database) -> None:
    for database in (postgresql, duckdb_file):
        database.load("t", pl.DataFrame({"a": ["1", "Jane Roe"]}))
        with pytest.raises(InputError) as caught:
            polyveil.read(database.url, query="SELECT CAST(a AS int) AS a FROM t")
        assert "Jane" not in str(caught.value)
        assert "Jane" not in str(caught.value.__context__)


def test_rights_that_are_missing(server: Server, postgresql: Database, policy: Path) -> None:
    postgresql.load("patients", patients())
    postgresql.run(f"CREATE ROLE guest{server.port} LOGIN PASSWORD 'g'")
    url = postgresql.url.replace(f"{USER}@", f"guest{server.port}:g@")
    assert "permission denied for table patients" in refused(url, policy, "--table", "patients")
    assert "may not create the tables of a release" in refused("x.csv", policy, out=f"{url}?schema=r")
    postgresql.run(
        "CREATE SCHEMA made_for_guest", f"GRANT USAGE, CREATE ON SCHEMA made_for_guest TO guest{server.port}"
    )
    made().save(f"{url}?schema=made_for_guest")
    assert postgresql.run("SELECT count(*) FROM made_for_guest.table") == [(200,)]
    postgresql.run(f"DROP OWNED BY guest{server.port}", f"DROP ROLE guest{server.port}")


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_files_that_are_no_databases(
    scheme: str, policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("just words, and enough of them to fill the header of a database file " * 40)
    (tmp_path / "near.db").touch()
    monkeypatch.chdir(tmp_path)
    assert "does not exist" in refused(f"{scheme}://none.db", policy, "--table", "t")
    assert f"two slashes, {scheme}://near.db" in refused(f"{scheme}:///near.db", policy, "--table", "t")
    assert "is a folder" in refused(f"{scheme}://{tmp_path}", policy, "--table", "t")
    assert "not a" in refused(f"{scheme}://notes.txt", policy, "--table", "t")
    assert "does not exist" in refused("x.csv", policy, out=f"{scheme}://none/x.db?schema=r")
    assert "not a" in refused("x.csv", policy, out=f"{scheme}://notes.txt?schema=r")


def test_a_duckdb_file_in_use_elsewhere(duckdb_file: Database) -> None:
    duckdb_file.load("t", pl.DataFrame({"a": [1]}))
    file = duckdb_file.url.removeprefix("duckdb://")
    hold = f"import duckdb; c = duckdb.connect({file!r}); print('open', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with children.started([sys.executable, "-c", hold], **pipes) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(InputError, match=r"another program has the file open\. Close it there"):
            polyveil.read(duckdb_file.url, table="t")
        with pytest.raises(InputError, match=r"another program has the file open\. Close it there"):
            made().save(duckdb_file.release_url())
        other.communicate(b"\n")
    assert polyveil.read(duckdb_file.url, table="t").height == 1


def test_a_sqlite_file_in_use_elsewhere(sqlite: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyveil.table.databases.sqlite_file.BUSY_MILLISECONDS", 50)
    sqlite.load("t", pl.DataFrame({"a": [1]}))
    writer = sqlite.connect()
    with writer.cursor() as cursor:
        cursor.execute("DELETE FROM t")
    with pytest.raises(InputError, match=r"is locked\. Another program is writing"):
        made().save(sqlite.release_url())
    writer.close()
    assert sqlite.run("SELECT count(*) FROM t") == [(1,)]


@pytest.mark.parametrize(
    ("url", "module"),
    [
        ("postgresql://h/db", "adbc_driver_postgresql"),
        ("sqlite://f", "adbc_driver_sqlite"),
        ("duckdb://f", "duckdb"),
    ],
)
def test_a_missing_driver(url: str, module: str, policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("polyveil.table.databases.")]:
        if name.rsplit(".", 1)[1] in ("postgresql", "sqlite_file", "duckdb_file"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    line = refused(url, policy, "--table", "t")
    assert line.endswith(f"not installed ({module}). Install it with: pip install 'polyveil[db]'")


def test_a_secret_in_a_url_is_nowhere_in_the_output(postgresql: Database, policy: Path) -> None:
    postgresql.load("patients", patients())
    secret = quote(PASSWORD, safe="")
    url = postgresql.url.replace("@", f":{secret}@")
    arguments = ("--policy", str(policy), "--table", "patients", "--out", f"{url}?schema=r")
    printed = [
        polyveil_command("anonymize", url, *arguments, "--json"),
        polyveil_command("anonymize", url, *arguments, "--overwrite"),
        polyveil_command("verify", f"{url}?schema=r", "--json"),
        polyveil_command("verify", f"{url}?schema=r"),
        polyveil_command("verify", f"{url}?schema=none"),
        polyveil_command("anonymize", url, *arguments),
    ]
    assert [outcome.code for outcome in printed] == [0, 0, 0, 0, 2, 2]
    assert printed[0].json["release"] == printed[2].json["release"] == postgresql.release_url("r")
    manifest = postgresql.run("SELECT document FROM r.manifest")[0][0]
    for text in (*(outcome.stdout + outcome.stderr for outcome in printed), manifest):
        assert PASSWORD not in text
        assert secret not in text
        assert USER not in manifest
