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

No estimate holds for every population. `interval` says how much the Pitman estimate varies by the sample, if the
population is one that Pitman's model describes.
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
SIDE, WIDTHS = 64, 4.5
"""Cells of a side of the grid of parameters, and how many standard errors it reaches to either side."""
DRAWS, CELLS = 600, 2_000_000
"""Populations drawn for an interval, and the random numbers drawn for them at once."""


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


def interval(
    sizes: IntArray, fraction: float, level: float = 0.95, rng: np.random.Generator | None = None
) -> tuple[float, float] | None:
    """Between which shares of the population are unique, at a level, under Pitman's model; None if it does not fit.

    Parameters are drawn as uncertain as their likelihood says. Given those, what the rest of the population adds to the
    sample is drawn too: who joins a person that was alone, and how many new groups of one appear.
    """
    about = counts_of(sizes, fraction)
    if about.alone in (0.0, about.groups):
        return None
    found = pitman_parameters(about)
    if found is None:
        return None
    rng = np.random.default_rng(0) if rng is None else rng
    drawn = _parameters(about, *found, rng)
    parts = np.array_split(drawn, max(1, math.ceil(DRAWS * about.alone / CELLS)))
    shares = np.concatenate([_shares(about, part[:, 0], part[:, 1], rng) for part in parts])
    low, high = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _parameters(about: SizeCounts, alpha: float, theta: float, rng: np.random.Generator) -> FloatArray:
    """Parameters as likely as the data make them, from a grid over alpha and log(theta + alpha) with equal weights.

    In small samples the likelihood is not normal, and alpha may be near 0 or 1: a grid needs neither to be far.
    """
    span = math.log(theta + alpha)
    wide = _standard_errors(about, alpha, theta)
    alphas = _cells(max(alpha - WIDTHS * wide[0], 0.0), min(alpha + WIDTHS * wide[0], 1.0))
    spans = _cells(span - WIDTHS * wide[1], span + WIDTHS * wide[1])
    one, two = (each.ravel() for each in np.meshgrid(alphas, spans, indexing="ij"))
    thetas = np.exp(two) - one
    ratio = thetas / one
    inside = (gammaln(about.size[:, None] - alphas) - gammaln(1.0 - alphas)).T @ about.count
    logs = (about.groups - 1) * np.log(one) + gammaln(ratio + about.groups) - gammaln(ratio + 1.0)
    logs += gammaln(thetas + 1.0) - gammaln(thetas + about.people) + np.repeat(inside, len(spans))
    likely = np.exp(logs - logs.max())
    drawn = rng.choice(len(logs), DRAWS, p=likely / likely.sum())
    jitter = rng.uniform(-0.5, 0.5, (2, DRAWS)) * [[alphas[1] - alphas[0]], [spans[1] - spans[0]]]
    chosen = np.clip(one[drawn] + jitter[0], 1e-6, LARGEST_ALPHA)
    return np.column_stack([chosen, np.exp(two[drawn] + jitter[1]) - chosen])


def _cells(low: float, high: float) -> FloatArray:
    """The middles of as many cells as a side of the grid has."""
    return np.asarray(low + (high - low) * (np.arange(SIDE) + 0.5) / SIDE)


def _standard_errors(about: SizeCounts, alpha: float, theta: float) -> tuple[float, float]:
    """Of alpha and of log(theta + alpha), as far as the curvature tells; never too small, never without end."""
    back = np.array([[1.0, 0.0], [-1.0, theta + alpha]])  # derivatives of (alpha, theta) by (alpha, log span)
    information = back.T @ -_curvature(about, np.arange(1.0, about.groups), alpha, theta) @ back
    variance = np.abs(np.diag(np.linalg.pinv(information)))
    return float(np.clip(np.sqrt(variance[0]), 1e-4, 0.25)), float(np.clip(np.sqrt(variance[1]), 1e-3, 2.0))


def _shares(about: SizeCounts, alpha: FloatArray, theta: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The shares of populations that the sample may come from, one for each pair of parameters."""
    population, alone = round(about.population), round(about.alone)
    rest = population - round(about.people)
    more = theta + about.groups * alpha
    new = rng.binomial(rest, rng.beta(more, about.people - about.groups * alpha))
    weights = rng.gamma(1.0 - alpha[:, None], size=(len(alpha), alone))
    others = rng.gamma(np.maximum(about.people - alone - alpha * (about.groups - alone), 1e-9))
    chance = np.minimum(weights / (weights.sum(axis=1) + others)[:, None], 1 - 1e-12)
    stay = rng.binomial(1, np.exp((rest - new)[:, None] * np.log1p(-chance))).sum(axis=1)
    mean, spread = _alone_among_new(alpha, more, new.astype(np.float64))
    fresh = np.clip(rng.normal(mean, spread), 0.0, new)
    return np.asarray((stay + fresh) / population)


def _alone_among_new(alpha: FloatArray, theta: FloatArray, people: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the number of groups of one: from the chances that one and two are alone."""
    people = np.maximum(people, 2.0)
    one = gammaln(theta + alpha + people - 1) - gammaln(theta + people) + gammaln(theta + 1) - gammaln(theta + alpha)
    both = (
        np.log((theta + alpha) / (theta + 1.0))
        + gammaln(theta + 2 * alpha + people - 2)
        - gammaln(theta + 2 * alpha)
        - gammaln(theta + people)
        + gammaln(theta + 2.0)
    )
    mean = people * np.exp(one)
    variance = people * (people - 1.0) * np.exp(both) + mean - mean**2
    return mean, np.sqrt(np.maximum(variance, 0.0))
