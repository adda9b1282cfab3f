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
class Unpacked:
    """Rows of one file from lines in which they are packed, in their secret order, with their published names."""

    columns: Mapping[str, str]
    """The name of each published column, and of that which holds it."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = self.table(batches)
        yield from () if table is None else table.to_batches(max_chunksize=50_000)

    def table(self, batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
        """All rows, or none."""
        lines = [data for batch in batches for data in batch.column("data").to_pylist()]
        if not lines:
            return None
        rows = unpacked_table(lines)
        order = pa.array(np.argsort(rows["ordering0"].to_numpy(), kind="stable"))
        chosen = pa.table({name: rows[held] for name, held in self.columns.items()})
        return chosen.take(order).combine_chunks()


def packed_tables(outcome: Coarsened, plan: Plan) -> dict[str, tuple[DataFrame, Unpacked]]:
    """The tables of a release whose rows are packed: one partition for each file, and how its rows are unpacked."""
    from pyspark.sql import functions as sf

    if not plan.packed:
        return {}
    lines = outcome.frame.where(sf.col("kind") == "rows").select("shard", "data")
    return {"table": (by_shard(lines, plan.files), Unpacked(_columns_of_first(plan, linked=False)))}


def released_tables(outcome: Coarsened, plan: Plan) -> dict[str, DataFrame]:
    """The tables by name."""
    from pyspark.sql import functions as sf
    from pyspark.sql.types import StructField, StructType

    if plan.packed:
        ((lines, unpacked),) = packed_tables(outcome, plan).values()
        schema = StructType([StructField(n, outcome.schema[held].dataType) for n, held in unpacked.columns.items()])
        return {"table": lines.mapInArrow(lambda batches: items_without_data(unpacked(batches)), schema)}
    rows = outcome.frame.where(sf.col("summary").isNull())
    if not plan.slices:
        return {"table": _first_table(rows, plan, [])}
    rows = _numbered(rows, len(plan.slices))
    layout = plan.form.layout(plan.values.policy, plan.slices)
    tables = {"quasi": _first_table(rows, plan, [about["group"] for about in layout])}
    for number, about in enumerate(layout, start=1):
        tables[about["table"]] = _sensitive_table(rows, plan, number, about["group"], about.get("count"))
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


def _columns_of_first(plan: Plan, *, linked: bool) -> dict[str, str]:
    """The columns of the first table in the policy's order, and what holds them; linked, without sensitive ones."""
    values = plan.values
    coded = [column.bound.name for column in (*values.quasi, *values.sensitive)]
    column_of = {name: f"r{i}" for i, name in enumerate(coded) if not linked or i < len(values.quasi)}
    column_of |= {name: f"i{i}" for i, name in enumerate(values.policy.having("insensitive"))}
    return {name: column_of[name] for name in values.policy.columns if name in column_of}


def _first_table(rows: DataFrame, plan: Plan, groups: list[str]) -> DataFrame:
    """Columns by name, then the group ids."""
    from pyspark.sql import functions as sf

    cells = [sf.col(held).alias(name) for name, held in _columns_of_first(plan, linked=bool(groups)).items()]
    ids = [sf.col(f"g{number}").alias(name) for number, name in enumerate(groups, start=1)]
    return _shuffled(rows, plan, 0).select(*cells, *ids)


def _sensitive_table(rows: DataFrame, plan: Plan, number: int, group: str, count: str | None) -> DataFrame:
    """One slice: group ids and values, nothing else; with `count`, equal rows once with their number."""
    from pyspark.sql import functions as sf

    names = [column.bound.name for column in plan.values.sensitive]
    first = len(plan.values.quasi)
    column_of = {name: f"r{first + i}" for i, name in enumerate(names)}
    cells = [column_of[name] for name in plan.slices[number - 1]]
    order = f"ordering{number}"
    kept = rows.where(sf.col(f"g{number}") != NOT_AVAILABLE).select(f"g{number}", *cells, order)
    if count is not None:
        kept = kept.groupBy(f"g{number}", *cells).agg(sf.count("*").alias("rows"), sf.min(order).alias(order))
    published = [sf.col(cell).alias(name) for cell, name in zip(cells, plan.slices[number - 1], strict=True)]
    counted = [] if count is None else [sf.col("rows").alias(count)]
    return _shuffled(kept, plan, number).select(sf.col(f"g{number}").alias(group), *published, *counted)


def _shuffled(rows: DataFrame, plan: Plan, table: int) -> DataFrame:
    """Rows in the order of their secret numbers for this table."""
    return rows.repartition(plan.files, f"ordering{table}").sortWithinPartitions(f"ordering{table}")
