"""The recoding of least loss in the lattice of levels.

A node says at which level each column is released. Without rows left out its loss is the sum of its columns' costs,
which only grows from level to level; rows left out only add to it. So that sum bounds the loss of a node and of every
node above it, and nodes are looked at in its order: the search ends when the next one cannot be better than the best.

Two things save looks. If keeping a guarantee carries over from a node to those above it - rows are not left out, or
only the size of groups counts - then a node that fails rules out all nodes below it (predictive tagging). To find such
nodes early, and a good recoding to compare with, the way from a failing node to the top is halved as in Flash
(Kohlmayer et al. 2012).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from polyveil.arrays import IntArray
from polyveil.methods._lattice.levels import Levels

Node = tuple[int, ...]
Found = TypeVar("Found")
SLACK = 1e-12
"""Sums of the same costs in another order differ by this."""


@dataclass(frozen=True, eq=False)
class Recoding(Generic[Found]):
    """A node that keeps every guarantee, what it loses, and what the look at it gave."""

    node: Node
    loss: float
    found: Found


@dataclass(eq=False)
class LatticeSearch(Generic[Found]):
    """`look` says of a node what it loses and gives, or None if it fails; `most` limits the looks."""

    levels: Sequence[Levels]
    look: Callable[[Node], tuple[float, Found] | None]
    monotone: bool
    most: int
    looks: int = 0
    best: Recoding[Found] | None = None
    complete: bool = True
    _seen: dict[Node, bool] = field(default_factory=dict)
    _failed: list[Node] = field(default_factory=list)

    def run(self) -> Recoding[Found] | None:
        """The recoding of least loss; of equal ones the first in the order of levels."""
        bottom: Node = tuple(0 for _ in self.levels)
        self._holds(tuple(each.top for each in self.levels))
        heap, reached = [(self.cost(bottom), bottom)], {bottom}
        while heap:
            cost, node = heapq.heappop(heap)
            if self.best is not None and cost >= self.best.loss - SLACK:
                return self.best
            if self.looks >= self.most:
                self.complete = False
                return self.best
            if not self._ruled_out(node) and not self._holds(node):
                self._climb(node)
            for above in self.above(node):
                if above not in reached:
                    reached.add(above)
                    heapq.heappush(heap, (self.cost(above), above))
        return self.best

    def cost(self, node: Node) -> float:
        """No recoding at this node or above it loses less."""
        return float(sum(each.cost[level] for each, level in zip(self.levels, node, strict=True)))

    def above(self, node: Node) -> list[Node]:
        """The nodes one level higher in one column."""
        return [(*node[:a], level + 1, *node[a + 1 :]) for a, level in enumerate(node) if level < self.levels[a].top]

    def _ruled_out(self, node: Node) -> bool:
        if node in self._seen:
            return not self._seen[node]
        if not self.monotone or not self._failed:
            return False
        return bool((np.asarray(self._failed) >= np.asarray(node)).all(axis=1).any())

    def _holds(self, node: Node) -> bool:
        if node in self._seen:
            return self._seen[node]
        self.looks += 1
        found = self.look(node)
        self._seen[node] = found is not None
        if found is None:
            self._fails(node)
        elif self.best is None or (found[0], node) < (self.best.loss, self.best.node):
            self.best = Recoding(node, *found)
        return found is not None

    def _fails(self, node: Node) -> None:
        """Remember the failing nodes that no other failing node lies above."""
        if not any(all(a >= b for a, b in zip(other, node, strict=True)) for other in self._failed):
            below = [each for each in self._failed if all(a <= b for a, b in zip(each, node, strict=True))]
            self._failed = [each for each in self._failed if each not in below] + [node]

    def _climb(self, node: Node) -> None:
        """Halve the cheapest way from a failing node to the top: it ends at neighbours that fail and hold."""
        way = [node]
        while above := self.above(way[-1]):
            way.append(min(above, key=lambda each: (self.cost(each), each)))
        low, high = 0, len(way) - 1
        while high - low > 1 and self.looks < self.most:
            middle = (low + high) // 2
            if self.best is not None and self.cost(way[middle]) >= self.best.loss:
                high = middle
            elif self._ruled_out(way[middle]) or not self._holds(way[middle]):
                low = middle
            else:
                high = middle


def classes_at(levels: Sequence[Levels], codes: IntArray, node: Node) -> IntArray:
    """The class of each tuple of codes when every column is recoded to its level of the node."""
    key = np.zeros(len(codes), dtype=np.int64)
    for a, level in enumerate(node):
        group = levels[a].group[level]
        _, number = np.unique(group, return_inverse=True)
        key = key * (int(number.max()) + 1) + number[codes[:, a]]
        if key.max(initial=0) >= 2**40:
            _, key = np.unique(key, return_inverse=True)
    return np.unique(key, return_inverse=True)[1].astype(np.int64)
