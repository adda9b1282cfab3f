"""Classes as a reader sees them: rows whose quasi-identifier cells are all equal; missing equals missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from polyveil.arrays import IntArray


def class_of_row(frame: pl.DataFrame, columns: Sequence[str]) -> IntArray:
    """Number the classes from 0; exact (no hashing), one 64-bit key per row."""
    key = np.zeros(frame.height, dtype=np.int64)
    span = 1
    for name in columns:
        numbers = _numbered(frame.get_column(name))
        width = int(numbers.max(initial=0)) + 1
        if span > (2**62) // width:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = int(key.max(initial=0)) + 1
        key = key * width + numbers
        span *= width
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def _numbered(cells: pl.Series) -> IntArray:
    """A number per distinct cell; 0 is missing. Only the distinct texts are sorted: the same numbers every time."""
    if cells.dtype == pl.String:
        values = cells.drop_nulls().unique().sort()
        cells = cells.cast(pl.Enum(values)).to_physical().cast(pl.Int64) + 1
    else:
        cells = cells.rank("dense").cast(pl.Int64)
    return cells.fill_null(0).to_numpy()
