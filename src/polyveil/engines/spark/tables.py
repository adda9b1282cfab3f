"""From anonymized blocks to the tables to publish, each with its rows in a secret order of its own over all files.

Nothing but group ids links linked tables: rows go to files, and stand in them, by numbers drawn anew for each table.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from polyveil.engines.spark.block import Plan
from polyveil.engines.spark.coarsening import Coarsened
from polyveil.releases.linked import NOT_AVAILABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_PER_FILE = 1_000_000
"""Of a file, which a worker writes, and a verifier reads, as a whole."""


def released_tables(outcome: Coarsened, plan: Plan) -> dict[str, DataFrame]:
    """The tables by name."""
    from pyspark.sql import functions as sf

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


def _first_table(rows: DataFrame, plan: Plan, groups: list[str]) -> DataFrame:
    """Columns by name in the policy's order, then the group ids; linked, without the sensitive columns."""
    from pyspark.sql import functions as sf

    values = plan.values
    coded = [column.bound.name for column in (*values.quasi, *values.sensitive)]
    column_of = {name: f"r{i}" for i, name in enumerate(coded) if not groups or i < len(values.quasi)}
    column_of |= {name: f"i{i}" for i, name in enumerate(values.policy.having("insensitive"))}
    cells = [sf.col(column_of[name]).alias(name) for name in values.policy.columns if name in column_of]
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
    files = max(math.ceil(plan.values.rows / ROWS_PER_FILE), 1)
    return rows.repartition(files, f"ordering{table}").sortWithinPartitions(f"ordering{table}")
