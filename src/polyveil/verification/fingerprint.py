"""A checksum of a table's content that does not depend on the order of its rows, which a database does not keep."""

from __future__ import annotations

import hashlib

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
