"""The same release from a session in this process, from a cluster that fails here and there, and over Spark Connect."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import children
import polyveil
from engines.clinic import clinic
from engines.spark_script import POLICIES, READING
from polyveil.verification import verify
from spark_session import in_memory, require_spark

SCRIPT = Path(__file__).parent / "spark_script.py"
Tables = dict[str, pl.DataFrame]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Path, subprocess.Popen[str]]]]:
    """Both processes, started at once: most of their time they wait for Java and for workers."""
    require_spark()
    with ExitStack() as stack:
        found = {}
        for kind in POLICIES:
            folder = tmp_path_factory.mktemp(kind)
            clinic().write_parquet(folder / "clinic.parquet")
            outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            command = [sys.executable, SCRIPT, kind, folder]
            found[kind] = folder, stack.enter_context(children.started(command, limit=540, **outputs))
        yield found


def released(elsewhere: dict[str, tuple[Path, subprocess.Popen[str]]], kind: str) -> tuple[Tables, dict[str, Any]]:
    folder, process = elsewhere[kind]
    said, complaints = process.communicate()
    assert process.returncode == 0, complaints[-3000:]
    assert verify(folder / "release").holds
    names = [entry.name for entry in (folder / "release").iterdir() if entry.is_dir()]
    return {name: pl.read_parquet(folder / "release" / name / "*.parquet") for name in names}, json.loads(said)


def undisturbed(spark: Any, folder: Path, kind: str) -> Tables:
    clinic().write_parquet(folder / "clinic.parquet")
    frame = spark.read.parquet(str(folder / "clinic.parquet"))
    release = polyveil.anonymize(frame, POLICIES[kind], seed=1, reading=READING)
    return {name: in_memory(table) for name, table in release.tables.items()}


def test_spark_connect_makes_the_same_release(elsewhere: Any, spark: Any, tmp_path: Path) -> None:
    tables, said = released(elsewhere, "connect")
    assert "connect" in said["frame"]
    here = undisturbed(spark, tmp_path, "connect")["table"]
    assert tables["table"].sort(here.columns, nulls_last=True).equals(here.sort(here.columns, nulls_last=True))


def test_a_cluster_that_retries_a_task_and_loses_an_executor_ends_with_the_same_verified_release(
    elsewhere: Any, spark: Any, tmp_path: Path
) -> None:
    # local-cluster[2,1,1024]: two executors in processes of their own. A task fails and is run again, and before the
    # tables are written an executor is killed with what it had placed. Spark speculates between hosts only, so not
    # here; two attempts at one block are compared in test_spark_blocks, for every method.
    tables, said = released(elsewhere, "cluster")
    assert said["killed"] == 1
    assert said["failed"] == 1
    assert said["again"] >= 1
    assert groups_of(tables) == groups_of(undisturbed(spark, tmp_path, "cluster"))


def groups_of(tables: Tables) -> Counter[tuple[Any, ...]]:
    """The groups of an anatomized release by what they hold; their ids are drawn anew in every run."""
    held: dict[str, list[list[str]]] = {}
    for i, name in enumerate(("quasi", "sensitive_1")):
        columns = [column for column in tables[name].columns if column != "group"]
        for row in tables[name].select("group", *columns).iter_rows():
            held.setdefault(row[0], [[], []])[i].append(str(row[1:]))
    return Counter(tuple(tuple(sorted(rows)) for rows in both) for both in held.values())
