"""Population uniqueness estimated from samples: the error of each estimate, and how often the interval is right.

    python benchmarks/uniqueness_coverage.py [--data FOLDER] [--samples 500]

Populations of 20,000 people that Pitman's model describes, a new one for every sample, with alpha 0.3, 0.5 and 0.7;
and one that no model describes: the 30,162 rows of Adult with nine columns. For each and for fractions 0.01 to 0.3,
500 samples are drawn at random. Shown are the mean error of each estimate (estimated minus true share of people who
are unique, in percentage points) and the share of the samples whose 95 % interval has the true share in it. Of
populations of Pitman's model that should be 90 to 98 %. Cells outside are an error.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
from risk_adult import adult

from polyveil.models.uniqueness import by_rule, counts_of, pitman, snb, zayatz
from polyveil.models.uniqueness_interval import interval

FRACTIONS = (0.01, 0.03, 0.1, 0.3)
PEOPLE = 20_000
LEAST, MOST = 0.90, 0.98
"""How often a 95 % interval should be right in 500 samples."""
ESTIMATES = ("pitman", "zayatz", "snb", "dankar")
Population = Callable[[np.random.Generator], np.ndarray]


@numba.njit
def random_partition(people: int, alpha: float, theta: float, seed: int) -> np.ndarray:
    """The group of each person: person i opens a new one, or joins an earlier person's group."""
    np.random.seed(seed)  # noqa: NPY002
    group, size, used = np.zeros(people, np.int64), np.zeros(people, np.int64), 1
    size[0] = 1
    for i in range(1, people):
        if np.random.random() < (theta + used * alpha) / (theta + i):  # noqa: NPY002
            group[i] = used
            used += 1
        else:
            chosen = group[np.random.randint(i)]  # noqa: NPY002
            while np.random.random() * size[chosen] > size[chosen] - alpha:  # noqa: NPY002
                chosen = group[np.random.randint(i)]  # noqa: NPY002
            group[i] = chosen
        size[group[i]] += 1
    return group


def of_model(alpha: float, theta: float) -> Population:
    """A new population of Pitman's model for every sample."""
    return lambda rng: random_partition(PEOPLE, alpha, theta, int(rng.integers(2**31)))


def trial(population: Population, fraction: float, rng: np.random.Generator) -> tuple[list[float], bool]:
    """The error of each estimate, and whether the interval has the true share."""
    group = population(rng)
    true = float((np.bincount(group) == 1).sum()) / len(group)
    sample = rng.choice(len(group), round(fraction * len(group)), replace=False)
    sizes = np.bincount(group[sample])
    sizes = sizes[sizes > 0]
    about = counts_of(sizes, len(sample) / len(group))
    found = [pitman(about), zayatz(about), snb(about)]
    found.append(by_rule(about.fraction, found[0], zayatz(about), found[2]))
    between = interval(sizes, about.fraction, rng=rng)
    errors = [np.nan if each is None else each - true for each in found]
    return errors, between is not None and between[0] <= true <= between[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--samples", type=int, default=500)
    chosen = parser.parse_args()
    frame, _ = adult(chosen.data)
    fixed = frame.to_struct("all").rank("dense").to_numpy().astype(np.int64) - 1
    populations: dict[str, Population] = {
        "Pitman, alpha 0.3": of_model(0.3, 200.0),
        "Pitman, alpha 0.5": of_model(0.5, 50.0),
        "Pitman, alpha 0.7": of_model(0.7, 10.0),
        "Adult, nine columns": lambda _: fixed,
    }
    names = " | ".join(f"error of {name}" for name in ESTIMATES)
    print(f"| population | fraction | true share | {names} | interval is right |")
    print("| --- " * (4 + len(ESTIMATES)) + "|")
    outside: list[str] = []
    for number, (name, population) in enumerate(populations.items()):
        for fraction in FRACTIONS:
            rng = np.random.default_rng([number, round(1000 * fraction)])
            found = [trial(population, fraction, rng) for _ in range(chosen.samples)]
            errors = 100 * np.nanmean([each[0] for each in found], axis=0)
            covered = float(np.mean([each[1] for each in found]))
            group = population(rng)
            true = 100 * float((np.bincount(group) == 1).sum()) / len(group)
            shown = " | ".join(f"{error:+.2f}" for error in errors)
            print(f"| {name} | {fraction:g} | {true:.1f} % | {shown} | {covered:.1%} |", flush=True)
            if name.startswith("Pitman") and not LEAST <= covered <= MOST:
                outside.append(f"{name}, fraction {fraction:g}: {covered:.1%}")
    if outside:
        raise SystemExit("right too seldom or too often: " + "; ".join(outside))


if __name__ == "__main__":
    main()
