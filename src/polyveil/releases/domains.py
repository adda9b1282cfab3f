"""The domains of the quasi-identifiers as the released rows show them.

A lowest or highest value, a value of a set or a missing cell that only rows left out have would tell of these rows, so
a release describes the domains of the rows it releases, and its losses are relative to these.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyveil.arrays import BoolArray, IntArray
from polyveil.policy import Policy
from polyveil.policy.hierarchy import from_tree
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import OrderedDomain, TreeDomain


def with_released_domains(table: CodedTable, class_of_row: IntArray, policy: Policy) -> CodedTable:
    """The table with the quasi-identifiers' domains as released; codes of rows left out mean nothing any more."""
    kept: BoolArray = class_of_row >= 0
    if kept.all():
        return table
    free = {name for name, about in policy.columns.items() if about.hierarchy is None or about.recode == "set"}
    return replace(table, quasi=tuple(_narrowed(column, kept, column.name in free) for column in table.quasi))


def _narrowed(column: QuasiColumn, kept: BoolArray, free: bool) -> QuasiColumn:
    """`free`: the column's values are those of its rows, and no hierarchy of the policy names them."""
    domain = column.domain
    present = np.bincount(column.codes[kept], minlength=domain.size) > 0
    has_null = domain.has_null and bool(present[domain.null_code])
    if isinstance(domain, OrderedDomain):
        return _narrowed_range(column, domain, present, has_null, kept)
    tree = domain.hierarchy
    if domain.has_null and not has_null:
        tree = from_tree(tree.to_nested(), tree.root)  # "missing" is the last leaf: the other codes stay
    if not free:
        return replace(column, domain=replace(domain, hierarchy=tree, has_null=has_null))
    labels = [label for label, there in zip(domain.labels, present, strict=False) if there]
    flat = from_tree(dict.fromkeys(labels), tree.root, null=has_null)
    number = np.cumsum(present) - 1
    narrow = TreeDomain(flat, has_null, domain.as_set)
    return replace(column, domain=narrow, codes=np.where(kept, number[column.codes], 0))


def _narrowed_range(
    column: QuasiColumn, domain: OrderedDomain, present: BoolArray, has_null: bool, kept: BoolArray
) -> QuasiColumn:
    if domain.kind == "ordinal":  # the policy gives all its values
        return replace(column, domain=replace(domain, has_null=has_null))
    values = np.flatnonzero(present[: len(domain.labels)])
    first, end = (int(values[0]), int(values[-1]) + 1) if len(values) else (0, 0)
    narrow = OrderedDomain(domain.kind, domain.positions[first:end], domain.labels[first:end], has_null)
    codes = np.minimum(column.codes.astype(np.int64) - first, end - first)  # "missing" has the code after the last
    return replace(column, domain=narrow, codes=np.where(kept, codes, 0))
