"""Any few quasi-identifiers, counted again: rows by their cells, combination of columns by combination."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.verification.classes import class_of_row


def fewest_alike(frame: pl.DataFrame, quasi: Sequence[str], columns: int, classes: IntArray) -> IntArray:
    """For each class the fewest rows whose cells equal its own in any so many columns; missing equals missing.

    Combinations of fewer columns need not be counted: who shares some cells shares each part of them.
    """
    numbers = {name: class_of_row(frame, [name]).astype(np.int32) for name in quasi}
    cells = pl.DataFrame(numbers).with_columns(pl.Series("class", classes))
    known = cells.group_by("class", maintain_order=True).agg(pl.len().alias("rows"), pl.col(quasi).first())
    known = known.sort("class")
    found = np.full(known.height, frame.height, dtype=np.int64)
    for some in combinations(quasi, min(columns, len(quasi))):
        if some:
            shared = known.select(pl.col("rows").sum().over(some)).to_series().to_numpy()
            found = np.minimum(found, shared.astype(np.int64))
    return found
