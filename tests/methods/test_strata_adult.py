"""The stratifying methods on Adult (10,000 of its complete training rows): what must be reached.

`strata: auto` is measured by benchmarks/strata_methods.py; here the numbers of strata it finds are given, to be quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polyveil.measure import measure_loss
from polyveil.methods import Task, make_method
from polyveil.models import KAnonymity, TCloseness, attributes_of, codes_of, from_classes
from polyveil.partition import Partition
from polyveil.policy import Policy
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read

ROWS = 10_000
QUASI = ("age", "workclass", "marital-status", "race", "sex", "native-country", "income")


def adult(folder: Path, *sensitive: str) -> CodedTable:
    frame = (
        pl.read_csv(folder / "adult.csv.gz", null_values="?")
        .filter(pl.col("split") == "train")
        .drop_nulls()
        .sample(ROWS, seed=1)
    )
    columns: dict[str, Any] = {}
    for name in (*QUASI, *sensitive):
        tree = folder / "hierarchies" / f"adult_hierarchy_{'salary-class' if name == 'income' else name}.csv"
        numeric = frame[name].dtype.is_numeric()
        columns[name] = {
            "role": "quasi" if name in QUASI else "sensitive",
            **({"type": "numeric"} if numeric else {"hierarchy": str(tree)}),
        }
    policy = Policy.from_dict({"columns": columns, "privacy": {"k": 2}})
    return encode(bind(policy, read(frame.select(*columns))))


def run(table: CodedTable, name: str, k: int, t: float, **options: Any) -> Partition:
    models = (KAnonymity(k), *(TCloseness(t, column.name) for column in table.sensitive))
    task = Task(table, models, attributes_of(table), Privacy(k=k, t=t), np.random.default_rng(1))
    partition = make_method(MethodChoice(name=name, **options)).partition(task)
    statistics = from_classes(partition.class_of_row, codes_of(table), attributes_of(table))
    assert all(model.judge(statistics).holds for model in models)
    assert partition.suppressed == 0
    return partition


@pytest.mark.parametrize(("t", "strata", "most_loss"), [(0.1, 7, 4.2), (0.2, 3, 3.2)])
def test_fcm_with_a_free_number_of_strata(shared_data: Path, t: float, strata: int, most_loss: float) -> None:
    table = adult(shared_data, "occupation", "education-num")
    partition = run(table, "fcm", 2, t, strata=strata)
    assert measure_loss(table, partition.class_of_row).information_loss < most_loss
    assert table.rows / partition.classes < 30


def test_fragment_makes_many_classes_where_exact_rounding_makes_one(shared_data: Path) -> None:
    table = adult(shared_data, "education-num", "hours-per-week")
    partition = run(table, "fragment", 5, 0.1, strata=15)
    assert partition.classes >= ROWS / 20
    exact = run(table, "fragment", 5, 0.1, rounding="exact", bound="paper")
    assert exact.classes == 1
