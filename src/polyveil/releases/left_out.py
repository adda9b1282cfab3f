"""Which counts may be published where rows were left out: the input's, or only those of the rows released.

The input's counts let a reader compute the values of the rows left out. They are published if those rows, as a group,
keep every guarantee. Otherwise the manifest gives the released rows' counts, closeness is measured against those, and
nothing tells the values of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from polyveil.arrays import BoolArray
from polyveil.models import Attribute, Model, attribute_of
from polyveil.partition import Partition
from polyveil.table.coded import CodedTable
from polyveil.verification.left_out import judge_left_out


def released_reference(
    table: CodedTable, partition: Partition, models: Sequence[Model], attributes: Mapping[str, Attribute]
) -> dict[str, Attribute] | None:
    """The sensitive attributes with the released rows as the reference; None if the input's counts can be public."""
    shown = _shown(table, partition)
    if all(rows.all() for rows in shown.values()):
        return None
    released = {column.name: column.only(shown[column.name]) for column in table.sensitive}
    people = None if table.person is None else len(np.unique(table.person[partition.class_of_row < 0]))
    if not judge_left_out(models, attributes, {name: column.counts for name, column in released.items()}, people):
        return None
    return {name: attribute_of(column) for name, column in released.items()}


def _shown(table: CodedTable, partition: Partition) -> dict[str, BoolArray]:
    """The rows whose value of each sensitive column is released."""
    kept: BoolArray = partition.class_of_row >= 0
    shown = {column.name: kept for column in table.sensitive}
    for part in partition.slices:
        for name in part.attributes:
            shown[name] = np.asarray(part.group_of_row >= 0)
    return shown
