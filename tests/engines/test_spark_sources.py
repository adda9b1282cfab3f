"""What Spark is asked to read and cannot is named in one line with what to install, and lakes are no loose files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from polyveil.engines.spark.faults import as_input_errors
from polyveil.engines.spark.session import read_source
from polyveil.errors import InputError


@pytest.mark.parametrize(
    ("log", "package"), [("_delta_log/0.json", "delta-spark"), ("metadata/1.metadata.json", "iceberg-spark")]
)
def test_a_lake_is_never_read_as_loose_files(spark: Any, tmp_path: Path, log: str, package: str) -> None:
    pl.DataFrame({"age": [31, 42]}).write_parquet(tmp_path / "part-0.parquet")
    assert read_source(spark, str(tmp_path)).count() == 2
    (tmp_path / log).parent.mkdir()
    (tmp_path / log).write_text(json.dumps({"remove": {"path": "part-0.parquet"}}))
    with pytest.raises(InputError, match=rf"Spark has no code for \w+.DefaultSource.*{package}"):
        read_source(spark, str(tmp_path))


def test_a_format_and_a_path_are_a_name(spark: Any, tmp_path: Path) -> None:
    pl.DataFrame({"age": [31, 42]}).write_parquet(tmp_path / "part-0.parquet")
    assert read_source(spark, f"parquet.`{tmp_path}`").count() == 2
    with pytest.raises(InputError, match="cannot be read as a table that Spark knows"):
        read_source(spark, f"delta.`{tmp_path}`")


def test_storage_without_its_package_is_named(spark: Any) -> None:
    with pytest.raises(InputError, match=r"Spark has no code for [\w.]*s3a.*hadoop-aws"):
        read_source(spark, "s3a://bucket/people.parquet")


def test_a_wrong_path_is_said(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read as Parquet \(PATH_NOT_FOUND\)"):
        read_source(spark, str(tmp_path / "absent.parquet"))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("software.amazon.awssdk: NoSuchBucket: quiet-word", "bucket or container of that address does not exist"),
        ("com.amazonaws: 403 Forbidden; quiet-word", "Grant its account reading, writing and listing"),
        ("[INSUFFICIENT_PERMISSIONS] no CREATE TABLE on quiet-word", "CREATE SCHEMA and CREATE TABLE"),
        ('No FileSystem for scheme "gs": quiet-word', "gcs-connector"),
        ("ClassNotFoundException: Class org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem", "hadoop-azure"),
        ("ClassNotFoundException: Class com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem", "gcs-connector"),
    ],
)
def test_what_storage_refuses_spark_is_said_with_what_to_grant(said: str, words: str) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(InputError, match=words) as refused, as_input_errors():
        raise PySparkException(said)
    assert "quiet-word" not in str(refused.value)
    assert "\n" not in str(refused.value)
