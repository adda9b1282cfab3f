"""What a manifest says of a table in a catalog, made where its rows are: workers hash rows, then leaves of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from polyveil.engines.spark.without_data import items_without_data, without_data
from polyveil.verification.fingerprint import leaf_digest, leaf_of, row_digests, tree_fingerprint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TYPES: dict[str, pl.DataType] = {
    "boolean": pl.Boolean(),
    "bigint": pl.Int64(),
    "double": pl.Float64(),
    "string": pl.String(),
    "date": pl.Date(),
    "timestamp": pl.Datetime("us", "UTC"),
    "timestamp_ntz": pl.Datetime("us"),
}
"""What the types of released columns are on one machine."""


def described(frame: DataFrame) -> dict[str, Any]:
    """Checksum, rows and columns; only the leaves' digests reach the driver."""
    leaves, rows = {}, 0
    hashed = frame.mapInArrow(_hash_rows, "leaf int, digest binary")
    grouped = hashed.groupBy("leaf").applyInArrow(_hash_leaf, "leaf int, digest binary, rows bigint")
    for leaf, digest, count in grouped.collect():
        leaves[leaf] = bytes(digest)
        rows += count
    kinds = {name: _TYPES.get(kind, pl.String()) for name, kind in frame.dtypes}
    return {"sha256": tree_fingerprint(kinds, leaves, rows), "rows": rows, "columns": list(frame.columns)}


def _hash_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from items_without_data(_hashed(batch) for batch in batches)


def _hashed(batch: pa.RecordBatch) -> pa.RecordBatch:
    digests = row_digests(pl.DataFrame(pl.from_arrow(batch)))
    leaves = pa.array([leaf_of(digest) for digest in digests], pa.int32())
    return pa.RecordBatch.from_arrays([leaves, pa.array(digests, pa.binary())], names=["leaf", "digest"])


def _hash_leaf(table: pa.Table) -> pa.Table:
    def work() -> pa.Table:
        digest = leaf_digest(table["digest"].to_pylist())
        columns = {"digest": pa.array([digest], pa.binary()), "rows": pa.array([table.num_rows])}
        return pa.table({"leaf": table["leaf"].slice(0, 1), **columns})

    return without_data(work)
