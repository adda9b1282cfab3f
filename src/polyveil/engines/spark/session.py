"""Finding or starting Spark, and reading what is to be anonymized. What fails here fails in one line."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from polyveil.engines.spark.faults import as_input_errors, refusal
from polyveil.errors import InputError
from polyveil.table.databases import place_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOGS = {"delta": "_delta_log/*.json", "iceberg": "metadata/*.metadata.json"}
ON_THIS_MACHINE = {
    "spark.python.daemon.module": "polyveil.engines.spark_daemon",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
}
"""Settings of a session that is started here: workers have their libraries at once, and get larger batches."""
_REMEDY = "Install it with: pip install 'polyveil[spark]'"


def session_for(master: str | None = None) -> SparkSession:
    """The session of a Spark Connect URL (sc://...), of a master, or the ambient one (spark-submit, a notebook).

    Without any of them a local session on all cores is started.
    """
    try:
        # pyspark warns that its pandas functions do not know pandas 3 yet; only Arrow functions are used here.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(f"--engine spark needs pyspark, which is not installed. {_REMEDY}") from None
    if master is None:
        active = SparkSession.getActiveSession()
        if active is not None:
            return active
    try:
        return _started(master)
    except PySparkException as error:
        reason = error.getCondition() or type(error).__name__
    except (OSError, RuntimeError) as error:
        reason = type(error).__name__
    raise InputError(
        f"Spark cannot be started or reached ({reason}). Check that Java 17 or newer is installed and that --master "
        "names a running Spark"
    )


def _started(master: str | None) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("polyveil")
    if master is not None and master.startswith("sc://"):
        return builder.remote(master).getOrCreate()
    if master is None or master.startswith("local"):
        # Workers on this machine run the interpreter that has polyveil, and nothing listens to the outside.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if master is not None:
        builder = builder.master(master)
    settings = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    if master is None or master.startswith("local"):
        settings |= ON_THIS_MACHINE
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def read_source(spark: SparkSession, data: str) -> DataFrame:
    """A Parquet file or folder or a lake by its path, or a table by the name that Spark has for it.

    Names are those of its catalogs, with spark:// before them or without, and format.`path`.
    """
    from pyspark.errors import PySparkException

    if data.startswith("spark://"):
        data, named = str(place_of(data).schema), True
    else:
        named = data.endswith("`")
    if not named and data.endswith((".csv", ".tsv", ".txt", ".gz", ".zst")):
        raise InputError(
            f"{data}: Spark reads Parquet and its own tables, because text files do not say their types. Anonymize it "
            "without --engine spark, or make Parquet of it first (docs/spark.md says how)"
        )
    is_path = not named and ("/" in data or data.endswith((".parquet", ".pq")) or Path(data).exists())
    with as_input_errors():
        kind = _kind_of(spark, data) if is_path else None
        try:
            frame = spark.table(data) if kind is None else spark.read.format(kind).load(data)
            _ = frame.schema
        except PySparkException as error:
            what = "a table that Spark knows" if kind is None else kind.title()
            reason = error.getCondition() or type(error).__name__
            remedy = refusal(error) or "Check the name"
            raise InputError(f"{data} cannot be read as {what} ({reason}). {remedy[0].upper()}{remedy[1:]}") from None
    return frame


def _kind_of(spark: SparkSession, path: str) -> str:
    """Read as loose files, a lake would give deleted people back; its log is there on every kind of storage."""
    from pyspark.errors import AnalysisException

    for kind, log in LOGS.items():
        with suppress(AnalysisException):
            _ = spark.read.text(f"{path.rstrip('/')}/{log}").schema
            return kind
    return "parquet"
