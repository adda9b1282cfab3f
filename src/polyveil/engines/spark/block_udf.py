"""Blocks anonymized where they are: coded rows in, released cells out.

Columns are r0, r1 ... (released quasi-identifier and sensitive cells), i0 ... (insensitive cells as they are), g1 ...
(group ids in the sensitive tables of a linked release), `class` and s0 ... (the class and the codes of the sensitive
columns, from which the claims are counted), `person` (whom a row is about, if people have several), `ordering0` ... (a
secret number per row and table, by which rows are ordered), `block`, and `summary`: one more row per block has that
instead of cells. If no later step takes rows apart, they are packed for the file that they go to (`gathered`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from polyveil.engines.spark.block import BlockResult, Plan, anonymize_block, canonical_order
from polyveil.engines.spark.gathered import DIGEST, SCHEMA, Line, added_codes, counted, packed, packed_classes
from polyveil.engines.spark.people import PERSON
from polyveil.engines.spark.rows import code_names, packed_table, unpacked_table
from polyveil.engines.spark.without_data import without_data

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

_ARROW_TYPES = {"long": pa.int64(), "double": pa.float64(), "string": pa.string(), "date": pa.date32()}
PACKED = f"{SCHEMA}, block bigint, summary string"
_SPARK_TYPES = {pl.Int64: "bigint", pl.Float64: "double", pl.String: "string", pl.Date: "date"}


def anonymized(blocks: DataFrame, plan: Plan, schema: StructType, partitions: int) -> DataFrame:
    """Every block anonymized; `schema` is that of the rows."""
    anonymize = BlockWorker(plan, schema)
    shuffled = blocks.repartition(partitions, "block")
    given = PACKED if plan.packed else schema
    return shuffled.groupBy("block").applyInArrow(lambda table: without_data(anonymize, table), given)


@dataclass(frozen=True, eq=False)
class BlockWorker:
    """Anonymizes one block; gives its rows with those columns, or lines in which they are packed."""

    plan: Plan
    schema: StructType

    def __call__(self, table: pa.Table) -> pa.Table:
        block = table["block"][0].as_py()
        rows = unpacked_table(table["packed"].to_pylist())
        values, split = self.plan.values, len(self.plan.values.quasi)
        codes = [rows[name].to_numpy().astype(np.int64) for name in code_names(values)]
        who = [] if values.everybody is None else [rows[PERSON].to_numpy()]
        order = canonical_order(codes[:split], codes[split:], rows["hashed"].to_numpy(), *who)
        codes, who = ([column[order] for column in columns] for columns in (codes, who))
        result = anonymize_block(self.plan, codes[:split], codes[split:], block, *who)
        summary = json.dumps(result.summary)
        released = self._released(rows, pa.array(order[result.kept]), result, block)
        if self.plan.packed:
            return _packed(self.plan, result, released, block, summary)
        last = {"block": pa.array([block]), "summary": pa.array([summary], pa.string())}
        ends = [last.get(field.name, pa.nulls(1, field.type)) for field in released.schema]
        return pa.concat_tables([released, pa.table(ends, schema=released.schema)])

    def _released(self, rows: pa.Table, kept: pa.Array, result: BlockResult, block: int) -> pa.Table:
        columns = {**_columns(result), "block": pa.array(np.full(len(kept), block, dtype=np.int64))}
        columns["summary"] = pa.nulls(len(kept), pa.string())
        fields = {}
        for field in self.schema.fields:
            name, own = field.name, field.name.startswith("i")
            kind = rows.schema.field(name).type if own else _ARROW_TYPES[field.dataType.typeName()]
            cells = rows[name].take(kept) if own else columns.get(name, pa.nulls(0, kind))
            fields[name] = _plain(cells, kind)
        return pa.table(fields)


def _packed(plan: Plan, result: BlockResult, released: pa.Table, block: int, summary: str) -> pa.Table:
    """Lines: rows for each file, classes and values to be judged, and the block's summary."""
    lines = list(_lines(plan, result, released)) if released.num_rows else []
    shards, kinds, names, data = (list(column) for column in zip(*lines, Line(0, "summary", "", b""), strict=True))
    columns = {
        "shard": pa.array(shards, pa.int32()),
        "kind": pa.array(kinds),
        "name": pa.array(names),
        "data": pa.array(data, pa.binary()),
        "block": pa.array([block] * len(shards), pa.int64()),
        "summary": pa.array([None] * len(lines) + [summary], pa.string()),
    }
    return pa.table(columns)


def _lines(plan: Plan, result: BlockResult, released: pa.Table) -> Iterator[Line]:
    shown = released.select([name for name in released.column_names if name.startswith(("r", "i", "ordering"))])
    file_of_row = result.orders[0] % plan.files
    for file in range(plan.files):
        mine = shown if plan.files == 1 else shown.filter(pa.array(file_of_row == file))
        if mine.num_rows:
            yield Line(file, "rows", "", packed_table(mine))
    numbers, owner = np.unique(result.classes, return_inverse=True)
    codes = {c.bound.name: code for c, code in zip(plan.values.sensitive, result.codes, strict=True)}
    digests = [number.to_bytes(8, "big", signed=True).ljust(DIGEST, b"\0") for number in numbers.tolist()]
    yield from packed_classes(digests, counted(owner.astype(np.int64), codes), plan.shards)
    for number, (name, code) in enumerate(codes.items()):
        yield Line(number % plan.shards, "values", name, packed(added_codes(pl.Series(code))))


def _columns(result: BlockResult) -> dict[str, Any]:
    columns = {f"r{i}": cells.to_arrow() for i, cells in enumerate(result.columns)}
    columns |= {"class": pa.array(result.classes)} | {f"s{i}": pa.array(c) for i, c in enumerate(result.codes)}
    columns |= {} if result.person is None else {PERSON: pa.array(result.person)}
    columns |= {f"g{i}": ids.to_arrow() for i, ids in enumerate(result.groups, start=1)}
    return columns | {f"ordering{i}": pa.array(numbers) for i, numbers in enumerate(result.orders)}


def row_schema(cells: Sequence[tuple[str, DataType]], plan: Plan) -> StructType:
    """The columns of released rows; `cells` are the insensitive columns and their types."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    fields = [StructField(f"r{i}", kind) for i, kind in enumerate(_cell_types(plan))]
    fields += [StructField(f"i{i}", kind) for i, (_, kind) in enumerate(cells)]
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


def _plain(cells: Any, kind: pa.DataType) -> pa.Array:
    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    cells = cells if cells.type == kind else cells.cast(kind)
    return cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
