"""Four analyses in plain numpy: each gives its estimates with their variances, as textbooks define them.

With sampling weights, estimates are weighted, and variances are those of Taylor linearization for rows drawn one by one
(Binder 1983), which hold whatever the weights depend on. Strata and clusters of a design are not known here. A survival
curve counts as many people as rows of equal weight would tell as much (Kish 1965).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from polyveil.arrays import FloatArray, IntArray

STEPS = 60
"""Iterations after which a logistic regression that has not settled is given up."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """What an analysis found in one table: values and their variances, on the scale on which they are pooled."""

    values: FloatArray
    variances: FloatArray
    freedom: float = np.inf
    """Degrees of freedom; infinite where intervals are normal."""


def linear(design: FloatArray, outcome: FloatArray, weight: FloatArray | None = None) -> Estimates | None:
    """Least squares with the classical variance; None if a column of the design is a sum of others."""
    rows, columns = design.shape
    if rows <= columns or np.linalg.matrix_rank(design) < columns:
        return None
    if weight is not None:
        return _weighted(design, outcome, weight)
    inverse = np.linalg.inv(design.T @ design)
    found = inverse @ (design.T @ outcome)
    residual = outcome - design @ found
    spread = float(residual @ residual) / (rows - columns)
    return Estimates(found, spread * np.diag(inverse), float(rows - columns))


def _weighted(design: FloatArray, outcome: FloatArray, weight: FloatArray) -> Estimates:
    rows, columns = design.shape
    inverse = np.asarray(np.linalg.inv(design.T @ (design * weight[:, None])), dtype=np.float64)
    found = inverse @ (design.T @ (weight * outcome))
    parts = design * (weight * (outcome - design @ found))[:, None]
    return Estimates(found, _sandwich(inverse, parts), float(rows - columns))


def _sandwich(inverse: FloatArray, parts: FloatArray) -> FloatArray:
    """Variances of estimates to whose equations the rows add these parts."""
    rows, columns = parts.shape
    return np.asarray(np.diag(inverse @ (parts.T @ parts) @ inverse) * (rows / (rows - columns)))


def logistic(design: FloatArray, outcome: FloatArray, weight: FloatArray | None = None) -> Estimates | None:
    """Maximum likelihood by Newton's steps; None if it does not exist (a column tells the outcome) or is not unique."""
    rows, columns = design.shape
    if rows <= columns or np.linalg.matrix_rank(design) < columns:
        return None
    found = np.zeros(columns)
    count = np.ones(rows) if weight is None else weight / weight.mean()
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ found, -40, 40)))
        information = design.T @ (design * (count * chance * (1.0 - chance))[:, None])
        try:
            step = np.linalg.solve(information, design.T @ (count * (outcome - chance)))
            found = found + step
            if np.max(np.abs(design @ found)) > 35:  # nothing keeps the odds of some row finite
                return None
            if np.max(np.abs(step)) < 1e-9:
                inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
                parts = design * (count * (outcome - chance))[:, None]
                return Estimates(found, np.diag(inverse) if weight is None else _sandwich(inverse, parts))
        except np.linalg.LinAlgError:
            return None
    return None


def shares(cell: IntArray, cells: int, weight: FloatArray | None = None) -> Estimates:
    """The share of the rows in each cell of a table, with its binomial variance."""
    count = np.ones(len(cell)) if weight is None else weight
    total = max(float(count.sum()), 1e-300)
    share = np.bincount(cell, count, minlength=cells) / total
    squares = np.bincount(cell, count**2, minlength=cells)
    # sum of (w (is in the cell - share))^2; with equal weights it is share (1 - share) times the rows.
    return Estimates(share, (squares * (1 - 2 * share) + share**2 * squares.sum()) / total**2)


@dataclass(frozen=True, eq=False)
class Curve:
    """A Kaplan-Meier curve: the share that survives each time, with Greenwood's sum."""

    times: FloatArray
    surviving: FloatArray
    greenwood: FloatArray = field(repr=False)

    def at(self, times: FloatArray) -> FloatArray:
        """The share that survives each of the times."""
        place = np.searchsorted(self.times, times, side="right")
        return np.append(1.0, self.surviving)[place]

    def estimates(self, times: FloatArray) -> Estimates:
        """log(-log S) at the times, where intervals stay between 0 and 1; NaN where S is 0 or 1."""
        survive = self.at(times)
        total = np.append(0.0, self.greenwood)[np.searchsorted(self.times, times, side="right")]
        inside = (survive > 0) & (survive < 1)
        log = np.log(np.where(inside, survive, 0.5))
        return Estimates(np.where(inside, np.log(-log), np.nan), np.where(inside, total / log**2, np.nan))


def kaplan_meier(time: FloatArray, event: FloatArray, weight: FloatArray | None = None) -> Curve:
    """The product-limit estimator; who leaves at the time of an event is still at risk then."""
    times, place = np.unique(time, return_inverse=True)
    count = np.ones(len(time)) if weight is None else weight * (weight.sum() / max(float((weight**2).sum()), 1e-300))
    died = np.bincount(place, weights=event * count, minlength=len(times))
    ended = np.bincount(place, weights=count, minlength=len(times))
    at_risk = np.maximum(np.cumsum(ended[::-1])[::-1], 1e-300)
    left = np.where(at_risk - died > 1e-9, at_risk - died, 0.0)
    surviving = np.asarray(np.cumprod(left / at_risk), dtype=np.float64)
    part = np.where(left > 0, died / (at_risk * np.where(left > 0, left, 1.0)), 0.0)
    return Curve(times, surviving, np.cumsum(part))


def quantile(freedom: float) -> float:
    """How many standard errors a 95 % interval reaches to either side."""
    return float(stats.t.ppf(0.975, freedom)) if np.isfinite(freedom) else float(stats.norm.ppf(0.975))
