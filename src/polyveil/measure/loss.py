"""What a generalized release lost, measured from the coded table and the class of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.measure.boxes import Boxes, class_boxes
from polyveil.measure.distortion import distance_to_nodes
from polyveil.table.coded import CodedTable
from polyveil.table.domain import Domain, OrderedDomain


@dataclass(frozen=True)
class Loss:
    """The measures of `polyveil.measure.METRICS`; `by_attribute` splits the information loss."""

    information_loss: float
    normalized_loss: float
    discernibility: int
    precision: float
    average_class_size: float
    entropy: float
    suppression_ratio: float
    distortion: float
    by_attribute: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in results and manifests."""
        return asdict(self)


CellCost = Callable[[Domain, IntArray, IntArray, IntArray], FloatArray]
"""The cost, 0 to 1, of one cell per class: from the domain, the least and greatest code, and the number of values."""


def measure_loss(table: CodedTable, class_of_row: IntArray) -> Loss:
    """All measures of a release whose row i is in class `class_of_row[i]` (negative: suppressed)."""
    return loss_of_boxes(table, class_boxes(table, class_of_row))


def loss_of_boxes(table: CodedTable, boxes: Boxes) -> Loss:
    """The same from what the classes have in common; of the table, only its number of rows and its domains count."""
    suppressed = table.rows - int(boxes.sizes.sum())
    by_attribute = mean_costs(table, boxes, width)
    quasi = max(len(table.quasi), 1)
    total = sum(by_attribute.values())
    return Loss(
        information_loss=total,
        normalized_loss=total / quasi,
        discernibility=discernibility(boxes.sizes, suppressed),
        precision=1.0 - sum(mean_costs(table, boxes, height).values()) / quasi,
        average_class_size=float(boxes.sizes.mean()) if boxes.classes else 0.0,
        entropy=entropy(boxes.sizes, suppressed),
        suppression_ratio=suppressed / max(table.rows, 1),
        distortion=sum(mean_costs(table, boxes, weighted_height).values()) * table.rows,
        by_attribute=by_attribute,
    )


def mean_costs(table: CodedTable, boxes: Boxes, cost: CellCost) -> dict[str, float]:
    """Per quasi-identifier the mean cost of a cell over all input rows; a suppressed row's cells cost 1."""
    suppressed = table.rows - int(boxes.sizes.sum())
    means = {}
    for a, column in enumerate(table.quasi):
        costs = cost(column.domain, boxes.low[:, a], boxes.high[:, a], boxes.distinct[:, a])
        means[column.name] = (float(boxes.sizes @ costs) + suppressed) / max(table.rows, 1)
    return means


def width(domain: Domain, low: IntArray, high: IntArray, distinct: IntArray) -> FloatArray:
    """(hi - lo) / (U - L), (leaves - 1) / (all leaves - 1), or (values in the set - 1) / (all values - 1)."""
    if isinstance(domain, OrderedDomain) or not domain.as_set:
        return domain.loss(low, high)
    return domain.set_loss(distinct)


def height(domain: Domain, low: IntArray, high: IntArray, distinct: IntArray) -> FloatArray:
    """Height of the released node relative to the hierarchy's (Sweeney's precision); ranges and sets by width."""
    if isinstance(domain, OrderedDomain) or domain.as_set:
        return width(domain, low, high, distinct)
    tree = domain.hierarchy
    return tree.level[tree.common_ancestor(low, high)] / max(int(tree.level[0]), 1)


def weighted_height(domain: Domain, low: IntArray, high: IntArray, distinct: IntArray) -> FloatArray:
    """Weighted hierarchical distance to the released node (eq. (2) of han2013); ranges and sets by width."""
    if isinstance(domain, OrderedDomain) or domain.as_set:
        return width(domain, low, high, distinct)
    return distance_to_nodes(domain.hierarchy)[domain.hierarchy.common_ancestor(low, high)]


def discernibility(sizes: IntArray, suppressed: int = 0) -> int:
    """Each row costs the number of rows it looks like; a suppressed row looks like all of them."""
    rows = int(sizes.sum()) + suppressed
    return int((sizes.astype(np.int64) ** 2).sum()) + suppressed * rows


def entropy(sizes: IntArray, suppressed: int = 0) -> float:
    """Entropy in bits of a row's class; the suppressed rows are one class more."""
    counts = np.append(sizes, suppressed)
    shares = counts[counts > 0] / max(int(counts.sum()), 1)
    return float(max(0.0, -(shares * np.log2(shares)).sum()))  # in this order one class has 0, not -0
