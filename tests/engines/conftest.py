"""One Spark session per test process, with a driver too small for any table: 512 MB, results of 1 MB at most."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

import polyveil
from conftest import require

Run = Callable[..., "Result"]


def require_spark() -> None:
    require(importlib.util.find_spec("pyspark"), "pyspark is not installed (pip install 'polyveil[spark]')")
    require(shutil.which("java"), "Java is not installed (Debian: default-jre-headless)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "engines" in item.path.parts:
            # pyspark leaves sockets to the collector and speaks of pandas 3, whose functions are not used here.
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    require_spark()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("polyveil tests")
        for name, value in {
            "spark.driver.memory": "512m",
            "spark.driver.maxResultSize": "1m",
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "OFF",
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()


@dataclass(frozen=True, eq=False)
class Result:
    """A release of either engine, its table in memory."""

    table: pl.DataFrame
    release: Any

    @property
    def sorted(self) -> pl.DataFrame:
        return self.table.sort(self.table.columns, nulls_last=True)


def on_spark(session: Any, frame: pl.DataFrame, parts: int = 2) -> Any:
    """A table in memory as a Spark DataFrame in some partitions."""
    return session.createDataFrame(frame.to_arrow()).repartition(parts)


@pytest.fixture(params=["local", "spark"])
def run(request: pytest.FixtureRequest) -> Run:
    """Anonymize on this machine, and on Spark: every test that takes `run` makes its claim about both."""
    if request.param == "local":

        def local(frame: pl.DataFrame, policy: Any, **options: Any) -> Result:
            options.pop("block_rows", None)
            release = polyveil.anonymize(frame, policy, **options)
            return Result(release.table, release)

        return local
    session = request.getfixturevalue("spark")

    def spark_engine(frame: pl.DataFrame, policy: Any, block_rows: int | None = None, **options: Any) -> Result:
        reading = {} if block_rows is None else {"block_rows": block_rows}
        release = polyveil.anonymize(on_spark(session, frame), policy, reading=reading, **options)
        return Result(pl.DataFrame(pl.from_arrow(release.table.toArrow())), release)

    return spark_engine
