"""Which columns point to people: how many rows are alone with their combination of a few columns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.verification.classes import class_of_row

MOST_COLUMNS = 40


@dataclass(frozen=True)
class Combination:
    """Columns, the rows that no other row agrees with in all of them, and their share."""

    columns: tuple[str, ...]
    unique_rows: int
    share: float


@dataclass(frozen=True)
class Uniqueness:
    """Combinations, those that single out most rows first; `complete` is False where time ran out."""

    combinations: tuple[Combination, ...]
    width: int
    complete: bool

    def telling(self, most: int) -> list[Combination]:
        """Of every width the combinations that single out most rows, narrow ones first."""
        found = [each for each in self.combinations if each.unique_rows]
        return [
            each
            for size in range(1, self.width + 1)
            for each in [one for one in found if len(one.columns) == size][:most]
        ]


def unique_combinations(
    frame: pl.DataFrame, columns: Sequence[str], *, width: int = 3, limit: float = 20.0
) -> Uniqueness:
    """Every combination of up to `width` columns, narrow ones first, as far as `limit` seconds allow.

    A missing cell is a value: two rows that both lack it agree in it.
    """
    chosen = list(columns)[:MOST_COLUMNS]
    numbers = {name: class_of_row(frame, [name]) for name in chosen}
    found: list[Combination] = []
    deadline = time.monotonic() + limit
    for size in range(1, min(width, len(chosen)) + 1):
        for group in combinations(chosen, size):
            if time.monotonic() > deadline:
                return Uniqueness(_sorted(found), width, complete=False)
            alone = _alone([numbers[name] for name in group])
            found.append(Combination(group, alone, alone / max(frame.height, 1)))
    return Uniqueness(_sorted(found), width, complete=len(chosen) == len(columns))


def _alone(columns: Sequence[IntArray]) -> int:
    """Rows whose combination occurs once."""
    key, span = columns[0], int(columns[0].max(initial=0)) + 1
    for numbers in columns[1:]:
        width = int(numbers.max(initial=0)) + 1
        if span > (2**62) // width:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = int(key.max(initial=0)) + 1
        key, span = key * width + numbers, span * width
    if span <= 4 * len(key) + 1_000_000:
        return int(np.count_nonzero(np.bincount(key) == 1))
    ordered = np.sort(key)
    differs = np.concatenate(([True], ordered[1:] != ordered[:-1], [True]))
    return int(np.count_nonzero(differs[1:] & differs[:-1]))


def _sorted(found: Sequence[Combination]) -> tuple[Combination, ...]:
    return tuple(sorted(found, key=lambda each: (-each.share, len(each.columns), each.columns)))
