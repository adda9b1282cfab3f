"""Tables that are being looked at: read once, kept for a while, shown in slices - never sent whole."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polyveil.errors import InputError
from polyveil.table.profiling.column import ColumnProfile
from polyveil.table.profiling.profile import singled_out
from polyveil.table.profiling.types import as_numbers
from polyveil.table.source import Table, read
from polyveil.web.draft import Draft, open_draft
from polyveil.web.kept_profiles import profiles_of
from polyveil.web.store import Store

KEPT = 3
MOST_ROWS = 500
BINS = 24
COMMON = 8


@dataclass(frozen=True)
class ColumnSketch:
    """How a column is spread: `bars` are (label, rows), in order of value for numbers, by frequency for the rest."""

    ordered: bool
    bars: tuple[tuple[str, int], ...]
    others: int = 0
    """Values that have no bar of their own."""


@dataclass(eq=False)
class OpenTable:
    """A table that was read, with what is known about its columns."""

    table: Table
    stamp: tuple[int, int]
    folder: Path
    """Where its profile is kept."""
    sheet: str | None
    sketched: dict[str, ColumnSketch] = field(default_factory=dict)

    @cached_property
    def profiles(self) -> tuple[ColumnProfile, ...]:
        return profiles_of(self.table, self.folder, f"{self.stamp}, {self.sheet}")

    def sketches(self, columns: Sequence[ColumnProfile]) -> dict[str, ColumnSketch]:
        """How these columns are spread. Each is looked at once, when it is shown."""
        for about in columns:
            if about.name not in self.sketched:
                self.sketched[about.name] = sketch(self.table, about)
        return {about.name: self.sketched[about.name] for about in columns}

    def counts(self, column: str) -> dict[str, int]:
        """Rows per value, as text; missing cells are left out."""
        if column not in self.table.columns:
            raise InputError("the table has no such column")
        counted = self.table.frame[column].cast(pl.String).drop_nulls().value_counts(sort=True)
        return dict(counted.iter_rows())


class Library:
    """The last few tables in memory. Reading happens in the thread that asks first; others wait for it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._open: OrderedDict[str, OpenTable] = OrderedDict()
        self._reading: dict[str, threading.Lock] = {}
        self._drafts: dict[str, Draft] = {}
        self._lock = threading.Lock()

    def open(self, table_id: str) -> OpenTable:
        """The table, from memory where its file has not changed. Raises InputError if it cannot be read."""
        stored = self.store.table(table_id)
        try:
            about = stored.path.stat()
        except OSError:
            raise InputError(f"{stored.name} no longer exists. Open it again") from None
        stamp = (about.st_mtime_ns, about.st_size)
        with self._lock:
            reading = self._reading.setdefault(table_id, threading.Lock())
        with reading:
            with self._lock:
                known = self._open.get(table_id)
                if known is not None and known.stamp == stamp:
                    self._open.move_to_end(table_id)
                    return known
            folder = self.store.table_folder(table_id)
            found = OpenTable(read(stored.path, **stored.reading), stamp, folder, stored.sheet)
            with self._lock:
                self._open[table_id] = found
                while len(self._open) > KEPT:
                    self._open.popitem(last=False)
            return found

    def forget(self, table_id: str) -> None:
        """A deleted table leaves the memory as well."""
        with self._lock:
            self._open.pop(table_id, None)
            self._reading.pop(table_id, None)
            self._drafts.pop(table_id, None)

    def draft(self, table_id: str) -> Draft:
        """The policy being drafted for a table: one for all pages and tabs, so that none overwrites another."""
        opened, stored = self.open(table_id), self.store.table(table_id)
        with self._lock:
            known = self._drafts.get(table_id)
        if known is not None:
            return known
        folder, profiles = self.store.table_folder(table_id), opened.profiles
        with self._lock:
            if table_id not in self._drafts:
                self._drafts[table_id] = open_draft(folder, profiles, stored.policy, opened.table.height)
            return self._drafts[table_id]

    def singled_out(self, table_id: str, columns: list[str]) -> int:
        """Rows that no other row equals on these columns."""
        return singled_out(self.open(table_id).table, columns)


def rows_of(frame: pl.DataFrame, start: int, stop: int) -> list[dict[str, Any]]:
    """A slice for a grid: columns by their position (c0, c1 ...), because names may hold anything."""
    part = frame.slice(start, max(0, min(stop - start, MOST_ROWS)))
    part = part.with_columns(pl.all().cast(pl.String))
    part.columns = [f"c{i}" for i in range(part.width)]
    return part.to_dicts()


def sketch(table: Table, about: ColumnProfile) -> ColumnSketch:
    """The column as a few bars."""
    cells = table.frame[about.name].drop_nulls()
    numbers = _positions(cells, about, table.decimal)
    if numbers is not None and len(numbers) and len(np.unique(numbers[:5000])) > COMMON:
        counts, edges = np.histogram(numbers, bins=BINS)
        labels = [_between(a, b, about) for a, b in pairwise(edges)]
        return ColumnSketch(True, tuple(zip(labels, counts.tolist(), strict=True)))
    counted = cells.cast(pl.String).value_counts(sort=True)
    pairs = [(str(value), int(rows)) for value, rows in counted.head(COMMON).iter_rows()]
    return ColumnSketch(False, tuple(pairs), max(counted.height - COMMON, 0))


def _positions(cells: pl.Series, about: ColumnProfile, decimal: str) -> Any:
    if about.type == "numeric":
        if cells.dtype.is_numeric():
            return cells.cast(pl.Float64).to_numpy()
        markers = [hint.marker for hint in about.missing_hints]
        found = as_numbers(cells.filter(~cells.is_in(markers)), decimal)
        return None if found is None else found.to_numpy()
    if about.type == "date":
        days = cells if cells.dtype.is_temporal() else cells.str.to_date(about.date_format, strict=False)
        return days.cast(pl.Date).cast(pl.Int32).drop_nulls().cast(pl.Float64).to_numpy()
    return None


def _between(low: float, high: float, about: ColumnProfile) -> str:
    if about.type == "date":
        days = np.array([low, high]).astype("datetime64[D]")
        return f"{days[0]} to {days[1]}"
    return f"{low:,.4g} to {high:,.4g}"
