"""Both engines behind one face: a method's classes on a coded table, and whole releases of a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from hypothesis import given, settings

import polyveil
from polyveil.methods import Task, make_method
from polyveil.models import AlphaAnonymity, DistinctDiversity, KAnonymity, Model, TCloseness, attributes_of
from polyveil.partition import Partition, partition_of
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.coded import CodedTable
from polyveil.verification import Verification, verify_tables
from polyveil.verification.classes import class_of_row
from spark_session import in_memory, on_spark
from tables import ILLNESS_TREE, REGION_TREE

BLOCK_ROWS = 40
"""Small enough that tables of a hundred rows are placed in several blocks."""


@dataclass(frozen=True, eq=False)
class Result:
    """A release of either engine, its tables in memory."""

    tables: Mapping[str, pl.DataFrame]
    release: Any

    @property
    def table(self) -> pl.DataFrame:
        return self.tables["table" if "table" in self.tables else "quasi"]

    @property
    def sorted(self) -> pl.DataFrame:
        return self.table.sort(self.table.columns, nulls_last=True)

    @property
    def verification(self) -> Verification:
        """What the verifier on this machine says, whichever engine made the release."""
        return verify_tables(self.release.manifest, self.tables)


class Engine(ABC):
    """`partition` gives the classes of a method (`anew`: not those it remembers); `anonymize` a release; `for_all`
    tries a claim on many examples."""

    name: ClassVar[str]

    @abstractmethod
    def partition(
        self,
        table: CodedTable,
        models: tuple[Model, ...],
        method: MethodChoice,
        limit: float,
        seed: int,
        *,
        anew: bool = True,
    ) -> Partition: ...

    @abstractmethod
    def anonymize(
        self, frame: pl.DataFrame, policy: Any, *, block_rows: int | None = None, **options: Any
    ) -> Result: ...

    @abstractmethod
    def for_all(self, claim: Callable[..., None], example: Mapping[str, Any], **strategies: Any) -> None: ...


class Local(Engine):
    """This machine."""

    name = "local"

    def partition(
        self,
        table: CodedTable,
        models: tuple[Model, ...],
        method: MethodChoice,
        limit: float,
        seed: int,
        *,
        anew: bool = True,
    ) -> Partition:
        privacy = Privacy(k=k_of(models), suppression_limit=limit)
        task = Task(table, models, attributes_of(table), privacy, np.random.default_rng(seed))
        return make_method(method).partition(task)

    def anonymize(self, frame: pl.DataFrame, policy: Any, *, block_rows: int | None = None, **options: Any) -> Result:
        release = polyveil.anonymize(frame, policy, **options)
        return Result(release.tables, release)

    def for_all(self, claim: Callable[..., None], example: Mapping[str, Any], **strategies: Any) -> None:
        settings(max_examples=8)(given(**strategies)(claim))()


class OnSpark(Engine):
    """Spark, in blocks. It takes seconds to place any table, so one example has to do."""

    name = "spark"

    def __init__(self, session: Any) -> None:
        self._session = session
        self._known: dict[str, Partition] = {}

    def partition(
        self,
        table: CodedTable,
        models: tuple[Model, ...],
        method: MethodChoice,
        limit: float,
        seed: int,
        *,
        anew: bool = True,
    ) -> Partition:
        frame, policy = frame_of(table), policy_of(models, method, limit)
        key = f"{frame.write_json()} {policy} {seed}"
        if anew or key not in self._known:
            self._known[key] = self._partition(frame, policy, seed)
        return self._known[key]

    def _partition(self, frame: pl.DataFrame, policy: dict[str, Any], seed: int) -> Partition:
        """Classes as a reader sees them: released rows, which carry their number, with equal quasi-identifiers.

        The rows arrive in another order every time, because nothing may depend on it.
        """
        arrived = frame.sample(fraction=1.0, shuffle=True)
        released = self.anonymize(arrived, policy, block_rows=BLOCK_ROWS, seed=seed).table.sort("row")
        rows = released["row"].to_numpy()
        quasi = [name for name, column in policy["columns"].items() if column["role"] == "quasi"]
        labels = np.full(frame.height, -1, dtype=np.int64)
        _, first, owner = np.unique(class_of_row(released, quasi), return_index=True, return_inverse=True)
        labels[rows] = first[owner]  # numbered by their first row, so that equal classes have equal numbers
        return partition_of(labels)

    def anonymize(self, frame: pl.DataFrame, policy: Any, *, block_rows: int | None = None, **options: Any) -> Result:
        reading = {} if block_rows is None else {"block_rows": block_rows}
        release = polyveil.anonymize(on_spark(self._session, frame), policy, reading=reading, **options)
        return Result({name: in_memory(table) for name, table in release.tables.items()}, release)

    def for_all(self, claim: Callable[..., None], example: Mapping[str, Any], **strategies: Any) -> None:
        assert set(example) == set(strategies)
        claim(**example)


def k_of(models: tuple[Model, ...]) -> int | None:
    return next((int(model.threshold) for model in models if isinstance(model, KAnonymity)), None)


def frame_of(table: CodedTable) -> pl.DataFrame:
    """The cells of a coded table, and the number of each row."""
    columns: dict[str, Any] = {"row": range(table.rows)}
    for column in (*table.quasi, *table.sensitive):
        labels = [*column.domain.labels, None]
        columns[column.name] = pl.Series([labels[code] for code in column.codes], dtype=pl.String)
    return pl.DataFrame(columns)


def policy_of(models: tuple[Model, ...], method: MethodChoice, limit: float) -> dict[str, Any]:
    """The policy under which the cells of `tables.random_table` become that coded table again, with these models."""
    columns: dict[str, dict[str, Any]] = {
        "row": {"role": "insensitive"},
        "age": {"role": "quasi", "type": "numeric"},
        "region": {"role": "quasi", "hierarchy": {"tree": REGION_TREE}},
        "town": {"role": "quasi", "recode": "set"},
        "illness": {"role": "sensitive", "hierarchy": {"tree": ILLNESS_TREE}},
        "salary": {"role": "sensitive", "type": "numeric"},
    }
    keys = {TCloseness: "t", DistinctDiversity: "l", AlphaAnonymity: "alpha"}
    for model in models:
        if model.attribute:
            value = int(model.threshold) if isinstance(model, DistinctDiversity) else model.threshold
            columns[model.attribute][keys[type(model)]] = value
    return {
        "version": 1,
        "columns": columns,
        "privacy": {"k": k_of(models), "suppression_limit": limit},
        "method": method.model_dump(exclude_none=True),
        "release": {"form": "generalized"},
    }
