"""Releases in databases: whole or absent, verified before anyone sees them, and verifiable by anyone after."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import children
import polyveil
from databases.clinic import POLICY, made, patients, polyveil_command
from databases.servers import Database
from polyveil.errors import InputError, VerificationFailed
from polyveil.policy import Policy
from polyveil.releases.database import check_release_target, write_release
from polyveil.table.databases import opened, place_of, read_wanted
from polyveil.verification import StoredRelease, verify
from polyveil.verification.fingerprint import fingerprint


def publish(database: Database, *, overwrite: bool = False) -> polyveil.Release:
    made().save(database.release_url(), overwrite=overwrite)
    return made()


def contents(database: Database, schema: str = "release_2026") -> dict[str, pl.DataFrame]:
    """Everything in a schema, as a stranger sees it."""
    if database.url.startswith(("sqlite", "duckdb")) and not Path(database.url.split("://")[1]).exists():
        return {}
    with opened(place_of(database.url)) as session:
        return {name: read_wanted(session, session.stored(schema, name)) for name in session.relations(schema)}


def same(first: dict[str, pl.DataFrame], second: dict[str, pl.DataFrame]) -> bool:
    return {name: fingerprint(frame) for name, frame in first.items()} == {
        name: fingerprint(frame) for name, frame in second.items()
    }


def test_from_a_table_to_a_release_and_back(database: Database, tmp_path: Path) -> None:
    """The issue's command, on all three: --table in, --out with a schema, verify."""
    database.load("patients", patients())
    policy = tmp_path / "policy.yaml"
    policy.write_text(Policy.from_dict(POLICY).to_yaml())
    arguments = ("--policy", str(policy), "--out", database.release_url(), "--json")
    made = polyveil_command("anonymize", database.url, "--table", "patients", *arguments)
    assert made.code == 0, made
    assert made.json["rows"] == 200
    assert made.json["release"] == database.release_url()
    assert made.json["privacy"]["k"] >= 5
    checked = polyveil_command("verify", database.release_url(), "--json")
    assert checked.code == 0
    assert checked.json["holds"]
    released = contents(database)
    assert set(released) == {"manifest", "table"}
    assert released["table"].columns == [name for name in POLICY["columns"] if name != "name"]
    # The driver made the input's column an INTEGER in SQLite, which has no booleans.
    assert released["table"].get_column("insured").dtype == (pl.Int64 if database.kind == "sqlite" else pl.Boolean)
    assert "Person 1" not in str(released["table"].rows()) + released["manifest"].item()


def test_a_query_instead_of_a_table(database: Database) -> None:
    database.load("all patients", patients())
    query = 'SELECT * FROM "all patients" WHERE age > 20'
    release = polyveil.anonymize(database.url, POLICY, out=database.release_url(), reading={"query": query})
    assert release.manifest["rows"] == patients().filter(pl.col("age") > 20).height
    assert verify(database.release_url()).holds


def test_the_manifest_is_that_of_a_folder_but_for_tables_instead_of_files(database: Database, tmp_path: Path) -> None:
    release = publish(database)
    release.save(tmp_path / "folder")
    in_database = json.loads(contents(database)["manifest"].item())
    in_folder = json.loads((tmp_path / "folder" / "manifest.json").read_text())
    assert in_database.pop("tables") == {
        "table": {
            "sha256": fingerprint(release.table),
            "rows": release.table.height,
            "columns": release.table.columns,
        }
    }
    in_folder.pop("files")
    assert in_database == in_folder


@pytest.mark.parametrize("form", ["anatomized", "sliced"])
def test_a_release_of_several_tables(database: Database, form: str) -> None:
    policy = {**POLICY, "release": {"form": form}}
    release = polyveil.anonymize(patients(), policy, out=database.release_url())
    assert len(release.tables) > 1
    assert set(contents(database)) == {"manifest", *release.tables}
    assert verify(database.release_url()).holds
    polyveil.anonymize(patients(), POLICY, out=database.release_url(), overwrite=True)
    assert set(contents(database)) == {"manifest", "table"}
    assert verify(database.release_url()).holds


def test_a_release_in_memory_can_be_saved_into_a_database(database: Database) -> None:
    release = made()
    release.save(database.release_url("kept"))
    assert verify(database.release_url("kept")).holds
    with pytest.raises(InputError, match="Name a new schema or use --overwrite"):
        release.save(database.release_url("kept"))


def test_a_schema_must_be_named(database: Database) -> None:
    with pytest.raises(InputError, match=r"Add \?schema=NAME"):
        polyveil.anonymize(patients(), POLICY, out=database.url)
    publish(database)
    with pytest.raises(InputError, match=r"Add the schema of the release: \?schema=NAME"):
        verify(database.url)
    with pytest.raises(InputError, match="has no table manifest in the schema 'other'"):
        verify(database.release_url("other"))


def test_an_older_release_is_replaced_only_when_asked(database: Database) -> None:
    publish(database)
    before = contents(database)
    with pytest.raises(InputError, match=r"exists already.*--overwrite"):
        publish(database)
    assert same(contents(database), before)
    publish(database, overwrite=True)
    assert not same(contents(database), before) or contents(database)["table"].height == 200
    assert verify(database.release_url()).holds
    assert set(contents(database)) == {"manifest", "table"}


def test_what_is_not_a_release_is_never_overwritten(database: Database) -> None:
    publish(database)
    database.run(f"CREATE TABLE {database.stored('notes')} (a INTEGER)")
    with pytest.raises(InputError, match="holds more than the older release"):
        publish(database, overwrite=True)
    database.run(f"DROP TABLE {database.stored('manifest')}")
    with pytest.raises(InputError, match=r"is not a release.*not overwritten"):
        publish(database, overwrite=True)


def test_views_built_on_an_older_release_are_not_swept_away(postgresql: Database) -> None:
    publish(postgresql)
    postgresql.run("CREATE VIEW public.ages AS SELECT age FROM release_2026.table")
    with pytest.raises(InputError, match="Other views or tables are built on the older release"):
        publish(postgresql, overwrite=True)
    assert verify(postgresql.release_url()).holds
    assert postgresql.run("SELECT count(*) FROM ages") == [(200,)]


def test_a_reader_who_holds_the_older_release_is_not_waited_for_for_ever(
    postgresql: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polyveil.table.databases.postgresql.LOCK_WAIT", "50ms")
    publish(postgresql)
    reader = postgresql.connect()
    with reader.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM release_2026.table")
        cursor.fetchall()
        with pytest.raises(InputError, match="Others are using it"):
            publish(postgresql, overwrite=True)
    reader.close()
    assert verify(postgresql.release_url()).holds


def test_nothing_is_visible_before_it_is_verified(postgresql: Database) -> None:
    """Another connection looks while the verifier reads: the verifier sees the tables, the other nothing."""
    seen: list[tuple[set[str], list[tuple[Any, ...]]]] = []
    release = made()

    def look(stored: StoredRelease) -> None:
        assert verify(stored).holds
        others = postgresql.run("SELECT count(*) FROM pg_namespace WHERE nspname = 'release_2026'")
        seen.append((set(stored.session.relations("release_2026")), others))

    write_release(postgresql.release_url(), release.tables, release.manifest, accept=look)
    assert seen == [({"manifest", "table"}, [(0,)])]


def test_a_release_that_does_not_pass_leaves_nothing_behind(database: Database) -> None:
    release = made()
    worse = release.table.with_columns(age=pl.int_range(pl.len()).cast(pl.String))
    false_release = polyveil.Release({"table": worse}, release.manifest)
    with pytest.raises(VerificationFailed, match="did not pass its own verification"):
        false_release.save(database.release_url())
    assert contents(database) == {}
    release.save(database.release_url())
    before = contents(database)
    with pytest.raises(VerificationFailed):
        false_release.save(database.release_url(), overwrite=True)
    assert same(contents(database), before)


@pytest.mark.parametrize("older", [False, True])
def test_a_statement_that_fails_in_the_middle_leaves_nothing_behind(postgresql: Database, older: bool) -> None:
    """The rows are in, then the server refuses to create the manifest."""
    if older:
        publish(postgresql)
    before = contents(postgresql)
    postgresql.run(
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity LIKE '%.manifest') "
        "AND (SELECT count(*) FROM release_2026.table) = 200 THEN RAISE EXCEPTION 'Jane Roe'; END IF; END $$",
        "CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION refuse()",
    )
    with pytest.raises(InputError, match=r"the server refused creating release_2026.manifest \(code P0001\)") as caught:
        publish(postgresql, overwrite=older)
    assert "Jane" not in str(caught.value)
    postgresql.run("DROP EVENT TRIGGER refuse")
    assert same(contents(postgresql), before)
    if not older:
        assert postgresql.run("SELECT count(*) FROM pg_namespace WHERE nspname = 'release_2026'") == [(0,)]
    publish(postgresql, overwrite=older)
    assert verify(postgresql.release_url()).holds


@pytest.mark.parametrize("older", [False, True])
def test_a_connection_that_is_cut_in_the_middle_leaves_nothing_behind(postgresql: Database, older: bool) -> None:
    release = made()
    if older:
        release.save(postgresql.release_url())
    before = contents(postgresql)

    def cut(_: StoredRelease) -> None:
        postgresql.run(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    with pytest.raises(InputError, match=r"was lost while committing\. Nothing was written"):
        write_release(postgresql.release_url(), release.tables, release.manifest, overwrite=older, accept=cut)
    assert same(contents(postgresql), before)


RUN = """
import os, resource, signal, sys
import polars as pl
from polyveil.errors import InputError
from polyveil.releases.database import write_release

url, harm = sys.argv[1:]
if harm == "full disk":
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
words = pl.int_range(20_000, eager=True).hash().cast(pl.String)
manifest = {"format": "polyveil-release", "format_version": 1}
kill = lambda _: os.kill(os.getpid(), signal.SIGKILL)
try:
    tables = {"table": pl.DataFrame({"a": words, "b": words.reverse(), "c": words})}
    write_release(url, tables, manifest, overwrite=True, accept=kill if harm == "kill" else lambda _: None)
except InputError as error:
    print(error)
"""


def run_harmed(database: Database, harm: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN, database.release_url(), harm]
    return children.run(command)


@pytest.mark.parametrize("older", [False, True])
def test_a_full_disk_in_the_middle_leaves_nothing_behind(sqlite: Database, duckdb_file: Database, older: bool) -> None:
    for database in (sqlite, duckdb_file):
        if older:
            database.load("raw", pl.DataFrame({"a": [1]}))
            publish(database)
        before = contents(database)
        done = run_harmed(database, "full disk")
        assert done.returncode == 0, done
        assert "disk" in done.stdout, done
        assert same(contents(database), before)
        if older:
            assert verify(database.release_url()).holds
            assert database.run("SELECT a FROM raw") == [(1,)]
        else:
            assert not Path(database.url.split("://")[1]).exists()


@pytest.mark.parametrize("older", [False, True])
def test_a_killed_run_leaves_nothing_behind(database: Database, older: bool) -> None:
    if older:
        publish(database)
    before = contents(database)
    assert run_harmed(database, "kill").returncode == -signal.SIGKILL
    assert same(contents(database), before)
    publish(database, overwrite=True)
    assert verify(database.release_url()).holds


SPILL = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN")
connection.execute("DELETE FROM release_2026__table")
connection.execute("CREATE TABLE more AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) "
                   "SELECT i, hex(randomblob(50)) FROM n")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_release_is_verified_after_a_killed_run_that_had_begun_to_change_the_file(sqlite: Database) -> None:
    publish(sqlite)
    file = sqlite.url.removeprefix("sqlite://")
    done = subprocess.run([sys.executable, "-c", SPILL, file], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert Path(f"{file}-journal").stat().st_size
    assert verify(sqlite.release_url()).holds


def test_places_are_checked_before_the_work(database: Database, tmp_path: Path) -> None:
    """The input does not even exist, and the fault of the target is what is reported."""
    publish(database)
    with pytest.raises(InputError, match="exists already"):
        polyveil.anonymize(tmp_path / "none.csv", POLICY, out=database.release_url())
    check_release_target(database.release_url("free"))
    check_release_target(database.release_url(), overwrite=True)
    if database.kind != "postgresql":
        new = f"{database.kind}://{tmp_path}/new.file?schema=r"
        check_release_target(new)
        assert not (tmp_path / "new.file").exists()


def test_sqlite_schemas_are_prefixes_that_cannot_be_mistaken(sqlite: Database) -> None:
    for schema in ("a__b", "a_", "sqlite_x"):
        with pytest.raises(InputError, match="SQLite has no schemas"):
            polyveil.anonymize(patients(), POLICY, out=sqlite.release_url(schema))
    for schema in ("a", "a_b"):
        made().save(sqlite.release_url(schema))
        assert verify(sqlite.release_url(schema)).holds
    assert sqlite.run("SELECT name FROM sqlite_master ORDER BY name") == [
        ("a__manifest",),
        ("a__table",),
        ("a_b__manifest",),
        ("a_b__table",),
    ]


class TestTampering:
    """Someone edits a release in its database; the verifier tells."""

    def failures(self, database: Database, *statements: str) -> list[str]:
        publish(database)
        database.run(*statements)
        verification = verify(database.release_url())
        assert not verification.holds
        return [finding.check for finding in verification.failures]

    def test_a_changed_cell(self, database: Database) -> None:
        table = database.stored("table")
        edit = f"UPDATE {table} SET ward = 'Z' WHERE salary = (SELECT min(salary) FROM {table})"
        assert self.failures(database, edit) == ["changed table"]

    def test_a_removed_row(self, database: Database) -> None:
        table = database.stored("table")
        edit = f"DELETE FROM {table} WHERE salary = (SELECT min(salary) FROM {table})"
        assert {"rows", "changed table"} <= set(self.failures(database, edit))

    def test_a_removed_table(self, database: Database) -> None:
        assert "missing table" in self.failures(database, f"DROP TABLE {database.stored('table')}")

    def test_a_table_too_many(self, database: Database) -> None:
        extra = f"CREATE TABLE {database.stored('names')} (name VARCHAR(9))"
        assert "extra table" in self.failures(database, extra)

    def test_another_order_of_rows_is_the_same_release(self, database: Database) -> None:
        publish(database)
        table = database.stored("table")
        database.run(
            f"CREATE TABLE moved AS SELECT * FROM {table} ORDER BY random()",
            f"DELETE FROM {table}",
            f"INSERT INTO {table} SELECT * FROM moved",
        )
        assert verify(database.release_url()).holds

    @pytest.mark.parametrize("document", ["", "{}", '{"tables": 1}', '{"tables": {}}', "[" * 100_000])
    def test_a_manifest_that_is_none(self, sqlite: Database, document: str) -> None:
        publish(sqlite)
        sqlite.run(f"UPDATE {sqlite.stored('manifest')} SET document = '{document}'")
        with pytest.raises(InputError, match=r"manifest"):
            verify(sqlite.release_url())
