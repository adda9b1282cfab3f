"""Four analyses in plain numpy: each gives its estimates with their variances, as textbooks define them."""

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


def linear(design: FloatArray, outcome: FloatArray) -> Estimates | None:
    """Least squares with the classical variance; None if a column of the design is a sum of others."""
    rows, columns = design.shape
    if rows <= columns or np.linalg.matrix_rank(design) < columns:
        return None
    inverse = np.linalg.inv(design.T @ design)
    found = inverse @ (design.T @ outcome)
    residual = outcome - design @ found
    spread = float(residual @ residual) / (rows - columns)
    return Estimates(found, spread * np.diag(inverse), float(rows - columns))


def logistic(design: FloatArray, outcome: FloatArray) -> Estimates | None:
    """Maximum likelihood by Newton's steps; None if it does not exist (a column tells the outcome) or is not unique."""
    rows, columns = design.shape
    if rows <= columns or np.linalg.matrix_rank(design) < columns:
        return None
    found = np.zeros(columns)
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ found, -40, 40)))
        weight = chance * (1.0 - chance)
        information = design.T @ (design * weight[:, None])
        try:
            step = np.linalg.solve(information, design.T @ (outcome - chance))
            found = found + step
            if np.max(np.abs(design @ found)) > 35:  # nothing keeps the odds of some row finite
                return None
            if np.max(np.abs(step)) < 1e-9:
                return Estimates(found, np.diag(np.linalg.inv(information)))
        except np.linalg.LinAlgError:
            return None
    return None


def shares(cell: IntArray, cells: int) -> Estimates:
    """The share of the rows in each cell of a table, with its binomial variance."""
    rows = max(len(cell), 1)
    share = np.bincount(cell, minlength=cells) / rows
    return Estimates(share, share * (1 - share) / rows)


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


def kaplan_meier(time: FloatArray, event: FloatArray) -> Curve:
    """The product-limit estimator; who leaves at the time of an event is still at risk then."""
    times, place = np.unique(time, return_inverse=True)
    died = np.bincount(place, weights=event, minlength=len(times))
    ended = np.bincount(place, minlength=len(times))
    at_risk = len(time) - np.append(0, np.cumsum(ended)[:-1])
    surviving = np.cumprod(1.0 - died / at_risk)
    left = at_risk - died
    part = np.where(left > 0, died / (at_risk * np.where(left > 0, left, 1.0)), 0.0)
    return Curve(times, surviving, np.cumsum(part))


def quantile(freedom: float) -> float:
    """How many standard errors a 95 % interval reaches to either side."""
    return float(stats.t.ppf(0.975, freedom)) if np.isfinite(freedom) else float(stats.norm.ppf(0.975))
