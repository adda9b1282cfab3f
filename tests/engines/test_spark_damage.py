"""A release in Spark's catalog whose files or tables were changed fails its verification, on both engines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from verification.forgeries.forger import people, policy

OUT = "spark://spark_catalog.release_2026"


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


FILES: dict[str, Callable[[Path], Any]] = {
    "cut off": cut,
    "another type": lambda file: pl.read_parquet(file).with_columns(pl.lit(["Alice"]).alias("age")).write_parquet(file),
    "removed": lambda file: file.unlink(),
}
STATEMENTS = {
    "a list": ["ALTER TABLE {t} ADD COLUMNS (more ARRAY<INT>)"],
    "a view of nothing": [
        "CREATE TABLE release_2026.aside AS SELECT 1 AS age",
        "DROP TABLE {t}",
        "CREATE VIEW {t} AS SELECT * FROM release_2026.aside",
        "DROP TABLE release_2026.aside",
    ],
}


def files_of(spark: Any, table: str) -> list[Path]:
    found = spark.sql(f"DESCRIBE EXTENDED {table}").where("col_name = 'Location'").first()
    return sorted(Path(found["data_type"].removeprefix("file:")).glob("*part-*.parquet*"))  # with their checksums


def judged(engine: str) -> tuple[int, str]:
    run = CliRunner().invoke(app, ["verify", OUT, "--json", *(["--engine", "spark"] if engine == "spark" else [])])
    assert not run.stderr, "one line, and nothing that Spark prints"
    said = json.loads(run.stdout)
    if "error" in said:
        return run.exit_code, said["error"]["message"]
    return run.exit_code, " ".join(one["check"] for one in said["findings"] if one["outcome"] == "fails")


def damaged(spark: Any, table: str, damage: Callable[[Path], Any]) -> list[tuple[int, str]]:
    """What both verifiers say of a table whose files were changed, which are then as they were."""
    genuine = {file: file.read_bytes() for file in files_of(spark, table)}
    for file in genuine:
        file.unlink() if file.suffix == ".crc" else damage(file)
    spark.catalog.refreshTable(table)
    found = [judged("local"), judged("spark")]
    for file, content in genuine.items():
        file.write_bytes(content)
    spark.catalog.refreshTable(table)
    return found


def test_what_was_changed_in_sparks_catalog_is_a_verification_that_failed(schemas: Any) -> None:
    polyveil.anonymize(people(), policy("generalized", "parquet"), seed=1).save(OUT)
    table, manifest = "release_2026.`table`", "release_2026.manifest"
    for name, damage in FILES.items():
        for code, said in damaged(schemas, table, damage):
            assert (code, ("rows" if name == "removed" else "unreadable table") in said) == (1, True), (name, said)
    for code, said in damaged(schemas, manifest, cut):
        assert (code, "The release is damaged" in said) == (1, True), said
    assert judged("spark") == (0, ""), "it was the damage that was refused"
    for name, statements in STATEMENTS.items():
        for statement in statements:
            schemas.sql(statement.format(t=table))
        for code, said in (judged("local"), judged("spark")):
            assert (code, "extra objects" in said) == (1, True), (name, said)
