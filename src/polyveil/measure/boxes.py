"""What each class has in common: per quasi-identifier the range of codes its rows span."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from polyveil.arrays import IntArray
from polyveil.partition import Partition
from polyveil.table.coded import CodedTable
from polyveil.table.domain import TreeDomain


@dataclass(frozen=True, eq=False)
class Boxes:
    """Per class and quasi-identifier (classes x quasi): least and greatest code, and number of values.

    `distinct` is counted for columns released as sets and 0 elsewhere: nobody else needs it.
    """

    sizes: IntArray
    low: IntArray
    high: IntArray
    distinct: IntArray

    @property
    def classes(self) -> int:
        return len(self.sizes)


def class_boxes(table: CodedTable, class_of_row: IntArray) -> Boxes:
    """The box of every class; classes are numbered from 0 without gaps, negative rows (suppressed) are left out."""
    owner = np.asarray(class_of_row, dtype=np.int64)
    order = np.argsort(owner, kind="stable")
    order = order[int(np.count_nonzero(owner < 0)) :]
    sizes = np.bincount(owner[order]).astype(np.int64) if len(order) else np.zeros(0, dtype=np.int64)
    if not sizes.all():
        raise ValueError("classes are numbered from 0 without gaps, but some number has no row")
    begin = np.cumsum(sizes) - sizes
    low, high, distinct = (np.zeros((len(sizes), len(table.quasi)), dtype=np.int64) for _ in range(3))
    for a, column in enumerate(table.quasi if len(sizes) else ()):
        codes = column.codes[order]
        low[:, a] = np.minimum.reduceat(codes, begin)
        high[:, a] = np.maximum.reduceat(codes, begin)
        if isinstance(column.domain, TreeDomain) and column.domain.as_set:
            distinct[:, a] = _values_per_class(owner[order], codes, column.domain.size, len(sizes))
    return Boxes(sizes=sizes, low=low, high=high, distinct=distinct)


def released_boxes(table: CodedTable, partition: Partition) -> Boxes:
    """What is released of every class: what its rows have in common, or the parts of columns recoded one by one."""
    boxes = class_boxes(table, partition.class_of_row)
    if not partition.cells:
        return boxes
    kept = np.flatnonzero(partition.class_of_row >= 0)
    first = kept[np.unique(partition.class_of_row[kept], return_index=True)[1]]
    low, high, distinct = boxes.low.copy(), boxes.high.copy(), boxes.distinct.copy()
    for a, (column, parts) in enumerate(zip(table.quasi, partition.cells, strict=True)):
        found = class_boxes(replace(table, quasi=(column,)), parts)
        for all_columns, one in ((low, found.low), (high, found.high), (distinct, found.distinct)):
            all_columns[:, a] = one[parts[first], 0]
    return Boxes(boxes.sizes, low, high, distinct)


def _values_per_class(owner: IntArray, codes: IntArray, size: int, classes: int) -> IntArray:
    pairs = np.unique(owner * size + codes)
    return np.bincount(pairs // size, minlength=classes).astype(np.int64)
