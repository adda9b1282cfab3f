"""Finding or starting Spark, and reading what is to be anonymized. What fails here fails in one line."""

from __future__ import annotations

import os
import re
import sys
import warnings
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from polyveil.engines.spark.faults import as_input_errors, refusal, unreadable
from polyveil.errors import InputError
from polyveil.table.databases import place_of
from polyveil.table.lakes import as_asked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOGS = {"delta": "_delta_log/*.json", "iceberg": "metadata/*.metadata.json"}
ON_THIS_MACHINE = {
    "spark.python.daemon.module": "polyveil.engines.spark_daemon",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
}
"""Settings of a session that is started here: workers have their libraries at once, and get larger batches."""
_PART = re.compile(r"`([^`]+)`|([^`.]+)")
_REMEDY = "Install it with: pip install 'polyveil[spark]'"


def session_for(master: str | None = None) -> SparkSession:
    """The session of a Spark Connect URL (sc://...), of a master, or the ambient one (spark-submit, a notebook).

    Without any of them a local session on all cores is started.
    """
    try:
        # pyspark warns that its pandas functions do not know pandas 3 yet; only Arrow functions are used here.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        from pyspark.errors import PySparkException
        from pyspark.logger import PySparkLogger
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(f"--engine spark needs pyspark, which is not installed. {_REMEDY}") from None
    # Spark would print what it refuses, with the statement, beside the one line that says what to do.
    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True
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


def in_sql(*names: str) -> str:
    """Names with dots between their parts as SQL reads them literally."""
    parts = [found[1] or found[2] for name in names for found in _PART.finditer(name)]
    return ".".join(f"`{part}`" for part in parts)


def read_source(spark: SparkSession, data: str, as_of: str | int | None = None) -> DataFrame:
    """A Parquet file or folder or a lake by its path, or a table by the name that Spark has for it.

    Names are those of its catalogs, with spark:// before them or without, and format.`path`. `as_of` is a version or a
    time of a lake.
    """
    from pyspark.errors import PySparkException

    asked = None if as_of is None else as_asked(as_of)
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
        if asked is not None and kind == "parquet":
            raise InputError(f"{data} is no Delta or Iceberg table, so it has no older versions. Leave --as-of out")
        try:
            if kind is None:
                frame = table_at(spark, data, asked)
            else:
                frame = spark.read.format(kind).options(**_options_at(kind, asked)).load(data)
            _ = frame.schema
        except PySparkException as error:
            what = "a table that Spark knows" if kind is None else kind.title()
            reason = error.getCondition() or type(error).__name__
            check = "Check the name" if asked is None else "Check the name, and that the version or time exists"
            remedy = refusal(error) or unreadable(error) or check
            raise InputError(f"{data} cannot be read as {what} ({reason}). {remedy[0].upper()}{remedy[1:]}") from None
    return frame


def table_at(spark: SparkSession, name: str, asked: int | datetime | None) -> DataFrame:
    """A table by its name, as it is or as it was.

    In SQL Spark refuses a version of what has none; given as an option of a reader, it may be passed over in silence.
    """
    if asked is None:
        return spark.table(name)
    moment = f"VERSION AS OF {asked}" if isinstance(asked, int) else f"TIMESTAMP AS OF TIMESTAMP '{_in_utc(asked)}'"
    return spark.sql(f"SELECT * FROM {in_sql(name)} {moment}")  # noqa: S608 - names are quoted


def _options_at(kind: str, asked: int | datetime | None) -> dict[str, str]:
    """A version or a time in the words of each kind of lake, for one that is named by its path."""
    if asked is None:
        return {}
    if kind == "delta":
        if isinstance(asked, int):
            return {"versionAsOf": str(asked)}
        return {"timestampAsOf": _in_utc(asked).replace(" ", "T")}
    if isinstance(asked, int):
        return {"snapshot-id": str(asked)}
    return {"as-of-timestamp": str(int(asked.timestamp() * 1000))}


def _in_utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(sep=' ', timespec='milliseconds')}Z"


def _kind_of(spark: SparkSession, path: str) -> str:
    """Read as loose files, a lake would give deleted people back; its log is there on every kind of storage."""
    from pyspark.errors import AnalysisException

    if Path(path).is_file():
        return "parquet"
    for kind, log in LOGS.items():
        with suppress(AnalysisException):
            # Some servers of Spark Connect know a schema where there is no file.
            if spark.read.text(f"{path.rstrip('/')}/{log}").inputFiles():
                return kind
    return "parquet"
