"""Pseudocodes 1 and 2 of wang2018 to the letter, and the merging of its contrast algorithm: what `as_printed` runs.

The defaults (`generate`, `merge`) deal left-over rows evenly, repeat merging until every class holds, and let a class
join only classes that no other has joined in the same round.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.distance import QuasiMetric
from polyveil.methods._kernels.judge import JudgeSpec, violation, violation_classes
from polyveil.methods._kernels.row_index import RowForest, nearest, take
from polyveil.methods._strata.class_index import between_classes
from polyveil.methods._strata.generate import next_seed
from polyveil.methods._strata.merge import Members, count_class, gather, join, write_labels


def generate_as_printed(forest: RowForest, sizes: IntArray, seeds: IntArray) -> IntArray:
    """Pseudocode 1: the class of each row, -1 for rows that no class takes. Uses the forest up."""
    labels = np.full(len(forest.item_of_row), -1, dtype=np.int64)
    _generate(forest, sizes.copy(), seeds, int(np.argmin(sizes)), labels)
    return labels


@njit
def _generate(forest: RowForest, left: IntArray, seeds: IntArray, first: int, labels: IntArray) -> None:
    number, pointer = 0, np.zeros(len(left), dtype=np.int64)
    while left[first] > 0:  # step 3
        item = next_seed(forest, seeds, first, pointer)  # step 5
        point = forest.codes[item]
        labels[take(forest, item)] = number
        left[first] -= 1
        for i in range(len(left)):  # steps 8 to 17
            if i == first:
                continue
            labels[take(forest, nearest(forest, i, point))] = number
            left[i] -= 1
            if left[i] > left[first]:  # step 12: one more record
                labels[take(forest, nearest(forest, i, point))] = number
                left[i] -= 1
        number += 1


def ensure_closeness_as_printed(
    labels: IntArray, codes: Codes, sensitive: Codes, judge: JudgeSpec, metric: QuasiMetric, *, again: bool
) -> IntArray:
    """Pseudocode 2: each class that fails is merged once with the class of the nearest centroid.

    With `again`, as in the contrast algorithm, the class that fails most is merged until none fails.
    """
    broken = violation_classes(judge, labels, sensitive)
    members, low, high = gather(labels, codes, len(broken))
    hist = np.zeros(judge.width, dtype=np.int64)
    if again:
        while broken.max(initial=0.0) > 0.0:
            worst = int(broken.argmax())
            other = _nearest_class(members, low, high, metric, worst)
            if other < 0:
                break
            join(members, low, high, worst, other)
            broken[other], broken[worst] = 0.0, _violation(members, sensitive, judge, hist, worst)
    else:
        _once(members, low, high, sensitive, judge, metric)
    merged = np.full(len(labels), -1, dtype=np.int64)
    write_labels(members, np.flatnonzero(members.size > 0), merged)
    return merged


@njit
def _once(members: Members, low: Codes, high: Codes, sensitive: Codes, judge: JudgeSpec, metric: QuasiMetric) -> None:
    hist = np.zeros(judge.width, dtype=np.int64)
    for c in range(len(members.size)):
        if members.size[c] == 0 or _violation(members, sensitive, judge, hist, c) == 0.0:
            continue
        other = _nearest_class(members, low, high, metric, c)
        if other >= 0:
            join(members, low, high, c, other)


@njit
def _violation(members: Members, sensitive: Codes, judge: JudgeSpec, hist: IntArray, c: int) -> float:
    count_class(members, c, sensitive, hist, 1)
    broken = violation(judge, hist, members.size[c])
    count_class(members, c, sensitive, hist, -1)
    return broken


@njit
def _nearest_class(members: Members, low: Codes, high: Codes, metric: QuasiMetric, c: int) -> int:
    best, least = -1, np.inf
    for other in range(len(members.size)):
        if other != c and members.size[other] > 0:
            found = between_classes(metric, low, high, c, other)
            if found < least:
                best, least = other, found
    return best
