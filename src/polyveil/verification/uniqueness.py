"""Uniqueness in a population, estimated again: the same published estimators by plain sums and searches.

Nothing is shared with the model: likelihoods are sums of logarithms, and parameters are found by narrowing down.
See Zayatz (1991), Hoshino (2001), Chen & Keller-McNulty (1998) and, for the choice, Dankar et al. (2012).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
NARROWINGS = 90


def unique_share(sizes: Sequence[int], fraction: float) -> float:
    """The share of the population that is unique, from the group sizes of a sample of this fraction."""
    groups = Counter(sizes)
    if not groups[1]:
        return 0.0
    if fraction <= 0.1:
        return _pitman(groups, fraction)
    slid, other = _snb(groups, fraction), _zayatz(groups, fraction)
    return other if slid is None else min(other, slid)


def _zayatz(groups: Mapping[int, int], fraction: float) -> float:
    """Of those who are alone in the sample, how many are alone in the population, by Bayes' rule."""
    people = sum(size * count for size, count in groups.items())
    everybody = people / fraction

    def drawn_once(size: int) -> float:
        """How likely exactly one of a group is drawn, relative to a group of one."""
        if everybody - size - people + 1 < -0.5:
            return 0.0
        logs = (
            math.log1p(-(people - 1) / (everybody - other)) if everybody - other - people + 1 > 1e-9 else -math.inf
            for other in range(1, size)
        )
        return size * math.exp(math.fsum(logs))

    total = math.fsum(count * drawn_once(size) for size, count in groups.items())
    return groups[1] / people * groups[1] / total


def _pitman(groups: Mapping[int, int], fraction: float) -> float:
    """The expected share of people alone, with the parameters under which the sample is most likely."""
    if groups[1] == sum(groups.values()):
        return 1.0
    people, number = sum(size * count for size, count in groups.items()), sum(groups.values())

    def likelihood(alpha: float, theta: float) -> float:
        ratio = theta / alpha
        if ratio < 1e6:  # as exact as the sum, and sooner
            new = (number - 1) * math.log(alpha) + math.lgamma(ratio + number) - math.lgamma(ratio + 1.0)
        else:
            new = math.fsum(math.log(theta + alpha * i) for i in range(1, number))
        inside = math.fsum(
            count * (math.lgamma(size - alpha) - math.lgamma(1.0 - alpha)) for size, count in groups.items()
        )
        return new - math.lgamma(theta + people) + math.lgamma(theta + 1.0) + inside

    def best_theta(alpha: float) -> float:
        def of(x: float) -> float:
            return likelihood(alpha, math.exp(x) - alpha)

        return math.exp(_greatest(of, -20.0, math.log(1e9 * people), 60)) - alpha

    alpha = _greatest(lambda a: likelihood(a, best_theta(a)), 1e-6, 1.0 - 1e-6, 40)
    theta, everybody = best_theta(alpha), people / fraction
    return math.exp(
        math.lgamma(theta + alpha + everybody - 1)
        - math.lgamma(theta + everybody)
        + math.lgamma(theta + 1)
        - math.lgamma(theta + alpha)
    )


def _greatest(of: Callable[[float], float], low: float, high: float, steps: int) -> float:
    """Where a function with one peak is greatest, by the golden section."""
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_a, at_b = of(a), of(b)
    for _ in range(steps):
        if at_a < at_b:
            low, a, at_a = a, b, at_b
            b = low + GOLDEN * (high - low)
            at_b = of(b)
        else:
            high, b, at_b = b, a, at_a
            a = high - GOLDEN * (high - low)
            at_a = of(a)
    return (low + high) / 2


def _snb(groups: Mapping[int, int], fraction: float) -> float | None:
    """Groups of 1 plus a negative binomial number: for each beta the alpha that gives the groups seen, then beta."""
    people, number = sum(size * count for size, count in groups.items()), sum(groups.values())
    everybody = people / fraction

    def expected(alpha: float, beta: float) -> tuple[float, float, float]:
        left = 1.0 - (1.0 - fraction) * (1.0 - beta)
        there = everybody / (1.0 + alpha * (1.0 - beta) / beta)
        power = (beta / left) ** alpha
        alone = there * fraction * power * (1.0 + (1.0 - fraction) * alpha * (1.0 - beta) / left)
        return there * (1.0 - (1.0 - fraction) * power), alone, there * beta**alpha / everybody

    def alpha_of(beta: float) -> float:
        """More alpha, larger and fewer groups: the groups seen fall."""
        return math.exp(_crossing(lambda x: number - expected(math.exp(x), beta)[0], -40.0, 40.0))

    def alone_too_many(x: float) -> float:
        beta = 1.0 / (1.0 + math.exp(-x))
        return expected(alpha_of(beta), beta)[1] - groups[1]

    ends = [-30.0 + 0.5 * i for i in range(121)]
    values = [alone_too_many(x) for x in ends]
    for low, high, one, two in zip(ends, ends[1:], values, values[1:], strict=False):
        if (one < 0) != (two < 0):
            x = _crossing(alone_too_many if one < 0 else lambda x: -alone_too_many(x), low, high)
            beta = 1.0 / (1.0 + math.exp(-x))
            seen, alone, share = expected(alpha_of(beta), beta)
            if abs(seen / number - 1.0) < 1e-6 and abs(alone / groups[1] - 1.0) < 1e-6:
                return share
    return None


def _crossing(of: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that begins below 0 and ends above it changes its sign."""
    for _ in range(NARROWINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if of(middle) < 0 else (low, middle)
    return (low + high) / 2
