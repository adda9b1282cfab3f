"""exact: the best grouping there is, by dynamic programming over all sets of rows; for tables of up to 20 rows.

Every set of rows is judged as a class, by the models themselves, and costs its rows times its box. The best grouping of
a set then is the best class around its first row together with the best grouping of the others, so all sets are solved
from the smallest up. It is the oracle of tests, and the answer for people with very few rows:

    polyveil.methods.register(Exact)  # then `method: {name: exact}` in a policy

- Guarantee: every model asked for, in every class, with the least loss of all groupings that leave no row out. Where
  people have several rows, they are grouped by one row each, as for every method.
- Cost: O(3^n) for n rows; more than 20 are refused.
- Loss is what is minimized, times the quasi-identifiers' weights where they have any.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.errors import Fault, PolicyError, Unsatisfiable
from polyveil.measure.boxes import class_boxes
from polyveil.measure.loss import width
from polyveil.methods import Method, Options, Task
from polyveil.methods.kernels import njit
from polyveil.models import codes_of, from_classes
from polyveil.partition import Partition, partition_of

MOST_ROWS = 20
CHUNK = 1 << 14
"""Sets of rows that are judged at once."""


class Exact(Method[Options]):
    """Dynamic programming over all sets of rows."""

    name = "exact"
    title = f"exact: the least possible loss, for tables of up to {MOST_ROWS} rows"
    paper = "this package"
    guarantee = "Every requirement is met in every group, and no other grouping of all rows loses less detail."
    cost = f"Time triples with every row; more than {MOST_ROWS} rows are refused."
    judges_by_model = True

    def partition(self, task: Task) -> Partition:
        rows = task.table.rows
        if rows > MOST_ROWS:
            rule = f"the method exact tries every grouping, which it can for up to {MOST_ROWS} rows; there are {rows:,}"
            raise PolicyError([Fault("method.name", rule, "Use sift, and `polyveil bound` to see how near it is")])
        costs = class_costs(task)
        total, chosen = best_grouping(costs, rows)
        if not np.isfinite(total[-1]):
            raise Unsatisfiable("no grouping of all rows meets every requirement", None)
        labels = np.zeros(rows, dtype=np.int64)
        left, number = len(costs) - 1, 0
        while left:
            labels[members(np.array([chosen[left]]), rows)[0]] = number
            left, number = left ^ int(chosen[left]), number + 1
        return partition_of(labels)


def class_costs(task: Task) -> FloatArray:
    """What each set of rows costs as a class, by its number (bit i: row i); infinite where it breaks a model."""
    rows = task.table.rows
    costs = np.full(1 << rows, np.inf)
    for first in range(1, 1 << rows, CHUNK):
        sets = np.arange(first, min(first + CHUNK, 1 << rows))
        sets = sets[members(sets, rows).sum(axis=1) >= task.k]
        if len(sets):
            costs[sets] = _costs(task, members(sets, rows))
    return costs


def members(sets: IntArray, rows: int) -> BoolArray:
    """Which rows are in each set."""
    return (sets[:, None] >> np.arange(rows) & 1).astype(bool)


def _costs(task: Task, inside: BoolArray) -> FloatArray:
    """Rows times box of some sets, each as a class of its own."""
    owner, row = np.nonzero(inside)
    statistics = from_classes(
        owner, {name: codes[row] for name, codes in codes_of(task.table).items()}, task.attributes
    )
    holds = np.all([model.passes(model.measure_all(statistics)) for model in task.models], axis=0)
    boxes = class_boxes(task.table.take(row), owner)
    box = np.zeros(len(inside))
    for a, column in enumerate(task.table.quasi):
        box += column.weight * width(column.domain, boxes.low[:, a], boxes.high[:, a], boxes.distinct[:, a])
    return np.where(holds, boxes.sizes * box, np.inf)


@njit
def best_grouping(costs: FloatArray, rows: int) -> tuple[FloatArray, IntArray]:
    """Per set of rows the least cost of a grouping, and the class of its first row in it."""
    total = np.full(len(costs), np.inf)
    chosen = np.zeros(len(costs), dtype=np.int64)
    total[0] = 0.0
    for whole in range(1, len(costs)):
        first = whole & -whole
        others = whole ^ first
        some = others
        while True:
            cost = costs[some | first] + total[others ^ some]
            if cost < total[whole]:
                total[whole] = cost
                chosen[whole] = some | first
            if some == 0:
                break
            some = (some - 1) & others
    return total, chosen
