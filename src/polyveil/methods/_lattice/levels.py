"""The levels to which a column can be recoded as a whole, and what each level costs.

- a category: the levels of its hierarchy as written; in an uneven tree a value is recoded to its highest ancestor that
  is no higher than the level. A column without a hierarchy, or released as sets, has two levels: its values, and all.
- numbers, dates and ordered categories: ranges of equal width, twice as wide from level to level. "Missing" keeps to
  itself up to the last level, where everything is one range.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import OrderedDomain, TreeDomain

MOST_HALVINGS = 5
"""Ranges of an ordered column begin with the values themselves, then a 32nd of its width, a 16th, and so on."""


@dataclass(frozen=True, eq=False)
class Levels:
    """One column: `group[i, c]` is what code c becomes at level i and `cell[i, c]` what it loses; `cost[i]` is the mean
    over the rows."""

    group: IntArray
    cell: FloatArray
    cost: FloatArray

    @property
    def top(self) -> int:
        return len(self.cost) - 1


def levels_of(table: CodedTable) -> tuple[Levels, ...]:
    """The levels of every quasi-identifier."""
    return tuple(_of_column(column) for column in table.quasi)


def _of_column(column: QuasiColumn) -> Levels:
    domain = column.domain
    if isinstance(domain, OrderedDomain):
        group = _ranges(domain)
    elif domain.as_set:
        group = [np.arange(domain.size), np.zeros(domain.size, dtype=np.int64)]
    else:
        group = _ancestors(domain)
    kept = [group[0], *(now for before, now in pairwise(group) if not np.array_equal(before, now))]
    share = np.bincount(column.codes, minlength=domain.size) / max(len(column.codes), 1)
    cell = np.maximum.accumulate([_costs(domain, each) for each in kept], axis=0)
    return Levels(np.stack(kept).astype(np.int64), cell, cell @ share)


def _ancestors(domain: TreeDomain) -> list[IntArray]:
    tree = domain.hierarchy
    node = tree.leaf_node.copy()
    found = [node.copy()]
    for level in range(1, int(tree.level[0]) + 1):
        above = np.where(node > 0, tree.parent[node], 0)
        node = np.where(tree.level[above] <= level, above, node)
        found.append(node.copy())
    return found


def _ranges(domain: OrderedDomain) -> list[IntArray]:
    values = len(domain.labels)
    missing = [np.array([-1])] if domain.has_null else []
    found = [np.arange(values)]
    found += [
        np.minimum((domain.normalized * parts).astype(np.int64), parts - 1)
        for parts in (2**i for i in range(MOST_HALVINGS, 0, -1))
        if parts < values
    ]
    return [*(np.concatenate([each, *missing]) for each in found), np.zeros(domain.size, dtype=np.int64)]


def _costs(domain: OrderedDomain | TreeDomain, group: IntArray) -> FloatArray:
    """What a cell loses, for each code: the loss of all codes that look like it."""
    _, number = np.unique(group, return_inverse=True)
    low, high = np.full(number.max() + 1, domain.size), np.full(number.max() + 1, -1)
    np.minimum.at(low, number, np.arange(domain.size))
    np.maximum.at(high, number, np.arange(domain.size))
    if isinstance(domain, TreeDomain) and domain.as_set:
        return domain.set_loss(np.bincount(number))[number]
    if isinstance(domain, TreeDomain):
        return domain.hierarchy.loss_of_nodes()[group]
    return domain.loss(low, high)[number]
