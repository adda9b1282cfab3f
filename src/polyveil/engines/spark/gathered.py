"""What all parts of a table show together: each part counted by a worker that holds it, and added up by others.

A worker makes a few lines of its rows: the cells and values they have, and the rows of every class, packed. Lines with
the same number of a shard meet at another worker, which judges whole classes. So one pass over the rows is enough, and
Spark moves packed lines and never takes a row apart.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from polyveil.arrays import IntArray
from polyveil.engines.spark.measure import Judge, Measured, added_up, sum_of_costs
from polyveil.engines.spark.without_data import items_without_data
from polyveil.models import Attribute
from polyveil.policy import Policy
from polyveil.verification.attributes import Declared, codes_of_cells
from polyveil.verification.classes import class_of_row
from polyveil.verification.findings import Finding
from polyveil.verification.loss import NOTHING, Costs, summed_costs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "shard int, kind string, name string, data binary"
CLASS = "polyveil class"
ROWS = "polyveil rows"
DIGEST = 32


class Line(NamedTuple):
    """Something about a column or about some classes; lines with the same shard meet at one worker."""

    shard: int
    kind: str
    name: str
    data: bytes


def as_batch(lines: Iterable[Line]) -> pa.RecordBatch:
    """Lines as Spark moves them."""
    shards, kinds, names, data = zip(*lines, strict=True)
    columns = [pa.array(shards, pa.int32()), pa.array(kinds), pa.array(names), pa.array(data, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=list(Line._fields))


def packed(frame: pl.DataFrame) -> bytes:
    """A small table as bytes."""
    sink = io.BytesIO()
    frame.write_ipc(sink, compression="lz4")
    return sink.getvalue()


def packed_classes(digests: list[bytes], rows: pl.DataFrame, shards: int) -> Iterator[Line]:
    """Rows of classes, counted, for the worker that judges the class: all that have the class's digest meet there."""
    shard_of = np.array([int.from_bytes(digest[:4], "big") % shards for digest in digests], dtype=np.int64)
    place = np.zeros(len(digests), dtype=np.int64)
    of_row = rows.get_column(CLASS).to_numpy()
    for shard in range(shards):
        here = np.flatnonzero(shard_of == shard)
        place[here] = np.arange(len(here))
        mine = rows if shards == 1 else rows.filter(pl.Series(shard_of[of_row] == shard))
        mine = mine.with_columns(pl.Series(CLASS, place[mine.get_column(CLASS).to_numpy()]))
        names = b"".join(digests[i] for i in here.tolist())
        yield Line(shard, "classes", "", len(here).to_bytes(8, "big") + names + packed(mine))


def unpacked_classes(lines: Iterable[bytes]) -> pl.DataFrame:
    """The counted rows of all lines; equal digests are one class."""
    numbers: dict[bytes, int] = {}
    frames = []
    for data in lines:
        end = 8 + DIGEST * int.from_bytes(data[:8], "big")
        digests = (data[at : at + DIGEST] for at in range(8, end, DIGEST))
        owner = np.array([numbers.setdefault(digest, len(numbers)) for digest in digests], dtype=np.int64)
        rows = pl.read_ipc(io.BytesIO(data[end:]))
        frames.append(rows.with_columns(pl.Series(CLASS, owner[rows.get_column(CLASS).to_numpy()])))
    return pl.concat(frames)


def counted(owner: IntArray, codes: Mapping[str, IntArray]) -> pl.DataFrame:
    """Equal rows once, with their number."""
    frame = pl.DataFrame({CLASS: owner, **codes})
    return frame.group_by(frame.columns, maintain_order=True).agg(pl.len().cast(pl.Int64).alias(ROWS))


@dataclass(frozen=True, eq=False)
class TableCounter:
    """Makes lines of some rows of a generalized table; with `only_classes`, what does not change is left out."""

    manifest: Mapping[str, Any]
    policy: Policy
    declared: Mapping[str, Declared]
    shards: int
    only_classes: bool = False

    def lines(self, frame: pl.DataFrame) -> Iterator[Line]:
        quasi = self.policy.having("quasi")
        found = {name: codes_of_cells(known, frame.get_column(name)) for name, known in self.declared.items()}
        codes = {name: numbers for name, numbers in found.items() if numbers is not None}
        yield from (Line(0, "unknown", name, b"") for name in found if name not in codes)
        if not self.only_classes:
            yield Line(0, "loss", "", json.dumps(self._loss(frame)).encode())
            for number, name in enumerate(quasi):
                cells = frame.get_column(name).unique().to_frame("cell")
                yield Line(number % self.shards, "cells", name, packed(cells))
            for number, (name, numbers) in enumerate(codes.items()):
                yield Line(number % self.shards, "values", name, packed(added_codes(pl.Series(numbers))))
        if len(codes) == len(found):
            owner = class_of_row(frame, quasi)
            yield from packed_classes(_digests(frame.select(quasi), owner), counted(owner, codes), self.shards)

    def _loss(self, frame: pl.DataFrame) -> Any:
        summed = summed_costs(
            self.manifest, self.policy, lambda name: frame.get_column(name).value_counts().iter_rows()
        )
        return [summed.check, summed.outcome, summed.message] if isinstance(summed, Finding) else summed


def added_codes(codes: pl.Series, rows: pl.Series | None = None) -> pl.DataFrame:
    weights = pl.repeat(1, len(codes), eager=True) if rows is None else rows
    frame = pl.DataFrame({"code": codes, "rows": weights.cast(pl.Int64)})
    return frame.group_by("code").agg(pl.col("rows").sum())


def _digests(cells: pl.DataFrame, owner: IntArray) -> list[bytes]:
    """What tells each class from all others, wherever its rows are: the sha256 of its cells."""
    _, first = np.unique(owner, return_index=True)
    shown = cells[first.tolist()].rows() if cells.width else [()] * len(first)
    return [hashlib.sha256(repr(row).encode()).digest() for row in shown]


@dataclass(frozen=True, eq=False)
class Reducer:
    """Adds up lines that met, and judges the classes among them."""

    judge: Judge

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from items_without_data(self._reduced(batches))

    def _reduced(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        met: dict[tuple[str, str], list[bytes]] = {}
        for batch in batches:
            for _, kind, name, data in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                met.setdefault((kind, name), []).append(data)
        lines = [Line(0, kind, name, data) for (kind, name), some in met.items() for data in self._one(kind, some)]
        if lines:
            yield as_batch(lines)

    def _one(self, kind: str, some: list[bytes]) -> list[bytes]:
        if kind == "classes":
            rows = unpacked_classes(some)
            return [json.dumps(self.judge.figures(rows)).encode()] if rows.height else []
        if kind == "cells":
            return [packed(pl.concat(map(pl.read_ipc, some)).unique())]
        if kind == "values":
            both = pl.concat(map(pl.read_ipc, some))
            return [packed(added_codes(both["code"], both["rows"]))]
        return some


@dataclass(frozen=True, eq=False)
class Gathered:
    """What all parts show. `others` are lines that were not added up, by kind."""

    measured: Measured
    counts: Mapping[str, IntArray]
    cells: Mapping[str, pl.Series]
    unknown: list[str]
    others: Mapping[str, list[tuple[str, bytes]]] = field(default_factory=dict)

    def counts_of(self, attributes: Mapping[str, Attribute]) -> dict[str, IntArray]:
        """The rows of every value, also of columns of which there is no row."""
        nothing = {name: np.zeros(about.size, dtype=np.int64) for name, about in attributes.items()}
        return {**nothing, **self.counts}


def gather(frame: DataFrame, lines: Callable[..., Any], judge: Judge, shards: int) -> Gathered:
    """Every partition made into lines, and these added up; one pass over the rows."""
    return add_up(frame.mapInArrow(lines, SCHEMA), judge, shards)


def add_up(lines: DataFrame, judge: Judge, shards: int) -> Gathered:
    """Lines added up where they meet, and then here."""
    spread = by_shard(lines, shards)
    found = spread.mapInArrow(Reducer(judge), SCHEMA).toArrow()
    by_kind: dict[str, list[tuple[str, bytes]]] = {}
    for kind, name, data in zip(*(found[column].to_pylist() for column in Line._fields[1:]), strict=True):
        by_kind.setdefault(kind, []).append((name, data))
    figures = [{**json.loads(data), "loss": {}} for _, data in by_kind.pop("classes", [])]
    measured = added_up(figures, judge.models, judge.released is not None)
    measured.loss = _loss(json.loads(data) for _, data in by_kind.pop("loss", []))
    counts = {name: _dense(data, judge.columns[name].attribute.size) for name, data in by_kind.pop("values", [])}
    cells = {name: pl.read_ipc(data)["cell"] for name, data in by_kind.pop("cells", [])}
    unknown = sorted({name for name, _ in by_kind.pop("unknown", [])})
    return Gathered(measured, counts, cells, unknown, by_kind)


def by_shard(lines: DataFrame, shards: int) -> DataFrame:
    """A partition for each shard; some may share one before Spark 4.1, and if a server does not know the way."""
    if hasattr(lines, "repartitionById") and _has_numbered_partitions(lines.sparkSession):
        return lines.repartitionById(shards, "shard")
    return lines.repartition(shards, "shard")


@lru_cache(maxsize=1)
def _has_numbered_partitions(spark: SparkSession) -> bool:
    """A server of Spark Connect may be older than its client, or not be Spark; a job of one row tells."""
    from pyspark.errors import PySparkException

    if "connect" not in type(spark).__module__:
        return True
    try:
        return bool(spark.range(1).repartitionById(1, "id").count())
    except PySparkException:
        return False


def _dense(data: bytes, size: int) -> IntArray:
    counts, found = np.zeros(size, dtype=np.int64), pl.read_ipc(data)
    counts[found["code"].to_numpy()] = found["rows"].to_numpy()
    return counts


def _loss(parts: Iterable[Any]) -> dict[str, Costs | None] | Finding:
    """The costs of all parts; one whose cells do not tell them speaks for all."""
    summed: dict[str, Costs | None] = {}
    for part in parts:
        if isinstance(part, list):
            return Finding(*part)
        for name, costs in part.items():
            summed[name] = sum_of_costs(summed.get(name, NOTHING), costs)
    return summed
