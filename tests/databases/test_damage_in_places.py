"""A release that was damaged where it is kept fails its verification (exit code 1); a refusal is none (exit code 2)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from databases.servers import Database
from polyveil.cli import app
from polyveil.errors import DamagedRelease, InputError, PolicyError
from polyveil.verification import verify
from verification.forgeries.forger import FORMS, Forger, people, policy, publish

LOG = "_delta_log/00000000000000000000.json"


@pytest.fixture(scope="module")
def release() -> polyveil.Release:
    return polyveil.anonymize(people(), policy("generalized", "parquet"), seed=1)


def judged(out: str) -> tuple[int, str]:
    """The exit code of the command, and the checks that failed or the one line of its error."""
    run = CliRunner().invoke(app, ["verify", out, "--json"])
    said = json.loads(run.stdout)
    if "error" in said:
        assert "\n" not in said["error"]["message"]
        return run.exit_code, said["error"]["message"]
    return run.exit_code, " ".join(one["check"] for one in said["findings"] if one["outcome"] == "fails")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def overwrite_bytes(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[40:60] = bytes(byte ^ 255 for byte in content[40:60])
    file.write_bytes(content)


def write_another(file: Path) -> None:
    pl.read_parquet(file).with_columns(pl.lit(["Alice"]).alias("more")).write_parquet(file)


def write_another_type(file: Path) -> None:
    pl.read_parquet(file).with_columns(pl.first().hash()).write_parquet(file)


def drop_a_column(file: Path) -> None:
    pl.read_parquet(file).select(pl.lit("x").alias("other"), pl.exclude(pl.first())).write_parquet(file)


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "cut off": cut,
    "bytes changed": overwrite_bytes,
    "another column": write_another,
    "another type": write_another_type,
    "emptied": lambda file: file.write_bytes(b""),
    "removed": lambda file: file.unlink(),
}


def test_a_changed_file_of_a_delta_release_is_a_verification_that_failed(
    release: polyveil.Release, tmp_path: Path
) -> None:
    out = f"delta://{tmp_path}/release"
    release.save(out)
    shutil.copytree(tmp_path / "release", tmp_path / "genuine")
    logs = {"log emptied": lambda file: file.write_text(""), "log cut off": cut, "log removed": lambda f: f.unlink()}
    for table, expected in (("table", "unreadable table"), ("manifest", "The release is damaged")):
        for name, damage in {**DAMAGE, **logs}.items():
            shutil.rmtree(tmp_path / "release")
            shutil.copytree(tmp_path / "genuine", tmp_path / "release")
            damage(tmp_path / "release" / table / (LOG if name in logs else "part-00000.parquet"))
            code, said = judged(out)
            assert (code, expected in said) == (1, True), (table, name, said)
        shutil.rmtree(tmp_path / "release" / table)
        (tmp_path / "release" / table).mkdir()
        assert judged(out)[0] == 1, "a folder that is no Delta table any more"


@pytest.fixture
def iceberg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    import pyiceberg.catalog
    from pyiceberg.utils.config import Config

    (tmp_path / "warehouse").mkdir()
    settings = {"TYPE": "sql", "URI": f"sqlite:///{tmp_path}/catalog.db", "WAREHOUSE": f"file://{tmp_path}/warehouse"}
    for name, value in settings.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__CLINIC__{name}", value)
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
    return "iceberg://clinic.release_2026"


def test_a_changed_file_of_an_iceberg_release_is_a_verification_that_failed(
    release: polyveil.Release, iceberg: str, tmp_path: Path
) -> None:
    release.save(iceberg)
    warehouse = tmp_path / "warehouse"
    shutil.copytree(warehouse, tmp_path / "genuine")
    metadata = {"metadata/*.metadata.json", "metadata/*-m0.avro", "metadata/snap-*.avro"}
    on_metadata = {name: DAMAGE[name] for name in ("cut off", "emptied", "removed")}
    for table, expected in (("table", "unreadable table"), ("manifest", "The release is damaged")):
        for pattern in ("data/*.parquet", *sorted(metadata)):
            for name, damage in (on_metadata if pattern in metadata else DAMAGE).items():
                shutil.rmtree(warehouse)
                shutil.copytree(tmp_path / "genuine", warehouse)
                for file in list(warehouse.glob(f"*/{table}/{pattern}")):
                    damage(file)
                code, said = judged(iceberg)
                assert (code, expected in said) == (1, True), (table, pattern, name, said)


def test_what_a_catalog_or_its_storage_refuses_is_no_damage(release: polyveil.Release, iceberg: str) -> None:
    from pyiceberg.exceptions import ForbiddenError
    from pyiceberg.table import DataScan

    release.save(iceberg)
    whole, refusals = (
        DataScan.to_arrow,
        (
            ForbiddenError("quiet-word"),
            PermissionError(13, "quiet-word"),
            ConnectionError("quiet-word"),
            OSError(
                "When reading information for key 'quiet-word': AWS Error ACCESS_DENIED during HeadObject operation"
            ),
        ),
    )

    for refusal in refusals:

        def rows(scan: Any, refusal: Exception = refusal) -> Any:
            if "document" in scan.projection().column_names:
                return whole(scan)
            raise refusal

        with patch.object(DataScan, "to_arrow", rows):
            code, said = judged(iceberg)
        assert (code, "was refused" in said, "quiet-word" in said) == (2, True, False), said


CHANGED = {
    "column dropped": "ALTER TABLE {t} DROP COLUMN age",
    "rows gone": "DELETE FROM {t}",
    "one row gone": "DELETE FROM {t} WHERE age = (SELECT min(age) FROM {t})",
    "table dropped": "DROP TABLE {t}",
    "another type": "ALTER TABLE {t} ALTER COLUMN age TYPE bytea USING 'x'",
    "a list": "ALTER TABLE {t} ADD COLUMN more integer[]",
    "a day that no calendar has": "ALTER TABLE {t} ADD COLUMN more date DEFAULT 'infinity'",
    "no name": 'ALTER TABLE {t} RENAME COLUMN age TO " "',
    "a view of nothing": "CREATE TABLE {a} AS SELECT * FROM {t}; DROP TABLE {t}; CREATE VIEW {t} AS SELECT * FROM {a}",
    "a view that fails": "DROP TABLE {t}; CREATE VIEW {t} AS SELECT 1 / (random() * 0)::int AS age",
}
IN_OTHER_WORDS = {
    "sqlite": {
        "another type": "UPDATE {t} SET age = x'00ff'",
        "a list": "UPDATE {t} SET age = CAST(x'ff' AS TEXT)",
        "a day that no calendar has": "UPDATE {t} SET age = 1.5",
        "a view that fails": "DROP TABLE {t}; CREATE VIEW {t} AS SELECT abs(-9223372036854775808) AS age",
    },
    "duckdb": {
        "another type": "ALTER TABLE {t} ALTER COLUMN age TYPE BLOB USING 'x'::BLOB",
        "a view of nothing": "CREATE TABLE {a} AS SELECT 1 AS age; DROP TABLE {t}; CREATE VIEW {t} AS FROM {a}; "
        "DROP TABLE {a}",
        "a view that fails": "DROP TABLE {t}; CREATE VIEW {t} AS SELECT error('x') AS age",
    },
}


def test_a_changed_table_of_a_database_is_a_verification_that_failed(
    release: polyveil.Release, database: Database
) -> None:
    out, table, aside = database.release_url(), database.stored("table"), database.stored("aside")
    for name, statement in {**CHANGED, **IN_OTHER_WORDS.get(database.kind, {})}.items():
        release.save(out)
        database.run(*statement.format(t=table, a=aside).split("; "))
        code, said = judged(out)
        assert code == 1, (name, said)
        assert set(said.split()) & {"table", "rows", "columns", "objects"}, (name, said)
        if database.kind == "postgresql":
            database.run("DROP SCHEMA release_2026 CASCADE")
        else:
            Path(database.url.partition("://")[2]).unlink()
    release.save(out)
    database.run(f"UPDATE {database.stored('manifest')} SET document = '{{'")
    assert judged(out) == (1, f"the manifest of {out} cannot be read. {DAMAGED}")


DAMAGED = "The release is damaged; get it again from its source"


@pytest.mark.parametrize("kind", ["sqlite", "duckdb_file"])
def test_a_database_file_that_was_cut_off_is_a_verification_that_failed(
    release: polyveil.Release, kind: str, request: pytest.FixtureRequest
) -> None:
    database: Database = request.getfixturevalue(kind)
    release.save(database.release_url())
    file = Path(database.url.partition("://")[2])
    cut(file)
    code, said = judged(database.release_url())
    assert (code, "malformed" in said or "is damaged" in said) == (1, True), said
    file.write_text("Alice has flu")  # this is no database, and nobody said that it is one
    assert judged(database.release_url())[0] == 2


@pytest.mark.parametrize("form", FORMS)
def test_a_table_that_lost_all_its_rows_breaks_nothing(form: str, tmp_path: Path) -> None:
    publish(form, "parquet", tmp_path / "genuine")
    forger = Forger(tmp_path / "genuine", tmp_path / "copy")
    for name in forger.tables:
        forger.again(tmp_path / "genuine")
        forger.tables[name] = forger.tables[name].clear()
        forger.write_tables()
        assert not forger.restamp().holds, name


def test_a_damaged_manifest_is_a_verification_that_failed_and_none_is_no_release(
    release: polyveil.Release, tmp_path: Path
) -> None:
    out = tmp_path / "release"
    release.save(out)
    manifest = json.loads((out / "manifest.json").read_text())
    damaged = {
        "cut off": (out / "manifest.json").read_text()[:100],
        "a key gone": json.dumps({key: value for key, value in manifest.items() if key != "claims"}),
    }
    for name, text in damaged.items():
        (out / "manifest.json").write_text(text)
        code, said = judged(str(out))
        assert (code, "damaged" in said) == (1, True), (name, said)
        with pytest.raises(DamagedRelease):
            verify(out)
    # A package that is not installed, or a newer version, may know it: nothing can be said about this release here.
    unknown = {**manifest, "policy": {"columns": {"age": {"role": "nobody"}}}}
    (out / "manifest.json").write_text(json.dumps(unknown))
    assert CliRunner().invoke(app, ["verify", str(out)]).exit_code == 2
    with pytest.raises(PolicyError, match=r"columns\.age\.role"):
        verify(out)
    (out / "manifest.json").unlink()
    assert judged(str(out))[0] == 2
    with pytest.raises(InputError):
        verify(out)
