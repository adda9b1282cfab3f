"""The generalized form: one table, each row's quasi-identifiers replaced by what its class has in common.

Classes that end up with equal cells are one class to every reader, so they are joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import Fault
from polyveil.measure import released_boxes
from polyveil.methods.base import Method
from polyveil.models import Attribute, ClassStatistics, from_classes
from polyveil.models.any_columns import least_alike
from polyveil.partition import Partition, partition_of
from polyveil.policy import Policy
from polyveil.releases.cells import node_cells, number_cells, range_cells, set_cells, text_column
from polyveil.releases.form import Form
from polyveil.releases.shuffle import random_order
from polyveil.table.bound import Bound
from polyveil.table.coded import CodedTable
from polyveil.table.domain import OrderedDomain
from polyveil.table.pseudonyms import random_keys
from polyveil.table.weights import class_weights


class Generalized(Form):
    """One table; suppressed rows are left out with their sensitive values."""

    name = "generalized"

    def faults(self, policy: Policy, method: Method[Any]) -> list[Fault]:
        faults = []
        if policy.privacy.risk is not None and policy.privacy.risk.by_table:
            if policy.method.refine is not None:
                rule = "refine moves rows without counting the population"
                faults.append(Fault("method.refine", rule, "Remove refine"))
            if policy.release.numbers != "interval":
                rule = "people who fit a group are counted by its ranges, which other numbers hide"
                faults.append(Fault("release.numbers", rule, "Write numbers: interval, or leave it out"))
        if policy.privacy.any is None:
            return faults
        if not method.recodes_columns:
            rule = f"the method {method.name} makes groups that share all quasi-identifiers, which any does not need"
            faults.append(Fault("privacy.any", rule, "Use method: {name: sift}, or remove any"))
        if policy.method.refine is not None:
            rule = "refine moves rows between groups, and any makes none"
            faults.append(Fault("method.refine", rule, "Remove refine; method.effort says how long to search"))
        if policy.release.numbers != "interval":
            rule = "any is counted by the cells, and numbers of different ranges may be the same"
            faults.append(Fault("release.numbers", rule, "Write numbers: interval, or leave it out"))
        return faults

    def arrange(self, bound: Bound, table: CodedTable, partition: Partition, rng: np.random.Generator) -> Partition:
        if bound.policy.privacy.any is not None:
            return _by_cells(bound, table, partition)
        return replace(partition, class_of_row=join_look_alikes(bound, table, partition.class_of_row))

    def statistics(
        self,
        policy: Policy,
        partition: Partition,
        codes: Mapping[str, IntArray],
        attributes: Mapping[str, Attribute],
    ) -> ClassStatistics:
        found = from_classes(partition.class_of_row, codes, attributes)
        if policy.privacy.any is None or not partition.cells:
            return found
        return replace(found, alike=least_alike(partition.class_of_row, partition.cells, policy.privacy.any))

    def tables(self, bound: Bound, table: CodedTable, partition: Partition) -> dict[str, pl.DataFrame]:
        kept = pl.Series(partition.class_of_row >= 0)
        columns = {series.name: series for series in quasi_columns(bound, table, partition)}
        beside = (*bound.insensitive.get_columns(), *bound.pseudonyms.get_columns())
        for series in (*(published(c.cells).rename(c.name) for c in bound.sensitive), *beside):
            columns[series.name] = series.filter(kept)
        if bound.sampling is not None:
            weights = class_weights(bound.sampling.to_numpy(), partition.class_of_row)
            of_rows = weights[partition.class_of_row[partition.class_of_row >= 0]]
            columns[bound.sampling.name] = published(pl.Series(bound.sampling.name, of_rows))
        if bound.person is not None and table.keyed:
            columns[bound.person.name] = random_keys(bound.person.filter(kept))
        frame = pl.DataFrame([columns[name] for name in bound.policy.columns if name in columns])
        return {"table": frame[random_order(frame.height)]}


def join_look_alikes(bound: Bound, table: CodedTable, class_of_row: IntArray) -> IntArray:
    """Give classes whose released cells are all equal one number: to a reader they are one class.

    Their union keeps every model that both keep, because all models are convex.
    """
    kept = class_of_row >= 0
    owner = class_of_row[kept]
    if not table.quasi or not len(owner):
        return np.where(kept, 0, -1)
    _, first = np.unique(owner, return_index=True)
    cells = pl.DataFrame(quasi_columns(bound, table, Partition(class_of_row)))[first]
    number = cells.select(pl.struct(pl.all()).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    joined = np.full(len(class_of_row), -1, dtype=np.int64)
    joined[kept] = number[owner]
    return partition_of(joined).class_of_row


def _by_cells(bound: Bound, table: CodedTable, partition: Partition) -> Partition:
    """The partition with parts and classes as a reader tells them apart: by the text of their cells."""
    frame = pl.DataFrame(quasi_columns(bound, table, partition))
    cells = tuple(cell.rank("dense").fill_null(0).to_numpy().astype(np.int64) for cell in frame.get_columns())
    alike = frame.select(pl.struct(pl.all()).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    numbered = tuple(partition_of(parts).class_of_row for parts in cells)
    return replace(partition, class_of_row=partition_of(alike).class_of_row, cells=numbered)


def quasi_columns(bound: Bound, table: CodedTable, partition: Partition) -> list[pl.Series]:
    """The generalized quasi-identifiers of the rows that are kept, in table order."""
    class_of_row = partition.class_of_row
    boxes = released_boxes(table, partition)
    kept = class_of_row[class_of_row >= 0]
    numbers = bound.policy.release.numbers
    result = []
    for a, column in enumerate(table.quasi):
        low, high = boxes.low[:, a], boxes.high[:, a]
        domain = column.domain
        if not isinstance(domain, OrderedDomain):
            cells = (
                set_cells(domain, column.codes, class_of_row, partition.classes)
                if domain.as_set
                else node_cells(domain, low, high)
            )
        elif numbers != "interval" and domain.kind == "numeric":
            cells = number_cells(column, numbers, class_of_row, low, high)
            values = pl.Series(column.name, cells.tolist(), dtype=pl.Float64)
            result.append(values.gather(pl.Series(kept, dtype=pl.UInt32)))
            continue
        else:
            cells = range_cells(domain, low, high)
        result.append(text_column(column.name, cells, kept))
    return result


def published(cells: pl.Series) -> pl.Series:
    """Sensitive cells as they are published: whole numbers as integers, everything else as it was parsed."""
    if cells.dtype.is_float() and (cells.drop_nulls() % 1 == 0).all() and (cells.drop_nulls().abs() < 2**53).all():
        return cells.cast(pl.Int64)
    return cells
