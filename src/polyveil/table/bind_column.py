"""One column meets its declaration: its cells are parsed and it gets its domain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.policy.hierarchy import Hierarchy, HierarchyFault, flat
from polyveil.policy.hierarchy_pairs import tree_from_pairs
from polyveil.policy.publishing import Publish
from polyveil.policy.rules import DateParts, File, HierarchyRule, Intervals, Mask, Order, Pairs, Tree
from polyveil.policy.schema import Column, ColumnType, Policy
from polyveil.table.bound import BoundColumn
from polyveil.table.domain import Domain, NumberLabels, OrderedDomain, TreeDomain
from polyveil.table.parse import (
    as_text,
    coarsened,
    column_type,
    days_since_epoch,
    parse_dates,
    parse_numbers,
    place_of,
    without_markers,
)
from polyveil.table.source import Table


def bind_column(name: str, column: Column, policy: Policy, table: Table) -> BoundColumn | list[Fault]:
    """One column with its parsed cells and its domain, or what does not fit."""
    place = f"columns.{name}"
    cells = without_markers(table.frame.get_column(name), [*policy.missing, *column.missing])
    if policy.release.file_format == "csv" and cells.dtype == pl.String:
        cells = without_markers(cells, [""])  # in a CSV an empty text and a missing cell look the same
    if cells.null_count() == len(cells):
        remedy = "Give it the role identifier or insensitive, or check the missing markers"
        return [Fault(place, "the column has no value, only missing cells", remedy)]
    if isinstance(column.hierarchy, Pairs):
        if not column.hierarchy.in_file:
            rule = "pairs in a table of the source are for policies with tables:"
            return [Fault(f"{place}.hierarchy", rule, "Give the pairs as a CSV file")]
        try:
            column = tree_column(name, column, cells, column.hierarchy.read(policy.folder))
        except HierarchyFault as fault:
            return [Fault(f"{place}.hierarchy", fault.rule, fault.remedy)]
    kind = column_type(column, cells)
    column = column.model_copy(update={"type": kind})
    try:
        if column.recode == "set" or (isinstance(column.hierarchy, Tree | File | Mask) and kind != "ordinal"):
            return _bind_text(name, column, as_text(cells), table, policy.folder)
        if kind == "numeric":
            cells, faults = parse_numbers(name, cells, table)
        elif kind == "date":
            cells, faults = parse_dates(name, cells, column, table)
        else:
            return _bind_text(name, column, as_text(cells), table, policy.folder)
    except HierarchyFault as fault:
        return [Fault(f"{place}.hierarchy", fault.rule, fault.remedy)]
    if faults:
        return faults
    if column.publish is not None and kind != "numeric":
        return [Fault(f"{place}.publish", "publish is for numbers, and this column has none", "Remove publish")]
    if column.publish is not None and column.publish.intervals is not None:
        return _bind_intervals(name, column, column.publish, cells)
    if column.publish is not None:
        cells = coarsened(cells, column.publish).cast(pl.Float64)
    return _checked(BoundColumn(name, column, cells, _ordered_domain(kind, column.hierarchy, cells)))


def _bind_intervals(name: str, column: Column, publish: Publish, cells: pl.Series) -> BoundColumn | list[Fault]:
    """Numbers published as intervals: categories in their order."""
    labels = coarsened(cells, publish)
    outside = int((labels.is_null() & cells.is_not_null()).sum())
    if outside:
        rule = f"{outside:,} of {len(cells):,} numbers lie outside the intervals"
        remedy = "Widen the first or last edge; -inf and inf have no end"
        return [Fault(f"columns.{name}.publish", rule, remedy)]
    present = set(labels.drop_nulls().unique().to_list())
    used = tuple(label for label in publish.labels if label in present)
    domain = OrderedDomain("ordinal", np.arange(len(used), dtype=np.float64), used, cells.null_count() > 0)
    return _checked(BoundColumn(name, column, labels, domain))


def tree_column(name: str, column: Column, cells: pl.Series, pairs: Iterable[tuple[str, str]]) -> Column:
    """The column with pairs of codes made into the tree of the values that occur."""
    values = sorted(as_text(without_markers(cells, column.missing)).drop_nulls().unique().to_list())
    try:
        tree = Tree(tree=tree_from_pairs(pairs, values))
    except HierarchyFault as fault:
        raise PolicyError([Fault(f"columns.{name}.hierarchy", fault.rule, fault.remedy)]) from None
    return column.model_copy(update={"hierarchy": tree, "type": "categorical"})


def _ordered_domain(kind: ColumnType, rule: HierarchyRule | None, cells: pl.Series) -> Domain:
    """Numbers and dates: by value, or below the intervals or date parts asked for."""
    has_null = cells.null_count() > 0
    values = cells.drop_nulls().unique().sort()
    if kind == "date":
        days = values.to_list()
        if isinstance(rule, DateParts):
            return _tree(rule.build(days), has_null)
        labels = tuple(day.isoformat() for day in days)
        return OrderedDomain("date", np.array(days_since_epoch(days)), labels, has_null)
    numbers = values.to_numpy().astype(np.float64)
    written = NumberLabels(numbers)
    if isinstance(rule, Intervals):
        return _tree(rule.build(numbers.tolist(), tuple(written)), has_null)
    return OrderedDomain("numeric", numbers, written, has_null)


def _bind_text(name: str, column: Column, cells: pl.Series, table: Table, folder: Path) -> BoundColumn | list[Fault]:
    has_null = cells.null_count() > 0
    rule = column.hierarchy
    present = sorted(cells.drop_nulls().unique().to_list())
    domain: Domain
    if isinstance(rule, Order):
        ranks = np.arange(len(rule.order), dtype=np.float64)
        domain = OrderedDomain("ordinal", ranks, tuple(rule.order), has_null)
    elif column.recode == "set" or rule is None:
        domain = _tree(flat(present), has_null, as_set=column.recode == "set")
    elif isinstance(rule, Mask):
        domain = _tree(rule.build(present), has_null)
    elif isinstance(rule, Tree | File):
        domain = _tree(rule.build() if isinstance(rule, Tree) else rule.build(folder), has_null)
        if column.role == "sensitive":
            seen = {*present, None}
            used = np.array([label in seen for label in domain.hierarchy.leaves], dtype=np.bool_)
            domain = replace(domain, hierarchy=domain.hierarchy.used_by(used))
    else:
        return [Fault(f"columns.{name}.hierarchy", "this rule is for numbers or dates", "Set the column's type")]
    unknown = set(present) - set(domain.labels)
    if unknown:
        first = cells.is_in(list(unknown)).arg_true()[0]
        return [
            Fault(
                f"columns.{name}.hierarchy",
                f"{len(unknown)} of the column's {len(present)} values are missing from it; "
                f"the first stands in {place_of(first, table)}",
                "Add them, or declare them in missing:",
            )
        ]
    return _checked(BoundColumn(name, column, cells, domain))


def _tree(hierarchy: Hierarchy, has_null: bool, *, as_set: bool = False) -> TreeDomain:
    return TreeDomain(hierarchy.with_null() if has_null else hierarchy, has_null, as_set)


def _checked(bound: BoundColumn) -> BoundColumn | list[Fault]:
    """The demands on the column that only its domain can answer."""
    place = f"columns.{bound.name}"
    faults = []
    known = set(bound.domain.labels) if bound.column.levels else set()
    for level, values in bound.column.levels.items():
        unknown = [value for value in values if value not in known]
        if unknown:
            rule = f"security level {level} names values the column does not have: {', '.join(unknown)}"
            faults.append(Fault(f"{place}.levels", rule, "Correct or remove them"))
    if bound.column.role == "sensitive":
        tree = isinstance(bound.domain, TreeDomain)
        if bound.distance == "hierarchical" and not tree:
            faults.append(
                Fault(f"{place}.distance", "hierarchical distance needs a hierarchy", "Give one, or use ordered")
            )
        if bound.distance == "ordered" and tree:
            remedy = "Declare type: numeric, date, or ordinal with hierarchy: {order: [...]}"
            faults.append(Fault(f"{place}.distance", "ordered distance needs ordered values", remedy))
    return faults or bound


def codes_of(domain: Domain, cells: pl.Series) -> IntArray:
    """One code per cell; the cells are parsed and within the domain."""
    if cells.dtype == pl.Date and isinstance(domain, OrderedDomain):
        cells = cells.cast(pl.Int32).cast(pl.Float64)
    if cells.dtype.is_numeric() and isinstance(domain, OrderedDomain):
        found = np.searchsorted(domain.positions, cells.fill_null(domain.positions[0]).to_numpy())
        codes = found.astype(np.int64)
        codes[cells.is_null().to_numpy()] = domain.null_code
        return codes
    text = cells.cast(pl.String) if cells.dtype == pl.Date else as_text(cells)
    physical = text.cast(pl.Enum(list(domain.labels))).to_physical()
    return physical.cast(pl.Int64).fill_null(domain.null_code).to_numpy()
