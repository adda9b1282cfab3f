"""Mondrian: cut the table in two along one quasi-identifier as long as every part satisfies every model.

LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity (ICDE 2006); for t-closeness as in Li, Li,
Venkatasubramanian: Closeness (TKDE 2010). The plain baseline of this package.

- Guarantee: every model asked for, in every class (a cut is made only where all its parts satisfy all models).
- Cost: O(d n log n) per level of the tree, where d is the number of quasi-identifiers.
- Departures: a category is cut at the children of its common ancestor all at once; sets (`recode: set`) are cut like
  ordered values, by code; missing values of an ordered attribute are cut off first. Among the attributes, the one with
  the widest loss is tried first, then the next, before a part is given up.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from polyveil.arrays import Codes, IntArray
from polyveil.methods._kernels.boxes import ORDERED, TREE, QuasiSpec, code_matrix, common_node, quasi_spec, range_loss
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.judge import JudgeSpec, compile_constraints, holds, sensitive_matrix
from polyveil.methods.base import Method, Options, Task
from polyveil.partition import Partition, partition_of

PARTS_PER_CALL = 2000


class MondrianOptions(Options):
    """Options of `mondrian`."""

    cut: Literal["strict", "relaxed"] = Field(
        default="strict",
        description="strict: rows with equal values stay together; relaxed: rows at the median may go to either side",
    )


class Mondrian(Method[MondrianOptions]):
    """Top-down cuts at medians and hierarchy children."""

    name = "mondrian"
    title = "Mondrian: divides the table at medians and hierarchy branches, as long as the requirements are met"
    paper = "LeFevre et al. 2006; Li et al. 2010"
    guarantee = "Every requirement is met in every group."
    cost = "Time grows as d n log n per level (d quasi-identifiers, n rows); seconds for a million rows."
    options_type = MondrianOptions

    def partition(self, task: Task) -> Partition:
        table = task.table
        spec, judge = quasi_spec(table), compile_constraints(task.models, task.attributes, table)
        codes, sensitive = code_matrix(table), sensitive_matrix(table)
        order = np.arange(table.rows, dtype=np.int64)
        labels = np.full(table.rows, -1, dtype=np.int64)
        begin, end = np.empty(table.rows + 1, dtype=np.int64), np.empty(table.rows + 1, dtype=np.int64)
        begin[0], end[0] = 0, table.rows
        state = np.array([1, 0, 0], dtype=np.int64)  # parts waiting, classes finished, rows finished
        while state[0] > 0:
            cut_parts(
                codes,
                sensitive,
                spec,
                judge,
                self.options.cut == "relaxed",
                order,
                labels,
                begin,
                end,
                state,
                PARTS_PER_CALL,
            )
            task.progress.advance(state[2] / table.rows, f"{state[1]} classes")
        return partition_of(labels)


@njit
def cut_parts(
    codes: Codes,
    sensitive: Codes,
    spec: QuasiSpec,
    judge: JudgeSpec,
    relaxed: bool,
    order: IntArray,
    labels: IntArray,
    begin: IntArray,
    end: IntArray,
    state: IntArray,
    most: int,
) -> None:
    """Work off up to `most` waiting parts: cut each, or make it a class. A part is a stretch of `order`."""
    attributes = codes.shape[1]
    bounds = np.empty(codes.shape[0] + 2, dtype=np.int64)
    width = np.empty(attributes, dtype=np.float64)
    for _ in range(most):
        if state[0] == 0:
            return
        state[0] -= 1
        first, last = begin[state[0]], end[state[0]]
        part_widths(codes, spec, order, first, last, width)
        parts = 0
        for a in np.argsort(-width, kind="mergesort"):
            if width[a] <= 0.0 or parts > 0:
                break
            rows = order[first:last]
            order[first:last] = rows[np.argsort(codes[rows, a], kind="mergesort")]
            for second_choice in range(2):
                found = cut_bounds(codes, spec, order, first, last, a, relaxed, second_choice == 1, bounds)
                if found > 1 and parts_hold(sensitive, judge, order, bounds, found):
                    parts = found
                    break
        if parts == 0:
            for i in range(first, last):
                labels[order[i]] = state[1]
            state[1] += 1
            state[2] += last - first
        for p in range(parts):
            begin[state[0]], end[state[0]] = bounds[p], bounds[p + 1]
            state[0] += 1


@njit
def part_widths(
    codes: Codes, spec: QuasiSpec, order: IntArray, first: int, last: int, width: npt.NDArray[np.float64]
) -> None:
    """Loss of each attribute over the part; sets count as ranges of codes here."""
    for a in range(codes.shape[1]):
        low = high = int(codes[order[first], a])
        for i in range(first + 1, last):
            code = int(codes[order[i], a])
            low, high = min(low, code), max(high, code)
        width[a] = (high - low) / max(spec.size[a] - 1, 1) if spec.kind[a] > TREE else range_loss(spec, a, low, high)


@njit
def cut_bounds(
    codes: Codes,
    spec: QuasiSpec,
    order: IntArray,
    first: int,
    last: int,
    a: int,
    relaxed: bool,
    second: bool,
    bounds: IntArray,
) -> int:
    """Where to cut a part that is sorted by attribute a: fills `bounds`, returns the number of parts (0: no cut)."""
    low, high = codes[order[first], a], codes[order[last - 1], a]
    bounds[0] = first
    if spec.kind[a] == TREE:
        return 0 if second else child_bounds(codes, spec, order, first, last, a, bounds)
    middle = (first + last) // 2
    if spec.kind[a] == ORDERED and high == spec.null_code[a] and low != high:
        middle = last - 1
    value = codes[order[middle], a]
    before, after = middle, middle
    while before > first and codes[order[before - 1], a] == value:
        before -= 1
    while after < last and codes[order[after], a] == value:
        after += 1
    if relaxed and codes[order[middle - 1], a] == value and value != spec.null_code[a]:
        cut = middle
    elif (middle - before <= after - middle) != second:
        cut = before
    else:
        cut = after
    bounds[1], bounds[2] = cut, last
    return 2 if first < cut < last else 0


@njit
def child_bounds(
    codes: Codes, spec: QuasiSpec, order: IntArray, first: int, last: int, a: int, bounds: IntArray
) -> int:
    """One part per child of the common ancestor that has rows; codes run depth-first, so children are stretches."""
    node = common_node(spec, a, codes[order[first], a], codes[order[last - 1], a])
    parts = 0
    stop = -1
    for i in range(first, last):
        code = codes[order[i], a]
        if code >= stop:
            child = spec.leaf_node[spec.offset[a] + code]
            while spec.node_parent[child] != node:
                child = spec.node_parent[child]
            stop = spec.node_stop[child]
            bounds[parts] = i
            parts += 1
    bounds[parts] = last
    return parts


@njit
def parts_hold(sensitive: Codes, judge: JudgeSpec, order: IntArray, bounds: IntArray, parts: int) -> bool:
    """Whether every part satisfies every model."""
    for p in range(parts):
        counts = np.zeros(judge.width, dtype=np.int64)
        for i in range(bounds[p], bounds[p + 1]):
            for s in range(sensitive.shape[1]):
                counts[sensitive[order[i], s]] += 1
        if not holds(judge, counts, bounds[p + 1] - bounds[p]):
            return False
    return True
