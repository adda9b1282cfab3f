"""Risk, counted again: the chance of finding a person, from the cells of the table and the public policy alone.

Nothing here is shared with the models: groups are counted by their cells, and what is expected of a population is a
plain sum instead of a formula.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from polyveil.policy import Policy
from polyveil.verification.findings import Finding, fails, holds
from polyveil.verification.uniqueness import unique_share

CLOSE, AS_ESTIMATED = 1e-9, 1e-3
"""How near counts and estimates must be: two ways to search for the same parameters do not end at the same digit."""
UNIQUE = "unique-in-population"
BY_WEIGHTS = "weighted-journalist-risk"


def check_risk(manifest: Mapping[str, Any], policy: Policy, frame: pl.DataFrame) -> list[Finding]:
    """Every limit of `privacy.risk`, and the claims about it, by counts of this check's own."""
    risk = policy.privacy.risk
    if risk is None or risk.by_table:  # people of a table are counted where the table is given
        return []
    if risk.by_weights:
        return _by_weights(manifest, policy, frame)
    quasi = policy.having("quasi")
    sizes = frame.group_by(quasi).len().get_column("len").to_list() if quasi else [frame.height]
    found = _in_rows(manifest, policy, [size for size in sizes if size])
    people = _people(policy, frame)
    if people is not None and not any(finding.outcome == "fails" for finding in found):
        found += [_limits(policy, people, "people")]
    return found


def _by_weights(manifest: Mapping[str, Any], policy: Policy, frame: pl.DataFrame) -> list[Finding]:
    """The greatest risk, each group being the share of the population that its weight says."""
    risk, name, quasi = policy.privacy.risk, policy.sampling_weight, policy.having("quasi")
    if risk is None or risk.max is None or name is None:
        return []
    cells = frame.with_columns(pl.col(name).cast(pl.Float64, strict=False))
    rows, mean = pl.len().alias("rows of a group"), pl.col(name).mean().alias("weight of a group")
    found = cells.group_by(quasi).agg(rows, mean) if quasi else cells.select(rows, mean)
    pairs = set(found.select(pl.nth(-2), pl.nth(-1)).iter_rows())
    highest = max((expected_chance(size, 1.0 / max(weight or 1.0, 1.0)) for size, weight in pairs), default=1.0)
    claimed = {claim["model"]: claim["measured"] for claim in manifest["claims"]}.get(BY_WEIGHTS)
    if not isinstance(claimed, int | float) or abs(claimed - highest) > CLOSE:
        return [fails("risk", f"the manifest claims a {BY_WEIGHTS} of {claimed}, the cells give {highest:.9g}")]
    if highest > risk.max + CLOSE:
        return [fails("risk", f"counted again, {BY_WEIGHTS} is {highest:.6g}, and the limit is {risk.max:.6g}")]
    return [holds("risk", f"counted again in rows from the cells and weights: {BY_WEIGHTS} {highest:.6g}")]


def _in_rows(manifest: Mapping[str, Any], policy: Policy, sizes: Sequence[int]) -> list[Finding]:
    measured = dict(_measured(policy, sizes))
    claimed = {claim["model"]: claim["measured"] for claim in manifest["claims"] if claim["attribute"] is None}
    wrong = [
        fails("risk", f"the manifest claims a {key} of {claimed.get(key)}, the cells give {value:.9g}")
        for key, value in measured.items()
        if not isinstance(claimed.get(key), int | float)
        or abs(claimed[key] - value) > (AS_ESTIMATED * value if key == UNIQUE else CLOSE)
    ]
    return wrong or [_limits(policy, sizes, "rows")]


def _limits(policy: Policy, sizes: Sequence[int], of: str) -> Finding:
    risk = policy.privacy.risk
    limits = {} if risk is None else _named(policy, risk.max, risk.average, risk.strict_k)
    if risk is not None and risk.unique_in_population is not None:
        limits[UNIQUE] = risk.unique_in_population
    measured = dict(_measured(policy, sizes))
    for key, value in measured.items():
        near = AS_ESTIMATED * limits[key] if key == UNIQUE else CLOSE
        kept = value >= limits[key] if key == "strict-k" else value <= limits[key] + near
        if not kept:
            return fails("risk", f"counted again in {of}, {key} is {value:.6g}, and the limit is {limits[key]:.6g}")
    words = ", ".join(f"{key} {value:.6g}" for key, value in measured.items())
    return holds("risk", f"counted again in {of} from the cells: {words}")


def _named(policy: Policy, greatest: float | None, mean: float | None, least: int | None) -> dict[str, float]:
    """The limits under the names of the claims."""
    risk = policy.privacy.risk
    by_register = risk is not None and risk.attacker != "prosecutor"
    limits = {
        "journalist-risk" if by_register else "prosecutor-risk": greatest,
        "marketer-risk" if by_register else "average-risk": mean,
        "strict-k": least,
    }
    return {key: float(limit) for key, limit in limits.items() if limit is not None}


def _measured(policy: Policy, sizes: Sequence[int]) -> Iterator[tuple[str, float]]:
    """What is claimed, measured: the greatest and the mean chance over the rows, and the smallest group."""
    risk = policy.privacy.risk
    if risk is None or not sizes:
        return
    fraction = risk.fraction or 1.0
    of_size = {size: expected_chance(size, fraction) for size in set(sizes)}
    mean = math.fsum(size * of_size[size] for size in sizes) / sum(sizes)
    found = _named(policy, max(of_size.values()), mean, min(sizes))
    asked = _named(policy, risk.max, risk.average, risk.strict_k)
    yield from ((key, value) for key, value in found.items() if key in asked)
    if risk.unique_in_population is not None:
        yield UNIQUE, unique_share(sizes, fraction)


def expected_chance(size: int, fraction: float) -> float:
    """The mean of 1/N over the numbers N of people in the population of whom so many would be in the sample.

    N is negative binomial: the people drawn one after the other until so many of them are in the sample.
    """
    if fraction >= 1.0:
        return 1.0 / size
    if fraction > 0.5:  # then N is not much greater than the size
        missed = size * (1.0 - fraction) / fraction
        many = range(size, size + 60 + math.ceil(missed + 60 * math.sqrt(missed)))
        return math.fsum(math.exp(_log_probability(people, size, fraction)) / people for people in many)
    odds = fraction / (1.0 - fraction)
    chance = odds * math.log(1.0 / fraction)
    for people in range(2, size + 1):
        chance = odds * (1.0 / (people - 1) - chance)
    return chance


def _log_probability(people: int, size: int, fraction: float) -> float:
    ways = math.lgamma(people) - math.lgamma(size) - math.lgamma(people - size + 1)
    missed = (people - size) * math.log1p(-fraction) if people > size else 0.0
    return ways + size * math.log(fraction) + missed


def _people(policy: Policy, frame: pl.DataFrame) -> list[int] | None:
    """People per group where keys are published, who are told apart by how many rows they have."""
    if policy.person is None or policy.person not in frame.columns:
        return None
    quasi = [name for name in policy.having("quasi") if name != policy.person]
    counted = frame.group_by([*quasi, policy.person]).len(name="rows of a person")
    return counted.group_by([*quasi, "rows of a person"]).len().get_column("len").to_list()
