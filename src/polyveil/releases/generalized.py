"""The generalized form: one table, each row's quasi-identifiers replaced by what its class has in common."""

from __future__ import annotations

import polars as pl

from polyveil.measure import class_boxes
from polyveil.partition import Partition
from polyveil.releases.cells import node_cells, number_cells, range_cells, set_cells, text_column
from polyveil.releases.shuffle import random_order
from polyveil.table.bind import Bound
from polyveil.table.coded import CodedTable
from polyveil.table.domain import OrderedDomain


def generalized(bound: Bound, table: CodedTable, partition: Partition) -> dict[str, pl.DataFrame]:
    """The released table, rows in random order, suppressed rows left out with their sensitive values."""
    kept = pl.Series(partition.class_of_row >= 0)
    columns = {
        **{series.name: series for series in quasi_columns(bound, table, partition)},
        **{column.name: published(column.cells) for column in bound.sensitive},
        **{series.name: series for series in bound.insensitive.get_columns()},
    }
    names = [name for name in bound.policy.columns if name in columns]
    frame = pl.DataFrame(
        [
            columns[name] if bound.policy.columns[name].role == "quasi" else columns[name].rename(name).filter(kept)
            for name in names
        ]
    )
    return {"table": frame[random_order(frame.height)]}


def quasi_columns(bound: Bound, table: CodedTable, partition: Partition) -> list[pl.Series]:
    """The generalized quasi-identifiers of the rows that are kept, in table order."""
    class_of_row = partition.class_of_row
    boxes = class_boxes(table, class_of_row)
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
