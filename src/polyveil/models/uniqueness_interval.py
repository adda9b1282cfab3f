"""Between which shares of a population are unique, if the population is one that Pitman's model describes.

Given how many groups a sample has, the sizes of the groups tell about alpha alone, and not about theta:
P(sizes | groups, alpha) is proportional to the product of (1 - alpha)(2 - alpha)...(size - 1 - alpha) over the groups.
This holds for every alpha below 1, those below 0 included. So alpha is drawn as uncertain as this likelihood says, on
the whole line, and what is drawn below 0 counts as 0, which is where Pitman's model ends. If the line ended there
before drawing, alpha would be pushed up: a true alpha next to 0 would be missed too often, and one above it too seldom.

Above 0 all alphas have equal weights, below it all log(1 - alpha), nearly Jeffreys' prior. Next to 1 that
would prefer the end, where a few people who look alike tell nothing more. theta follows from the number of groups, with
equal weights of log(theta + alpha).

Real populations do not come from the model, and in a small sample of one its groups can look more equal than they are.
So the upper end, on which caution rests, is the higher one of this way and of a plainer one: alpha from 0 to 1 with
equal weights, judged by the sizes and the number of groups together.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, logsumexp

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.uniqueness import LARGEST_ALPHA, SizeCounts, counts_of, pitman_parameters

SMALLEST_ALPHA = 1e-4
"""Stands for 0."""
LOWEST_ALPHA = -4.0
"""Where the line ends: lower, groups are as equal as they can be, and hardly anything changes."""
SIDE, ZOOMS, UNLIKELY = 64, 5, 12.0
"""Cells of a grid, how often it is narrowed to what is likely, and log-likelihoods below the greatest that are not."""
HALVINGS, FEW = 80, 100
"""Steps to a saddlepoint, and up to how many people beyond one a group the ways are counted exactly."""
Likely = Callable[[FloatArray], FloatArray]
DRAWS, CELLS = 600, 2_000_000
"""Populations drawn for an interval, and the random numbers drawn for them at once."""


def interval(
    sizes: IntArray, fraction: float, level: float = 0.95, rng: np.random.Generator | None = None
) -> tuple[float, float] | None:
    """Between which shares of the population are unique, at a level, under Pitman's model; None if it does not fit.

    Parameters are drawn as uncertain as the sample leaves them. Given those, what the rest of the population adds to
    the sample is drawn too: who joins a person that was alone, and how many new groups of one appear.
    """
    about = counts_of(sizes, fraction)
    if about.alone in (0.0, about.groups) or pitman_parameters(about) is None:
        return None
    rng = np.random.default_rng(0) if rng is None else rng
    low, high = np.quantile(_drawn_shares(about, _alphas(about, rng), rng), [(1 - level) / 2, (1 + level) / 2])
    cautious = np.quantile(_drawn_shares(about, _cautious_alphas(about, rng), rng), (1 + level) / 2)
    return float(low), float(max(high, cautious))


def _drawn_shares(about: SizeCounts, alphas: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The shares of populations that the sample may come from."""
    thetas = _thetas(about, alphas, rng)
    parts = np.array_split(np.arange(DRAWS), max(1, math.ceil(DRAWS * about.alone / CELLS)))
    return np.concatenate([_shares(about, alphas[part], thetas[part], rng) for part in parts])


def _alphas(about: SizeCounts, rng: np.random.Generator) -> FloatArray:
    """As likely as the sizes of the groups make them, given how many groups there are."""

    def likely(logs: FloatArray) -> FloatArray:
        alpha = -np.expm1(logs.ravel())
        given = _inside(about, alpha) - log_ways(about.people, about.groups, alpha)
        return np.asarray(given).reshape(logs.shape) + np.minimum(logs, 0.0)

    return _by_logs(likely, LOWEST_ALPHA, rng)


def _cautious_alphas(about: SizeCounts, rng: np.random.Generator) -> FloatArray:
    """As likely as the sizes and the number of the groups make them, all from 0 to 1 alike before."""

    def likely(logs: FloatArray) -> FloatArray:
        alpha = -np.expm1(logs.ravel())
        _, width, by_theta = _zoomed(*_of_theta(about, np.clip(alpha, SMALLEST_ALPHA, None)))
        evidence = np.log(width) + logsumexp(by_theta, axis=1)
        return np.asarray(_inside(about, alpha) + evidence).reshape(logs.shape) + logs

    return _by_logs(likely, 0.0, rng)


def _inside(about: SizeCounts, alpha: FloatArray) -> FloatArray:
    """The log-likelihood of the sizes of the groups by their own factors."""
    return np.asarray((gammaln(about.size[:, None] - alpha) - gammaln(1.0 - alpha)).T @ about.count)


def _by_logs(likely: Likely, lowest: float, rng: np.random.Generator) -> FloatArray:
    """Alphas drawn by their log-likelihood at log(1 - alpha)."""
    ends = np.array([math.log1p(-LARGEST_ALPHA)]), np.array([math.log1p(-lowest)])
    drawn = _drawn(likely, *ends, np.zeros(DRAWS, dtype=np.int64), rng)
    return np.asarray(np.clip(-np.expm1(drawn), SMALLEST_ALPHA, LARGEST_ALPHA))


def _thetas(about: SizeCounts, alphas: FloatArray, rng: np.random.Generator) -> FloatArray:
    """As likely as the number of groups makes them, one for each alpha."""
    alpha, back = np.unique(np.round(alphas, 6), return_inverse=True)
    return np.asarray(np.exp(_drawn(*_of_theta(about, alpha), back, rng)) - alpha[back])


def _of_theta(about: SizeCounts, alphas: FloatArray) -> tuple[Likely, FloatArray, FloatArray]:
    """The log-likelihood of log(theta + alpha) by the number of groups, a line for each alpha; where lines end."""
    alpha = alphas[:, None]

    def likely(spans: FloatArray) -> FloatArray:
        theta = np.exp(spans) - alpha
        ratio = theta / alpha
        logs = (about.groups - 1) * np.log(alpha) + gammaln(ratio + about.groups) - gammaln(ratio + 1.0)
        return np.asarray(logs + gammaln(theta + 1.0) - gammaln(theta + about.people))

    return likely, np.full(len(alpha), -12.0), np.full(len(alpha), math.log(about.people) + 12.0)


def _drawn(likely: Likely, low: FloatArray, high: FloatArray, line: IntArray, rng: np.random.Generator) -> FloatArray:
    """Numbers between `low` and `high`, drawn by their log-likelihood: each from its line of the grid."""
    cells, width, logs = _zoomed(likely, low, high)
    below = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
    chosen = (below[line] < rng.random(len(line))[:, None] * below[line, -1:]).sum(axis=1)
    return np.asarray(cells[line, chosen] + rng.uniform(-0.5, 0.5, len(line)) * width[line])


def _zoomed(likely: Likely, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The middles and widths of the cells of each line, and their log-likelihoods, where these are not negligible."""
    for _ in range(ZOOMS):
        cells, width = _cells(low, high)
        logs = likely(cells)
        near = logs >= logs.max(axis=1, keepdims=True) - UNLIKELY
        low = cells[np.arange(len(cells)), near.argmax(axis=1)] - width
        high = cells[np.arange(len(cells)), SIDE - 1 - near[:, ::-1].argmax(axis=1)] + width
    cells, width = _cells(low, high)
    return cells, width, likely(cells)


def _cells(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The middles and the width of the cells of each line."""
    width = (high - low) / SIDE
    return low[:, None] + width[:, None] * (np.arange(SIDE) + 0.5), width


def log_ways(people: float, groups: float, alpha: FloatArray) -> FloatArray:
    """The logarithm of what the likelihoods of all sizes of so many groups add up to, but for a constant.

    It is the coefficient of x^people in G(x)^groups with G(x) = (1 - (1-x)^alpha) / alpha: by the recurrence for powers
    of series where few people are more than their groups have to have, else by a saddlepoint.
    """
    more = round(people - groups)
    return _ways_of_few(more, groups, alpha) if more <= min(FEW, groups) else _ways_of_many(people, groups, alpha)


def _ways_of_few(more: int, groups: float, alpha: FloatArray) -> FloatArray:
    """By (G(x) / x)^groups, whose terms all add up; x is scaled so that none is too large."""
    scale = max(more, 1) / groups
    term, terms = np.ones_like(alpha), []
    for i in range(1, more + 1):
        term = term * scale * (i - alpha) / (i + 1)
        terms.append(term)
    found = [np.ones_like(alpha)]
    for m in range(1, more + 1):
        parts = [(i * (groups + 1) - m) * terms[i - 1] * found[m - i] for i in range(1, m + 1)]
        found.append(np.sum(parts, axis=0) / m)
    return np.asarray(np.log(found[-1]) - more * math.log(scale))


def _ways_of_many(people: float, groups: float, alpha: FloatArray) -> FloatArray:
    """The chance that as many sizes, drawn one by one with a mean of people / groups, have that sum."""
    alpha = np.where(np.abs(alpha) < SMALLEST_ALPHA, SMALLEST_ALPHA, alpha)

    def at(odds: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        rest = -np.logaddexp(0.0, odds)  # log(1 - x) with x / (1 - x) = exp(odds)
        made = -np.expm1(alpha * rest) / alpha
        return rest, made, np.exp(odds + alpha * rest) / made

    low, high = np.full(alpha.shape, -60.0), np.full(alpha.shape, 60.0)
    for _ in range(HALVINGS):
        odds = (low + high) / 2
        above = at(odds)[2] >= people / groups
        low, high = np.where(above, low, odds), np.where(above, odds, high)
    odds = (low + high) / 2
    rest, made, mean = at(odds)
    variance = mean * (1.0 + (1.0 - alpha) * np.exp(odds) - mean)
    return np.asarray(groups * np.log(made) - people * (odds + rest) - 0.5 * np.log(2 * np.pi * groups * variance))


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
