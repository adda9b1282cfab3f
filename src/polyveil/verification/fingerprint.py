"""A checksum of a table's content that does not depend on the order of its rows, which a database does not keep."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl


def fingerprint(frame: pl.DataFrame) -> str:
    """sha256 over the rows in sorted order, column by column: name, type, which cells are missing, the others' bytes.

    Two tables have the same fingerprint if they have the same columns in the same order and the same rows, as often.
    """
    digest = hashlib.sha256(f"{frame.height} rows".encode())
    frame = _plain(frame)
    frame = frame.sort(frame.columns, nulls_last=True, maintain_order=False) if frame.width else frame
    for cells in frame.get_columns():
        present = cells.is_not_null().to_numpy()
        # A column without values has no type of its own in SQLite.
        kind = str(cells.dtype) if present.any() else "nothing"
        digest.update(f"\n{len(cells.name.encode())} {cells.name} {kind}\n".encode())
        digest.update(np.packbits(present).tobytes())
        digest.update(_bytes(cells.drop_nulls()))
    return digest.hexdigest()


LEAF_BITS = 12
"""Rows are divided among this many leaves (as a power of two) by the first bits of their digests."""


def row_digests(frame: pl.DataFrame) -> list[bytes]:
    """The sha256 of every row: of each cell its length and text, and a sign that no text has where it is missing."""
    texts = []
    for cells in _plain(frame).get_columns():
        if cells.dtype.is_float():  # by its bits, which every machine writes alike
            bits = pl.Series(cells.name, cells.fill_null(0.0).to_numpy().view(np.int64))
            cells = bits.set(cells.is_null(), None)
        text = cells.cast(pl.String)
        texts.append(pl.concat_str(text.str.len_bytes().cast(pl.String), pl.lit(":"), text).fill_null("~").alias(""))
    if not texts:
        return []
    rows = frame.select(pl.concat_str(expression.alias(f"c{i}") for i, expression in enumerate(texts))).to_series()
    return [hashlib.sha256(row.encode()).digest() for row in rows]


def leaf_of(digest: bytes) -> int:
    """The leaf that a row belongs to."""
    return int.from_bytes(digest[:2], "big") >> (16 - LEAF_BITS)


def leaf_digest(digests: Iterable[bytes]) -> bytes:
    """What a leaf says of its rows, whatever their order."""
    return hashlib.sha256(b"".join(sorted(digests))).digest()


def tree_fingerprint(columns: Mapping[str, pl.DataType], leaves: Mapping[int, bytes], rows: int) -> str:
    """A checksum of a table that many machines make together: sha256 over the columns and the digests of the leaves."""
    digest = hashlib.sha256(f"{rows} rows".encode())
    for name, kind in columns.items():
        digest.update(f"\n{len(name.encode())} {name} {kind}".encode())
    for leaf in sorted(leaves):
        digest.update(f"\n{leaf} ".encode() + leaves[leaf])
    return digest.hexdigest()


def tree_fingerprint_of(frame: pl.DataFrame) -> str:
    """The same of a table in memory."""
    leaves: dict[int, list[bytes]] = {}
    for digest in row_digests(frame):
        leaves.setdefault(leaf_of(digest), []).append(digest)
    return tree_fingerprint(frame.schema, {leaf: leaf_digest(some) for leaf, some in leaves.items()}, frame.height)


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Everything as integer, float or text, so that the bytes are the same on every machine and in every version."""
    casts = []
    for name, dtype in frame.schema.items():
        column = pl.col(name)
        if dtype.is_float():
            number = column.cast(pl.Float64).fill_nan(None)
            casts.append(pl.when(number == 0).then(0.0).otherwise(number).alias(name))  # -0.0 is 0.0
        elif dtype == pl.Time:
            casts.append(column.cast(pl.Int64))
        elif isinstance(dtype, pl.Datetime):
            casts.append(column.dt.epoch("us"))
        elif dtype == pl.Date or dtype.is_integer() or dtype == pl.Boolean:
            casts.append(column.to_physical().cast(pl.Int64))
        else:
            casts.append(column.cast(pl.String))
    return frame.with_columns(casts)


def _bytes(cells: pl.Series) -> bytes:
    if cells.dtype != pl.String:
        return cells.to_numpy().astype("<f8" if cells.dtype.is_float() else "<i8").tobytes()
    lengths = cells.str.len_bytes().to_numpy().astype("<i8").tobytes()
    return lengths + str(cells.str.join("").item() if len(cells) else "").encode()
