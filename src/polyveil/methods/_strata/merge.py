"""Merging: Pseudocode 2 of wang2018, repeated until every class satisfies every model.

The paper merges each failing class once with the class whose centroid is nearest; the merged class can still fail. Here
rounds follow one another until none fails. In a round every failing class joins one partner, and a class that was
merged waits for the next round, so that classes grow evenly and each round at least halves the failing ones that
found a partner.

- `nearest`: the paper's rule;
- `best`: of the few nearest, the one whose union breaks the models least; of those that break nothing, the nearest.

Merging never breaks a model that holds (all models are convex), so it ends at the latest with the whole table, which
`reachable` has found to hold before.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.distance import QuasiMetric
from polyveil.methods._kernels.judge import JudgeSpec, violation, violation_classes
from polyveil.methods._strata.class_index import ClassTree, nearest_classes, remove, tree_of_classes

MergeRule = Literal["best", "nearest"]


class Members(NamedTuple):
    """Classes as chains of rows: `first[c]`, then `after[row]` until -1."""

    first: IntArray
    last: IntArray
    after: IntArray
    size: IntArray


def merge(
    labels: IntArray,
    codes: Codes,
    sensitive: Codes,
    judge: JudgeSpec,
    metric: QuasiMetric,
    place_of_row: IntArray,
    rule: MergeRule = "best",
    partners: int = 16,
) -> tuple[IntArray, int]:
    """Merge until every class holds; returns the class of each row and how many classes failed at first.

    Classes are numbered from 0 without gaps; `place_of_row` is the place of each row's tuple in the k-d order. Where
    one class is left and still fails, it is returned as it is: the caller knows what cannot be reached.
    """
    broken = violation_classes(judge, labels, sensitive)
    failing_at_first = int(np.count_nonzero(broken))
    if failing_at_first == 0:
        return labels, 0
    members, low, high = gather(labels, codes, len(broken))
    place = np.zeros(len(broken), dtype=np.int64)
    place[labels[labels >= 0]] = place_of_row[labels >= 0]
    alive = np.arange(len(broken))
    while len(alive) > 1 and broken[alive].any():
        in_order = alive[np.argsort(place[alive], kind="stable")]
        tree = tree_of_classes(metric, low, high, in_order)
        failing = alive[broken[alive] > 0]
        worst_first = failing[np.argsort(-broken[failing], kind="stable")]
        _round(tree, members, low, high, sensitive, judge, worst_first, broken, 1 if rule == "nearest" else partners)
        alive = alive[members.size[alive] > 0]
    merged = np.full(len(labels), -1, dtype=np.int64)
    write_labels(members, alive, merged)
    return merged, failing_at_first


@njit
def gather(labels: IntArray, codes: Codes, classes: int) -> tuple[Members, Codes, Codes]:
    members = Members(
        np.full(classes, -1, dtype=np.int64),
        np.full(classes, -1, dtype=np.int64),
        np.full(len(labels), -1, dtype=np.int64),
        np.zeros(classes, dtype=np.int64),
    )
    low = np.full((classes, codes.shape[1]), np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full((classes, codes.shape[1]), -1, dtype=np.int32)
    for row in range(len(labels)):
        c = labels[row]
        if c < 0:
            continue
        if members.first[c] < 0:
            members.first[c] = row
        else:
            members.after[members.last[c]] = row
        members.last[c] = row
        members.size[c] += 1
        for a in range(codes.shape[1]):
            low[c, a], high[c, a] = min(low[c, a], codes[row, a]), max(high[c, a], codes[row, a])
    return members, low, high


@njit
def _round(
    tree: ClassTree,
    members: Members,
    low: Codes,
    high: Codes,
    sensitive: Codes,
    judge: JudgeSpec,
    failing: IntArray,
    broken: FloatArray,
    partners: int,
) -> None:
    """Every failing class that is still free joins a partner that is still free."""
    near, distances = np.empty(partners, dtype=np.int64), np.empty(partners, dtype=np.float64)
    counts = np.zeros(judge.width, dtype=np.int64)
    for c in failing:
        if tree.item_of_class[c] < 0:
            continue
        remove(tree, c)
        found = nearest_classes(tree, c, near, distances)
        if found == 0:
            return
        count_class(members, c, sensitive, counts, 1)
        best, least_broken = near[0], np.inf
        for i in range(found):
            other = near[i]
            count_class(members, other, sensitive, counts, 1)
            left = violation(judge, counts, members.size[c] + members.size[other])
            count_class(members, other, sensitive, counts, -1)
            if left < least_broken:
                best, least_broken = other, left
            if left == 0.0:
                break
        count_class(members, c, sensitive, counts, -1)
        remove(tree, best)
        join(members, low, high, c, best)
        broken[c], broken[best] = least_broken, 0.0


@njit
def count_class(members: Members, c: int, sensitive: Codes, counts: IntArray, sign: int) -> None:
    row = members.first[c]
    while row >= 0:
        for s in range(sensitive.shape[1]):
            counts[sensitive[row, s]] += sign
        row = members.after[row]


@njit
def join(members: Members, low: Codes, high: Codes, c: int, other: int) -> None:
    """Class c takes the rows of the other, which is then empty."""
    members.after[members.last[c]] = members.first[other]
    members.last[c] = members.last[other]
    members.size[c] += members.size[other]
    members.size[other] = 0
    for a in range(low.shape[1]):
        low[c, a], high[c, a] = min(low[c, a], low[other, a]), max(high[c, a], high[other, a])


@njit
def write_labels(members: Members, alive: IntArray, labels: IntArray) -> None:
    for number in range(len(alive)):
        row = members.first[alive[number]]
        while row >= 0:
            labels[row] = number
            row = members.after[row]
