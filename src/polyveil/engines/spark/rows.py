"""Second pass: rows become codes, and a tree that is grown on some of them says which block each belongs to.

Columns are q0, q1 ... (quasi-identifiers), s0 ... (sensitive), i0 ... (insensitive cells as they are), `hashed` (of all
published cells and the seed) and `block`. Every function here is a function of row content alone, never of the
partition or position of a row: after a lost executor Spark may compute some rows again in another order, and they must
go to the same blocks.

If a person has several rows there are `person` and a0, a1 ...: the quasi-identifiers of the person's row with
the least hash. All rows of a person go where this one goes, so blocks are cut between people.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from polyveil.arrays import IntArray
from polyveil.engines.spark.block import Plan, slim
from polyveil.engines.spark.people import PERSON, hashed_person
from polyveil.engines.spark.tree import HASH, HASH_BITS, WHOLE, BlockTree, build_tree
from polyveil.engines.spark.values import ValueColumn, Values, quoted
from polyveil.engines.spark.without_data import items_without_data, without_data
from polyveil.errors import Fault, PolicyError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

POSITIVE = (1 << HASH_BITS) - 1
ROWS_PER_PACKING = 400_000
"""Rows that a worker holds before it packs them by block."""


def encoded(frame: DataFrame, values: Values, seed: int) -> DataFrame:
    """The table as codes, with the hash of every row."""
    coded = [*values.quasi, *values.sensitive]
    found = _hashed(frame, values, seed).mapInArrow(_encoder(coded), _coded_schema(frame, values))
    return found if values.everybody is None else _with_address(found, len(values.quasi))


def _hashed(frame: DataFrame, values: Values, seed: int) -> DataFrame:
    """The published cells of every row, whom it is about, and the hash of its content."""
    from pyspark.sql import functions as sf

    insensitive = values.policy.having("insensitive")
    coded = [*values.quasi, *values.sensitive]
    names = [*(c.bound.name for c in coded), *insensitive]
    content = [sf.col(f"c{i}") for i in range(len(names))]
    person = values.policy.person if values.everybody is not None else None
    who = [] if person is None else [hashed_person(frame, person, seed)]
    plain = frame.select(*(frame[quoted(name)].alias(f"c{i}") for i, name in enumerate(names)), *who)
    # Null is hashed as a value of its own, or rows that differ only in where they are empty would look the same.
    told_apart = [*content, *(column.isNull() for column in content)]
    hashed = sf.xxhash64(sf.lit(seed), *told_apart).bitwiseAND(sf.lit(POSITIVE)).alias("hashed")
    return plain.select(*content, *([] if person is None else [PERSON]), hashed)


def _with_address(coded: DataFrame, quasi: int) -> DataFrame:
    """Every row with the quasi-identifiers of that row of its person which has the least hash."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    rows = sf.min(sf.struct("hashed", *(f"q{i}" for i in range(quasi)))).over(Window.partitionBy(PERSON))
    address = [sf.col(f"address.q{i}").alias(f"a{i}") for i in range(quasi)]
    return coded.withColumn("address", rows).select(*coded.columns, *address)


def _coded_schema(frame: DataFrame, values: Values) -> StructType:
    from pyspark.sql.types import IntegerType, LongType, StructField, StructType

    fields = [StructField(name, IntegerType()) for name in code_names(values)]
    fields += [StructField(f"i{i}", kind) for i, (_, kind) in enumerate(insensitive_types(frame, values))]
    fields += [StructField(PERSON, LongType())] if values.everybody is not None else []
    return StructType([*fields, StructField("hashed", LongType())])


def address_names(values: Values) -> list[str]:
    """The columns that say to which block a row belongs: its own quasi-identifiers, or those of its person."""
    return [f"{'q' if values.everybody is None else 'a'}{i}" for i in range(len(values.quasi))]


def code_names(values: Values) -> list[str]:
    """q0, q1 ..., s0 ..."""
    return [*(f"q{i}" for i in range(len(values.quasi))), *(f"s{i}" for i in range(len(values.sensitive)))]


def insensitive_types(frame: DataFrame, values: Values) -> list[tuple[str, DataType]]:
    """The insensitive columns and their types in the source."""
    return [(name, frame.schema[name].dataType) for name in values.policy.having("insensitive")]


def _encoder(columns: Sequence[ValueColumn]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    known = [(column.raw, column.codes.astype(np.int32)) for column in columns]

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from items_without_data(_encode_batch(batch, known) for batch in batches)

    return encode


def _encode_batch(batch: pa.RecordBatch, known: Sequence[tuple[pa.Array, Any]]) -> pa.RecordBatch:
    arrays = list(batch.columns)
    for position, (raw, codes) in enumerate(known):
        found = pc.index_in(arrays[position], value_set=raw.cast(arrays[position].type))
        if found.null_count:
            raise ValueError("the table changed while it was read")
        arrays[position] = pa.array(codes[found.to_numpy(zero_copy_only=False)])
    coded, rest = arrays[: len(known)], arrays[len(known) : -1]
    names = [*(f"c{i}" for i in range(len(arrays) - 1)), "hashed"]
    return pa.RecordBatch.from_arrays([*coded, *rest, arrays[-1]], names=names)


Slices = tuple[tuple[str, ...], ...]


def plant(some: DataFrame, plan: Plan, block_rows: int) -> tuple[BlockTree, Slices]:
    """The block tree of the table, grown by one worker on some coded rows, and the slices its method makes of all.

    Only the cuts of the tree and the names of columns come back.
    """
    from pyspark.sql import functions as sf

    values = plan.values
    names = [*address_names(values), *code_names(values)[len(values.quasi) :]]
    sample = some.select(*names).withColumn("one", sf.lit(0))

    def grow(table: pa.Table) -> pa.Table:
        codes = [table[name].to_numpy().astype(np.int64) for name in names]
        order = np.lexsort(codes[::-1])
        split = len(values.quasi)
        ordered = [column[order] for column in codes]
        sampled = values.coded(ordered[:split], ordered[split:], len(order))
        weight = values.rows / max(len(order), 1)
        tree = build_tree(sampled, plan.models, plan.attributes, weight, block_rows)
        fields = (tree.attribute, tree.at, tree.left, tree.right, tree.parent)
        found: dict[str, Any] = {"tree": [field.tolist() for field in fields], "slices": [], "faults": []}
        try:
            found["slices"] = plan.method.slices(sampled)
        except PolicyError as error:
            found["faults"] = [[fault.place, fault.rule, fault.remedy] for fault in error.faults]
        return pa.table({"found": [json.dumps(found)]})

    lines = sample.groupBy("one").applyInArrow(lambda table: without_data(grow, table), "found string").collect()
    if not lines:
        return WHOLE, ()
    found = json.loads(lines[0]["found"])
    if found["faults"]:
        raise PolicyError([Fault(*fault) for fault in found["faults"]])
    tree = BlockTree(*(np.array(field, dtype=np.int64) for field in found["tree"]))
    return tree, tuple(tuple(names) for names in found["slices"])


def in_blocks(frame: DataFrame, values: Values, seed: int, tree: BlockTree) -> DataFrame:
    """The coded rows of every block, packed: some lines for each block and partition."""
    people = values.everybody is not None
    rows = encoded(frame, values, seed) if people else _hashed(frame, values, seed)
    assign = Assigner(slim(values), tree, None if people else _encoder([*values.quasi, *values.sensitive]))
    return rows.mapInArrow(assign, "block bigint, packed binary")


@dataclass(frozen=True, eq=False)
class Assigner:
    """Packs the rows of a partition by block; `encode` makes codes of cells, if that was not done before."""

    values: Values
    tree: BlockTree
    encode: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]] | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from items_without_data(self._packed(batches))

    def _packed(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task = TaskContext.get()
        # Equal rows are told apart; people are apart already.
        by_hash = bool(((self.tree.attribute == HASH) & (self.tree.left >= 0)).any()) and self.values.everybody is None
        twins = Twins(task.partitionId() if task else 0) if by_hash else None
        held: list[pa.RecordBatch] = []
        for batch in self.encode(batches) if self.encode else batches:
            held.append(batch)
            if sum(some.num_rows for some in held) >= ROWS_PER_PACKING:
                yield self._by_block(held, twins)
                held = []
        if any(batch.num_rows for batch in held):
            yield self._by_block(held, twins)

    def _by_block(self, held: list[pa.RecordBatch], twins: Twins | None) -> pa.RecordBatch:
        rows = pa.Table.from_batches(held)
        rows = rows.rename_columns(_coded_names(self.values, rows.num_columns)).combine_chunks()
        content = rows["hashed" if self.values.everybody is None else PERSON].to_numpy()
        codes = [rows[name].to_numpy() for name in address_names(self.values)]
        blocks = self.tree.blocks_of(codes, twins.told_apart(content) if twins else content)
        order = np.argsort(blocks, kind="stable")
        found, first = np.unique(blocks[order], return_index=True)
        rows = rows.take(pa.array(order))
        ends = [*first[1:].tolist(), rows.num_rows]
        data = [packed_table(rows.slice(at, end - at)) for at, end in zip(first.tolist(), ends, strict=True)]
        return pa.RecordBatch.from_arrays([pa.array(found), pa.array(data, pa.binary())], names=["block", "packed"])


def _coded_names(values: Values, columns: int) -> list[str]:
    """The names of the columns that the encoder gives, and those of the address behind them."""
    insensitive = [f"i{i}" for i in range(len(values.policy.having("insensitive")))]
    who = [] if values.everybody is None else [PERSON]
    names = [*code_names(values), *insensitive, *who, "hashed"]
    return [*names, *address_names(values)][:columns] if values.everybody is not None else names


def packed_table(table: pa.Table) -> bytes:
    """Rows as bytes that Spark moves without looking into them."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unpacked_table(lines: Sequence[bytes]) -> pa.Table:
    """The rows of all lines."""
    return pa.concat_tables([pa.ipc.open_stream(data).read_all() for data in lines]).combine_chunks()


class Twins:
    """Hashes that differ for equal rows, so that many equal rows do not all go the same way.

    The n-th row with the same content in a partition gets a hash of content, partition and n. Equal rows are
    interchangeable, so this does not depend on the order of the rows in the partition, only on which rows it has.
    """

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._seen: dict[int, int] = {}

    def told_apart(self, hashed: IntArray) -> IntArray:
        values, first, counts = np.unique(hashed, return_inverse=True, return_counts=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(hashed), dtype=np.int64)
        rank[order] = np.arange(len(hashed)) - (np.cumsum(counts) - counts)[first[order]]
        keys = values.tolist()
        before = np.array([self._seen.get(key, 0) for key in keys], dtype=np.int64)
        self._seen.update(zip(keys, (before + counts).tolist(), strict=True))
        return _mixed(hashed, before[first] + rank, self._partition)


def _mixed(hashed: IntArray, occurrence: IntArray, partition: int) -> IntArray:
    """The finalizer of splitmix64 (Steele, Lea & Flood 2014) over content, occurrence and partition."""
    state = hashed.astype(np.uint64) + (occurrence.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    state = state ^ np.uint64((partition + 1) * 0xD1342543DE82EF95 & 0xFFFFFFFFFFFFFFFF)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: IntArray = ((state ^ (state >> np.uint64(31))) & np.uint64(POSITIVE)).astype(np.int64)
    return mixed
