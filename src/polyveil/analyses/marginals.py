"""The k-marginal score of SDNist: how alike two tables are in all combinations of k columns, 1000 for the same."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from polyveil.arrays import IntArray

MOST = 100
"""Combinations looked at; if there are more, so many are drawn."""
BINS = 20
"""Bins of a column of numbers, each with about as many rows of the original."""


def k_marginal(
    original: Mapping[str, IntArray], other: Mapping[str, IntArray], k: int, rng: np.random.Generator
) -> float:
    """(2 - mean distance) / 2 * 1000; the distance is the sum of the differences of the cells' shares, 0 to 2."""
    every = list(combinations(original, min(k, len(original))))
    chosen = every if len(every) <= MOST else [every[i] for i in rng.choice(len(every), MOST, replace=False)]
    distances = [_distance([original[n] for n in names], [other[n] for n in names]) for names in chosen]
    return float((2 - np.mean(distances)) / 2 * 1000)


def _distance(first: list[IntArray], second: list[IntArray]) -> float:
    both = np.stack([np.concatenate(pair) for pair in zip(first, second, strict=True)], axis=1)
    _, cell = np.unique(both, axis=0, return_inverse=True)
    cell = cell.ravel()
    rows, cells = len(first[0]), int(cell.max(initial=0)) + 1
    shares = [np.bincount(part, minlength=cells) / max(len(part), 1) for part in (cell[:rows], cell[rows:])]
    return float(np.abs(shares[0] - shares[1]).sum())
