"""Adult as a coded table, for benchmarks: the columns of wang2018, any rows of it, resampled to any size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polyveil.methods import Task, make_method
from polyveil.models import KAnonymity, TCloseness, attributes_of, codes_of, from_classes
from polyveil.partition import Partition
from polyveil.policy import Policy
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read

DATA = Path(__file__).parents[2] / "shared" / "data"
QUASI = ("age", "workclass", "marital-status", "race", "sex", "native-country", "income")
HIERARCHY = {"income": "salary-class"}
JITTER = 2


def adult(folder: Path = DATA, sensitive: Sequence[str] = ("occupation", "education-num")) -> pl.DataFrame:
    """The 30,162 complete training rows."""
    frame = pl.read_csv(folder / "adult.csv.gz", null_values="?").filter(pl.col("split") == "train").drop_nulls()
    return frame.select(*QUASI, *sensitive)


def resampled(frame: pl.DataFrame, rows: int, seed: int = 0) -> pl.DataFrame:
    """`rows` rows drawn with replacement, ages moved by up to two years."""
    if rows <= frame.height:
        return frame.head(rows)
    rng = np.random.default_rng(seed)
    drawn = frame[rng.integers(0, frame.height, rows)]
    ages = np.clip(drawn["age"].to_numpy() + rng.integers(-JITTER, JITTER + 1, rows), 17, 90)
    return drawn.with_columns(pl.Series("age", ages))


def coded(frame: pl.DataFrame, folder: Path = DATA) -> CodedTable:
    """The table as methods see it; age and numbers as they are, categories below their hierarchies."""
    columns: dict[str, Any] = {}
    for name in frame.columns:
        role = "quasi" if name in QUASI else "sensitive"
        tree = folder / "hierarchies" / f"adult_hierarchy_{HIERARCHY.get(name, name)}.csv"
        numeric = {"type": "numeric"} if frame[name].dtype.is_numeric() else {"hierarchy": str(tree)}
        columns[name] = {"role": role, **numeric}
    return encode(bind(Policy.from_dict({"columns": columns, "privacy": {"k": 2}}), read(frame)))


def partition(table: CodedTable, name: str, k: int, t: float, seed: int = 1, **options: Any) -> Partition:
    """Run a method with k and the same t on every sensitive column; its classes are judged by the plain models."""
    attributes = attributes_of(table)
    models = (KAnonymity(k), *(TCloseness(t, column.name) for column in table.sensitive))
    task = Task(table, models, attributes, Privacy(k=k, t=t), np.random.default_rng(seed))
    found = make_method(MethodChoice(name=name, **options)).partition(task)
    statistics = from_classes(found.class_of_row, codes_of(table), attributes)
    broken = [model for model in models if not model.judge(statistics).holds]
    if broken:
        raise SystemExit(f"{name} broke {broken}")
    return found
