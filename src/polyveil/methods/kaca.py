"""KACA: k-anonymity by clustering in attribute hierarchies - merge the class that fails with the one that costs least.

Li, Wong, Fu & Pei 2006, as used in han2013 (Algorithm 1, steps 7 to 13). Equal quasi-identifier tuples are classes at
first; while some class has fewer than k rows, a random one of them is merged with the class nearest by eq. (7).

- Guarantee: every model asked for, in every class (a class that fails any of them is merged on, not only a small one;
  merging never breaks a model that holds).
- Cost: O(E log E) nearest-class searches for E distinct tuples, each far less than a scan of all classes.
- Departures: the nearest class is found through a tree instead of all pairs; ordered columns without a hierarchy are
  measured by the width of their range; a value at the top of an uneven hierarchy counts as being at its lowest level.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import FloatArray, IntArray, Places
from polyveil.errors import Unsatisfiable
from polyveil.methods._kaca.tree import (
    Boxes,
    BoxTree,
    distortion_spec,
    merged_cost,
    nearest,
    nearest_by_scan,
    plant,
    refresh,
)
from polyveil.methods._kernels.boxes import QuasiSpec
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.distance import quasi_metric
from polyveil.methods._kernels.judge import (
    JudgeSpec,
    compile_constraints,
    holds,
    sensitive_matrix,
    violation_classes,
)
from polyveil.methods._kernels.reachable import reachable_basis
from polyveil.methods._kernels.row_index import tuple_order
from polyveil.methods.as_printed import PaperOptions
from polyveil.methods.base import Method, Task
from polyveil.models import KAnonymity
from polyveil.partition import Partition, partition_of
from polyveil.progress import SILENT, Progress
from polyveil.table.coded import CodedTable

MERGES_PER_CALL = 5_000


class Chains(NamedTuple):
    """The tuples of each class (first[c], then after[tuple] until -1) and the rows of each tuple."""

    first: IntArray
    last: IntArray
    after: IntArray
    row_begin: IntArray
    rows: IntArray


class Failing(NamedTuple):
    """Classes to merge, in no order; state is [how many, draws used, classes left, 1 when stuck]."""

    classes: IntArray
    listed: IntArray
    draws: FloatArray
    state: IntArray


class Kaca(Method[PaperOptions]):
    """Bottom-up merging by weighted hierarchical distance."""

    name = "kaca"
    title = "KACA: merges the most similar groups until every requirement is met"
    paper = "Li et al. 2006; han2013"
    guarantee = "Every requirement is met in every group."
    options_type = PaperOptions
    cost = "Time grows with the distinct combinations of quasi-identifiers; seconds for hundreds of thousands of rows."

    def partition(self, task: Task) -> Partition:
        if self.options.as_printed:
            return self._as_printed(task)
        basis = reachable_basis(task)
        labels = np.full(task.table.rows, -1, dtype=np.int64)
        labels[basis.rows] = merge_classes(basis.table, basis.judge, task.rng, task.progress)
        return partition_of(labels)

    def _as_printed(self, task: Task) -> Partition:
        labels = k_classes(task.table, task.k, task.rng, task.progress)
        judge = compile_constraints(task.models, task.attributes, task.table)
        failing = int(np.count_nonzero(violation_classes(judge, labels, sensitive_matrix(task.table))))
        if failing:
            raise Unsatisfiable(
                f"kaca as printed keeps k only: {failing} of {int(labels.max()) + 1} groups do not meet the other "
                "requirements",
                "leave out `as_printed`, or ask for k only",
            )
        return partition_of(labels)


def k_classes(table: CodedTable, k: int, rng: np.random.Generator, progress: Progress = SILENT) -> IntArray:
    """The class of each row, k rows or more in every class, by the quasi-identifiers alone."""
    if k > table.rows:
        raise Unsatisfiable(f"groups of at least {k} rows, but the table has {table.rows}", f"k of {table.rows}")
    return merge_classes(table, compile_constraints((KAnonymity(k),), {}, _without_sensitive(table)), rng, progress)


def _without_sensitive(table: CodedTable) -> CodedTable:
    return CodedTable(table.rows, table.quasi, ())


def merge_classes(
    table: CodedTable, judge: JudgeSpec, rng: np.random.Generator, progress: Progress = SILENT, *, scan: bool = False
) -> IntArray:
    """Merge until every class holds, and return the class of each row."""
    tuples, spec = table.quasi_tuples, distortion_spec(table)
    codes = np.ascontiguousarray(tuples.codes, dtype=np.int32)
    boxes = Boxes(codes.copy(), codes.copy(), tuples.counts.copy(), np.zeros(len(codes)))
    order = np.argsort(tuple_order(tuples.codes, quasi_metric(table)), kind="stable") if codes.size else np.arange(1)
    chains = _chains(tuples.of_row, len(codes))
    places = sensitive_matrix(table) if judge.width else np.zeros((table.rows, 0), dtype=np.int32)
    failing = _failing(boxes, chains, judge, places, rng)
    tree = plant(boxes, order.astype(np.int64))
    while failing.state[0] > 0 and not failing.state[3]:
        merge_failing(spec, boxes, tree, chains, failing, judge, places, scan, MERGES_PER_CALL)
        alive = tree.classes[boxes.size[tree.classes] > 0]
        if len(alive) * 2 < len(tree.classes):
            tree = plant(boxes, alive)  # half of the slots are empty: pack them
        progress.advance(1 - failing.state[0] / len(codes), f"{len(alive)} classes")
    return labels_of_tuples(boxes, chains)[tuples.of_row]


def _chains(tuple_of_row: IntArray, tuples: int) -> Chains:
    rows = np.argsort(tuple_of_row, kind="stable").astype(np.int64)
    begin = np.searchsorted(tuple_of_row[rows], np.arange(tuples + 1)).astype(np.int64)
    every = np.arange(tuples, dtype=np.int64)
    return Chains(every.copy(), every.copy(), np.full(tuples, -1, dtype=np.int64), begin, rows)


def _failing(boxes: Boxes, chains: Chains, judge: JudgeSpec, places: Places, rng: np.random.Generator) -> Failing:
    held = holding_classes(boxes, chains, judge, places)
    classes = np.empty(len(held), dtype=np.int64)
    found = np.flatnonzero(~held)
    classes[: len(found)] = found
    state = np.array([len(found), 0, len(held), 0], dtype=np.int64)
    # Every step takes a class off the list, and at most one merge each puts one back.
    return Failing(classes, (~held).astype(np.int64), rng.random(2 * len(held) + 1), state)


@njit
def holding_classes(boxes: Boxes, chains: Chains, judge: JudgeSpec, places: Places) -> np.ndarray:
    held = np.empty(len(boxes.size), dtype=np.bool_)
    hist = np.zeros(judge.width, dtype=np.int64)
    for c in range(len(held)):
        held[c] = class_holds(boxes, chains, judge, places, hist, c)
    return held


@njit
def class_holds(boxes: Boxes, chains: Chains, judge: JudgeSpec, places: Places, hist: IntArray, c: int) -> bool:
    """Judge one class; its histogram is counted only where it has rows enough."""
    if boxes.size[c] < judge.min_size:
        return False
    count_class(chains, places, hist, c, 1)
    held = holds(judge, hist, boxes.size[c])
    count_class(chains, places, hist, c, -1)
    return held


@njit
def count_class(chains: Chains, places: Places, hist: IntArray, c: int, step: int) -> None:
    """Add the class's sensitive values to the histogram, or take them out again."""
    if places.shape[1] == 0:
        return
    t = chains.first[c]
    while t >= 0:
        for i in range(chains.row_begin[t], chains.row_begin[t + 1]):
            for j in range(places.shape[1]):
                hist[places[chains.rows[i], j]] += step
        t = chains.after[t]


@njit
def merge_failing(
    spec: QuasiSpec,
    boxes: Boxes,
    tree: BoxTree,
    chains: Chains,
    failing: Failing,
    judge: JudgeSpec,
    places: Places,
    scan: bool,
    most: int,
) -> None:
    """Steps 8 to 13: merge a random failing class with the nearest one, up to `most` times."""
    hist = np.zeros(judge.width, dtype=np.int64)
    state = failing.state
    merges = 0
    while merges < most and state[0] > 0:
        drawn = min(np.int64(failing.draws[state[1]] * state[0]), state[0] - 1)
        state[1] += 1
        c = failing.classes[drawn]
        state[0] -= 1
        failing.classes[drawn] = failing.classes[state[0]]
        failing.listed[c] = 0
        if boxes.size[c] == 0 or class_holds(boxes, chains, judge, places, hist, c):
            continue
        other = nearest_by_scan(spec, boxes, c) if scan else nearest(spec, boxes, tree, c)
        if other < 0:
            state[3] = 1
            return
        join(spec, boxes, tree, chains, c, other)
        merges += 1
        state[2] -= 1
        if failing.listed[other] == 0 and not class_holds(boxes, chains, judge, places, hist, other):
            failing.classes[state[0]] = other
            failing.listed[other] = 1
            state[0] += 1


@njit
def join(spec: QuasiSpec, boxes: Boxes, tree: BoxTree, chains: Chains, c: int, other: int) -> None:
    """Class c becomes part of the other class."""
    boxes.cost[other] = merged_cost(spec, boxes, c, boxes.low[other], boxes.high[other])
    for a in range(boxes.low.shape[1]):
        boxes.low[other, a] = min(boxes.low[other, a], boxes.low[c, a])
        boxes.high[other, a] = max(boxes.high[other, a], boxes.high[c, a])
    boxes.size[other] += boxes.size[c]
    boxes.size[c] = 0
    chains.after[chains.last[other]] = chains.first[c]
    chains.last[other] = chains.last[c]
    refresh(tree, boxes, c)
    refresh(tree, boxes, other)


@njit
def labels_of_tuples(boxes: Boxes, chains: Chains) -> IntArray:
    """Number the classes that are left, tuple by tuple."""
    labels = np.full(len(boxes.size), -1, dtype=np.int64)
    number = 0
    for c in range(len(boxes.size)):
        if boxes.size[c] == 0:
            continue
        t = chains.first[c]
        while t >= 0:
            labels[t] = number
            t = chains.after[t]
        number += 1
    return labels
