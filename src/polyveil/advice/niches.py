"""Sensitive columns as niches (roy2014, 3.1): partitioned into classes, coded by numbers, standardized.

Step 1, partitioning: numbers and dates fall into intervals of equal width, categories are taken as they are or at a
level of their hierarchy. Step 2, coding: the classes are numbered 1, 2, ... The paper does not say in which order; here
it is the order of the values (of a hierarchy: depth-first, so that near values get near numbers) or, on request, by
frequency. Step 3: the numbers are standardized to mean 0 and deviation 1 over the rows. Missing is a class of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.errors import InputError
from polyveil.policy.hierarchy import Hierarchy
from polyveil.table.coded import SensitiveColumn
from polyveil.table.domain import OrderedDomain, TreeDomain

Coding = Literal["order", "frequency"]
MOST_VALUES = 10
"""Numbers and dates with more different values than this fall into this many intervals."""


@dataclass(frozen=True, eq=False)
class Niche:
    """One column: the class of each code, from 0 without gaps in coding order, and the rows of each class."""

    name: str
    class_of_code: IntArray
    counts: IntArray
    how: str
    """How it was partitioned, in words."""

    @property
    def classes(self) -> int:
        return len(self.counts)


def niche(column: SensitiveColumn, how: str | None = None, coding: Coding = "order") -> Niche:
    """Partition and code a column. `how` is None (the usual), "values", a number of intervals, or "level:N"."""
    raw, words = _partition(column, how)
    present, class_of_code = np.unique(raw, return_inverse=True)
    counts = np.bincount(class_of_code, weights=column.counts, minlength=len(present)).astype(np.int64)
    filled = np.flatnonzero(counts > 0)
    order = filled[np.argsort(-counts[filled], kind="stable")] if coding == "frequency" else filled
    number = np.zeros(len(present), dtype=np.int64)
    number[order] = np.arange(len(order))
    null = column.domain.null_code
    missing = ", missing among them" if null >= 0 and column.counts[null] else ""
    return Niche(column.name, number[class_of_code], counts[order], f"{len(order)} {words}{missing}")


def _partition(column: SensitiveColumn, how: str | None) -> tuple[IntArray, str]:
    """A class number per code, rising in the order of the values, and what the classes are."""
    domain = column.domain
    level = _number_after("level:", how, column.name)
    if isinstance(domain, TreeDomain):
        if how not in (None, "values") and level is None:
            raise InputError(f"{column.name} has categories. Group it by values or by level:N of its hierarchy")
        if level is None:
            return np.arange(domain.size), "values"
        return _at_level(domain.hierarchy, level), f"nodes at level {level}"
    if level is not None:
        raise InputError(f"{column.name} has no hierarchy. Group it by values or into a number of intervals")
    wanted = None if how in (None, "values") else _number_after("", how, column.name)
    values = int(np.count_nonzero(column.counts[: len(domain.labels)]))
    if how == "values" or domain.kind == "ordinal" or (how is None and values <= MOST_VALUES):
        return np.arange(domain.size), "values"
    return _intervals(domain, wanted or MOST_VALUES), "intervals of equal width"


def _number_after(start: str, how: str | None, name: str) -> int | None:
    if how is None or how == "values" or not how.startswith(start):
        return None
    text = how.removeprefix(start)
    if not text.isdigit() or (not start and int(text) < 2):
        raise InputError(f"--classes of {name} must be values, a number of intervals from 2, or level:N, not {how!r}")
    return int(text)


def _intervals(domain: OrderedDomain, count: int) -> IntArray:
    found = np.minimum((domain.normalized * count).astype(np.int64), count - 1)
    return np.append(found, [count] * domain.has_null).astype(np.int64)


def _at_level(tree: Hierarchy, level: int) -> IntArray:
    """The highest ancestor of each leaf that is not above `level`; the first leaf below it is its number."""
    node = tree.leaf_node.copy()
    while True:
        up = tree.parent[node]
        climbs = (node > 0) & (tree.height[np.maximum(up, 0)] <= level)
        if not climbs.any():
            return tree.start[node].astype(np.int64)
        node = np.where(climbs, up, node)


def standardized(counts: FloatArray | IntArray) -> tuple[FloatArray, FloatArray]:
    """Shares of the classes and their numbers scaled to mean 0, deviation 1; a single class stays at 0."""
    shares = counts / max(float(counts.sum()), 1.0)
    numbers = np.arange(1, len(counts) + 1, dtype=np.float64)
    mean = float(shares @ numbers)
    deviation = float(np.sqrt(shares @ (numbers - mean) ** 2))
    return np.asarray(shares, dtype=np.float64), (numbers - mean) / deviation if deviation > 0 else numbers - mean


def niches(
    columns: tuple[SensitiveColumn, ...], how: Mapping[str, str] | None = None, coding: Coding = "order"
) -> tuple[Niche, ...]:
    """All sensitive columns; `how` says for some of them how they are partitioned."""
    chosen = dict(how or {})
    unknown = set(chosen) - {column.name for column in columns}
    if unknown:
        known = ", ".join(column.name for column in columns)
        raise InputError(f"classes are given for {', '.join(sorted(unknown))}. Sensitive columns are: {known}")
    return tuple(niche(column, chosen.get(column.name), coding) for column in columns)
