"""Joint closeness for kernels: the cost of a transport plan along a tree of near tuples.

The compiled twin of `polyveil.models.transport.tree_costs`, one class at a time; tests keep the two equal. Its cost is
never below the true joint distance, so a class that holds here holds for the model as well.

Cost of one judgement: the number of cells times the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from polyveil.methods.compiled import njit
from polyveil.models.constraints import Constraint, JointTransport
from polyveil.policy.hierarchy import FloatArray, IntArray


class JointSpec(NamedTuple):
    """All joint constraints of a policy as flat arrays; constraint j owns the cells and nodes from its begin on."""

    limit: FloatArray
    position: IntArray  # where the histogram of constraint j begins
    tuple_begin: IntArray
    cell_of: IntArray
    cell_begin: IntArray
    whole: IntArray
    total: IntArray
    radius: FloatArray
    node_begin: IntArray
    start: IntArray
    stop: IntArray
    attributes: IntArray
    place: FloatArray  # cells x attributes
    aside: FloatArray
    label: IntArray  # cells x labels
    weight: FloatArray
    first: IntArray  # constraints x (attributes + 1)


def joint_spec(constraints: Sequence[Constraint], where: Mapping[str, int]) -> JointSpec:
    """Gather the joint constraints; `where` says at which position of the histogram an attribute begins."""
    found = [item for item in constraints if isinstance(item, JointTransport)]
    most = max((item.place.shape[1] for item in found), default=1)
    deep = max((item.label.shape[1] for item in found), default=0)
    first = np.zeros((len(found), most + 1), dtype=np.int64)
    for j, item in enumerate(found):
        first[j, : len(item.first)] = item.first
    return JointSpec(
        limit=np.array([item.limit for item in found], dtype=np.float64),
        position=np.array([where[item.attribute] for item in found], dtype=np.int64),
        tuple_begin=_begins([len(item.cell_of) for item in found]),
        cell_of=_flat([item.cell_of for item in found]),
        cell_begin=_begins([len(item.whole) for item in found]),
        whole=_flat([item.whole for item in found]),
        total=np.array([item.whole.sum(dtype=np.int64) for item in found], dtype=np.int64),
        radius=np.concatenate([np.zeros(0), *(item.radius for item in found)]),
        node_begin=_begins([len(item.start) for item in found]),
        start=_flat([item.start for item in found]),
        stop=_flat([item.stop for item in found]),
        attributes=np.array([item.place.shape[1] for item in found], dtype=np.int64),
        place=_wide([item.place for item in found], most),
        aside=_wide([item.aside for item in found], most),
        label=_wide([item.label for item in found], deep).astype(np.int64),
        weight=_wide([item.weight for item in found], deep),
        first=first,
    )


def _begins(lengths: Sequence[int]) -> IntArray:
    return np.append(0, np.cumsum(lengths, dtype=np.int64)).astype(np.int64)


def _flat(parts: Sequence[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)


def _wide(parts: Sequence[FloatArray | IntArray], width: int) -> FloatArray:
    """Rows one after the other, all as wide as the widest."""
    padded = [np.pad(part.astype(np.float64), ((0, 0), (0, width - part.shape[1]))) for part in parts]
    return np.concatenate([np.zeros((0, width)), *padded])


@njit
def flow_cost(spec: JointSpec, j: int, hist: IntArray, n: int, stop_early: bool) -> float:
    """The cost of the plan of constraint j for a class of n rows; with `stop_early` it may end beyond the limit."""
    begin, end = spec.cell_begin[j], spec.cell_begin[j + 1]
    total = spec.total[j]
    rest = np.zeros(end - begin, dtype=np.int64)
    for i in range(spec.tuple_begin[j], spec.tuple_begin[j + 1]):
        rest[spec.cell_of[i]] += hist[spec.position[j] + i - spec.tuple_begin[j]]
    blur = 0.0
    for c in range(end - begin):
        whole = spec.whole[begin + c]
        blur += spec.radius[begin + c] * (rest[c] / n + whole / total)
        rest[c] = rest[c] * total - whole * n
    scale = float(n) * float(total)
    beyond = (spec.limit[j] - blur) * scale
    cost = 0.0
    for node in range(spec.node_begin[j + 1] - 1, spec.node_begin[j] - 1, -1):
        start, stop = spec.start[node], spec.stop[node]
        if stop - start > 1:
            cost += _settle(spec, j, rest, start, stop)
            if stop_early and cost > beyond:
                break
    return cost / scale + blur


@njit
def _settle(spec: JointSpec, j: int, rest: IntArray, start: int, stop: int) -> float:
    """Move what is too much among the cells of a node to what is missing there, in order; returns the cost."""
    cost = 0.0
    giver, taker = start, start
    while True:
        while giver < stop and rest[giver] <= 0:
            giver += 1
        while taker < stop and rest[taker] >= 0:
            taker += 1
        if giver == stop or taker == stop:
            return cost
        amount = min(rest[giver], -rest[taker])
        cost += amount * _distance(spec, j, giver, taker)
        rest[giver] -= amount
        rest[taker] += amount


@njit
def _distance(spec: JointSpec, j: int, one: int, other: int) -> float:
    """How far apart two cells' centres are: the greatest of the attributes' distances."""
    u, v = spec.cell_begin[j] + one, spec.cell_begin[j] + other
    greatest = 0.0
    for a in range(spec.attributes[j]):
        found = abs(spec.place[u, a] - spec.place[v, a]) + abs(spec.aside[u, a] - spec.aside[v, a])
        for level in range(spec.first[j, a], spec.first[j, a + 1]):
            if spec.label[u, level] != spec.label[v, level]:
                found += spec.weight[u, level] + spec.weight[v, level]
        greatest = max(greatest, found)
    return greatest
