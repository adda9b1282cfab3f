"""Columns published as they are whose values always lie within the cells of a quasi-identifier, not by chance.

Such a column is that quasi-identifier under another name, or tells it more precisely than its cells do.
"""

from __future__ import annotations

from math import log

import numpy as np
import polars as pl

from polyveil.cells import ANYTHING, read_range, read_set
from polyveil.verification.copies import RARELY

MOST_CELLS = 20_000


def lie_within(values: pl.Series, cells: pl.Series, kind: str) -> bool:
    """Whether every value lies within the cell beside it, which an unrelated column would hardly do."""
    frame = pl.DataFrame([values.alias("value").cast(pl.String), cells.alias("cell").cast(pl.String)])
    frame = frame.drop_nulls().filter(pl.col("cell") != ANYTHING)
    if not frame.height or frame.get_column("cell").n_unique() > MOST_CELLS:
        return False
    try:
        chances = _of_ranges(frame, kind) if kind in ("numeric", "date") else _of_members(frame)
    except (ValueError, pl.exceptions.PolarsError):
        return False
    return chances is not None and chances < RARELY


def _of_ranges(frame: pl.DataFrame, kind: str) -> float | None:
    """The logarithm of how likely all values lie in their ranges by chance; None if one does not."""
    if kind == "numeric":
        frame = frame.with_columns(pl.col("value").cast(pl.Float64))
    every = np.sort(frame.get_column("value").to_numpy())
    total = 0.0
    for cell, count, least, most in (
        frame.group_by("cell").agg(pl.len(), pl.min("value").alias("min"), pl.max("value").alias("max")).iter_rows()
    ):
        low, high = (float(end) if kind == "numeric" else end for end in read_range(kind, cell))
        if not low <= least <= most <= high:
            return None
        inside = np.searchsorted(every, high, side="right") - np.searchsorted(every, low, side="left")
        total += count * log(inside / len(every))
    return total


def _of_members(frame: pl.DataFrame) -> float | None:
    """The same for values of a category or a set."""
    often = dict(frame.get_column("value").value_counts().iter_rows())
    total = 0.0
    for cell, count, values in frame.group_by("cell").agg(pl.len(), pl.col("value").unique()).iter_rows():
        members = read_set(cell)
        if not set(values) <= set(members):
            return None
        total += count * log(sum(often.get(str(member), 0) for member in members) / frame.height)
    return total
