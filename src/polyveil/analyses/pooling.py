"""Several draws of a release combined by Rubin's rules, and two intervals compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyveil.analyses.estimators import Estimates, quantile
from polyveil.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Intervals:
    """Estimates with their 95 % intervals."""

    values: FloatArray
    low: FloatArray
    high: FloatArray


def interval(found: Estimates) -> Intervals:
    """The interval of one table."""
    half = quantile(found.freedom) * np.sqrt(found.variances)
    return Intervals(found.values, found.values - half, found.values + half)


def pool(draws: Sequence[Estimates]) -> Intervals:
    """Rubin's rules: the mean of the draws, its variance within and between them (Barnard & Rubin 1999 for freedom)."""
    count = len(draws)
    values = np.stack([draw.values for draw in draws])
    mean = values.mean(axis=0)
    within = np.stack([draw.variances for draw in draws]).mean(axis=0)
    between = (1 + 1 / count) * (values.var(axis=0, ddof=1) if count > 1 else np.zeros_like(mean))
    total = within + between
    lost = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    half = np.array([quantile(_freedom(count, part, draws[0].freedom)) for part in lost]) * np.sqrt(total)
    return Intervals(mean, mean - half, mean + half)


def _freedom(draws: int, lost: float, complete: float) -> float:
    """Degrees of freedom when a share `lost` of the variance comes from not knowing the values."""
    if not lost > 0:
        return complete
    old = (draws - 1) / lost**2
    if not np.isfinite(complete):
        return float(old)
    seen = (complete + 1) / (complete + 3) * complete * (1 - lost)
    return float(old * seen / (old + seen)) if seen > 0 else float(min(old, 1.0))


def overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    """How much two intervals have in common, as the mean share of either (Karr et al. 2006); 0 if they are apart."""
    common = min(first[1], second[1]) - max(first[0], second[0])
    if common < 0:
        return 0.0
    widths = [high - low for low, high in (first, second)]
    return float(np.mean([common / width if width > 0 else 1.0 for width in widths]))
