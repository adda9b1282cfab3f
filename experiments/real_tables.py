"""The tables of the papers, and running a method on one of them. What the benchmarks have is used from there."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from polyveil.methods.base import Task
from polyveil.models import attributes_of, models_for
from polyveil.policy import Policy
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from adult import QUASI as ADULT_QUASI
from adult import coded as coded_adult
from adult import partition as close_partition
from census_tables import QUASI as CENSUS_QUASI
from census_tables import census, in_labour_force, policy_of, slices_of

__all__ = [
    "ADULT_QUASI",
    "CENSUS_QUASI",
    "census",
    "close_partition",
    "coded_adult",
    "complete_adult",
    "in_labour_force",
    "policy_of",
    "slices_of",
    "task_of",
    "timed",
]

Found = TypeVar("Found")


def complete_adult(folder: Path, split: str | None = None) -> pl.DataFrame:
    """The rows of Adult without a missing cell, in file order: 45,222, or the 30,162 of the split `train`."""
    frame = pl.read_csv(folder / "adult.csv.gz", null_values="?")
    return (frame if split is None else frame.filter(pl.col("split") == split)).drop_nulls()


def task_of(frame: pl.DataFrame, policy: Mapping[str, Any], seed: int = 1) -> Task:
    """The task a policy sets its method on this table."""
    asked = Policy.from_dict(policy)
    table = encode(bind(asked, read(frame)))
    attributes = attributes_of(table)
    return Task(table, models_for(asked, attributes), attributes, asked.privacy, np.random.default_rng(seed))


def timed(work: Callable[[], Found]) -> tuple[Found, float]:
    """What the work gave, and the seconds of processor time it took."""
    began = time.process_time()
    found = work()
    return found, time.process_time() - began
