"""The nearest tuples of every tuple, by the cost of a box around the two.

A tree whose nodes hold a range of codes per quasi-identifier finds them without looking at all pairs: the nearest code
of a range is its nearer end, because codes of a hierarchy run depth-first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.bounds.costs import Points
from polyveil.methods.kernels import njit

LEAF = 8
"""Tuples in a leaf of the tree."""
DEPTH = 128
"""Nodes that wait at most: two per level."""
CHUNK = 512
"""Tuples between two looks at the clock."""

Stop = Callable[[], bool]


class Nearest(NamedTuple):
    """Per tuple its nearest others, by rising cost; -1 and an infinite cost if there are no more."""

    tuples: Codes
    costs: FloatArray


@njit
def grow(shape: IntArray, cost: FloatArray, codes: Codes, order: Codes, nodes: Codes, low: Codes, high: Codes) -> int:
    """Halve the tuples along the quasi-identifier that costs the most, until few are left; how many nodes there are.

    Node i holds `order[nodes[i, 0]:nodes[i, 1]]`, within `low[i]` to `high[i]`; its halves are nodes[i, 2] and the
    next, or it is a leaf (-1).
    """
    nodes[0, 0], nodes[0, 1] = 0, len(order)
    count, node = 1, 0
    while node < count:
        first, last = nodes[node, 0], nodes[node, 1]
        nodes[node, 2] = -1
        best, axis = 0.0, -1
        for a in range(codes.shape[1]):
            least, most = codes[order[first], a], codes[order[first], a]
            for i in range(first, last):
                least, most = min(least, codes[order[i], a]), max(most, codes[order[i], a])
            low[node, a], high[node, a] = least, most
            spread = cost[shape[a, 2] + least * shape[a, 1] + most]
            if spread > best:
                best, axis = spread, a
        if last - first > LEAF and axis >= 0:
            part = order[first:last].copy()
            place = np.argsort(codes[:, axis][part])
            for i in range(first, last):
                order[i] = part[place[i - first]]
            middle = (first + last) // 2
            nodes[node, 2] = count
            nodes[count, 0], nodes[count, 1] = first, middle
            nodes[count + 1, 0], nodes[count + 1, 1] = middle, last
            count += 2
        node += 1
    return count


@njit
def find_nearest(
    shape: IntArray,
    cost: FloatArray,
    codes: Codes,
    order: Codes,
    nodes: Codes,
    low: Codes,
    high: Codes,
    credit: FloatArray,
    most_credit: FloatArray,
    begin: int,
    tuples: Codes,
    costs: FloatArray,
) -> None:
    """Fill `tuples` and `costs`, line by line from tuple `begin` on, with the nearest others by cost less credit."""
    wanted, width = tuples.shape[1], codes.shape[1]
    stack = np.empty(DEPTH, dtype=np.int64)
    least = np.empty(DEPTH)
    row = np.empty(width, dtype=np.int64)
    for line in range(len(tuples)):
        i = begin + line
        for a in range(width):
            row[a] = shape[a, 2] + codes[i, a] * shape[a, 1]
        for place in range(wanted):
            tuples[line, place], costs[line, place] = -1, np.inf
        stack[0], least[0], height = 0, -np.inf, 1
        while height > 0:
            height -= 1
            node, worst = stack[height], costs[line, wanted - 1]
            if least[height] >= worst:
                continue
            if nodes[node, 2] < 0:
                for member in range(nodes[node, 0], nodes[node, 1]):
                    j = order[member]
                    total = -credit[j]
                    for a in range(width):
                        total += cost[row[a] + codes[j, a]]
                        if total >= worst:
                            break
                    if total < worst and j != i:
                        place = wanted - 1
                        while place > 0 and costs[line, place - 1] > total:
                            costs[line, place], tuples[line, place] = costs[line, place - 1], tuples[line, place - 1]
                            place -= 1
                        costs[line, place], tuples[line, place] = total, j
                        worst = costs[line, wanted - 1]
                continue
            for half in range(nodes[node, 2], nodes[node, 2] + 2):
                total = -most_credit[half]
                for a in range(width):
                    if codes[i, a] < low[half, a]:
                        total += cost[row[a] + low[half, a]]
                    elif codes[i, a] > high[half, a]:
                        total += cost[row[a] + high[half, a]]
                stack[height], least[height] = half, total
                height += 1
            if least[height - 1] > least[height - 2]:
                stack[height - 1], stack[height - 2] = stack[height - 2], stack[height - 1]
                least[height - 1], least[height - 2] = least[height - 2], least[height - 1]


class Tree(NamedTuple):
    """What `grow` made of the points."""

    order: Codes
    nodes: Codes
    low: Codes
    high: Codes


def grow_tree(points: Points) -> Tree:
    """The tree over all points."""
    count, width = points.codes.shape
    order = np.arange(count, dtype=np.int32)
    most = 2 * (2 * count // LEAF + 2)
    nodes = np.zeros((most, 3), dtype=np.int32)
    low, high = (np.zeros((most, width), dtype=np.int32) for _ in range(2))
    used = grow(*points.costs, points.codes, order, nodes, low, high)
    return Tree(order, nodes[:used].copy(), low[:used].copy(), high[:used].copy())


def nearest_tuples(
    points: Points, tree: Tree, wanted: int, credit: FloatArray | None = None, stop: Stop = lambda: False
) -> Nearest:
    """The `wanted` nearest other tuples of every tuple, by cost less the other's credit.

    Tuples not reached before `stop` have none listed, and others at no cost.
    """
    count = len(points.codes)
    wanted = max(min(wanted, count - 1), 1)
    credit = np.zeros(count) if credit is None else credit
    tuples, costs = (
        np.full((count, wanted), -1, dtype=np.int32),
        np.full((count, wanted), -float(credit.max(initial=0))),
    )
    for first, some in nearest_in_chunks(points, tree, wanted, credit, stop):
        tuples[first : first + CHUNK], costs[first : first + CHUNK] = some
    return Nearest(tuples, costs)


def nearest_in_chunks(
    points: Points, tree: Tree, wanted: int, credit: FloatArray, stop: Stop
) -> Iterator[tuple[int, Nearest]]:
    """The same for some tuples after the other, with the number of their first, until `stop`."""
    count, highest = len(points.codes), _most(credit, tree)
    for first in range(0, count, CHUNK):
        if stop():
            return
        lines = min(CHUNK, count - first)
        tuples, costs = np.empty((lines, wanted), dtype=np.int32), np.empty((lines, wanted))
        find_nearest(*points.costs, points.codes, *tree, credit, highest, first, tuples, costs)
        yield first, Nearest(tuples, costs)


def _most(credit: FloatArray, tree: Tree) -> FloatArray:
    """The greatest credit in every node."""
    found = np.empty(len(tree.nodes))
    leaf = tree.nodes[:, 2] < 0
    for i in np.flatnonzero(leaf):
        found[i] = credit[tree.order[tree.nodes[i, 0] : tree.nodes[i, 1]]].max()
    for i in np.flatnonzero(~leaf)[::-1]:  # halves come behind their node
        found[i] = max(found[tree.nodes[i, 2]], found[tree.nodes[i, 2] + 1])
    return found
