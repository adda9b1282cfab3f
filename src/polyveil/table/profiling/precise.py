"""Numbers that nobody else has: a salary to the cent points to its person by itself, whatever its row looks like."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.results import percent

POINTING = 0.5
"""From this share of rows with a value of their own on, a sensitive number is said to point to people."""
FEW_ROWS = 20
"""Below so many rows, a value of one's own says little."""
_RARE = 0.02
"""The share of rows that may keep a value of their own after rounding."""


def share_alone(counts: IntArray) -> float:
    """The share of rows whose value no other row has, from how often each value occurs."""
    rows = int(counts.sum())
    return float((counts == 1).sum() / rows) if rows >= FEW_ROWS else 0.0


def nice_step(values: FloatArray, counts: IntArray) -> float | None:
    """The least of 1, 2 or 5 times a power of ten that leaves few rows with a rounded value of their own."""
    spread = float(values.max() - values.min()) if len(values) else 0.0
    if not spread > 0 or not math.isfinite(spread):
        return None
    top = math.floor(math.log10(spread))
    widths = [step * 10.0**power for power in range(top - 5, top + 1) for step in (1, 2, 5)]

    def is_coarse(width: float) -> bool:
        _, group = np.unique(np.round(values / width), return_inverse=True)
        return share_alone(np.bincount(group, weights=counts).astype(np.int64)) <= _RARE

    # Coarser steps leave fewer rows alone, so the first that is coarse enough is found by halving.
    first = bisect_left(widths, True, key=is_coarse)
    if first == len(widths):
        return None
    return int(widths[first]) if widths[first] >= 1 else float(f"{widths[first]:.12g}")


def words_of(name: str, alone: float, values: FloatArray, counts: IntArray) -> str:
    """What to know about such a column, and what to do."""
    step = nice_step(values, counts)
    remedy = f"publish: {{round: {step}}} avoids it" if step is not None else "publish: {intervals: [...]} avoids it"
    return (
        f"{percent(alone, 0)} of rows have a {name} that nobody else has, which points to a person by itself; {remedy}."
    )


def of_manifest(sensitive: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """What to know about the published numbers of a release, from the counts in its manifest."""
    found = []
    for name, about in sensitive.items():
        if about["kind"] != "numeric":
            continue
        counts = np.array(about["counts"][: len(about["values"])], dtype=np.int64)
        alone = share_alone(counts)
        if alone >= POINTING:
            found.append(words_of(name, alone, np.array([float(value) for value in about["values"]]), counts))
    return tuple(found)
