"""Reading a column of released quasi-identifier cells: how often each stands there, and which numbers it covers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import FloatArray
from polyveil.cells import ANYTHING, place_of, read_range
from polyveil.reports.language import say


@dataclass(frozen=True, eq=False)
class Spread:
    """A column of numbers or dates as released: `rows[i]` rows lie somewhere from `low[i]` to `high[i]`."""

    low: FloatArray
    high: FloatArray
    rows: FloatArray
    unknown: int
    """Rows whose cell tells no number: missing, or anything."""

    @property
    def whole(self) -> bool:
        """Whether all ends are whole numbers."""
        return bool(np.all(self.low % 1 == 0) and np.all(self.high % 1 == 0))

    def bins(self, count: int = 30, *, whole: bool | None = None) -> list[tuple[float, float, float]]:
        """Equal bins over the range; a row that may lie in several counts in each by how much of its range is there."""
        start, stop = float(self.low.min()), float(self.high.max())
        if self.whole if whole is None else whole:
            step = _whole_step(stop - start + 1, count)
            edges = start + step * np.arange(int(np.ceil((stop + 1 - start) / step)) + 1)
            high = self.high + 1
        else:
            edges, high = np.linspace(start, stop, count + 1), self.high
        total = float(self.rows.sum()) or 1.0
        shares = [self._inside(a, b, high, last=i == len(edges) - 2) for i, (a, b) in enumerate(pairwise(edges))]
        return [(float(a), float(b), share / total) for a, b, share in zip(edges[:-1], edges[1:], shares, strict=True)]

    def _inside(self, a: float, b: float, high: FloatArray, *, last: bool) -> float:
        width = high - self.low
        covered = np.clip(np.minimum(high, b) - np.maximum(self.low, a), 0, None)
        point = (self.low >= a) & ((self.low < b) | last & (self.low <= b))
        share = np.where(width > 0, covered / np.where(width > 0, width, 1.0), point)
        return math.fsum(share * self.rows)  # the same in any order

    @property
    def exact(self) -> float:
        """The share of rows whose cell is a single number."""
        every = float(self.rows.sum()) + self.unknown
        return float(self.rows[self.low == self.high].sum()) / every if every else 0.0

    @property
    def median_width(self) -> float:
        """Half of the rows have a range at most this wide."""
        order = np.argsort(self.high - self.low)
        upto = np.cumsum(self.rows[order])
        return float((self.high - self.low)[order][np.searchsorted(upto, upto[-1] / 2)])


def _whole_step(span: float, most: int) -> float:
    """The width of bins that hold whole numbers alike: a bin of fewer numbers than the others would look like a dip."""
    fewest = max(1, int(most * 0.6))
    steps = range(max(1, int(np.ceil(span / most))), max(1, int(np.ceil(span / fewest))) + 1)
    return float(min(steps, key=lambda step: (-span % step) / step))


def spread_of(cells: pl.Series, about: Mapping[str, Any]) -> Spread | None:
    """The column as ranges of numbers, or None if it is not one of numbers or dates."""
    if about["kind"] not in ("numeric", "date"):
        return None
    low, high, rows, unknown = [], [], [], 0
    for cell, count in cells.cast(pl.String).value_counts().sort(pl.all()).iter_rows():
        if cell is None or cell == ANYTHING:
            unknown += count
            continue
        least, most = read_range(about["kind"], cell)
        low.append(place_of(about["kind"], least))
        high.append(place_of(about["kind"], most))
        rows.append(float(count))
    return Spread(np.array(low), np.array(high), np.array(rows), unknown) if rows else None


def counted_cells(cells: pl.Series) -> list[tuple[str, int]]:
    """Every released cell with its rows, most common first."""
    counts = cells.cast(pl.String).value_counts()
    named = [(say("missing") if cell is None else str(cell), int(count)) for cell, count in counts.iter_rows()]
    return sorted(named, key=lambda item: (-item[1], item[0]))
