"""Columns of a linked release that repeat a sensitive one beside the quasi-identifiers, under whatever name.

Linked tables protect because only a group id joins them. A column of `quasi` that has in every group the values of a
sensitive column, or one value for each of these, tells every person's value. So does one that is coarser or finer: a
value that occurs in every group as often as some sensitive values together tells that its people have one of these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import lgamma, log, log1p
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.verification.findings import Finding, fails

COPY = "copy of"
"""How the check of a column begins that is told by another."""
FEWEST_GROUPS = 20
"""From so many groups on, chance does not give two columns the same counts in each of them."""
FEWEST_ALIKE = 5
"""The same where the two columns have the same values as well."""
MOST_VALUES = 60
"""Columns with more values are compared as a whole alone."""
MOST_GROUPS = 2000
"""Groups from which sums are guessed."""
SPARE_GROUPS = 10
"""So many more groups than values leave one sum at most that fits all of them."""
RARELY = log(1e-10)


def check_copies(
    quasi: pl.DataFrame, group: str, columns: Sequence[str], sensitive: pl.DataFrame, attributes: Sequence[str]
) -> list[Finding]:
    """A finding per column of `quasi` that repeats an attribute of the table that `group` joins it with."""
    ids = set(sensitive.get_column(group).cast(pl.String))
    rows = quasi.filter(pl.col(group).cast(pl.String).is_in(ids))
    kept = {name: _occurrence(sensitive, group, name) for name in attributes}
    told = {name: _occurrence(rows, group, name) for name in columns}
    findings = compare_copies(len(ids), kept, told)
    if findings:
        return findings
    return [
        fails(f"{COPY} {attribute}", f"{name} tells which people of a group have some values of {attribute}")
        for attribute, name in product(kept, told)
        if _go_together(kept[attribute], told[name], ids)
    ]


def _go_together(here: Occurrence, there: Occurrence, ids: Collection[str]) -> bool:
    if max(here.values, there.values) > MOST_VALUES:
        return False
    return goes_with(_counts(there.by_value, ids), _counts(here.by_value, ids))


def goes_with(beside: IntArray, kept: IntArray) -> bool:
    """Whether a value of one column occurs in every group as often as some values of the other, not by chance.

    Both are groups x values.
    """
    pairs = ((beside, kept), (kept, beside))
    return any(
        _has_sum(of, parts)
        for of, parts in pairs
        if min(of.shape[1], parts.shape[1]) > 1 and parts.shape[1] + SPARE_GROUPS <= len(parts)
    )


def _has_sum(of: IntArray, parts: IntArray) -> bool:
    """Whether a column of `of` is a sum of some columns of `parts`: solved on some groups, compared in all."""
    some = parts[:MOST_GROUPS].astype(np.float64)
    shares = np.linalg.lstsq(some.T @ some, some.T @ of[:MOST_GROUPS], rcond=None)[0].round()
    plain = ((shares == 0) | (shares == 1)).all(axis=0) & (shares == 1).any(axis=0) & (shares == 0).any(axis=0)
    for value in np.flatnonzero(plain):
        total = parts[:, shares[:, value] == 1].sum(axis=1)
        if (total == of[:, value]).all() and _chance(total, parts) < RARELY:
            return True
    return False


def _chance(target: IntArray, parts: IntArray) -> float:
    """The logarithm of how likely any sum of parts is met in every group by a value that has nothing to do with it."""
    sizes = parts.sum(axis=1)
    share = min(target.sum() / sizes.sum(), 1 - 1e-12)
    ways = [lgamma(n + 1) - lgamma(c + 1) - lgamma(n - c + 1) for n, c in zip(sizes, target, strict=True)]
    of_group = np.array(ways) + target * log(share) + (sizes - target) * log1p(-share)
    return float(of_group.sum() + parts.shape[1] * log(2))


def _counts(by_value: Mapping[str | None, Sequence[tuple[str, int]]], ids: Collection[str]) -> IntArray:
    place = {each: i for i, each in enumerate(sorted(ids))}
    counts = np.zeros((len(place), len(by_value)), dtype=np.int64)
    for value, found in enumerate(by_value.values()):
        for where, count in found:
            counts[place[where], value] = count
    return counts


@dataclass(frozen=True)
class Occurrence:
    """How many values a column has, and in which groups each of them occurs how often: by value, and by any name."""

    values: int
    by_value: Any
    by_any_name: Any


def compare_copies(groups: int, kept: Mapping[str, Occurrence], told: Mapping[str, Occurrence]) -> list[Finding]:
    """A finding per column of `told` that repeats one of `kept`."""
    return [
        fails(f"{COPY} {attribute}", f"{name} has the values of {attribute} in every group, so it tells each person's")
        for attribute, here in kept.items()
        for name, there in told.items()
        if here.values > 1
        and (
            (groups >= FEWEST_ALIKE and here.by_value == there.by_value)
            or (groups >= FEWEST_GROUPS and here.by_any_name == there.by_any_name)
        )
    ]


def _occurrence(frame: pl.DataFrame, group: str, name: str) -> Occurrence:
    counted = (
        frame.select(pl.col(group).cast(pl.String).alias("group"), pl.col(name).cast(pl.String).alias("value"))
        .group_by("group", "value")
        .len()
        .sort("group")
    )
    found: dict[str | None, list[tuple[str, int]]] = {}
    for where, value, count in counted.iter_rows():
        found.setdefault(value, []).append((where, count))
    return Occurrence(len(found), found, sorted(found.values()))
