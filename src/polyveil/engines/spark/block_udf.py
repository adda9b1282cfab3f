"""Blocks anonymized where they are: coded rows in, released cells out.

Columns are r0, r1 ... (released quasi-identifier and sensitive cells), i0 ... (insensitive cells as they are), g1 ...
(group ids in the sensitive tables of a linked release), `class` and s0 ... (the class and the codes of the sensitive
columns, from which the claims are counted), `person` (whom a row is about, if people have several), `ordering0` ... (a
secret number per row and table, by which rows are ordered), `block`, and `summary`: one more row per block has that
instead of cells.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from polyveil.engines.spark.block import BlockResult, Plan, anonymize_block, canonical_order
from polyveil.engines.spark.people import PERSON
from polyveil.engines.spark.rows import code_names
from polyveil.engines.spark.without_data import without_data

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

_ARROW_TYPES = {"long": pa.int64(), "double": pa.float64(), "string": pa.string(), "date": pa.date32()}
_SPARK_TYPES = {pl.Int64: "bigint", pl.Float64: "double", pl.String: "string", pl.Date: "date"}


def anonymized(blocks: DataFrame, plan: Plan, partitions: int) -> DataFrame:
    """Every block anonymized."""
    values, schema = plan.values, _schema(blocks, plan)
    names, insensitive = code_names(values), [name for name in blocks.columns if name.startswith("i")]
    split = len(values.quasi)
    kinds = {field.name: field.dataType.typeName() for field in schema.fields if not field.name.startswith("i")}

    def anonymize(table: pa.Table) -> pa.Table:
        block = table["block"][0].as_py()
        codes = [table[name].to_numpy().astype(np.int64) for name in names]
        who = [] if values.everybody is None else [table[PERSON].to_numpy()]
        order = canonical_order(codes[:split], codes[split:], table["hashed"].to_numpy(), *who)
        codes, who = ([column[order] for column in columns] for columns in (codes, who))
        result = anonymize_block(plan, codes[:split], codes[split:], block, *who)
        rows = pa.array(order[result.kept])
        columns = {**_columns(result), **{name: table[name].take(rows) for name in insensitive}}
        columns["block"] = pa.array(np.full(len(rows), block, dtype=np.int64))
        fields = [
            (name, _ARROW_TYPES[kinds[name]] if name in kinds else table.schema.field(name).type)
            for name in schema.names[:-1]
        ]
        return _with_summary(columns, len(rows), json.dumps(result.summary), block, fields)

    shuffled = blocks.repartition(partitions, "block")
    return shuffled.groupBy("block").applyInArrow(lambda table: without_data(anonymize, table), schema)


def _columns(result: BlockResult) -> dict[str, Any]:
    columns = {f"r{i}": cells.to_arrow() for i, cells in enumerate(result.columns)}
    columns |= {"class": pa.array(result.classes)} | {f"s{i}": pa.array(c) for i, c in enumerate(result.codes)}
    columns |= {} if result.person is None else {PERSON: pa.array(result.person)}
    columns |= {f"g{i}": ids.to_arrow() for i, ids in enumerate(result.groups, start=1)}
    return columns | {f"ordering{i}": pa.array(numbers) for i, numbers in enumerate(result.orders)}


def _schema(blocks: DataFrame, plan: Plan) -> StructType:
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    fields = [StructField(f"r{i}", kind) for i, kind in enumerate(_cell_types(plan))]
    fields += [field for field in blocks.schema.fields if field.name.startswith("i")]
    fields += [StructField(name, LongType()) for name in ("class", *(f"s{i}" for i in range(len(plan.published))))]
    fields += [StructField(PERSON, LongType())] if plan.values.everybody is not None else []
    fields += [StructField(f"g{i}", StringType()) for i in range(1, len(plan.slices) + 1)]
    fields += [StructField(f"ordering{i}", LongType()) for i in range(len(plan.slices) + 1)]
    return StructType([*fields, StructField("block", LongType()), StructField("summary", StringType())])


def _cell_types(plan: Plan) -> list[DataType]:
    """Spark's types of the released quasi-identifier and sensitive cells."""
    from pyspark.sql.types import DateType, DoubleType, LongType, StringType

    by_name = {"bigint": LongType(), "double": DoubleType(), "string": StringType(), "date": DateType()}
    numbers = plan.values.policy.release.numbers != "interval"
    quasi = ["double" if numbers and c.domain.kind == "numeric" else "string" for c in plan.values.quasi]
    if plan.as_they_are:
        quasi = [_SPARK_TYPES[type(cells.dtype)] for cells in plan.as_they_are]
    sensitive = [_SPARK_TYPES[type(cells.dtype)] for cells in plan.published]
    return [by_name[kind] for kind in (*quasi, *sensitive)]


def _with_summary(
    columns: dict[str, Any], rows: int, summary: str, block: int, fields: list[tuple[str, pa.DataType]]
) -> pa.Table:
    arrays = []
    for name, kind in fields:
        kept = [_plain(columns[name], kind)] if rows else []
        last = pa.array([block]) if name == "block" else pa.nulls(1, kind)
        arrays.append(pa.chunked_array([*kept, last], kind))
    arrays.append(pa.chunked_array([pa.nulls(rows, pa.string()), pa.array([summary], pa.string())]))
    return pa.table(arrays, names=[*(name for name, _ in fields), "summary"])


def _plain(cells: Any, kind: pa.DataType) -> pa.Array:
    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    cells = cells if cells.type == kind else cells.cast(kind)
    return cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
