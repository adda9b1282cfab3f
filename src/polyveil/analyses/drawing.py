"""A release as an analyst reads it: each cell stands for values that are equally likely, so values are drawn from it.

A range gives a number between its ends (a whole one if both are whole), a node of a hierarchy or a set one of its
values. In linked tables each row gets one of the sensitive rows of its group, without replacement. Nothing but the
published files and, for the values under a node, the hierarchy is used; what a row is in the original is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.cells import misfits
from polyveil.attacks.scene import code_people
from polyveil.cells import ANYTHING, place_of, read_range
from polyveil.errors import InputError
from polyveil.policy import from_public
from polyveil.table.coded import QuasiColumn
from polyveil.table.domain import OrderedDomain, TreeDomain
from polyveil.table.source import Table
from polyveil.verification import ReleaseLike, load_release

Values = npt.NDArray[Any]
"""A column: floats with NaN for missing, or texts with None for missing."""
WEIGHT = "\0weight"
"""The sampling weights among the columns, under a name that no column has."""
Draw = Callable[[np.random.Generator], Mapping[str, Values]]


@dataclass(frozen=True, eq=False)
class Pair:
    """The original's columns, and a function that draws the same columns from the release."""

    original: Mapping[str, Values]
    draw: Draw
    quasi: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, without the weights."""
        return tuple(name for name in self.original if name != WEIGHT)

    def is_number(self, name: str) -> bool:
        """Whether a column has numbers or dates (in days)."""
        return self.original[name].dtype == np.float64


def pair_of(release: ReleaseLike, original: Table) -> Pair:
    """Make ready to draw."""
    manifest, tables, _ = load_release(release)
    if "relational" in manifest:
        raise InputError(
            "analyses are compared for releases of one table, not of linked tables of people. Leave it out"
        )
    policy = from_public(manifest["policy"])
    people = code_people(policy, original)
    quasi = {column.name: column for column in people.quasi}
    frame = tables["table"] if "table" in tables else tables["quasi"]
    kinds = {name: about["kind"] == "numeric" for name, about in manifest["sensitive"].items()}
    others = [name for name in (*kinds, *policy.having("insensitive")) if name in original.frame.columns]
    known = {name: _original(column) for name, column in quasi.items()}
    for name in others:
        cells = original.frame.get_column(name)
        known[name] = _values(cells, kinds.get(name, cells.dtype.is_numeric()))
    if policy.sampling_weight is not None and people.sampling is not None:
        known[WEIGHT] = people.sampling
    drawers = {name: _drawer(column, frame.get_column(name)) for name, column in quasi.items()}
    if "linked" not in manifest:
        drawers |= {name: _fixed(_values(frame.get_column(name), known[name].dtype == np.float64)) for name in others}
        if WEIGHT in known:
            drawers[WEIGHT] = _fixed(_values(frame.get_column(str(policy.sampling_weight)), True))
        return Pair(known, lambda rng: {name: draw(rng) for name, draw in drawers.items()}, tuple(quasi))
    slices = [_slice(about, tables[about["table"]], frame, known) for about in manifest["linked"]["slices"]]
    apart = {name for one in manifest["linked"]["slices"] for name in one["attributes"]}
    drawers |= {
        name: _fixed(_values(frame.get_column(name), known[name].dtype == np.float64))
        for name in others
        if name not in apart
    }

    def draw(rng: np.random.Generator) -> Mapping[str, Values]:
        found = {name: one(rng) for name, one in drawers.items()}
        for one in slices:
            found |= one(rng)
        return found

    return Pair(known, draw, tuple(quasi))


def _values(cells: pl.Series, number: bool) -> Values:
    if number:
        return cells.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy().astype(np.float64)
    return np.array(cells.cast(pl.String).to_list(), dtype=object)


def _original(column: QuasiColumn) -> Values:
    domain = column.domain
    if isinstance(domain, OrderedDomain) and domain.kind in ("numeric", "date"):
        return np.append(domain.positions, [np.nan] * domain.has_null).astype(np.float64)[column.codes]
    return _labels(domain)[column.codes]


def _labels(domain: Any) -> Values:
    labels = list(domain.hierarchy.leaves) if isinstance(domain, TreeDomain) else list(domain.labels)
    return np.array([*labels, *[None] * (domain.size - len(labels))], dtype=object)


def _fixed(values: Values) -> Callable[[np.random.Generator], Values]:
    return lambda _: values


def _drawer(column: QuasiColumn, cells: pl.Series) -> Callable[[np.random.Generator], Values]:
    domain = column.domain
    if isinstance(domain, OrderedDomain) and domain.kind in ("numeric", "date"):
        low, high = _ends(domain, cells)
        whole = bool(np.all(low[~np.isnan(low)] % 1 == 0) and np.all(high[~np.isnan(high)] % 1 == 0))

        def number(rng: np.random.Generator) -> Values:
            part = rng.random(len(low))
            return low + (np.floor(part * (high - low + 1)) if whole else part * (high - low))

        return number
    misfit, of_row = misfits(column, cells)
    labels = _labels(domain)
    fitting = [np.flatnonzero(row == 0) for row in misfit]
    start = np.append(0, np.cumsum([len(one) for one in fitting])[:-1])
    size, flat = np.array([len(one) for one in fitting]), np.concatenate(fitting)

    def label(rng: np.random.Generator) -> Values:
        place = (rng.random(len(of_row)) * size[of_row]).astype(np.int64)
        return np.asarray(labels[flat[start[of_row] + place]])

    return label


def _ends(domain: OrderedDomain, cells: pl.Series) -> tuple[FloatArray, FloatArray]:
    """The ends of each row's range; NaN where nothing is known but that the value is missing."""
    everything = float(domain.positions[0]), float(domain.positions[-1])
    if cells.dtype.is_float():
        numbers = cells.fill_null(float("nan")).to_numpy().astype(np.float64)
        return numbers, numbers
    texts = cells.cast(pl.String)
    known: dict[str | None, tuple[float, float]] = {None: (np.nan, np.nan), ANYTHING: everything}
    for text in texts.unique().drop_nulls().to_list():
        if text != ANYTHING:
            least, most = read_range(domain.kind, text)
            known[text] = place_of(domain.kind, least), place_of(domain.kind, most)
    ends = np.array([known[text] for text in texts.to_list()], dtype=np.float64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _slice(about: Mapping[str, Any], sensitive: pl.DataFrame, quasi: pl.DataFrame, known: Mapping[str, Values]) -> Draw:
    """Draws for one table of sensitive columns: its rows, shuffled within their group, beside the rows of the group."""
    if "count" in about:
        repeats = sensitive.get_column(about["count"]).cast(pl.Int64).to_numpy()
        sensitive = sensitive[pl.Series(np.repeat(np.arange(sensitive.height), repeats))]
    names = pl.concat([quasi.get_column(about["group"]), sensitive.get_column(about["group"])]).cast(pl.String)
    codes = names.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    rows, values = codes[: quasi.height], codes[quasi.height :]
    columns = {n: _values(sensitive.get_column(n), known[n].dtype == np.float64) for n in about["attributes"]}

    def draw(rng: np.random.Generator) -> Mapping[str, Values]:
        chosen = _matched(rows, values, rng)
        found = {}
        for name, column in columns.items():
            blank: Any = np.nan if column.dtype == np.float64 else None
            found[name] = np.append(column, np.array([blank], dtype=column.dtype))[chosen]
        return found

    return draw


def _matched(rows: IntArray, values: IntArray, rng: np.random.Generator) -> IntArray:
    """For each row a value of the same group, without replacement; -1 if the group has no more, or no group is."""
    order, shuffled = np.lexsort((rng.random(len(rows)), rows)), np.lexsort((rng.random(len(values)), values))
    most = int(max(rows.max(initial=0), values.max(initial=0))) + 1
    per_row, per_value = np.bincount(rows, minlength=most), np.bincount(values, minlength=most)
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    group = rows[order]
    place = (np.cumsum(per_value) - per_value)[group] + nth
    there = (group > 0) & (nth < per_value[group])
    found = np.full(len(rows), -1, dtype=np.int64)
    found[order[there]] = shuffled[place[there]]
    return found
