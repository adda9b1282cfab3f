"""The same releases from a session in this process, and over Spark Connect from a cluster that fails here and there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import children
from engines.clinic import clinic
from engines.spark_script import POLICIES, READING, ROWS
from polyveil.pipeline import try_out
from polyveil.verification import verify
from spark_session import in_memory, require_spark

SCRIPT = Path(__file__).parent / "spark_script.py"
Tables = dict[str, pl.DataFrame]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """A process that starts a cluster with a server of Spark Connect, and makes both releases as its client."""
    require_spark()
    folder = tmp_path_factory.mktemp("elsewhere")
    clinic(ROWS).write_parquet(folder / "clinic.parquet")
    with children.started(
        [sys.executable, SCRIPT, folder], limit=540, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield folder, process


def released(folder: Path, form: str) -> Tables:
    assert verify(folder / form).holds
    names = [entry.name for entry in (folder / form).iterdir() if entry.is_dir()]
    return {name: pl.read_parquet(folder / form / name / "*.parquet") for name in names}


def undisturbed(spark: Any, folder: Path, form: str) -> Tables:
    frame = spark.read.parquet(str(folder / "clinic.parquet"))
    release = try_out(frame, POLICIES[form], seed=1, reading=READING)
    return {name: in_memory(table) for name, table in release.tables.items()}


def test_over_spark_connect_a_cluster_that_retries_a_task_and_loses_an_executor_makes_the_same_verified_releases(
    elsewhere: Any, spark: Any
) -> None:
    # local-cluster[2,1,1024]: two executors in processes of their own. A task fails and is run again, and before the
    # tables of the second release are written an executor is killed with what it had placed. Spark speculates between
    # hosts only, so not here; two attempts at one block are compared in test_spark_blocks, for every method.
    folder, process = elsewhere
    table = undisturbed(spark, folder, "generalized")["table"]
    groups = groups_of(undisturbed(spark, folder, "anatomized"))
    said, complaints = process.communicate()
    assert process.returncode == 0, complaints[-3000:]
    notes = json.loads(said)
    assert "connect" in notes["frame"]
    assert notes["killed"] == 1
    assert notes["failed"] == 1
    assert notes["again"] >= 1
    over_connect = released(folder, "generalized")["table"]
    assert over_connect.sort(table.columns, nulls_last=True).equals(table.sort(table.columns, nulls_last=True))
    assert groups_of(released(folder, "anatomized")) == groups
    sliced = released(folder, "sliced")  # verified there; several tables beside one
    assert {"quasi", "sensitive_1", "sensitive_2"} == set(sliced)
    assert {frame.height for frame in sliced.values()} == {ROWS}


def groups_of(tables: Tables) -> Counter[tuple[Any, ...]]:
    """The groups of an anatomized release by what they hold; their ids are drawn anew in every run."""
    held: dict[str, list[list[str]]] = {}
    for i, name in enumerate(("quasi", "sensitive_1")):
        columns = [column for column in tables[name].columns if column != "group"]
        for row in tables[name].select("group", *columns).iter_rows():
            held.setdefault(row[0], [[], []])[i].append(str(row[1:]))
    return Counter(tuple(tuple(sorted(rows)) for rows in both) for both in held.values())
