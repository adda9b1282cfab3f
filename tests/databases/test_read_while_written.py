"""Readers and writers at the same time: a reader finds the older release or the new one, and one writer publishes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import children
import polyveil
from databases.servers import Database
from databases.test_damage_in_places import iceberg
from polyveil import verification
from polyveil.errors import InputError
from polyveil.releases.database import write_release
from polyveil.table.databases.postgresql import PostgresqlSession
from polyveil.verification import database as stored
from polyveil.verification import verify
from verification.forgeries.forger import people, policy

__all__ = ["iceberg"]


@pytest.fixture(scope="module")
def releases() -> list[polyveil.Release]:
    return [polyveil.anonymize(people(), policy("generalized", "parquet"), seed=seed) for seed in (1, 2)]


def after_first(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, then: Callable[[], object]) -> list[str]:
    """Let something happen after a step of the reader, once."""
    real, done = getattr(owner, name), []

    def disturbed(*words: Any, **more: Any) -> Any:
        found = real(*words, **more)
        if not done:
            done.append(name)
            then()
        return found

    monkeypatch.setattr(owner, name, disturbed)
    return done


@pytest.mark.parametrize("kind", ["folder", "delta", "iceberg"])
def test_a_release_that_is_replaced_while_it_is_read_is_read_again(
    kind: str, releases: list[polyveil.Release], tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: Any
) -> None:
    """The manifest of the older release and a table of the new one are no forgery."""
    where = {"folder": f"{tmp_path}/release", "delta": f"delta://{tmp_path}/release"}
    out = request.getfixturevalue("iceberg") if kind == "iceberg" else where[kind]
    releases[0].save(out)
    step = (verification, "read_manifest") if kind == "folder" else (stored, "stored_manifest")
    done = after_first(monkeypatch, *step, lambda: releases[1].save(out, overwrite=True))
    assert verify(out).holds
    assert done


def test_a_folder_that_is_gone_while_it_is_read_is_said(
    releases: list[polyveil.Release], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "release"
    releases[0].save(out)
    after_first(monkeypatch, verification, "read_manifest", lambda: out.rename(tmp_path / "elsewhere"))
    with pytest.raises(InputError, match="is not a folder"):
        verify(out)


def test_a_release_that_is_replaced_again_and_again_is_said(
    releases: list[polyveil.Release], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, real = tmp_path / "release", verification.read_manifest
    releases[0].save(out)

    def disturbed(folder: Path) -> Any:
        found = real(folder)
        if folder == out:
            releases[1].save(out, overwrite=True)
        return found

    monkeypatch.setattr(verification, "read_manifest", disturbed)
    with pytest.raises(InputError, match="was changed while it was read"):
        verify(out)


def test_a_reader_of_a_server_whose_view_is_older_than_the_release_reads_again(
    postgresql: Database, releases: list[polyveil.Release], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sees the new tables without their rows, which looked like damage."""
    out = postgresql.release_url()
    releases[0].save(out)
    done = after_first(monkeypatch, PostgresqlSession, "relations", lambda: releases[1].save(out, overwrite=True))
    assert verify(out).holds
    assert done


def test_who_reads_a_sqlite_file_meanwhile_finds_the_older_release_or_the_new_one(
    sqlite: Database, releases: list[polyveil.Release]
) -> None:
    out = sqlite.release_url()
    releases[0].save(out)
    found: list[bool] = []
    written = threading.Event()

    def read() -> None:
        while not written.is_set():
            found.append(verify(out).holds)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(12):
            releases[number % 2].save(out, overwrite=True)
    finally:
        written.set()
        reader.join(60)
    assert found
    assert all(found)


WRITE = """
import sys
import polyveil
from polyveil.errors import InputError
from verification.forgeries.forger import people, policy
try:
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=sys.argv[1], seed=2, overwrite=True)
except InputError as error:
    print(error)
else:
    print("published")
"""


def test_of_two_programs_that_write_at_once_each_publishes_or_is_told(
    database: Database, releases: list[polyveil.Release]
) -> None:
    out = database.release_url()
    said: list[str] = []

    def other() -> None:
        tests = str(Path(__file__).parents[1])
        done = children.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r}){WRITE}", out], limit=120)
        said.append(done.stdout.strip() or done.stderr)

    second = threading.Thread(target=other)

    def begin_the_other(_: Any) -> None:
        second.start()
        second.join(3)  # it waits for this one, or gives up

    write_release(out, releases[0].tables, releases[0].manifest, accept=begin_the_other)
    second.join(120)
    assert said
    assert said[0] == "published" or "\n" not in said[0]
    assert "Traceback" not in said[0]
    assert verify(out).holds
