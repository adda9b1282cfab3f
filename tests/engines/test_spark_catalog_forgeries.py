"""Forged releases in a schema of Spark's catalog, everything restamped, each refused by both verifiers.

Set POLYVEIL_ALL_FORGERIES=1 to run every forgery that databases are tried with; otherwise some of each kind run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from polyveil.engines.spark import verify as on_spark
from polyveil.table.databases.exact import storable
from polyveil.verification import Verification, verify
from polyveil.verification.canonical import manifest_text
from polyveil.verification.fingerprint import tree_fingerprint_of
from verification.forgeries.forger import Forger, StoredForger, publish
from verification.forgeries.kinds import EVERY, GENERALIZED, LINKED, LOOK_ALIKES, TOLD, kinds

SCHEMA = "forged"
URL = f"spark://spark_catalog.{SCHEMA}"
EVERY_FORGERY = os.environ.get("POLYVEIL_ALL_FORGERIES") == "1"
OF_A_KIND = 2


class Catalog:
    """The schema as it is. A table that keeps its columns gets another file, which is quicker than another table."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self.there: dict[str, pl.DataFrame] = {}

    def put(self, wanted: dict[str, pl.DataFrame]) -> None:
        for name in set(self.there) - set(wanted):
            self.spark.sql(f"DROP TABLE {SCHEMA}.`{name}`")
        for name, frame in wanted.items():
            before = self.there.get(name)
            if before is None or before.schema != frame.schema:
                self.spark.sql(f"DROP TABLE IF EXISTS {SCHEMA}.`{name}`")
                self.spark.createDataFrame(frame.to_arrow()).coalesce(1).write.saveAsTable(f"{SCHEMA}.`{name}`")
            elif not before.equals(frame):
                self._write_file(name, frame)
        self.there = wanted

    def _write_file(self, name: str, frame: pl.DataFrame) -> None:
        located = self.spark.sql(f"DESCRIBE EXTENDED {SCHEMA}.`{name}`").where("col_name = 'Location'").first()
        folder = Path(located["data_type"].removeprefix("file:"))
        for file in folder.iterdir():
            file.unlink()
        frame.write_parquet(folder / "part-00000.parquet")
        self.spark.catalog.refreshTable(f"{SCHEMA}.`{name}`")


class CatalogForger(StoredForger):
    """Writes what was forged, and has both verifiers judge."""

    def __init__(self, genuine: Forger, catalog: Catalog) -> None:
        self.catalog = catalog
        super().__init__(genuine, URL)

    def describe(self) -> None:
        self.manifest["tables"] = {
            name: {"sha256": tree_fingerprint_of(frame), "rows": frame.height, "columns": frame.columns}
            for name, frame in self.tables.items()
        }

    def restamp(self, *, text: str | None = None) -> Verification:
        self.tables = {name: storable(frame) for name, frame in self.tables.items()}
        self.describe()
        document = pl.DataFrame({"document": [text or manifest_text(self.manifest)]})
        self.catalog.put({**self.tables, "manifest": document})
        here, there = verify(URL), on_spark(URL, self.catalog.spark)
        # What only one of them refuses would be a hole in the other.
        assert here.holds == there.holds, (here.failures, there.failures)
        return there


@pytest.fixture
def empty(spark: Any) -> Iterator[Any]:
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    yield spark
    spark.sql(f"DROP SCHEMA {SCHEMA} CASCADE")


def chosen(form: str) -> list[str]:
    """The names of the forgeries to run: all, or some from each of the lists."""
    every = kinds(form, None)
    lists = [LINKED] if form != "generalized" else [EVERY, TOLD, LOOK_ALIKES, GENERALIZED]
    own = [[name for name in some if name in every] for some in lists]
    return [name for names in own for name in (names if EVERY_FORGERY else names[:: -(-len(names) // OF_A_KIND)])]


@pytest.mark.parametrize("form", ["generalized", "sliced"])
def test_a_forgery_in_a_catalog_is_refused_by_both_verifiers(empty: Any, tmp_path: Path, form: str) -> None:
    publish(form, "parquet", tmp_path / "release")
    genuine, catalog = Forger(tmp_path / "release", tmp_path / "copy"), Catalog(empty)
    assert CatalogForger(genuine, catalog).forged().holds
    every, accepted = kinds(form, None), []
    for name in chosen(form):
        forge, check = every[name]
        found = forge(CatalogForger(genuine, catalog))
        expected = check.replace("extra file", "extra table")
        if found.holds or expected not in {finding.check for finding in found.failures}:
            accepted.append((name, expected, [finding.check for finding in found.failures]))
    assert not accepted
    assert CatalogForger(genuine, catalog).forged().holds  # the place itself was not what was refused
