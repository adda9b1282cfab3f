"""lattice: one recoding for each whole column, the best there is; rows of groups that fail may be left out.

Full-domain generalization (Samarati & Sweeney 1998) with the search idea of Flash (Kohlmayer, Prasser, Eckert, Kemper,
Kuhn 2012), which ARX uses: every quasi-identifier is recoded to one level of its hierarchy, the same for all rows.

- Guarantee: every model asked for, in every class. Of all recodings that reach this with at most `suppression_limit`
  rows left out, the one of least information loss, unless the search was stopped (`most_nodes`); `found` says so.
- Cost: one grouping of the rows for each recoding that must be looked at; the lattice has as many as the product of the
  levels, most of which are ruled out unseen.
- Rows are left out only in whole classes: those that fail. Closeness is then judged against the input and against the
  rows that stay, as everywhere here, so leaving out is repeated until the rest holds.
- The release shows each group's own narrowest cells, which never say less than the recoding does; `found.levels` tells
  the level of every column to those who want to recode by hand.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from polyveil.arrays import IntArray
from polyveil.methods._kernels.judge import sensitive_matrix, violation_classes
from polyveil.methods._kernels.reachable import Basis, basis_without, reachable_basis
from polyveil.methods._lattice.levels import Levels, levels_of
from polyveil.methods._lattice.search import LatticeSearch, Node, classes_at
from polyveil.methods.base import Method, Options, Task
from polyveil.models.constraints import MinSize
from polyveil.partition import Partition, partition_of


class LatticeOptions(Options):
    """Options of `lattice`."""

    most_nodes: int = Field(
        default=5_000, ge=1, le=1_000_000, description="stop after looking at this many recodings, with the best so far"
    )


class Lattice(Method[LatticeOptions]):
    """The best full-domain recoding."""

    name = "lattice"
    title = "Lattice: recodes each whole column to one level of its hierarchy; finds the best combination of levels"
    paper = "Samarati & Sweeney 1998; Kohlmayer et al. 2012 (Flash)"
    guarantee = "Every requirement is met in every group. No other recoding of whole columns loses less."
    cost = "Time grows with the rows and the combinations of levels; seconds for few quasi-identifiers."
    options_type = LatticeOptions

    def partition(self, task: Task) -> Partition:
        basis = reachable_basis(task)
        levels = levels_of(basis.table)
        shed = task.table.rows - len(basis.rows)
        look = _Look(task, basis, levels, task.suppressible - shed)
        search = LatticeSearch(levels, look, _is_monotone(task, look.spare), self.options.most_nodes)
        found = search.run()
        assert found is not None  # noqa: S101 - the whole table as one class holds, or `reachable_basis` had refused
        labels = np.full(task.table.rows, -1, dtype=np.int64)
        labels[basis.rows] = found.found
        names = [column.name for column in task.table.quasi]
        chosen = dict(zip(names, found.node, strict=True))
        return partition_of(labels, levels=chosen, optimal=search.complete)


def _is_monotone(task: Task, spare: int) -> bool:
    """Whether a recoding that holds makes every coarser one hold: always if no row may be left out, because all models
    are convex; otherwise if only the size of groups counts, because then coarser recodings leave out fewer rows."""
    constraints = [each for model in task.models for each in model.constraints(task.attributes)]
    return spare == 0 or all(isinstance(each, MinSize) for each in constraints)


class _Look:
    """Look at a recoding: its loss and the class of each row (-1: left out), or None if it does not hold."""

    def __init__(self, task: Task, basis: Basis, levels: tuple[Levels, ...], spare: int) -> None:
        self.task, self.basis, self.levels, self.spare = task, basis, levels, spare
        self.sensitive = sensitive_matrix(basis.table)
        self.tuples = basis.table.quasi_tuples
        self.looks = 0

    def __call__(self, node: Node) -> tuple[float, IntArray] | None:
        self.looks += 1
        self.task.progress.advance(self.looks / (self.looks + 20.0), f"{self.looks} recodings")
        labels = classes_at(self.levels, self.tuples.codes, node)[self.tuples.of_row]
        left = self._without_failing(labels)
        return None if left is None else (self._loss(node, left), left)

    def _without_failing(self, labels: IntArray) -> IntArray | None:
        judge, sensitive, kept = self.basis.judge, self.sensitive, np.arange(len(labels))
        left = np.full(len(labels), -1, dtype=np.int64)
        while True:
            failing = violation_classes(judge, labels, sensitive) > 0.0
            if not failing.any():
                left[kept] = labels
                return left
            stays = ~failing[labels]
            kept = kept[stays]
            if len(left) - len(kept) > self.spare or not len(kept):
                return None
            labels = np.unique(labels[stays], return_inverse=True)[1].astype(np.int64)
            smaller = basis_without(self.task, self.basis.rows[kept])
            judge, sensitive = smaller.judge, sensitive_matrix(smaller.table)

    def _loss(self, node: Node, labels: IntArray) -> float:
        """Eq. (1) of wang2018 with the cells of the recoding; a row left out loses everything."""
        kept = labels >= 0
        if kept.all():
            return float(sum(each.cost[level] for each, level in zip(self.levels, node, strict=True)))
        costs = sum(
            each.cell[level][column.codes[kept]].sum()
            for each, level, column in zip(self.levels, node, self.basis.table.quasi, strict=True)
        )
        return float(costs + (~kept).sum() * len(self.levels)) / self.basis.table.rows
