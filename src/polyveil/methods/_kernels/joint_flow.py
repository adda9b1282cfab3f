"""Joint closeness for kernels: the cost of a transport plan along a tree of near tuples.

The compiled twin of `polyveil.models.transport.tree_costs`, one class at a time; tests keep the two equal. Its cost is
never below the true joint distance, so a class that holds here holds for the model as well.

Cost of one judgement: the number of cells, and the pairs that are matched. All constraints are packed into three
arrays, because every array that a kernel is given costs it time at each call, whether it is used or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._kernels.by_reference import by_reference
from polyveil.methods._kernels.compiled import njit
from polyveil.models.constraints import Constraint, JointTransport
from polyveil.models.space import TupleSpace

MOST_TABLED = 2000
"""Cells whose distances from each other are computed once, before the first judgement."""

# What the head of a constraint says: numbers first, then where its arrays begin (whole ones, then real ones).
POSITION, TUPLES, CELLS, TOTAL, NODES, ATTRIBUTES, LABELS = range(7)
CELL_OF, WHOLE, START, STOP, LABEL, FIRST = range(7, 13)
RADIUS, PLACE, ASIDE, WEIGHT, KNOWN = range(13, 18)
HEAD = 18


@by_reference
class JointSpec(NamedTuple):
    """All joint constraints of a policy; constraint j has its head at whole[HEAD * j :]."""

    limit: FloatArray
    whole: IntArray
    real: FloatArray


def joint_spec(constraints: Sequence[Constraint], where: Mapping[str, int]) -> JointSpec:
    """Pack the joint constraints; `where` says at which position of the histogram an attribute begins."""
    found = [item for item in constraints if isinstance(item, JointTransport)]
    heads = np.zeros((len(found), HEAD), dtype=np.int64)
    whole: list[IntArray] = []
    real: list[FloatArray] = []
    taken, written = heads.size, 0
    for head, item in zip(heads, found, strict=True):
        shape = (len(item.cell_of), len(item.whole), item.whole.sum(dtype=np.int64), len(item.start))
        head[: LABELS + 1] = (where[item.attribute], *shape, item.place.shape[1], item.label.shape[1])
        arrays = (item.cell_of, item.whole, item.start, item.stop, item.label.ravel(), item.first)
        for slot, numbers in zip(range(CELL_OF, RADIUS), arrays, strict=True):
            head[slot], taken = taken, taken + len(numbers)
            whole.append(numbers)
        numbers_of = (item.radius, item.place.ravel(), item.aside.ravel(), item.weight.ravel(), _distances(item))
        for slot, reals in zip(range(RADIUS, HEAD), numbers_of, strict=True):
            head[slot], written = (written if len(reals) else -1), written + len(reals)
            real.append(reals)
    return JointSpec(
        limit=np.array([item.limit for item in found], dtype=np.float64),
        whole=np.concatenate([heads.ravel(), *whole]).astype(np.int64),
        real=np.concatenate([np.zeros(0), *real]),
    )


def _distances(item: JointTransport) -> FloatArray:
    """All distances between cells, where there are few enough to write them down."""
    cells = len(item.whole)
    if cells > MOST_TABLED:
        return np.zeros(0)
    every = np.arange(cells)
    space = TupleSpace(item.place, item.aside, item.label, item.weight, item.first)
    return space.between(every[:, None], every[None, :]).ravel()


@njit
def flow_cost(spec: JointSpec, j: int, hist: IntArray, n: int, stop_early: bool) -> float:
    """The cost of the plan of constraint j for a class of n rows; with `stop_early` it may end beyond the limit."""
    whole, real = spec.whole, spec.real
    head = whole[HEAD * j : HEAD * (j + 1)]
    cells, total = head[CELLS], head[TOTAL]
    rest = np.zeros(cells, dtype=np.int64)
    for i in range(head[TUPLES]):
        rest[whole[head[CELL_OF] + i]] += hist[head[POSITION] + i]
    givers = np.empty(cells, dtype=np.int64)  # cells with too much, in order
    before = np.empty(cells + 1, dtype=np.int64)  # how many of them come before a cell
    lacking = np.empty(cells + 1, dtype=np.int64)  # the next cell, from here on, where something is missing
    blur, count = 0.0, 0
    for c in range(cells):
        rows = whole[head[WHOLE] + c]
        blur += real[head[RADIUS] + c] * (rest[c] / n + rows / total)
        rest[c] = rest[c] * total - rows * n
        before[c] = count
        lacking[c] = c if rest[c] < 0 else c + 1
        if rest[c] > 0:
            givers[count] = c
            count += 1
    before[cells], lacking[cells] = count, cells
    scale = float(n) * float(total)
    beyond = (spec.limit[j] - blur) * scale if stop_early else np.inf
    return _plan(head, whole, real, rest, givers, before, lacking, beyond) / scale + blur


@njit
def _plan(
    head: IntArray,
    whole: IntArray,
    real: FloatArray,
    rest: IntArray,
    givers: IntArray,
    before: IntArray,
    lacking: IntArray,
    beyond: float,
) -> float:
    """From the smallest nodes up, move what is too much among a node's cells to what is missing there, in order."""
    cost = 0.0
    for node in range(head[NODES] - 1, -1, -1):
        start, stop = whole[head[START] + node], whole[head[STOP] + node]
        if stop - start < 2 or before[start] == before[stop]:
            continue
        taker = _next(lacking, start)
        for g in range(before[start], before[stop]):
            giver = givers[g]
            while rest[giver] > 0 and taker < stop:
                amount = min(rest[giver], -rest[taker])
                if head[KNOWN] >= 0:
                    cost += amount * real[head[KNOWN] + giver * head[CELLS] + taker]
                else:
                    cost += amount * _distance(head, whole, real, giver, taker)
                rest[giver] -= amount
                rest[taker] += amount
                if rest[taker] == 0:
                    lacking[taker] = taker + 1
                    taker = _next(lacking, taker)
        if cost > beyond:
            break
    return cost


@njit
def _next(lacking: IntArray, cell: int) -> int:
    """The first cell from here on where something is missing; the steps taken are shortened for the next time."""
    while lacking[cell] != cell:
        lacking[cell] = lacking[lacking[cell]]
        cell = lacking[cell]
    return cell


@njit
def _distance(head: npt.NDArray[np.int64], whole: IntArray, real: FloatArray, u: int, v: int) -> float:
    """How far apart the centres of cells u and v are: the greatest of the attributes' distances."""
    attributes, labels = head[ATTRIBUTES], head[LABELS]
    greatest = 0.0
    for a in range(attributes):
        place, aside = head[PLACE] + a, head[ASIDE] + a
        found = abs(real[place + u * attributes] - real[place + v * attributes])
        found += abs(real[aside + u * attributes] - real[aside + v * attributes])
        for level in range(whole[head[FIRST] + a], whole[head[FIRST] + a + 1]):
            one, other = u * labels + level, v * labels + level
            if whole[head[LABEL] + one] != whole[head[LABEL] + other]:
                found += real[head[WEIGHT] + one] + real[head[WEIGHT] + other]
        greatest = max(greatest, found)
    return greatest
