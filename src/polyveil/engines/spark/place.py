"""What happens to one block: the local method against the whole table's distribution, then the cells to publish.

A pure function of the block's rows (sorted by content), the block's number and the seed: a retried or speculative task
gives the same result, whichever order the rows arrive in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from polyveil.engines.spark.values import Values
from polyveil.errors import Unsatisfiable
from polyveil.measure.boxes import class_boxes
from polyveil.measure.loss import CellCost, height, mean_costs, weighted_height, width
from polyveil.methods.base import Method, Partition, Task, partition_of
from polyveil.models import Attribute, Model, codes_of, from_classes
from polyveil.policy.hierarchy import IntArray
from polyveil.release.generalized import quasi_columns
from polyveil.table.coded import CodedTable

COSTS: Mapping[str, CellCost] = {"width": width, "height": height, "weighted_height": weighted_height}


@dataclass(frozen=True, eq=False)
class Plan:
    """All a worker needs to place a block. `secret` orders the released rows and is the operating system's."""

    values: Values
    method: Method[Any]
    models: tuple[Model, ...]
    attributes: Mapping[str, Attribute]
    published: tuple[pl.Series, ...]
    seed: int
    secret: bytes


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows that have a class (`kept`, places in the block), their cells, and the block's figures for the driver."""

    kept: IntArray
    columns: tuple[pl.Series, ...]
    order: IntArray
    summary: dict[str, Any]


def canonical_order(quasi: list[IntArray], sensitive: list[IntArray], hashed: IntArray) -> IntArray:
    """Rows by content: codes first, then the hash of all published cells; equal rows are interchangeable."""
    return np.lexsort([hashed, *reversed(sensitive), *reversed(quasi)]).astype(np.int64)


def place_block(plan: Plan, quasi: list[IntArray], sensitive: list[IntArray], block: int) -> Placed:
    """Classes for rows that stand in canonical order."""
    rows = len((quasi or sensitive)[0])
    table = plan.values.coded(quasi, sensitive, rows)
    class_of_row, why = _classes(plan, table, block)
    kept = np.flatnonzero(class_of_row >= 0)
    summary: dict[str, Any] = {"block": block, "rows": rows, "left": rows - len(kept), "why": why, "costs": {}}
    if not len(kept):
        return Placed(kept, (), kept, summary)
    partition = Partition(class_of_row)
    columns = [
        *quasi_columns(plan.values.bound, table, partition),
        *(
            cells.gather(pl.Series(codes[kept], dtype=pl.UInt32))
            for cells, codes in zip(plan.published, sensitive, strict=True)
        ),
    ]
    summary["costs"] = _costs(table.take(kept), class_of_row[kept])
    return Placed(kept, tuple(columns), _release_order(plan.secret, block, rows)[kept], summary)


def _classes(plan: Plan, table: CodedTable, block: int) -> tuple[IntArray, list[str | None] | None]:
    """The method's classes; rows of a class that breaks a model, and all rows where there is none, are left over."""
    nobody = np.full(table.rows, -1, dtype=np.int64)
    rng = np.random.default_rng([plan.seed, block])
    task = Task(table, plan.models, plan.attributes, plan.values.policy.privacy, rng)
    if task.k > table.rows:
        return nobody, [f"a block of {table.rows} rows has no class of {task.k}", None]
    try:
        found = plan.method.partition(task).class_of_row
    except Unsatisfiable as error:
        return nobody, [error.constraint, error.nearest]
    statistics = from_classes(found, codes_of(table), plan.attributes)
    good = np.ones(statistics.classes, dtype=bool)
    for model in plan.models:
        if statistics.classes:
            good &= model.passes(model.measure_all(statistics))
    held = np.where(found >= 0, np.append(good, False)[found], False)
    return partition_of(np.where(held, found, -1)).class_of_row, None


def _costs(table: CodedTable, class_of_row: IntArray) -> dict[str, dict[str, float]]:
    """Sums over the placed rows, per quasi-identifier; the driver adds up blocks and divides."""
    boxes = class_boxes(table, class_of_row)
    return {
        name: {column: mean * table.rows for column, mean in mean_costs(table, boxes, cost).items()}
        for name, cost in COSTS.items()
    }


def _release_order(secret: bytes, block: int, rows: int) -> IntArray:
    """A secret number per row of the block. Only the order of these numbers is ever seen, in the released files.

    The secret comes from the operating system, so no seed anyone could learn gives the order back; the numbers follow
    from it and the block alone, so a task that runs twice writes the same order.
    """
    stream = hashlib.shake_256(secret + block.to_bytes(8, "little")).digest(8 * rows)
    return (np.frombuffer(stream, dtype=np.uint64) >> np.uint64(1)).astype(np.int64)


def slim(values: Values) -> Values:
    """Without what only the encoding pass needs, so that tasks stay small."""
    nothing = np.zeros(0, dtype=np.int64)

    def bare(columns: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            replace(c, bound=replace(c.bound, cells=c.bound.cells.head(0)), raw=c.raw[:0], codes=nothing)
            for c in columns
        )

    return replace(values, quasi=bare(values.quasi), sensitive=bare(values.sensitive))
