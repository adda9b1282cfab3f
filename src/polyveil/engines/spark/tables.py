"""From anonymized blocks to the tables to publish, each with its rows in a secret order of its own over all files.

Nothing but group ids links linked tables: rows go to files, and stand in them, by numbers drawn anew for each table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from polyveil.engines.spark.block import Plan
from polyveil.engines.spark.coarsening import Coarsened
from polyveil.engines.spark.gathered import by_shard
from polyveil.engines.spark.rows import unpacked_table
from polyveil.engines.spark.without_data import items_without_data
from polyveil.releases.linked import NOT_AVAILABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_PER_FILE = 1_000_000
"""Of a file, which a worker writes, and a verifier reads, as a whole."""


def files_of(rows: int) -> int:
    """How many files a table of so many rows has."""
    return max(math.ceil(rows / ROWS_PER_FILE), 1)


@dataclass(frozen=True, eq=False)
class InOrder:
    """Rows of one file in their secret order, with their published names; the worker sorts them.

    Sorted before they reach the worker, they would be in order on Spark, but not on every server of Spark Connect.
    """

    columns: Mapping[str, str]
    """The name of each published column, and of that which holds it."""
    ordering: str
    packed: bool = False
    """Whether rows are packed in lines."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from items_without_data(self._batches(batches))

    def _batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = self.table(batches)
        yield from () if table is None else table.to_batches(max_chunksize=50_000)

    def table(self, batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
        """All rows, or none."""
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return None
        if self.packed:
            rows = unpacked_table([data for batch in held for data in batch.column("data").to_pylist()])
        else:
            rows = pa.Table.from_batches(held)
        order = pa.array(np.argsort(rows[self.ordering].to_numpy(), kind="stable"))
        chosen = pa.table({name: rows[own] for name, own in self.columns.items()})
        return chosen.take(order).combine_chunks()


def tables_to_order(outcome: Coarsened, plan: Plan) -> dict[str, tuple[DataFrame, InOrder]]:
    """The tables of a release, each with one partition for each file, and how its rows are put into their order."""
    from pyspark.sql import functions as sf

    if plan.packed:
        lines = outcome.frame.where(sf.col("kind") == "rows").select("shard", "data")
        return {"table": (by_shard(lines, plan.files), InOrder(_columns_of_first(plan), "ordering0", packed=True))}
    rows = outcome.frame.where(sf.col("summary").isNull())
    if not plan.slices:
        return {"table": _spread(rows, plan, 0, _columns_of_first(plan))}
    rows = _numbered(rows, len(plan.slices))
    layout = plan.form.layout(plan.values.policy, plan.slices)
    groups = {about["group"]: f"g{number}" for number, about in enumerate(layout, start=1)}
    tables = {"quasi": _spread(rows, plan, 0, {**_columns_of_first(plan, linked=True), **groups})}
    for number, about in enumerate(layout, start=1):
        tables[about["table"]] = _sensitive_table(rows, plan, number, about["group"], about.get("count"))
    return tables


def released_tables(outcome: Coarsened, plan: Plan) -> dict[str, DataFrame]:
    """The tables by name."""
    from pyspark.sql.types import StructField, StructType

    tables = {}
    for name, (rows, in_order) in tables_to_order(outcome, plan).items():
        kinds = outcome.schema if plan.packed else rows.schema
        schema = StructType([StructField(column, kinds[held].dataType) for column, held in in_order.columns.items()])
        tables[name] = rows.mapInArrow(in_order, schema)
    return tables


def _numbered(rows: DataFrame, slices: int) -> DataFrame:
    """Groups numbered from 1 without a gap, in the order of their random ids: a number then tells nothing else."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    for number in range(1, slices + 1):
        name = f"g{number}"
        known = rows.where(sf.col(name) != NOT_AVAILABLE).select(name).distinct()
        dense = known.withColumn("dense", sf.row_number().over(Window.orderBy(sf.col(name).cast("bigint"))))
        joined = rows.join(dense, name, "left")
        rows = joined.withColumn(name, sf.coalesce(sf.col("dense").cast("string"), sf.lit(NOT_AVAILABLE))).drop("dense")
    return rows


def _columns_of_first(plan: Plan, *, linked: bool = False) -> dict[str, str]:
    """The columns of the first table in the policy's order, and what holds them; linked, without sensitive ones."""
    values = plan.values
    coded = [column.bound.name for column in (*values.quasi, *values.sensitive)]
    column_of = {name: f"r{i}" for i, name in enumerate(coded) if not linked or i < len(values.quasi)}
    column_of |= {name: f"i{i}" for i, name in enumerate(values.policy.having("insensitive"))}
    return {name: column_of[name] for name in values.policy.columns if name in column_of}


def _sensitive_table(
    rows: DataFrame, plan: Plan, number: int, group: str, count: str | None
) -> tuple[DataFrame, InOrder]:
    """One slice: group ids and values, nothing else; with `count`, equal rows once with their number."""
    from pyspark.sql import functions as sf

    names = [column.bound.name for column in plan.values.sensitive]
    first = len(plan.values.quasi)
    column_of = {name: f"r{first + i}" for i, name in enumerate(names)}
    own = {name: column_of[name] for name in plan.slices[number - 1]}
    order = f"ordering{number}"
    kept = rows.where(sf.col(f"g{number}") != NOT_AVAILABLE).select(f"g{number}", *own.values(), order)
    if count is not None:
        kept = kept.groupBy(f"g{number}", *own.values()).agg(sf.count("*").alias("rows"), sf.min(order).alias(order))
    counted = {} if count is None else {count: "rows"}
    return _spread(kept, plan, number, {group: f"g{number}", **own, **counted})


def _spread(rows: DataFrame, plan: Plan, table: int, columns: Mapping[str, str]) -> tuple[DataFrame, InOrder]:
    """Rows spread over files by their secret numbers for this table."""
    ordering = f"ordering{table}"
    held = rows.select(*dict.fromkeys(columns.values()), ordering)
    return held.repartition(plan.files, ordering), InOrder(columns, ordering)
