"""The relational form: a table of people and tables of what happened to them, linked by groups of people.

Every table holds its own columns and one more, `group`. A group has the same cells in all rows of a table, they cover
all rows of all its people, and no two groups have the same cells in all tables: the number of a group tells no more
than its cells do. Numbers are random and every table is shuffled on its own, both with the system's randomness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import Fault
from polyveil.measure import Boxes, class_boxes
from polyveil.measure.loss import Loss, loss_of_boxes
from polyveil.methods.base import Method
from polyveil.partition import Partition, partition_of
from polyveil.policy import Policy
from polyveil.policy.forms import SEVERAL_TABLES
from polyveil.policy.linked import plain_name
from polyveil.releases.generalized import Generalized, published, quasi_columns
from polyveil.releases.shuffle import random_order
from polyveil.table.bound import Bound
from polyveil.table.coded import CodedTable
from polyveil.table.linked import LinkedBound, LinkedCodes
from polyveil.table.pseudonyms import random_keys


class Relational(Generalized):
    """One table per table of the policy; a person who is left out is left out of all of them."""

    name = SEVERAL_TABLES

    def faults(self, policy: Policy, method: Method[Any]) -> list[Fault]:
        faults = []
        if method.makes_own_slices:
            rule = f"{method.name} groups every slice on its own, so it cannot keep the rows of a person together"
            faults.append(Fault("method.name", rule, "Use another method, such as sift"))
        if policy.privacy.k is None:
            rule = "linked tables hide people among others, and no k says how many"
            faults.append(Fault("privacy.k", rule, "Give privacy.k"))
        return faults

    def arrange(self, bound: Bound, table: CodedTable, partition: Partition, rng: np.random.Generator) -> Partition:
        """Groups that look alike in all tables joined, and numbered at random."""
        bounds, tables = _linked(bound, table)
        class_of_person = partition.class_of_row
        kept = class_of_person >= 0
        cells = [_cells(bounds.parts[name], tables, name, class_of_person) for name in tables.parts]
        alike = (
            pl.concat([frame for frame in cells if frame.width], how="horizontal") if table.quasi else pl.DataFrame()
        )
        number = np.zeros(partition.classes, dtype=np.int64)
        if alike.width:
            number = alike.select(pl.struct(pl.all()).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
        joined = np.full(len(kept), -1, dtype=np.int64)
        joined[kept] = random_order(int(number.max(initial=-1)) + 1)[number[class_of_person[kept]]]
        return Partition(partition_of(joined).class_of_row, found=partition.found)

    def tables(self, bound: Bound, table: CodedTable, partition: Partition) -> dict[str, pl.DataFrame]:
        bounds, tables = _linked(bound, table)
        keys = None if bounds.person is None or not table.keyed else random_keys(bounds.person)
        found = {}
        for name in tables.parts:
            frame = _table(bounds, tables, name, partition.class_of_row, keys)
            found[name] = frame[random_order(frame.height)]
        return found


def group_column(policy: Policy) -> str:
    """The column that links the tables; never the name of another."""
    taken = {plain_name(name) for name in policy.columns}
    name = "group"
    while name in taken:
        name += "_"
    return name


def view_loss(tables: LinkedCodes, class_of_person: IntArray, name: str) -> Loss:
    """What the rows of one table lost, with the quasi-identifiers of all tables joined to them."""
    own = rows_of(tables.parts[name], class_of_person)
    sizes = np.bincount(own[own >= 0]).astype(np.int64)
    columns: dict[str, tuple[IntArray, IntArray, IntArray]] = {}
    for other, part in tables.parts.items():
        rows = rows_of(part, class_of_person)
        boxes = class_boxes(tables.shown(other, rows), rows)
        for a, column in enumerate(part.quasi):
            columns[column.name] = (boxes.low[:, a], boxes.high[:, a], boxes.distinct[:, a])
    low, high, distinct = (_stacked([columns[c.name][i] for c in tables.quasi], len(sizes)) for i in range(3))
    shape = CodedTable(rows=len(own), quasi=tables.quasi, sensitive=())
    return loss_of_boxes(shape, Boxes(sizes, low, high, distinct))


def rows_of(part: CodedTable, class_of_person: IntArray) -> IntArray:
    """The class of each row of a table, which is that of its person."""
    if part.person is None:
        raise ValueError("linked tables say whom each row is about")
    return np.asarray(class_of_person[part.person], dtype=np.int64)


def _stacked(columns: Sequence[IntArray], classes: int) -> IntArray:
    return np.stack(columns, axis=1) if columns else np.zeros((classes, 0), dtype=np.int64)


def _linked(bound: Bound, table: CodedTable) -> tuple[LinkedBound, LinkedCodes]:
    if not isinstance(bound, LinkedBound) or not isinstance(table, LinkedCodes):
        raise TypeError("the relational form is for linked tables")
    return bound, table


def _cells(bound: Bound, tables: LinkedCodes, name: str, class_of_person: IntArray) -> pl.DataFrame:
    """The cells of every class in one table."""
    rows = rows_of(tables.parts[name], class_of_person)
    first = np.unique(rows[rows >= 0], return_index=True)[1]
    part = tables.shown(name, rows)
    return pl.DataFrame(quasi_columns(bound, part, Partition(rows)))[first] if part.quasi else pl.DataFrame()


def _table(
    bounds: LinkedBound, tables: LinkedCodes, name: str, class_of_person: IntArray, keys: pl.Series | None
) -> pl.DataFrame:
    """A table as it is published; a row without values has no cells either."""
    bound, rows = bounds.parts[name], rows_of(tables.parts[name], class_of_person)
    part = tables.shown(name, rows)
    kept = pl.Series(rows >= 0)
    blank = pl.Series(tables.absent[name]).filter(kept)
    columns = {s.name: s.set(blank, None) for s in quasi_columns(bound, part, Partition(rows))}
    for series in (*(published(c.cells).rename(c.name) for c in bound.sensitive), *bound.insensitive):
        columns[series.name] = series.filter(kept)
    if keys is not None and bound.person is not None and part.person is not None:
        columns[bound.person.name] = keys[part.person].filter(kept).rename(bound.person.name)
    own = [columns[each].rename(plain_name(each)) for each in bound.policy.columns if each in columns]
    return pl.DataFrame([pl.Series(group_column(bounds.policy), rows[rows >= 0] + 1, dtype=pl.Int64), *own])
