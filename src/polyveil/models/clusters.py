"""A tree of near tuples: the order in which a transport plan looks for partners.

The tuples of several sensitive attributes are split again and again along the attribute in which they differ most:
ordered values at the middle, categories at the children of their common node. Tuples are then numbered depth-first, so
that every node is a range. Where there are more tuples than cells allowed, the largest parts are split first and what
stays together is a cell with a centre and a radius.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.space import TupleSpace


@dataclass(frozen=True, eq=False)
class Clusters:
    """Cells in depth-first order. Node v covers the cells `start[v]` to `stop[v] - 1`; nodes are in preorder.

    `cell_of[i]` is the cell of tuple i, `centres` the tuple that stands for each cell and `radius` how far the cell's
    tuples are from it at most (0 for a cell of one tuple). `levels[d, cell]` is the node of depth d that the cell is
    in, or its last one.
    """

    cell_of: IntArray
    centres: IntArray
    radius: FloatArray
    start: IntArray
    stop: IntArray
    levels: IntArray

    @property
    def cells(self) -> int:
        return len(self.centres)


@dataclass(eq=False)
class _Node:
    members: IntArray
    children: list[_Node]


def cluster(space: TupleSpace, counts: IntArray, most: int) -> Clusters:
    """Split until every cell is one tuple, or until there are `most` cells."""
    root = _Node(np.arange(len(counts), dtype=np.int64), [])
    waiting = [(-np.inf, 0, root)] if len(counts) > 1 else []
    leaves, number = 1, 0
    while waiting and leaves < most:
        _, _, node = heapq.heappop(waiting)
        parts = _split(space, node.members)
        leaves += len(parts) - 1
        for part in parts:
            child = _Node(part, [])
            node.children.append(child)
            if len(part) > 1:
                number += 1
                # What would cost most if it stayed together comes first.
                heapq.heappush(waiting, (-_spreads(space, part).max() * float(counts[part].sum()), number, child))
    return _numbered(space, counts, root)


def _spreads(space: TupleSpace, members: IntArray) -> FloatArray:
    """How far apart the members are in each attribute, at most."""
    found = np.zeros(space.attributes)
    for a in range(space.attributes):
        place, aside = space.place[members, a], space.aside[members, a]
        found[a] = np.ptp(place) + np.ptp(aside)
        first, last = space.first[a], space.first[a + 1]
        if last > first:
            below = np.logical_or.accumulate(np.ptp(space.label[members, first:last], axis=0) > 0)
            found[a] += 2.0 * (space.weight[members, first:last] * below).sum(axis=1).max()
    return found


def _split(space: TupleSpace, members: IntArray) -> list[IntArray]:
    """The parts of a node of at least two tuples: never fewer than two, never empty."""
    a = int(np.argmax(_spreads(space, members)))
    aside, place = space.aside[members, a], space.place[members, a]
    if np.ptp(aside) > 0:
        return [members[aside == 0], members[aside > 0]]
    if np.ptp(place) > 0:
        left = place <= (place.min() + place.max()) / 2.0
        return [members[left], members[~left]]
    for level in range(space.first[a], space.first[a + 1]):
        label = space.label[members, level]
        if np.ptp(label) > 0:
            return [members[label == one] for one in np.unique(label)]
    # Tuples at distance 0 from each other (values that no row of the whole table tells apart): any order will do.
    return [members[:1], members[1:]]


def _numbered(space: TupleSpace, counts: IntArray, root: _Node) -> Clusters:
    start: list[int] = []
    stop: list[int] = []
    depth: list[int] = []
    cells: list[IntArray] = []
    stack: list[tuple[_Node, int, int]] = [(root, 0, -1)]
    while stack:
        node, level, done = stack.pop()
        if done >= 0:
            stop[done] = len(cells)
            continue
        start.append(len(cells))
        stop.append(0)
        depth.append(level)
        stack.append((node, level, len(start) - 1))
        if not node.children:
            cells.append(node.members)
        stack.extend((child, level + 1, -1) for child in reversed(node.children))
    centres = np.array([_centre(space, counts, members) for members in cells], dtype=np.int64)
    cell_of = np.zeros(len(counts), dtype=np.int64)
    radius = np.zeros(len(cells))
    for cell, members in enumerate(cells):
        cell_of[members] = cell
        if len(members) > 1:
            radius[cell] = float(space.between(members, int(centres[cell])).max())
    levels = np.zeros((max(depth) + 1, len(cells)), dtype=np.int64)
    for number, level in enumerate(depth):
        levels[level:, start[number] : stop[number]] = number
    return Clusters(cell_of, centres, radius, np.array(start), np.array(stop), levels)


def _centre(space: TupleSpace, counts: IntArray, members: IntArray) -> int:
    """Of the most common tuples of a cell, the one with the smallest radius."""
    if len(members) == 1:
        return int(members[0])
    candidates = members[np.argsort(-counts[members], kind="stable")[:8]]
    reach = [float(space.between(members, int(one)).max()) for one in candidates]
    return int(candidates[int(np.argmin(reach))])
