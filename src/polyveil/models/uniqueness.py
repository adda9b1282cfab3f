"""How many people of a population are unique, estimated from the group sizes of a random sample.

n people are in the sample and N = n / fraction in the population; s_j groups of the sample have j people. Each estimate
is the share of the population that is unique, S_1 / N.

- Zayatz (1991): S_1 = s_1 P(F=1 | f=1) N/n by Bayes' rule, with the sample's shares of group sizes as the prior and
  hypergeometric sampling.
- Pitman (Pitman 1995; Hoshino 2001): the population is a random partition with parameters alpha and theta, estimated
  by maximum likelihood; S_1 is its expected number of groups of one.
- SNB, slide negative binomial (Chen & Keller-McNulty 1998): group sizes are 1 plus a negative binomial number; its
  parameters give the observed numbers of groups and of groups of one, and the size of the population.
- Dankar's rule (Dankar, El Emam, Neisa & Roffey 2012): Pitman for fractions up to 0.1; above, the smaller of Zayatz and
  SNB. Zayatz stands in for an estimate that cannot be computed.

No estimate holds for every population.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar, root
from scipy.special import digamma, gammaln, polygamma

from polyveil.arrays import FloatArray, IntArray

PITMAN_UP_TO = 0.1
"""The greatest fraction for which Dankar's rule takes Pitman's estimate."""
LARGEST_ALPHA = 1.0 - 1e-6
POLISH = 8


@dataclass(frozen=True)
class SizeCounts:
    """The sample as its estimates need it: `count[i]` groups have `size[i]` people."""

    size: FloatArray
    count: FloatArray
    fraction: float

    @property
    def people(self) -> float:
        return float((self.size * self.count).sum())

    @property
    def groups(self) -> float:
        return float(self.count.sum())

    @property
    def alone(self) -> float:
        """Groups of one person."""
        return float(self.count[self.size == 1].sum())

    @property
    def population(self) -> float:
        return self.people / self.fraction


def counts_of(sizes: IntArray, fraction: float) -> SizeCounts:
    """Groups by their size."""
    size, count = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    return SizeCounts(size.astype(np.float64), count.astype(np.float64), fraction)


def estimate(sizes: IntArray, fraction: float) -> float:
    """The share of the population that is unique, by Dankar's rule; 0 if nobody is unique in the sample."""
    about = counts_of(sizes, fraction)
    small = fraction <= PITMAN_UP_TO
    return by_rule(fraction, pitman(about) if small else None, zayatz(about), None if small else snb(about))


def by_rule(fraction: float, of_pitman: float | None, of_zayatz: float, of_snb: float | None) -> float:
    """Dankar's rule: which of the estimates to use."""
    if fraction <= PITMAN_UP_TO:
        return of_zayatz if of_pitman is None else of_pitman
    return of_zayatz if of_snb is None else min(of_zayatz, of_snb)


def zayatz(about: SizeCounts) -> float:
    """Zayatz's estimate."""
    if about.alone == 0:
        return 0.0
    people, population, size = about.people, about.population, about.size
    rest = population - size - people + 1  # who is left to draw from, if one of the group is drawn
    fits = rest > -0.5
    weight = np.zeros(len(size))
    weight[fits] = np.exp(
        np.log(size[fits])
        + gammaln(population - size[fits] + 1)
        - gammaln(np.maximum(rest[fits], 0) + 1)
        - gammaln(population)
        + gammaln(population - people + 1)
    )
    chances = about.count * weight
    return float(about.alone / people * chances[size == 1].sum() / chances.sum())


def pitman(about: SizeCounts) -> float | None:
    """Pitman's estimate; None if the likelihood has no greatest value inside."""
    if about.alone == 0:
        return 0.0
    if about.alone == about.groups:
        return 1.0  # everybody differs: as far as the sample tells, so does the population
    found = pitman_parameters(about)
    return None if found is None else pitman_share(*found, about.population)


def pitman_share(alpha: float, theta: float, population: float) -> float:
    """The expected share of a Pitman partition that is alone: the chance that all others go elsewhere."""
    if population <= 1:
        return 1.0
    return float(
        np.exp(
            gammaln(theta + alpha + population - 1)
            - gammaln(theta + population)
            + gammaln(theta + 1)
            - gammaln(theta + alpha)
        )
    )


def pitman_parameters(about: SizeCounts) -> tuple[float, float] | None:
    """alpha and theta of greatest likelihood, as exactly as numbers allow."""
    steps = np.arange(1.0, about.groups)

    def theta_for(alpha: float) -> float | None:
        low, high = -alpha + 1e-9, 1e12 * about.people
        if _slopes(about, steps, alpha, low)[1] <= 0:
            return low
        if _slopes(about, steps, alpha, high)[1] >= 0:
            return None
        span = brentq(lambda x: _slopes(about, steps, alpha, low + math.exp(x))[1], -30.0, math.log(high), xtol=1e-13)
        return low + math.exp(span)

    def unlikely(alpha: float) -> float:
        theta = theta_for(alpha)
        return math.inf if theta is None else -_log_likelihood(about, steps, alpha, theta)

    best = minimize_scalar(unlikely, bounds=(1e-6, LARGEST_ALPHA), method="bounded", options={"xatol": 1e-9})
    theta = theta_for(float(best.x))
    return None if theta is None else _polished(about, steps, float(best.x), theta)


def _log_likelihood(about: SizeCounts, steps: FloatArray, alpha: float, theta: float) -> float:
    inside = about.count @ (gammaln(about.size - alpha) - gammaln(1.0 - alpha))
    return float(np.log(theta + alpha * steps).sum() - gammaln(theta + about.people) + gammaln(theta + 1.0) + inside)


def _slopes(about: SizeCounts, steps: FloatArray, alpha: float, theta: float) -> tuple[float, float]:
    """The derivatives of the log-likelihood by alpha and by theta."""
    each = 1.0 / (theta + alpha * steps)
    by_alpha = (steps * each).sum() - about.count @ (digamma(about.size - alpha) - digamma(1.0 - alpha))
    by_theta = each.sum() - digamma(theta + about.people) + digamma(theta + 1.0)
    return float(by_alpha), float(by_theta)


def _curvature(about: SizeCounts, steps: FloatArray, alpha: float, theta: float) -> FloatArray:
    """The second derivatives of the log-likelihood, alpha first."""
    each = 1.0 / (theta + alpha * steps) ** 2
    inside = about.count @ (polygamma(1, 1.0 - alpha) - polygamma(1, about.size - alpha))
    by_both = -(steps * each).sum()
    by_theta = -each.sum() - polygamma(1, theta + about.people) + polygamma(1, theta + 1.0)
    return np.array([[-(steps**2 * each).sum() - inside, by_both], [by_both, by_theta]], dtype=np.float64)


def _polished(about: SizeCounts, steps: FloatArray, alpha: float, theta: float) -> tuple[float, float]:
    """Newton's steps from a point next to the greatest value, as long as they stay next to it."""
    for _ in range(POLISH):
        try:
            step = np.linalg.solve(_curvature(about, steps, alpha, theta), _slopes(about, steps, alpha, theta))
        except np.linalg.LinAlgError:
            break
        near = abs(step[0]) < 1e-3 and abs(step[1]) < 1e-2 * (abs(theta) + 1.0)
        if not near or not 0 < alpha - step[0] < 1 or theta - step[1] <= -(alpha - step[0]):
            break
        alpha, theta = alpha - float(step[0]), theta - float(step[1])
    return alpha, theta


def snb(about: SizeCounts) -> float | None:
    """The slide negative binomial estimate; None if no parameters give what was observed."""
    if about.alone == 0:
        return 0.0
    people, population = about.groups, about.population
    p = about.fraction

    def expected(point: FloatArray) -> tuple[float, float, float, float]:
        alpha, beta = math.exp(point[0]), 1.0 / (1.0 + math.exp(-point[1]))
        left = 1.0 - (1.0 - p) * (1.0 - beta)
        groups = population / (1.0 + alpha * (1.0 - beta) / beta)
        power = math.exp(alpha * math.log(beta / left))
        seen = groups * (1.0 - (1.0 - p) * power)
        alone = groups * p * power * (1.0 + (1.0 - p) * alpha * (1.0 - beta) / left)
        return seen, alone, groups, math.exp(alpha * math.log(beta))

    def gap(point: FloatArray) -> list[float]:
        seen, alone, _, _ = expected(np.clip(point, -40.0, 40.0))
        return [math.log(max(seen, 1e-300) / people), math.log(max(alone, 1e-300) / about.alone)]

    for start in ((a, b) for a in (-2.0, -4.0, 0.0, 2.0, -8.0) for b in (-4.0, -1.0, 2.0, -8.0)):
        found = root(gap, np.array(start), tol=1e-13)
        if found.success and max(abs(value) for value in gap(found.x)) < 1e-9:
            _, _, groups, unique = expected(found.x)
            return groups * unique / population
    return None
