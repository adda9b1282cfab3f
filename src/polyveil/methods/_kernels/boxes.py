"""What a range of quasi-identifier codes costs, for kernels: all domains of a table in flat arrays.

`range_loss` is the compiled twin of `Domain.loss`; tests keep the two equal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import OrderedDomain

ORDERED, TREE, SET = 0, 1, 2


class QuasiSpec(NamedTuple):
    """Domains of the quasi-identifiers side by side; attribute a owns codes offset[a] .. offset[a+1]-1."""

    kind: IntArray
    size: IntArray
    null_code: IntArray
    offset: IntArray
    position: FloatArray
    leaf_node: IntArray
    node_parent: IntArray
    node_start: IntArray
    node_stop: IntArray
    node_loss: FloatArray
    weight: FloatArray


def quasi_spec(table: CodedTable) -> QuasiSpec:
    """Flatten the domains of the quasi-identifiers."""
    sizes = [column.domain.size for column in table.quasi]
    position, leaf_node, parents, starts, stops, losses = [], [], [], [], [], []
    nodes = 0
    for column in table.quasi:
        domain = column.domain
        if isinstance(domain, OrderedDomain):
            position.append(np.append(domain.normalized, [0.0] if domain.has_null else []))
            leaf_node.append(np.zeros(domain.size, dtype=np.int64))
            continue
        tree = domain.hierarchy
        position.append(np.arange(domain.size) / max(domain.size - 1, 1))
        leaf_node.append(tree.leaf_node + nodes)
        parents.append(np.where(tree.parent >= 0, tree.parent + nodes, -1))
        starts.append(tree.start)
        stops.append(tree.stop)
        losses.append(tree.loss_of_nodes())
        nodes += len(tree.parent)
    return QuasiSpec(
        kind=np.array([kind_of(column) for column in table.quasi], dtype=np.int64),
        size=np.array(sizes, dtype=np.int64),
        null_code=np.array([column.domain.null_code for column in table.quasi], dtype=np.int64),
        offset=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        position=_joined(position, np.float64),
        leaf_node=_joined(leaf_node, np.int64),
        node_parent=_joined(parents, np.int64),
        node_start=_joined(starts, np.int64),
        node_stop=_joined(stops, np.int64),
        node_loss=_joined(losses, np.float64),
        weight=np.array([column.weight for column in table.quasi], dtype=np.float64),
    )


def kind_of(column: QuasiColumn) -> int:
    """How the column generalizes: to ranges, to nodes, or to sets."""
    if isinstance(column.domain, OrderedDomain):
        return ORDERED
    return SET if column.domain.as_set else TREE


def _joined(parts: list[Any], dtype: type) -> Any:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype=dtype)


def code_matrix(table: CodedTable) -> npt.NDArray[np.int32]:
    """Quasi-identifier codes, rows x attributes, 32-bit."""
    matrix = np.empty((table.rows, len(table.quasi)), dtype=np.int32)
    for a, column in enumerate(table.quasi):
        matrix[:, a] = column.codes
    return matrix


@njit
def common_node(spec: QuasiSpec, a: int, low: int, high: int) -> int:
    """The lowest node of attribute a's tree that covers the codes low..high."""
    node = spec.leaf_node[spec.offset[a] + low]
    while spec.node_stop[node] <= high:
        node = spec.node_parent[node]
    return node


@njit
def range_loss(spec: QuasiSpec, a: int, low: int, high: int) -> float:
    """Loss of releasing the codes low..high of attribute a as one range or node (not for sets)."""
    if low == high:
        return 0.0
    if spec.kind[a] == ORDERED:
        if high == spec.null_code[a]:
            return 1.0
        first = spec.offset[a]
        return spec.position[first + high] - spec.position[first + low]
    return spec.node_loss[common_node(spec, a, low, high)]
