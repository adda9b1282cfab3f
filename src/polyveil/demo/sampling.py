"""Seeded draws from tables of weights: one look-up a cell, whole numbers only, so a seed means the same table anywhere.

Each row of a table of weights is one condition (say, one age band). It is spread over the 65,536 values of an unsigned
16-bit draw, after which sampling a million rows is a million look-ups. Rounding to whole draws also keeps the last
digits of floating point, which differ between machines, out of the result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

Codes = npt.NDArray[np.integer]
Draws = npt.NDArray[np.unsignedinteger]
Weights = npt.NDArray[np.float64]

STEPS = 1 << 16


def weights(text: str) -> Weights:
    """A block of numbers, one condition a line, as written in the model files."""
    return np.array([line.split() for line in text.strip().splitlines()], dtype=np.float64)


def spread(table: npt.ArrayLike) -> Draws:
    """Turn weights (conditions x values) into look-ups (conditions x 65,536): which value each draw stands for."""
    rows = np.atleast_2d(np.asarray(table, dtype=np.float64))
    ends = np.rint(np.cumsum(rows, axis=1) / rows.sum(axis=1, keepdims=True) * STEPS).astype(np.int64)
    values = np.arange(rows.shape[1], dtype=np.min_scalar_type(rows.shape[1]))
    shares = np.diff(ends, axis=1, prepend=0)
    return np.repeat(np.tile(values, len(rows)), shares.ravel()).reshape(len(rows), STEPS)


def draw(rng: np.random.Generator, lookup: Draws, condition: Codes | int, rows: int) -> Draws:
    """One value code a row, each from the look-up row of its condition."""
    uniform = rng.integers(0, STEPS, rows, dtype=np.uint16)
    picked: Draws = lookup[condition, uniform]
    return picked


def chance(rng: np.random.Generator, probability: float, rows: int) -> npt.NDArray[np.bool_]:
    """True with the given probability, row by row."""
    return rng.integers(0, STEPS, rows, dtype=np.uint16) < round(probability * STEPS)


def between(rng: np.random.Generator, knots: Sequence[int], lookup: Draws, rows: int) -> npt.NDArray[np.int64]:
    """Whole numbers that fall evenly between two neighbouring knots; the look-up says which two."""
    part = draw(rng, lookup, 0, rows)
    low, high = np.asarray(knots, dtype=np.int64)[part], np.asarray(knots, dtype=np.int64)[part + 1]
    steps = rng.integers(0, STEPS, rows, dtype=np.uint16).astype(np.int64)
    return low + (high - low) * steps // STEPS


def band(starts: Sequence[int], size: int) -> npt.NDArray[np.uint8]:
    """For each number 0 .. size - 1 the band it lies in, where `starts` are the bands' first numbers."""
    return (np.searchsorted(starts, np.arange(size), side="right") - 1).clip(0).astype(np.uint8)


def column(name: str, values: Sequence[object], dtype: pl.DataType, codes: Codes) -> pl.Series:
    """A column of `values[code]`; a value of None is a missing cell."""
    return pl.Series(name, values, dtype=dtype).gather(codes)


def category(name: str, values: Sequence[str], codes: Codes) -> pl.Series:
    """A column of category names; a code past the last name is a missing cell."""
    return column(name, [*values, None], pl.Enum(values), codes)
