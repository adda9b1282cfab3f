"""A tree over classes that answers "the nearest other class", by the centroids of Pseudocode 2 of wang2018.

A class is a box of codes. Its centroid is, per attribute, the middle of its range of ranks, or the lowest common
ancestor of its values; the distance between two centroids follows eq. (2):

- ordered: distance between the middles; a range that holds "missing" is 0 from another such range and 1 from the rest;
- hierarchical, sets: the height of the lowest common ancestor of the two nodes (of the node itself where they are
  equal), which is the height that the merged class will have.

The tree is a heap over blocks of classes in the k-d order, like the trees of `index`; removed classes are skipped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import BoolArray, Codes, FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.distance import QuasiMetric, squared
from polyveil.methods._kernels.row_index import keep_nearest

BLOCK = 8


class ClassTree(NamedTuple):
    """Items are the classes `classes[i]`; node v has children 2v and 2v + 1, leaf `leaves` + b holds block b."""

    metric: QuasiMetric
    low: Codes  # classes x attributes, shared with the caller
    high: Codes
    classes: IntArray
    item_of_class: IntArray
    leaves: int
    node_low: Codes  # ordered attributes: of twice the middles; others: of the codes
    node_high: Codes
    node_null: BoolArray  # whether a class below holds "missing" of an ordered attribute
    node_height: FloatArray  # the least squared height of a class below, for hierarchies
    below: IntArray


def tree_of_classes(metric: QuasiMetric, low: Codes, high: Codes, classes: IntArray) -> ClassTree:
    """A tree over the given classes (numbers into low and high), which must come in k-d order."""
    blocks = max(-(-len(classes) // BLOCK), 1)
    leaves = 1 << (blocks - 1).bit_length()
    item_of_class = np.full(len(low), -1, dtype=np.int64)
    item_of_class[classes] = np.arange(len(classes))
    tree = ClassTree(
        metric=metric,
        low=low,
        high=high,
        classes=classes.astype(np.int64),
        item_of_class=item_of_class,
        leaves=leaves,
        node_low=np.full((2 * leaves, low.shape[1]), np.iinfo(np.int32).max, dtype=np.int32),
        node_high=np.full((2 * leaves, low.shape[1]), -1, dtype=np.int32),
        node_null=np.zeros((2 * leaves, low.shape[1]), dtype=np.bool_),
        node_height=np.full((2 * leaves, low.shape[1]), np.inf),
        below=np.zeros(2 * leaves, dtype=np.int64),
    )
    _fill(tree)
    return tree


@njit
def _fill(tree: ClassTree) -> None:
    attributes = tree.low.shape[1]
    for item in range(len(tree.classes)):
        number, node = tree.classes[item], tree.leaves + item // BLOCK
        tree.below[node] += 1
        for a in range(attributes):
            low, high = tree.low[number, a], tree.high[number, a]
            if tree.metric.is_ordered[a]:
                if high == tree.metric.null_code[a]:
                    tree.node_null[node, a] = True
                    continue
                low, high = low + high, low + high
            else:
                tree.node_height[node, a] = min(tree.node_height[node, a], squared(tree.metric, a, low, high))
            tree.node_low[node, a] = min(tree.node_low[node, a], low)
            tree.node_high[node, a] = max(tree.node_high[node, a], high)
    for node in range(tree.leaves - 1, 0, -1):
        one, two = 2 * node, 2 * node + 1
        tree.below[node] = tree.below[one] + tree.below[two]
        for a in range(attributes):
            tree.node_low[node, a] = min(tree.node_low[one, a], tree.node_low[two, a])
            tree.node_high[node, a] = max(tree.node_high[one, a], tree.node_high[two, a])
            tree.node_null[node, a] = tree.node_null[one, a] or tree.node_null[two, a]
            tree.node_height[node, a] = min(tree.node_height[one, a], tree.node_height[two, a])


@njit
def remove(tree: ClassTree, number: int) -> None:
    """Forget a class."""
    item = tree.item_of_class[number]
    tree.item_of_class[number] = -1
    node = tree.leaves + item // BLOCK
    while node > 0:
        tree.below[node] -= 1
        node >>= 1


@njit
def between_classes(metric: QuasiMetric, low: Codes, high: Codes, one: int, two: int) -> float:
    """Squared distance between the centroids of two classes."""
    total = 0.0
    for a in range(low.shape[1]):
        if not metric.is_ordered[a]:
            total += squared(metric, a, min(low[one, a], low[two, a]), max(high[one, a], high[two, a]))
        elif (high[one, a] == metric.null_code[a]) != (high[two, a] == metric.null_code[a]):
            total += metric.weight[a]
        elif high[one, a] != metric.null_code[a]:
            apart = (low[one, a] + high[one, a] - low[two, a] - high[two, a]) * metric.step[a] / 2.0
            total += apart * apart
    return total


@njit
def _least(tree: ClassTree, number: int, node: int) -> float:
    """No class below the node has its centroid nearer than this to that of the class (squared)."""
    metric, total = tree.metric, 0.0
    for a in range(tree.low.shape[1]):
        low, high = tree.low[number, a], tree.high[number, a]
        node_low, node_high = tree.node_low[node, a], tree.node_high[node, a]
        if not metric.is_ordered[a]:
            height = max(squared(metric, a, low, high), tree.node_height[node, a])
            if high < node_low:
                height = max(height, squared(metric, a, low, node_low))
            elif low > node_high:
                height = max(height, squared(metric, a, node_high, high))
            total += height
        elif high == metric.null_code[a]:
            total += 0.0 if tree.node_null[node, a] else metric.weight[a]
        else:
            # Where all classes below hold "missing", node_low is greater than any middle: the weight is the bound.
            apart = max(node_low - low - high, low + high - node_high, 0) * metric.step[a] / 2.0
            total += min(apart * apart, metric.weight[a])
    return total


@njit
def nearest_classes(tree: ClassTree, number: int, found_classes: IntArray, distances: FloatArray) -> int:
    """The classes of the tree nearest to the given one, nearest first, as many as fit; returns how many."""
    found = 0
    stack, bound = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.float64)
    stack[0], bound[0], waiting = 1, 0.0, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        full = found == len(found_classes)
        if tree.below[node] == 0 or (full and bound[waiting] >= distances[found - 1]):
            continue
        if node >= tree.leaves:
            found = _search_block(tree, number, node - tree.leaves, found_classes, distances, found)
            continue
        one = _least(tree, number, 2 * node) if tree.below[2 * node] > 0 else np.inf
        two = _least(tree, number, 2 * node + 1) if tree.below[2 * node + 1] > 0 else np.inf
        near, far = (2 * node, 2 * node + 1) if one <= two else (2 * node + 1, 2 * node)
        stack[waiting], bound[waiting] = far, max(one, two)
        stack[waiting + 1], bound[waiting + 1] = near, min(one, two)
        waiting += 2
    return found


@njit
def _search_block(
    tree: ClassTree, number: int, block: int, found_classes: IntArray, distances: FloatArray, found: int
) -> int:
    for item in range(block * BLOCK, min((block + 1) * BLOCK, len(tree.classes))):
        other = tree.classes[item]
        if tree.item_of_class[other] < 0:
            continue
        distance = between_classes(tree.metric, tree.low, tree.high, number, other)
        found = keep_nearest(found_classes, distances, found, other, distance)
    return found
