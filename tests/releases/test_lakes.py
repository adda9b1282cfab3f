"""Releases as Delta and Iceberg tables: written whole, verified there, and nothing of them comes back."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog import load_catalog
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.errors import InputError
from polyveil.releases import delta
from polyveil.releases.database import write_release
from polyveil.table.databases import DATABASES, opened, place_of, read_wanted
from polyveil.table.databases.marked import MARK, MarkedSession
from polyveil.verification import verify
from verification.forgeries.forger import Forger, StoredForger, people, policy, publish, refused_for
from verification.forgeries.kinds import LINKED, kinds

ICEBERG = "PYICEBERG_CATALOG__CLINIC__"


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An Iceberg catalog in a file, named in the environment as users name theirs."""
    (tmp_path / "warehouse").mkdir()
    settings = {
        "TYPE": "sql",
        "URI": f"sqlite:///{tmp_path}/catalog.db",
        "WAREHOUSE": (tmp_path / "warehouse").as_uri(),
    }
    for name, value in settings.items():
        monkeypatch.setenv(ICEBERG + name, value)
    known = load_catalog("clinic", **{name.lower(): value for name, value in settings.items()})
    with patch("pyiceberg.catalog._ENV_CONFIG", __import__("pyiceberg.utils.config").utils.config.Config()):
        yield known
    known.close()


@pytest.fixture(params=["delta", "iceberg"])
def out(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a release goes, in a lake of each kind."""
    if request.param == "iceberg":
        request.getfixturevalue("catalog")
        return "iceberg://clinic.release_2026"
    (tmp_path / "lake").mkdir()
    return f"delta://{tmp_path}/lake/release_2026"


def anonymized(out: str, **more: Any) -> str:
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=out, seed=1, **more)
    return out


def released(out: str) -> dict[str, pl.DataFrame]:
    """Everything in the place of a release."""
    place = place_of(out)
    with opened(place) as session:
        schema = str(place.schema)
        return {name: read_wanted(session, session.stored(schema, name)) for name in session.relations(schema)}


def test_from_a_lake_to_a_release_in_a_lake(out: str, tmp_path: Path) -> None:
    """What was deleted does not come back, unless an older version is asked for by its number."""
    source, version = lake_with_deletions(out, tmp_path)
    (tmp_path / "policy.json").write_text(json.dumps(policy("generalized", "parquet")))
    command = ["anonymize", source, "--policy", str(tmp_path / "policy.json"), "--json"]
    run = CliRunner().invoke(app, [*command, "--out", out])
    assert run.exit_code == 0, run.output
    assert (json.loads(run.output)["release"], json.loads(run.output)["rows"]) == (out, KEPT)
    assert CliRunner().invoke(app, ["verify", out]).exit_code == 0
    assert set(released(out)) == {"manifest", "table"}
    assert CliRunner().invoke(app, [*command, "--out", out, "--as-of", version]).exit_code == 2  # it exists
    run = CliRunner().invoke(app, [*command, "--out", out, "--as-of", version, "--overwrite"])
    assert run.exit_code == 0, run.output
    assert released(out)["table"].height == people().height
    assert verify(out).holds


def lake_with_deletions(out: str, tmp_path: Path) -> tuple[str, str]:
    """A table from which people were deleted, and the version in which they were there."""
    if out.startswith("delta"):
        folder = tmp_path / "lake" / "people"
        write_deltalake(str(folder), people().to_arrow())
        DeltaTable(str(folder)).delete("age >= 40")
        return f"delta://{folder}", "0"
    catalog = load_catalog("clinic")
    catalog.create_namespace("health")
    table = catalog.create_table("health.people", schema=people().to_arrow().schema)
    table.append(people().to_arrow())
    table.delete("age >= 40")
    version = str(table.metadata.snapshots[0].snapshot_id)
    catalog.close()
    return "iceberg://clinic.health.people", version


KEPT = people().filter(pl.col("age") < 40).height


@pytest.mark.parametrize("form", ["generalized", "sliced"])
def test_a_forgery_in_a_lake_is_refused(out: str, form: str, tmp_path: Path) -> None:
    """The list of forgeries of folders, but for those of files; a table beside is what a file is in a folder."""
    publish(form, "parquet", tmp_path / "genuine")
    genuine = Forger(tmp_path / "genuine", tmp_path / "copy")
    honest = StoredForger(genuine, out).forged()
    assert honest.holds, honest.failures
    every = kinds(form, None)
    chosen = {name: every[name] for name in every if form == "generalized" or name in LINKED}
    accepted = []
    for name, (forge, check) in chosen.items():
        found = forge(StoredForger(genuine, out))
        expected = check.replace("extra file", "extra table")
        if found.holds or expected not in {finding.check for finding in found.failures}:
            accepted.append((name, expected, [finding.check for finding in found.failures]))
    assert not accepted


def add_note_to_log(table: Path) -> None:
    file = table / delta.LOG
    note = json.dumps({"commitInfo": {"userMetadata": "Alice has flu"}})
    file.write_text(f"{file.read_text()}{note}\n")


def describe_table(table: Path) -> None:
    file = table / delta.LOG
    file.write_text(file.read_text().replace('"format"', '"description": "Alice has flu", "format"'))


def add_bytes(table: Path) -> None:
    """After the rows, where no reader looks; the log says the new size."""
    file, frame = table / delta.PART, pl.read_parquet(table / delta.PART)
    frame.write_parquet(file, statistics=True)
    (table / delta.LOG).write_text(delta.log_of(frame, file))


BESIDE_DELTA: dict[str, Callable[[Path], object]] = {
    "a second version": lambda table: DeltaTable(str(table)).alter.set_table_properties({"delta.appendOnly": "false"}),
    "rows of before": lambda table: write_deltalake(str(table), pl.read_parquet(table / delta.PART), mode="overwrite"),
    "a note in the log": add_note_to_log,
    "a description": describe_table,
    "a file": lambda table: (table / "notes.txt").write_text("Alice has flu"),
    "a folder": lambda table: (table / "Alice has flu").mkdir(),
    "statistics in a file": add_bytes,
    "a file beside the tables": lambda table: (table.parent / "notes.txt").write_text("Alice has flu"),
}


def test_what_a_delta_table_has_beside_its_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    out = f"delta://{tmp_path}/lake/release_2026"
    for name, forge in BESIDE_DELTA.items():
        anonymized(out, overwrite=True)
        assert verify(out).holds
        forge(tmp_path / "lake" / "release_2026" / "table")
        assert {"extra objects", "extra table"} & refused_for(verify(out)), name
        if name == "a file beside the tables":
            (tmp_path / "lake" / "release_2026" / "notes.txt").unlink()
    assert "location" not in (tmp_path / "lake" / "release_2026" / "manifest" / delta.LOG).read_text()


def test_what_an_iceberg_table_has_beside_its_rows_is_refused(catalog: Any) -> None:
    out = "iceberg://clinic.release_2026"

    def comment(table: Any) -> None:
        with table.update_schema() as change:
            change.update_column("age", doc="Alice has flu")

    def add_rows_and_take_them_back(table: Any) -> None:
        table.append(table.scan().to_arrow().slice(0, 1))
        table.manage_snapshots().rollback_to_snapshot(table.metadata.snapshots[0].snapshot_id).commit()

    def note(table: Any) -> None:
        with table.transaction() as change:
            change.set_properties(comment="Alice has flu")

    for forge in (comment, add_rows_and_take_them_back, note):
        anonymized(out, overwrite=True)
        assert verify(out).holds
        forge(catalog.load_table("release_2026.table"))
        assert "extra objects" in refused_for(verify(out)), forge.__name__


def test_a_writer_that_is_refused_or_killed_leaves_what_was_there(out: str) -> None:
    anonymized(out)
    before = released(out)
    again = polyveil.anonymize(people(), policy("generalized", "parquet"), seed=2)

    def refuse(written: Any) -> None:
        assert verify(written).holds
        if out.startswith("delta"):  # whoever reads meanwhile finds the older release, whole
            assert verify(out).holds
            assert released(out)["manifest"].equals(before["manifest"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_release(out, again.tables, again.manifest, overwrite=True, accept=refuse)
    if out.startswith("delta"):
        assert released(out)["manifest"].equals(before["manifest"])
        assert verify(out).holds
    else:  # a catalog has no transaction over several tables: there is no release until the next one
        with pytest.raises(InputError, match="not a release"):
            verify(out)
    again.save(out, overwrite=True)
    assert verify(out).holds


def test_of_two_writers_one_is_published_and_the_other_is_told(out: str) -> None:
    first = polyveil.anonymize(people(), policy("generalized", "parquet"), seed=1)
    second = polyveil.anonymize(people(), policy("generalized", "parquet"), seed=2)

    def overtaken(_: Any) -> None:
        second.save(out, overwrite=True)

    with pytest.raises(InputError, match="somebody else"):
        write_release(out, first.tables, first.manifest, accept=overtaken)
    assert verify(out).holds


def test_a_killed_writer_of_a_catalog_leaves_a_mark_and_a_retry_makes_one_release(catalog: Any) -> None:
    out = "iceberg://clinic.release_2026"
    release = polyveil.anonymize(people(), policy("generalized", "parquet"), seed=1)
    killed: Any = DATABASES["iceberg"].open(place_of(out), writable=True)
    assert isinstance(killed, MarkedSession)
    killed.create_schema("clinic.release_2026")
    killed.create(killed.stored("clinic.release_2026", "table"), release.table)
    assert ("release_2026", MARK) in catalog.list_tables("release_2026")
    with pytest.raises(InputError, match="being written, or writing it was cut off"):
        verify(out)
    with pytest.raises(InputError, match="exists already"):
        release.save(out)
    release.save(out, overwrite=True)
    assert verify(out).holds
    killed.close()  # it was not killed, only slow: it takes nothing away
    assert verify(out).holds


def test_what_is_no_release_is_kept(out: str, tmp_path: Path) -> None:
    source, _ = lake_with_deletions(out, tmp_path)
    target = f"delta://{tmp_path}/lake" if out.startswith("delta") else "iceberg://clinic.health"
    with pytest.raises(InputError, match="not a release"):
        anonymized(target, overwrite=True)
    assert polyveil.read(source).frame.height == KEPT
    if out.startswith("delta"):
        with pytest.raises(InputError, match="is a Delta table, and a release is a folder of such tables"):
            anonymized(source, overwrite=True)


def test_every_type_of_a_release_survives(out: str) -> None:
    from datetime import UTC, date, datetime

    frame = pl.DataFrame(
        {
            "flag": [True, None],
            "whole": [1, None],
            "number": [1.5, None],
            "text": ["ä", None],
            "day": [date(2026, 1, 31), None],
            "moment": [datetime(2026, 1, 31, 12, 30), None],
            "instant": [datetime(2026, 1, 31, 12, 30, tzinfo=UTC), None],
        }
    )
    place = place_of(out)
    with opened(place, writable=True) as session:
        session.create_schema(str(place.schema))
        name = session.stored(str(place.schema), "table")
        session.create(name, session.storable(frame))
        assert read_wanted(session, name).equals(frame)
        assert read_wanted(session, name).schema == frame.schema


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (
            "iceberg://nowhere.health.people",
            r"cannot be opened.*PYICEBERG_CATALOG__NOWHERE__URI",
        ),
        ("iceberg://clinic.health.people", "has no table clinic.health.people. Check the name"),
        ("iceberg://clinic", "is only a catalog"),
        ("iceberg://clinic/health", "is a name in a catalog"),
        ("delta:///no/such/lake", "is no Delta table"),
    ],
)
def test_what_a_lake_does_not_have_is_said_with_what_to_do(catalog: Any, address: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        polyveil.read(address)
    assert "\n" not in str(refused.value)


def test_what_a_lake_refuses_is_said_with_what_to_grant(catalog: Any, tmp_path: Path) -> None:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.exceptions import ForbiddenError

    with (
        patch.object(SqlCatalog, "create_table", side_effect=ForbiddenError("quiet-word")),
        pytest.raises(InputError, match="Grant this user reading, creating and dropping") as refused,
    ):
        anonymized("iceberg://clinic.release_2026")
    assert "quiet-word" not in str(refused.value)
    assert not catalog.namespace_exists("release_2026")
    with pytest.raises(InputError, match="does not exist or is not a folder"):
        anonymized(f"delta://{tmp_path}/missing/release")
    with pytest.raises(InputError, match="--as-of is for Delta and Iceberg"):
        polyveil.read(f"sqlite://{tmp_path}/catalog.db", table="iceberg_tables", as_of=1)


@pytest.mark.parametrize(
    ("address", "package"), [("delta:///lake/x", "deltalake"), ("iceberg://a.b", "pyiceberg.catalog")]
)
def test_a_missing_package_is_named(address: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"not installed \({package}\).*polyveil\[lakes\]"):
        verify(address)
