"""Releases as tables of a schema of Spark's catalogs, read, written and verified by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.engines.spark import verify as on_spark
from polyveil.engines.spark.catalog import CatalogSession
from polyveil.errors import InputError
from polyveil.releases.database import write_release
from polyveil.table.databases import opened, place_of
from polyveil.table.databases.exact import storable
from polyveil.table.databases.marked import MARK
from polyveil.verification import load_release, verify
from polyveil.verification.database import stored_document
from polyveil.verification.fingerprint import fingerprint
from spark_session import in_memory
from verification.forgeries.forger import people, policy

OUT = "spark://spark_catalog.release_2026"


def tables_of(spark: Any, schema: str = "release_2026") -> set[str]:
    return {row["tableName"] for row in spark.sql(f"SHOW TABLES IN {schema}").collect()}


def test_a_table_is_anonymized_and_verified_by_name(schemas: Any, tmp_path: Path) -> None:
    schemas.createDataFrame(people().to_arrow()).write.saveAsTable("people")
    (tmp_path / "policy.json").write_text(json.dumps(policy("generalized", "parquet")))
    command = ["anonymize", "spark://spark_catalog.default.people", "--policy", str(tmp_path / "policy.json"), "--json"]
    run = CliRunner().invoke(app, [*command, "--out", "spark_catalog.release_2026"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.output)["release"] == OUT
    assert tables_of(schemas) == {"manifest", "table"}
    assert verify(OUT).holds
    assert CliRunner().invoke(app, ["verify", OUT, "--engine", "spark"]).exit_code == 0
    again = CliRunner().invoke(app, [*command, "--out", OUT])
    assert again.exit_code == 2
    assert "exists already" in json.loads(again.output)["error"]["message"]
    assert polyveil.read("spark://default.people").frame.height == people().height

    schemas.sql("INSERT INTO release_2026.table SELECT * FROM release_2026.table LIMIT 1")
    for found in (verify(OUT), on_spark(OUT, schemas)):
        assert {"rows", "changed table"} <= {finding.check for finding in found.failures}
    schemas.sql("CREATE VIEW release_2026.more AS SELECT 'Alice' AS name")
    assert {"extra table", "extra objects"} <= {finding.check for finding in verify(OUT).failures}


@pytest.mark.parametrize("form", ["anatomized", "sliced"])
def test_linked_tables_of_spark_are_verified_in_the_catalog_and_read_back(schemas: Any, form: str) -> None:
    frame = schemas.createDataFrame(people().to_arrow())
    release = polyveil.anonymize(frame, policy(form, "parquet"), seed=1)
    release.save(OUT)
    slices = {"sensitive_1"} if form == "anatomized" else {"sensitive_1", "sensitive_2"}
    assert tables_of(schemas) == {"manifest", "quasi", *slices}
    assert verify(OUT).holds
    _, stored, _ = load_release(OUT)
    for name, table in release.tables.items():
        assert fingerprint(stored[name]) == fingerprint(storable(in_memory(table))), name


def test_a_killed_writer_leaves_no_release_and_a_retry_makes_one(schemas: Any) -> None:
    release = polyveil.anonymize(people(), policy("generalized", "parquet"), seed=1)
    killed: Any = CatalogSession(place_of(OUT), writable=True)
    killed.create_schema("spark_catalog.release_2026")
    killed.create(killed.stored("spark_catalog.release_2026", "table"), release.table)
    assert MARK in tables_of(schemas)
    with pytest.raises(InputError, match="being written, or writing it was cut off"):
        verify(OUT)
    with pytest.raises(InputError, match="exists already"):
        release.save(OUT)
    release.save(OUT, overwrite=True)
    assert verify(OUT).holds
    # The first writer was not killed, only slow: it must not publish over the other's release.
    killed.create(killed.stored("spark_catalog.release_2026", "manifest"), pl.DataFrame({"document": ["{}"]}))
    with pytest.raises(InputError, match="somebody else writes"):
        killed.commit()
    killed.close()
    assert verify(OUT).holds


def test_a_release_that_is_refused_leaves_nothing_and_keeps_what_is_no_release(schemas: Any) -> None:
    release = polyveil.anonymize(people(), policy("generalized", "parquet"), seed=1)

    def refuse(written: Any) -> None:
        assert stored_document(written)["rows"] == people().height
        raise InputError("refused")

    with pytest.raises(InputError, match="refused"):
        write_release(OUT, release.tables, release.manifest, accept=refuse)
    with opened(place_of(OUT)) as session:
        assert not session.has_schema("spark_catalog.release_2026")
    schemas.sql("CREATE SCHEMA release_2026")
    schemas.sql("CREATE TABLE release_2026.mine AS SELECT 1 AS a")
    with pytest.raises(InputError, match="is not a release"):
        release.save(OUT, overwrite=True)
    assert tables_of(schemas) == {"mine"}


def test_what_a_catalog_refuses_is_said_with_what_to_do(schemas: Any) -> None:
    for source in ("spark://no_such_catalog.health.people", "spark://default.no_such_table"):
        with pytest.raises(InputError, match=r"no such (catalog|table)"):
            polyveil.anonymize(source, policy("generalized", "parquet"))
    release = polyveil.anonymize(people(), policy("generalized", "parquet"), seed=1)
    with pytest.raises(InputError, match=r"Spark has no such catalog. Set spark.sql.catalog"):
        release.save("spark://no_such_catalog.release")
    with pytest.raises(InputError, match=r"is a name in a catalog"):
        release.save("spark://host:7077/release")


def test_a_folder_that_spark_cannot_write_to_is_said_with_what_to_grant(schemas: Any, tmp_path: Path) -> None:
    """No account can make a folder below a file, not even one that may write everywhere."""
    release = polyveil.anonymize(people(), policy("generalized", "parquet"), seed=1)
    schemas.sql(f"CREATE SCHEMA release_2026 LOCATION 'file:{tmp_path}/schema'")
    (tmp_path / "schema").rmdir()
    (tmp_path / "schema").touch()
    with pytest.raises(InputError, match="Grant its account writing to the folder of that schema") as refused:
        release.save(OUT)
    assert "\n" not in str(refused.value)
