"""What Spark is asked to read and cannot is named in one line with what to install, and lakes are no loose files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.engines.spark.faults import as_input_errors, unreadable
from polyveil.engines.spark.session import _options_at, read_source
from polyveil.errors import InputError
from polyveil.table.lakes import as_asked

GRANT = "Grant it reading and listing"
WANTED = {"columns": {"age": {"role": "sensitive"}}, "privacy": {"l": 2}}


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
        ("com.amazonaws.services.s3.model.AmazonS3Exception: FORBIDDEN (Status Code: 403; quiet-word)", "Grant its"),
        (
            "NoClassDefFoundError: software/amazon/awssdk/auth/credentials/EnvironmentVariableCredentialsProvider",
            r"no code for software\.amazon\.awssdk\..*hadoop-aws",
        ),
        (
            "java.lang.NoSuchMethodError: 'quiet-word'",
            r"another version than Spark \(NoSuchMethodError\)\. Take",
        ),
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


def test_a_version_of_what_has_none_is_refused_and_never_passed_over(schemas: Any, tmp_path: Path) -> None:
    """Spark's readers pass the option over for plain files and give the newest rows; its SQL refuses."""
    frame = pl.DataFrame({"age": [31, 42]})
    (tmp_path / "rows").mkdir()
    frame.write_parquet(tmp_path / "rows" / "part-0.parquet")
    schemas.createDataFrame(frame.to_arrow()).write.saveAsTable("people")
    schemas.sql("CREATE SCHEMA views")
    schemas.sql("CREATE VIEW views.people AS SELECT * FROM default.people")
    for name in ("spark://default.people", "people", "spark://views.people", f"parquet.`{tmp_path}/rows`"):
        assert read_source(schemas, name).count() == 2
        for as_of in (0, "7", "2026-01-31T18:00"):
            with pytest.raises(
                InputError, match=r"no older versions that Spark can read\. Leave --as-of out"
            ) as refused:
                read_source(schemas, name, as_of)
            assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match="is no Delta or Iceberg table, so it has no older versions"):
        read_source(schemas, str(tmp_path / "rows"), 0)
    with pytest.raises(InputError, match="must be a version or a time"):
        read_source(schemas, "people", "the day before")
    with pytest.raises(InputError, match="no older versions that Spark can read"):
        polyveil.read("spark://default.people", as_of=0)
    with pytest.raises(InputError, match="as_of is for a table that is given by its name"):
        polyveil.anonymize(schemas.table("people"), WANTED, reading={"as_of": 0})
    asked = ["anonymize", "spark://default.people", "--as-of", "0", "--out", str(tmp_path / "release")]
    (tmp_path / "policy.yaml").write_text(json.dumps(WANTED))
    run = CliRunner().invoke(app, [*asked, "--policy", str(tmp_path / "policy.yaml"), "--json"])
    assert run.exit_code == 2
    assert "Leave --as-of out" in json.loads(run.output)["error"]["message"]


@pytest.mark.parametrize(
    ("kind", "as_of", "options"),
    [
        ("delta", "12", {"versionAsOf": "12"}),
        ("delta", "2026-01-31T18:00+01:00", {"timestampAsOf": "2026-01-31T17:00:00.000Z"}),
        ("iceberg", 8109744798576441359, {"snapshot-id": "8109744798576441359"}),
        ("iceberg", "1970-01-02", {"as-of-timestamp": "86400000"}),
        ("parquet", None, {}),
    ],
)
def test_a_version_of_a_path_is_asked_for_in_the_words_of_its_lake(kind: str, as_of: Any, options: Any) -> None:
    assert _options_at(kind, None if as_of is None else as_asked(as_of)) == options


@pytest.mark.parametrize(
    "said",
    [
        "(java.nio.file.AccessDeniedException) /lake/people: Permission denied",
        "Could not read footer. Caused by: java.io.FileNotFoundException: /lake/people.parquet (Permission denied)",
        "org.apache.hadoop.security.AccessControlException: user=spark, access=READ",
    ],
)
def test_a_file_that_spark_may_not_read_is_said_with_what_to_grant(said: str) -> None:
    """The first two were said by a server of Spark Connect that ran under another account than that of the files."""
    from pyspark.errors import PySparkException

    assert (
        unreadable(PySparkException(said)) == "Spark's account is not allowed to read it. Grant it reading and listing"
    )
    assert unreadable(PySparkException("PATH_NOT_FOUND: /lake/permissions/people")) is None
