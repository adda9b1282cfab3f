"""One analysis on the original and on draws of the release, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from polyveil.analyses import estimators
from polyveil.analyses.asked import Asked
from polyveil.analyses.drawing import WEIGHT, Values
from polyveil.analyses.estimators import Curve, Estimates
from polyveil.analyses.pooling import Intervals, interval, overlap, pool
from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.errors import InputError

Columns = Mapping[str, Values]
MOST_LEVELS = 40
"""Values of a category in a regression, a table or a set of curves."""
POINTS = 60
"""Times at which a curve is drawn."""


@dataclass(frozen=True)
class Estimate:
    """One figure of an analysis: on the original, on the release, and how well they agree."""

    term: str
    original: float
    low: float
    high: float
    released: float
    released_low: float
    released_high: float
    null: float | None
    """The value that means no effect; None for shares."""

    @property
    def overlap(self) -> float:
        """The share that the two 95 % intervals have in common (Karr et al. 2006)."""
        return overlap((self.low, self.high), (self.released_low, self.released_high))

    @property
    def relative_error(self) -> float | None:
        """The difference as a share of the original's figure; None if that is 0."""
        return abs(self.released - self.original) / abs(self.original) if self.original else None

    @property
    def same_conclusion(self) -> bool:
        """Effects: both intervals are on the same side of no effect, or both contain it. Shares: the intervals meet."""
        if self.null is None:
            return self.overlap > 0
        sides = [(low > self.null) - (high < self.null) for low, high in self._intervals]
        return sides[0] == sides[1]

    @property
    def _intervals(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (self.low, self.high), (self.released_low, self.released_high)


@dataclass(frozen=True, eq=False)
class Compared:
    """An analysis on both tables."""

    kind: str
    title: str
    rows: int
    rows_released: int
    estimates: tuple[Estimate, ...]
    note: str = ""
    """Why there are no estimates."""
    curves: tuple[tuple[str, FloatArray, FloatArray, FloatArray], ...] = ()
    """Survival: name, times, share in the original, share in the release."""


def compare(asked: Asked, original: Columns, draws: Sequence[Columns]) -> Compared:
    """The analysis on the original and pooled over the draws."""
    analysis = _ANALYSES[asked.kind](asked, original)
    here, rows = analysis.run(original)
    if here is None:
        raise InputError(
            f"{asked.title}: cannot be computed on the original. A column may follow from others, or tell the outcome"
        )
    found = [analysis.run(draw) for draw in draws]
    released_rows = round(float(np.mean([count for _, count in found])))
    there = [each for each, _ in found if each is not None]
    if len(there) < len(found):
        note = "cannot be computed on the release: too little of the columns is left"
        return Compared(asked.kind, asked.title, rows, released_rows, (), note)
    one, other = analysis.shown(interval(here)), analysis.shown(pool(there))
    figures = np.stack([one.values, one.low, one.high, other.values, other.low, other.high], axis=1)
    estimates = tuple(
        Estimate(term, *map(float, row), analysis.null)  # type: ignore[call-arg]
        for term, row in zip(analysis.terms, figures, strict=True)
        if not np.isnan(row).any()
    )
    return Compared(asked.kind, asked.title, rows, released_rows, estimates, curves=analysis.curves(original, draws))


def _weights(columns: Columns, keep: BoolArray) -> FloatArray | None:
    """The sampling weights of some rows, where the release has weights."""
    return columns[WEIGHT][keep] if WEIGHT in columns else None


class Regression:
    """Linear or logistic: numbers as they are, categories against their most common value in the original."""

    null: float | None = 0.0

    def __init__(self, asked: Asked, original: Columns) -> None:
        self.asked = asked
        outcome = asked.columns[0]
        if asked.kind == "linear" and original[outcome].dtype != np.float64:
            raise InputError(f"{outcome} has no numbers, which a linear regression needs. Use logistic, with a value")
        self.levels = {name: _levels(original, name) for name in asked.on if original[name].dtype != np.float64}
        self.terms = ["(constant)"]
        for name in asked.on:
            self.terms += [f"{name} = {level}" for level in self.levels[name][1:]] if name in self.levels else [name]
        if asked.kind == "logistic":
            _yes(asked.value, original[outcome], outcome)

    def run(self, columns: Columns) -> tuple[Estimates | None, int]:
        outcome = self.asked.columns[0]
        keep = _complete(columns, self.asked.used)
        parts = [np.ones(int(keep.sum()))]
        for name in self.asked.on:
            values = columns[name][keep]
            parts += [values] if name not in self.levels else [values == level for level in self.levels[name][1:]]
        design = np.stack(parts, axis=1).astype(np.float64)
        if self.asked.kind == "linear":
            return estimators.linear(design, columns[outcome][keep], _weights(columns, keep)), len(design)
        yes = _is(self.asked.value, columns[outcome][keep])
        return estimators.logistic(design, yes.astype(np.float64), _weights(columns, keep)), len(design)

    def shown(self, found: Intervals) -> Intervals:
        return found

    def curves(self, original: Columns, draws: Sequence[Columns]) -> tuple[()]:
        return ()


class CrossTable:
    """The share of the rows in each cell of two columns; numbers are cut at the quartiles of the original."""

    null: float | None = None

    def __init__(self, asked: Asked, original: Columns) -> None:
        self.asked = asked
        self.cuts = {n: _quartiles(original[n]) for n in asked.columns if original[n].dtype == np.float64}
        self.levels = {
            name: _between(name, self.cuts[name]) if name in self.cuts else _levels(original, name)
            for name in asked.columns
        }
        first, second = asked.columns
        self.terms = [f"{a}, {b}" for a in self.levels[first] for b in self.levels[second]]

    def run(self, columns: Columns) -> tuple[Estimates | None, int]:
        keep = _complete(columns, self.asked.columns)
        first, second = (self._codes(name, columns[name][keep]) for name in self.asked.columns)
        cell = first * len(self.levels[self.asked.columns[1]]) + second
        known = (first >= 0) & (second >= 0)
        weights = _weights(columns, keep)
        found = estimators.shares(cell[known], len(self.terms), None if weights is None else weights[known])
        return found, int(keep.sum())

    def _codes(self, name: str, values: Values) -> IntArray:
        if name in self.cuts:
            return np.searchsorted(self.cuts[name], values, side="right").astype(np.int64)
        place = {level: i for i, level in enumerate(self.levels[name])}
        return np.array([place.get(value, -1) for value in values], dtype=np.int64)

    def shown(self, found: Intervals) -> Intervals:
        return Intervals(found.values, np.clip(found.low, 0, 1), np.clip(found.high, 0, 1))

    def curves(self, original: Columns, draws: Sequence[Columns]) -> tuple[()]:
        return ()


class Survival:
    """Kaplan-Meier at five times: the deciles 1, 3, 5, 7 and 9 of the times of events in the original."""

    null: float | None = None

    def __init__(self, asked: Asked, original: Columns) -> None:
        self.asked, time = asked, asked.columns[0]
        event = str(asked.event)
        if original[time].dtype != np.float64:
            raise InputError(f"{time} has no numbers, which a survival curve needs. Name the column of times")
        _yes(asked.value, original[event], event)
        keep = _complete(original, asked.used)
        when = original[time][keep][_is(asked.value, original[event][keep])]
        self.times = np.unique(np.quantile(when, (0.1, 0.3, 0.5, 0.7, 0.9), method="inverted_cdf"))
        self.groups: list[str | None] = [None] if asked.by is None else list(_levels(original, asked.by))
        named = [(group, t) for group in self.groups for t in self.times]
        self.terms = [f"{time} > {t:g}" if group is None else f"{group}: {time} > {t:g}" for group, t in named]

    def run(self, columns: Columns) -> tuple[Estimates | None, int]:
        parts = [(self._curve(columns, group)) for group in self.groups]
        found = [curve.estimates(self.times) for curve, _ in parts]
        values, variances = (
            np.concatenate(each) for each in zip(*((e.values, e.variances) for e in found), strict=True)
        )
        return Estimates(values, variances), sum(rows for _, rows in parts)

    def _curve(self, columns: Columns, group: str | None) -> tuple[Curve, int]:
        keep = _complete(columns, self.asked.used)
        if group is not None:
            keep &= columns[str(self.asked.by)] == group
        event = _is(self.asked.value, columns[str(self.asked.event)][keep])
        time, weights = columns[self.asked.columns[0]][keep], _weights(columns, keep)
        return estimators.kaplan_meier(time, event.astype(np.float64), weights), int(keep.sum())

    def shown(self, found: Intervals) -> Intervals:
        """From log(-log S) back to S, which turns the ends of the interval round."""
        back: Callable[[FloatArray], FloatArray] = lambda x: np.exp(-np.exp(x))  # noqa: E731
        return Intervals(back(found.values), back(found.high), back(found.low))

    def curves(
        self, original: Columns, draws: Sequence[Columns]
    ) -> tuple[tuple[str, FloatArray, FloatArray, FloatArray], ...]:
        time = original[self.asked.columns[0]]
        at = np.linspace(0.0, float(np.nanmax(time)), POINTS)
        found = []
        for group in self.groups:
            drawn = np.mean([self._curve(draw, group)[0].at(at) for draw in draws], axis=0)
            found.append((group or "", at, self._curve(original, group)[0].at(at), drawn))
        return tuple(found)


_ANALYSES: Mapping[str, Callable[[Asked, Columns], Regression | CrossTable | Survival]] = {
    "linear": Regression,
    "logistic": Regression,
    "table": CrossTable,
    "survival": Survival,
}


def _complete(columns: Columns, names: Sequence[str]) -> BoolArray:
    """Rows in which no column is missing."""
    keep = np.ones(len(columns[names[0]]), dtype=bool)
    for name in names:
        values = columns[name]
        keep &= (
            ~np.isnan(values) if values.dtype == np.float64 else np.array([v is not None for v in values], dtype=bool)
        )
    return keep


def _levels(original: Columns, name: str) -> list[str]:
    """The values of a category, the most common first."""
    values = [value for value in original[name] if value is not None]
    labels, counts = np.unique(np.array(values, dtype=str), return_counts=True)
    if not 1 < len(labels) <= MOST_LEVELS:
        raise InputError(
            f"{name} has {len(labels):,} values; an analysis takes 2 to {MOST_LEVELS}. Name another column"
        )
    return [str(labels[i]) for i in np.lexsort((labels, -counts))]


def _is(value: str | None, values: Values) -> BoolArray:
    if values.dtype == np.float64:
        try:
            return np.asarray(values == float(str(value)))
        except ValueError:
            return np.zeros(len(values), dtype=bool)
    return np.asarray(values == value)


def _yes(value: str | None, values: Values, name: str) -> None:
    found = _is(value, values)
    if not found.any() or found.all():
        raise InputError(f"all rows, or none, have the value of {name} that the analysis names. Name another value")


def _quartiles(values: FloatArray) -> FloatArray:
    return np.unique(np.nanquantile(values, (0.25, 0.5, 0.75)))


def _between(name: str, cuts: FloatArray) -> list[str]:
    middle = [f"{name} {low:g} to {high:g}" for low, high in pairwise(cuts)]
    return [f"{name} < {cuts[0]:g}", *middle, f"{name} ≥ {cuts[-1]:g}"]
