"""A tree over classes that answers "which class costs least to merge with", by eq. (7) of han2013.

A class is a box of codes with a number of rows. Generalizing a cell costs the weighted hierarchical distance from the
value to what is released (eq. (2)); for ordered values, the width of the range. That cost only grows with the box, so
merging classes 1 and 2 of n1 and n2 rows into the box 12 costs

    n1 * (cost(12) - cost(1)) + n2 * (cost(12) - cost(2))                                                 (eq. (7))

The tree is a heap over blocks of classes in a k-d order. The box of class 1 and any class below a node covers the codes
between the node's greatest lower end and least upper end, which bounds the merged cost from below; subtrees that
cannot beat the best class so far are skipped. `nearest_by_scan` looks at all classes: the plain twin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import FloatArray, IntArray, Places
from polyveil.measure.distortion import distance_to_nodes
from polyveil.methods._kernels.boxes import QuasiSpec, quasi_spec, range_loss
from polyveil.methods._kernels.compiled import njit
from polyveil.table.coded import CodedTable
from polyveil.table.domain import TreeDomain

BLOCK = 8
_SLACK = 1e-9


class Boxes(NamedTuple):
    """Class c spans low[c]..high[c] and has size[c] rows (0: merged away); `cost` is the cost of its cells, per row."""

    low: Places
    high: Places
    size: IntArray
    cost: FloatArray


class BoxTree(NamedTuple):
    """Slot i holds class `classes[i]`; node v has children 2v and 2v + 1, leaf `leaves` + b holds block b."""

    classes: IntArray
    slot: IntArray  # of each class
    leaves: int
    low: Places  # greatest lower end below each node
    high: Places  # least upper end
    size: IntArray  # least size; 0 if nothing is left
    cost: FloatArray  # greatest cost
    stack: IntArray


def distortion_spec(table: CodedTable) -> QuasiSpec:
    """The quasi-identifiers with weighted hierarchical distances for losses (sets count as a flat hierarchy)."""
    trees = [column.domain.hierarchy for column in table.quasi if isinstance(column.domain, TreeDomain)]
    distances = np.concatenate([distance_to_nodes(tree) for tree in trees]) if trees else np.zeros(0)
    return quasi_spec(table)._replace(node_loss=distances)


def plant(boxes: Boxes, classes: IntArray) -> BoxTree:
    """A tree over the given classes, which come in an order that keeps near ones together."""
    blocks = max(-(-len(classes) // BLOCK), 1)
    leaves = 1 << (blocks - 1).bit_length()
    slot = np.full(len(boxes.size), -1, dtype=np.int64)
    slot[classes] = np.arange(len(classes))
    attributes = boxes.low.shape[1]
    tree = BoxTree(
        classes=classes.astype(np.int64),
        slot=slot,
        leaves=leaves,
        low=np.zeros((2 * leaves, attributes), dtype=np.int32),
        high=np.zeros((2 * leaves, attributes), dtype=np.int32),
        size=np.zeros(2 * leaves, dtype=np.int64),
        cost=np.zeros(2 * leaves, dtype=np.float64),
        stack=np.empty(2 * leaves.bit_length() + 4, dtype=np.int64),
    )
    for node in range(2 * leaves - 1, 0, -1):
        summarize(tree, boxes, node)
    return tree


@njit
def summarize(tree: BoxTree, boxes: Boxes, node: int) -> None:
    """Bounds of a node from its classes or its children."""
    tree.size[node], tree.cost[node] = 0, 0.0
    if node >= tree.leaves:
        first = (node - tree.leaves) * BLOCK
        for slot in range(first, min(first + BLOCK, len(tree.classes))):
            c = tree.classes[slot]
            if boxes.size[c] > 0:
                include(tree, node, boxes.low[c], boxes.high[c], boxes.size[c], boxes.cost[c])
        return
    for child in (2 * node, 2 * node + 1):
        if tree.size[child] > 0:
            include(tree, node, tree.low[child], tree.high[child], tree.size[child], tree.cost[child])


@njit
def include(tree: BoxTree, node: int, low: Places, high: Places, size: int, cost: float) -> None:
    fresh = tree.size[node] == 0
    tree.size[node] = size if fresh else min(tree.size[node], size)
    tree.cost[node] = cost if fresh else max(tree.cost[node], cost)
    for a in range(len(low)):
        tree.low[node, a] = low[a] if fresh else max(tree.low[node, a], low[a])
        tree.high[node, a] = high[a] if fresh else min(tree.high[node, a], high[a])


@njit
def refresh(tree: BoxTree, boxes: Boxes, c: int) -> None:
    """Bring the bounds above a class up to date after it has changed."""
    node = tree.leaves + tree.slot[c] // BLOCK
    while node > 0:
        summarize(tree, boxes, node)
        node //= 2


@njit
def merged_cost(spec: QuasiSpec, boxes: Boxes, c: int, low: Places, high: Places) -> float:
    """Cost per row of the box that covers class c and the codes low..high."""
    cost = 0.0
    for a in range(len(low)):
        first, last = min(boxes.low[c, a], low[a]), max(boxes.high[c, a], high[a])
        cost += spec.weight[a] * range_loss(spec, a, first, last)
    return cost


@njit
def distance(spec: QuasiSpec, boxes: Boxes, c: int, other: int) -> float:
    """Eq. (7): what merging the two classes costs."""
    cost = merged_cost(spec, boxes, c, boxes.low[other], boxes.high[other])
    return boxes.size[c] * (cost - boxes.cost[c]) + boxes.size[other] * (cost - boxes.cost[other])


@njit
def bound(spec: QuasiSpec, boxes: Boxes, tree: BoxTree, c: int, node: int) -> float:
    """No class below the node is nearer than this."""
    if tree.size[node] == 0:
        return np.inf
    cost = merged_cost(spec, boxes, c, tree.low[node], tree.high[node])
    own = boxes.size[c] * (cost - boxes.cost[c])
    return own + tree.size[node] * max(cost - tree.cost[node], 0.0) - _SLACK


@njit
def nearest(spec: QuasiSpec, boxes: Boxes, tree: BoxTree, c: int) -> int:
    """The class that costs least to merge with c, the lowest number of equals; -1 where c is alone."""
    best, least = -1, np.inf
    tree.stack[0], depth = 1, 1
    while depth > 0:
        depth -= 1
        node = tree.stack[depth]
        if bound(spec, boxes, tree, c, node) > least:
            continue
        if node < tree.leaves:
            left, right = bound(spec, boxes, tree, c, 2 * node), bound(spec, boxes, tree, c, 2 * node + 1)
            nearer, farther = (2 * node, 2 * node + 1) if left <= right else (2 * node + 1, 2 * node)
            tree.stack[depth], tree.stack[depth + 1] = farther, nearer
            depth += 2
            continue
        first = (node - tree.leaves) * BLOCK
        for slot in range(first, min(first + BLOCK, len(tree.classes))):
            other = tree.classes[slot]
            if other == c or boxes.size[other] == 0:
                continue
            found = distance(spec, boxes, c, other)
            if found < least or (found == least and other < best):
                best, least = other, found
    return best


@njit
def nearest_by_scan(spec: QuasiSpec, boxes: Boxes, c: int) -> int:
    """The plain twin of `nearest`."""
    best, least = -1, np.inf
    for other in range(len(boxes.size)):
        if other != c and boxes.size[other] > 0:
            found = distance(spec, boxes, c, other)
            if found < least:
                best, least = other, found
    return best
