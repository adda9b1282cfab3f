"""Population uniqueness: tables worked by hand, the estimators against others of the same name, and the interval."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.models.risk import PopulationUniqueness
from polyveil.models.uniqueness import (
    by_rule,
    counts_of,
    estimate,
    pitman,
    pitman_parameters,
    pitman_share,
    snb,
    zayatz,
)
from polyveil.models.uniqueness_interval import interval, log_ways
from polyveil.verification.uniqueness import unique_share


def groups(**sizes: int) -> np.ndarray:
    """`one=2, two=1`: two groups of one and one of two."""
    size = {"one": 1, "two": 2, "three": 3, "four": 4, "nine": 9}
    return np.repeat([size[name] for name in sizes], list(sizes.values()))


def random_partition(people: int, alpha: float, theta: float, rng: np.random.Generator) -> np.ndarray:
    """The group of each person of a population that Pitman's model describes."""
    group, size = np.zeros(people, dtype=np.int64), [1]
    for i in range(1, people):
        if rng.random() < (theta + len(size) * alpha) / (theta + i):
            group[i] = len(size)
            size.append(0)
        else:
            chances = np.array(size) - alpha
            group[i] = rng.choice(len(size), p=chances / chances.sum())
        size[group[i]] += 1
    return group


def test_zayatz_worked_by_hand() -> None:
    """4 of 8 people, two alone and two alike. P(f=1|F=1) = 1/2, P(f=1|F=2) = 2 C(6,3)/C(8,4) = 4/7, so of those who
    are alone in the sample (2/3 1/2) / (2/3 1/2 + 1/3 4/7) = 7/11 are alone in the population."""
    assert zayatz(counts_of(groups(one=2, two=1), 0.5)) == pytest.approx(2 / 4 * 7 / 11)


def test_the_expected_share_of_pitmans_model_worked_by_hand() -> None:
    """Two people: the second opens a group with (0.5 + 0.5) / 1.5. Three of Ewens' model: 3 theta / (theta + 2) / 3."""
    assert pitman_share(0.5, 0.5, 2) == pytest.approx(2 / 3)
    assert pitman_share(0.0, 1.0, 3) == pytest.approx(1 / 3)


def test_snb_worked_by_hand() -> None:
    """alpha 1, beta 1/2 and 900 groups of 1,800 people, half of whom are drawn: 2/3 of the groups are seen, 4/9 with
    one person, and half of all groups have one person."""
    assert snb(counts_of(groups(one=400, two=100, three=100), 0.5)) == pytest.approx(450 / 1800)


def test_the_parameters_of_pitmans_model_are_those_of_greatest_likelihood() -> None:
    about = counts_of(groups(one=30, two=9, four=3, nine=1), 0.1)
    alpha, theta = pitman_parameters(about) or (0.0, 0.0)

    def chance(a: float, t: float) -> float:
        """The product of the chances with which each person of the sample joins or opens a group."""
        found, there, used = 0.0, 0, 0
        for size in [1] * 30 + [2] * 9 + [4] * 3 + [9]:
            for inside in range(size):
                found += np.log((t + used * a if inside == 0 else inside - a) / (t + there))
                there += 1
                used += inside == 0
        return found

    best = chance(alpha, theta)
    assert all(
        chance(alpha + x, theta + y) < best for x, y in [(0.01, 0), (-0.01, 0), (0, 0.3), (0, -0.3), (0.01, -0.3)]
    )


def test_a_whole_population_is_counted() -> None:
    sizes = groups(one=5, two=4, nine=2)
    about = counts_of(sizes, 1.0)
    assert zayatz(about) == pytest.approx(5 / 31)
    assert snb(about) == pytest.approx(5 / 31)
    assert estimate(sizes, 1.0) == pytest.approx(5 / 31)


@pytest.mark.parametrize("fraction", [0.001, 0.05, 0.3, 1.0])
def test_who_is_not_alone_in_the_sample_is_not_alone_in_the_population(fraction: float) -> None:
    assert estimate(groups(two=10, nine=3), fraction) == 0.0
    assert interval(groups(two=10, nine=3), fraction) is None


def test_a_sample_in_which_everybody_differs_tells_of_no_two_alike() -> None:
    assert pitman(counts_of(groups(one=50), 0.01)) == 1.0
    assert estimate(groups(one=50), 0.01) == 1.0


def test_dankars_rule() -> None:
    assert by_rule(0.1, 0.3, 0.2, 0.1) == 0.3
    assert by_rule(0.1, None, 0.2, 0.1) == 0.2
    assert by_rule(0.11, 0.3, 0.2, 0.1) == 0.1
    assert by_rule(0.11, 0.3, 0.05, 0.1) == 0.05
    assert by_rule(0.11, 0.3, 0.2, None) == 0.2


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.25, 0.6])
@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.8])
def test_the_verifier_comes_to_the_same_by_other_ways(alpha: float, fraction: float) -> None:
    rng = np.random.default_rng(7)
    group = random_partition(1500, alpha, 30.0, rng)
    sizes = np.bincount(group[rng.choice(1500, int(1500 * fraction), replace=False)])
    sizes = sizes[sizes > 0]
    assert unique_share(sizes.tolist(), fraction) == pytest.approx(estimate(sizes, fraction), rel=1e-5)


def ways_by_recursion(people: int, number: int, alpha: float) -> float:
    """By the recursion of the generalized factorial coefficients."""
    ways = np.zeros(number + 1)
    ways[0] = 1.0
    for person in range(people):
        ways = np.concatenate([[0.0], ways[:-1]]) + (person - np.arange(number + 1) * alpha) * ways
    return math.log(ways[number]) + math.lgamma(number + 1) - math.lgamma(people + 1)


@pytest.mark.parametrize("alpha", [-2.0, -0.3, 0.3, 0.7, 1 - 1e-6])
@pytest.mark.parametrize(("people", "number"), [(30, 18), (33, 30), (150, 80)])
def test_sizes_of_few_people_more_than_groups_are_counted_exactly(people: int, number: int, alpha: float) -> None:
    found = log_ways(float(people), float(number), np.array([alpha]))[0]
    assert found == pytest.approx(ways_by_recursion(people, number, alpha), abs=1e-6)


@pytest.mark.parametrize("alpha", [-2.0, -0.3, 0.3, 0.7])
def test_sizes_of_many_more_people_than_groups_are_counted_nearly(alpha: float) -> None:
    """A saddlepoint is right to 1/groups or so."""
    found = log_ways(150.0, 40.0, np.array([alpha]))[0]
    assert found == pytest.approx(ways_by_recursion(150, 40, alpha), abs=0.06)


@pytest.mark.parametrize("multiples", [2, 3, 4])
def test_a_sample_of_nearly_all_different_people_leaves_all_open(multiples: int) -> None:
    """300 people of whom a few look alike: from that, neither few nor nearly all can be told to be unique."""
    sizes = np.array([2] * multiples + [1] * (300 - 2 * multiples))
    low, high = interval(sizes, 0.01) or (1.0, 0.0)
    assert low < 0.3
    assert high > 0.7


@pytest.mark.parametrize(("alpha", "theta"), [(0.05, 330.0), (0.3, 200.0)])
def test_the_interval_misses_the_true_share_seldom_but_sometimes(alpha: float, theta: float) -> None:
    """A sample of 200 hardly tells alpha; benchmarks/uniqueness_coverage.py has 500 samples at four fractions."""
    rng, draw = np.random.default_rng(3), random.Random(3)
    missed = 0
    for _ in range(60):
        size = growing_partition(10_000, alpha, theta, draw)
        sample = np.bincount(rng.choice(np.repeat(np.arange(len(size)), size), 200, replace=False))
        low, high = interval(sample[sample > 0], 0.02, rng=rng) or (0.0, 0.0)
        assert 0 <= low < high <= 1
        missed += not low <= size.count(1) / 10_000 <= high
    assert 1 <= missed <= 6


def growing_partition(people: int, alpha: float, theta: float, draw: random.Random) -> list[int]:
    """Sizes of the groups of such a population: whoever opens no group joins that of an earlier person."""
    group, size = [0], [1]
    for person in range(1, people):
        chosen = len(size)
        if draw.random() * (theta + person) >= theta + len(size) * alpha:
            chosen = group[int(draw.random() * person)]
            while draw.random() * size[chosen] > size[chosen] - alpha:
                chosen = group[int(draw.random() * person)]
        else:
            size.append(0)
        size[chosen] += 1
        group.append(chosen)
    return size


def table() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, 500),
            "town": rng.choice(list("abcdefgh"), 500),
            "sex": rng.choice(["f", "m"], 500),
        }
    )


COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "town": {"role": "quasi", "recode": "set"},
    "sex": {"role": "quasi"},
}


@pytest.mark.parametrize(("fraction", "name"), [(0.01, "sift"), (0.01, "mondrian"), (0.3, "sift")])
def test_a_release_keeps_a_limit_of_uniqueness(fraction: float, name: str) -> None:
    risk = {"unique_in_population": 0.005, "population": {"fraction": fraction}}
    method = {"name": name, "effort": "fast"} if name == "sift" else {"name": name}
    made = polyveil.anonymize(table(), {"columns": COLUMNS, "privacy": {"risk": risk}, "method": method}, seed=1)
    (claim,) = made.manifest["claims"]
    assert claim["model"] == PopulationUniqueness.key
    assert claim["measured"] <= 0.005 + 1e-9
    assert any(each.check == "risk" and each.outcome == "holds" for each in made.verification.findings)
    pairs = polyveil.anonymize(table(), {"columns": COLUMNS, "privacy": {"k": 2}, "method": method}, seed=1)
    assert made.loss["information_loss"] <= pairs.loss["information_loss"]
    if (fraction, name) == (0.01, "sift"):
        assert made.loss["information_loss"] < 0.9 * pairs.loss["information_loss"]


def test_check_tells_the_estimate_and_its_interval() -> None:
    sizes = [1] * 30 + [2] * 10 + [5] * 6
    table = pl.DataFrame({"a": [str(i) for i, size in enumerate(sizes) for _ in range(size)]})
    risk = {"unique_in_population": 0.5, "population": {"fraction": 0.1}}
    policy = {"columns": {"a": {"role": "quasi"}}, "privacy": {"risk": risk}}
    told = polyveil.check(table, policy).to_dict()["unique_in_population"]
    assert told["estimate"] == pytest.approx(estimate(np.array(sizes), 0.1))
    assert told["interval"] == pytest.approx(interval(np.array(sizes), 0.1))
    assert told["interval"][0] < told["estimate"] < told["interval"][1]
    assert "unique_in_population" not in polyveil.check(table, quasi="a").to_dict()
