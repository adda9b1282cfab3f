"""t from niche overlap (roy2014): t = 1 - the least area that the densities of the sensitive columns share.

Densities: a Gaussian kernel over the standardized codes, whose bandwidth is the caller's choice, or "discrete", which
lays the first class over the first, the second over the second (Geange et al. 2011, whom the paper cites). The overlap
of a pair or group is the integral of the least of its densities.

The paper leaves out a group "because of the high mismatch in the number of classes", by hand. Here a group is left out
by a rule: its column with most classes has more than `ratio` times as many as the one with fewest.

The paper's future work, a tolerance for t, is a bootstrap interval: rows are drawn again with replacement (counts of
the distinct class combinations are multinomial), columns together, and t is measured on each draw. It covers the
chance of who is in the table, not the choice of coding and bandwidth, which weighs more: `sensitivity` shows that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from polyveil.advice.niches import Coding, Niche, niches, standardized
from polyveil.arrays import FloatArray, IntArray
from polyveil.table.coded import CodedTable, SensitiveColumn, distinct

Estimator = Literal["kernel", "discrete"]
MISMATCH = 2.0
BANDWIDTH = 0.5
GRID = 1601
REACH = 5.0
MOST_IN_FULL = 6
"""With more columns than this, only pairs and the whole group are measured."""


@dataclass(frozen=True)
class Overlap:
    """What a pair or group shares, from 0 to 1; `mismatched` groups do not count for t."""

    columns: tuple[str, ...]
    share: float
    classes: tuple[int, ...]
    mismatched: bool

    @property
    def title(self) -> str:
        return " · ".join(self.columns)


@dataclass(frozen=True, eq=False)
class OverlapAdvice:
    """t with its interval, the overlaps it came from, and the densities for a drawing."""

    t: float
    interval: tuple[float, float] | None
    overlaps: tuple[Overlap, ...]
    niches: tuple[Niche, ...]
    estimator: Estimator
    coding: Coding
    bandwidth: float
    ratio: float
    grid: FloatArray
    densities: FloatArray
    all_mismatched: bool

    @property
    def least(self) -> Overlap:
        """The group that t came from."""
        return min(self.counted, key=lambda overlap: overlap.share)

    @property
    def counted(self) -> tuple[Overlap, ...]:
        return _counted(self.overlaps)

    def to_dict(self) -> dict[str, Any]:
        return {
            "t": self.t,
            "interval": list(self.interval) if self.interval else None,
            "estimator": self.estimator,
            "coding": self.coding,
            "bandwidth": self.bandwidth,
            "mismatch_ratio": self.ratio,
            "classes": {niche.name: niche.how for niche in self.niches},
            "all_mismatched": self.all_mismatched,
            "overlaps": [
                {"columns": list(o.columns), "overlap": o.share, "classes": list(o.classes), "mismatched": o.mismatched}
                for o in self.overlaps
            ],
        }


def advise_t(
    table: CodedTable,
    *,
    classes: Mapping[str, str] | None = None,
    estimator: Estimator = "kernel",
    coding: Coding = "order",
    bandwidth: float = BANDWIDTH,
    ratio: float = MISMATCH,
    draws: int = 200,
    rng: np.random.Generator | None = None,
) -> OverlapAdvice | None:
    """The overlap of every pair and group of sensitive columns, and the t it gives; None for fewer than two columns."""
    if len(table.sensitive) < 2:
        return None
    found = niches(table.sensitive, classes, coding)
    names = tuple(niche.name for niche in found)
    groups = _groups(len(found))
    grid, densities = _densities([niche.counts for niche in found], estimator, bandwidth)
    shares = [_shared(densities[list(group)], grid, estimator) for group in groups]
    counts = [tuple(found[i].classes for i in group) for group in groups]
    overlaps = tuple(
        Overlap(tuple(names[i] for i in group), share, sizes, max(sizes) > ratio * min(sizes))
        for group, share, sizes in zip(groups, shares, counts, strict=True)
    )
    kept = [group for group, overlap in zip(groups, overlaps, strict=True) if overlap in _counted(overlaps)]
    interval = _bootstrap(table.sensitive, found, kept, estimator, bandwidth, draws, rng) if draws else None
    t = 1.0 - min(overlap.share for overlap in _counted(overlaps))
    every = all(overlap.mismatched for overlap in overlaps)
    return OverlapAdvice(
        t, interval, overlaps, found, estimator, coding, bandwidth, ratio, grid, densities, all_mismatched=every
    )


def _counted(overlaps: Sequence[Overlap]) -> tuple[Overlap, ...]:
    """The groups that count for t: those without a mismatch, or all where there is no such group."""
    fitting = tuple(overlap for overlap in overlaps if not overlap.mismatched)
    return fitting or tuple(overlaps)


def _groups(columns: int) -> list[tuple[int, ...]]:
    sizes = range(2, columns + 1) if columns <= MOST_IN_FULL else (2, columns)
    return [group for size in sizes for group in combinations(range(columns), size)]


def _densities(
    counts: Sequence[FloatArray | IntArray], estimator: Estimator, bandwidth: float
) -> tuple[FloatArray, FloatArray]:
    """A common grid and each column's density on it."""
    if estimator == "discrete":
        most = max(len(c) for c in counts)
        padded = [np.pad(c / max(float(c.sum()), 1.0), (0, most - len(c))) for c in counts]
        return np.arange(1, most + 1, dtype=np.float64), np.stack(padded)
    coded = [standardized(c) for c in counts]
    reach = max(float(np.abs(place).max()) for _, place in coded) + REACH * bandwidth
    grid = np.linspace(-reach, reach, GRID)
    return grid, np.stack([kernel_density(grid, shares, places, bandwidth) for shares, places in coded])


def kernel_density(grid: FloatArray, shares: FloatArray, places: FloatArray, bandwidth: float) -> FloatArray:
    """A Gaussian of the given deviation at every class, weighted by its rows."""
    apart = (grid[:, None] - places[None, :]) / bandwidth
    return np.asarray(np.exp(-0.5 * apart**2) @ shares / (bandwidth * np.sqrt(2.0 * np.pi)), dtype=np.float64)


def _shared(densities: FloatArray, grid: FloatArray, estimator: Estimator) -> float:
    """The integral of the least density."""
    least = densities.min(axis=0)
    area = float(least.sum()) if estimator == "discrete" else float(np.trapezoid(least, grid))
    return min(area, 1.0)


def _bootstrap(
    columns: Sequence[SensitiveColumn],
    found: Sequence[Niche],
    groups: Sequence[tuple[int, ...]],
    estimator: Estimator,
    bandwidth: float,
    draws: int,
    rng: np.random.Generator | None,
) -> tuple[float, float]:
    """The middle 95 % of t over rows drawn again; columns of a row stay together."""
    rng = np.random.default_rng(1) if rng is None else rng
    codes = [niche.class_of_code[column.codes] for column, niche in zip(columns, found, strict=True)]
    tuples = distinct(codes, [niche.classes for niche in found], len(codes[0]))
    rows = int(tuples.counts.sum())
    values = []
    for drawn in rng.multinomial(rows, tuples.counts / rows, size=draws):
        counts = [np.bincount(tuples.codes[:, i], weights=drawn, minlength=n.classes) for i, n in enumerate(found)]
        grid, densities = _densities(counts, estimator, bandwidth)
        values.append(1.0 - min(_shared(densities[list(group)], grid, estimator) for group in groups))
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def sensitivity(table: CodedTable, classes: Mapping[str, str] | None = None) -> list[tuple[str, float]]:
    """t under other choices of coding and density: how much of it is the data, and how much the choice."""
    choices: list[tuple[str, dict[str, Any]]] = [
        (f"kernel, bandwidth {width:g}, coded by {coding}", {"bandwidth": width, "coding": coding})
        for coding in ("order", "frequency")
        for width in (0.25, 0.5, 1.0)
    ]
    choices.append(("discrete, coded by order", {"estimator": "discrete"}))
    choices.append(("discrete, coded by frequency", {"estimator": "discrete", "coding": "frequency"}))
    found = [(words, advise_t(table, classes=classes, draws=0, **chosen)) for words, chosen in choices]
    return [(words, advice.t) for words, advice in found if advice is not None]
