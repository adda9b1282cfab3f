"""One Spark session per test process, with a driver too small for any table: 512 MB, results of 1 MB at most."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
SETTINGS = {
    "spark.driver.memory": "512m",
    "spark.driver.maxResultSize": "1m",
    "spark.sql.shuffle.partitions": "2",
    # A table of a few hundred rows is gone before compiling or replanning its queries would pay.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    **{f"spark.{kind}.extraJavaOptions": QUICK_START for kind in ("driver", "executor")},
    "spark.python.daemon.module": "quick_daemon",
    "spark.executorEnv.PYTHONPATH": str(Path(__file__).parent / "spark_workers"),
    # A lost executor does not come back, so there is no point in asking it for its part again and again.
    "spark.shuffle.io.maxRetries": "0",
    "spark.shuffle.io.retryWait": "0s",
}


def require_spark() -> None:
    from conftest import require

    require(importlib.util.find_spec("pyspark"), "pyspark is not installed (pip install 'polyveil[spark]')")
    require(shutil.which("java"), "Java is not installed (Debian: default-jre-headless)")


def with_settings(builder: Any, **more: str) -> Any:
    """A session's builder with what all tests need; workers run this interpreter and nothing listens to the outside."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    for name, value in {**SETTINGS, **more}.items():
        builder = builder.config(name, value)
    return builder


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    require_spark()
    warehouse = {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("polyveil tests")
        session = with_settings(builder, **warehouse).getOrCreate()
        yield session
        session.stop()


@pytest.fixture
def schemas(spark: Any) -> Iterator[Any]:
    """The session; schemas that a test makes are gone afterwards, also for the tests after it."""
    yield spark
    for (name,) in spark.sql("SHOW SCHEMAS").collect():
        if name != "default":
            spark.sql(f"DROP SCHEMA `{name}` CASCADE")
    spark.sql("DROP TABLE IF EXISTS people")


def on_spark(session: Any, frame: pl.DataFrame, parts: int = 2) -> Any:
    """A table in memory as a Spark DataFrame in some partitions."""
    return session.createDataFrame(frame.to_arrow()).repartition(parts)


def in_memory(frame: Any) -> pl.DataFrame:
    """A small Spark DataFrame as a table in memory."""
    return pl.DataFrame(pl.from_arrow(frame.toArrow()))


def in_one_process(items: list[pytest.Item]) -> None:
    """Tests on Spark come first, so that of several test processes the first runs them all and starts one Java."""
    items.sort(key=lambda item: not _on_spark(item))


def _on_spark(item: pytest.Item) -> bool:
    """Whether a test needs Java: of those about both engines, the ones on this machine do not."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    here = parameters.get("engine") == "local"
    return not here and not {"spark", "engine", "elsewhere"}.isdisjoint(getattr(item, "fixturenames", ()))


def quieten(items: list[pytest.Item]) -> None:
    """Tests on Spark: pyspark leaves sockets to the collector and speaks of pandas 3, which is not used here."""
    for item in items:
        if _on_spark(item):
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"))
