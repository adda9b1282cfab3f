"""Small random coded tables for property tests: every kind of quasi-identifier and sensitive attribute, with nulls."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyveil.policy.hierarchy import Hierarchy, flat, from_tree
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import Domain, OrderedDomain, TreeDomain, as_codes

REGION_TREE = {"North": ["a", "b", "c"], "South": {"West": ["d", "e"], "East": ["f"]}, "Far": None}
ILLNESS_TREE = {"Lung": ["flu", "asthma", "cold"], "Stomach": ["ulcer", "gastritis"], "Other": {"Rare": ["x"]}}
REGIONS, ILLNESSES = from_tree(REGION_TREE), from_tree(ILLNESS_TREE)


def ordered(values: int, rng: np.random.Generator, *, null: bool) -> OrderedDomain:
    positions = np.sort(rng.choice(values * 5, size=values, replace=False)).astype(np.float64)
    return OrderedDomain("numeric", positions, tuple(str(int(p)) for p in positions), null)


def tree(hierarchy: Hierarchy, *, null: bool, as_set: bool = False) -> TreeDomain:
    return TreeDomain(hierarchy.with_null() if null else hierarchy, null, as_set)


def random_table(seed: int, rows: int = 60, *, nulls: bool = True, sensitive: int = 2) -> CodedTable:
    """Quasi: a number, a tree, a set; sensitive: a tree, a number, a flat category (as many as asked)."""
    rng = np.random.default_rng(seed)
    quasi: dict[str, Domain] = {
        "age": ordered(12, rng, null=nulls),
        "region": tree(REGIONS, null=nulls),
        "town": tree(flat(list("pqrst")), null=nulls, as_set=True),
    }
    secret: list[tuple[str, Domain, Any]] = [
        ("illness", tree(ILLNESSES, null=nulls), "hierarchical"),
        ("salary", ordered(7, rng, null=nulls), "ordered"),
        ("faith", tree(flat(list("uvw")), null=False), "equal"),
    ]
    return CodedTable(
        rows=rows,
        quasi=tuple(
            QuasiColumn(name, domain, as_codes(rng.integers(0, domain.size, rows), domain.size))
            for name, domain in quasi.items()
        ),
        sensitive=tuple(
            SensitiveColumn(
                name,
                domain,
                as_codes(skewed(rng, domain.size, rows), domain.size),
                distance,
                np.ones(domain.size, dtype=np.int64),
            )
            for name, domain, distance in secret[:sensitive]
        ),
    )


def skewed(rng: np.random.Generator, size: int, rows: int) -> np.ndarray[Any, Any]:
    weights = rng.dirichlet(np.full(size, 1.5))
    return rng.choice(size, size=rows, p=weights)
