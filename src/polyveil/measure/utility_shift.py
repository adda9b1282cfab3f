"""What a reader reconstructs from a release: the distribution of each column, and how columns go together.

A reader takes every value that a cell stands for as equally likely, and every record of a group as equally likely to be
a row's. Distributions are compared by total variation, associations by the change of Cramer's V; both are 0 if the
release tells as much as the original does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy import sparse

from polyveil.arrays import FloatArray, IntArray
from polyveil.measure.boxes import Boxes, released_boxes
from polyveil.partition import Partition, Slice
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import OrderedDomain

MOST_BINS = 20
"""Columns with more values are compared in this many bins of neighbouring codes."""


@dataclass(frozen=True)
class Association:
    """Cramer's V of two columns: 0 independent, 1 one tells the other."""

    first: str
    second: str
    original: float
    released: float

    @property
    def shift(self) -> float:
        return abs(self.released - self.original)


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The table as a reader of the release sees it; `partition` is as the form publishes it."""

    table: CodedTable
    partition: Partition

    @cached_property
    def kept(self) -> IntArray:
        """Input rows that are released."""
        return np.flatnonzero(self.partition.class_of_row >= 0)

    @cached_property
    def boxes(self) -> Boxes:
        return released_boxes(self.table, self.partition)

    @cached_property
    def slices(self) -> tuple[Slice, ...]:
        names = tuple(column.name for column in self.table.sensitive)
        return self.partition.slices or (Slice(names, self.partition.class_of_row),)

    def quasi_shares(self, a: int, bin_of: IntArray, bins: int) -> FloatArray:
        """classes x bins: how likely each bin is behind the class's cell of quasi-identifier a."""
        column = self.table.quasi[a]
        if not isinstance(column.domain, OrderedDomain) and column.domain.as_set:
            codes = column.codes[self.kept].astype(np.int64)
            pairs = np.unique(np.stack([self.partition.class_of_row[self.kept], codes], axis=1), axis=0)
            found = np.zeros((self.boxes.classes, bins))
            np.add.at(found, (pairs[:, 0], bin_of[pairs[:, 1]]), 1.0)
            return np.asarray(found / found.sum(axis=1, keepdims=True))
        start, stop = stretch(column, self.boxes.low[:, a], self.boxes.high[:, a])
        members = np.zeros((column.domain.size + 1, bins))
        members[np.arange(column.domain.size) + 1, bin_of] = 1.0
        upto = np.cumsum(members, axis=0)
        return np.asarray((upto[stop] - upto[start]) / (stop - start)[:, None])

    def sensitive_shares(self, column: SensitiveColumn, bin_of: IntArray, bins: int) -> FloatArray:
        """groups x bins of the slice that holds the column; a last row stands for suppressed values."""
        groups = self.slice_of(column.name).group_of_row
        known = groups >= 0
        counts = np.zeros((int(groups.max(initial=-1)) + 1, bins))
        np.add.at(counts, (groups[known], bin_of[column.codes[known].astype(np.int64)]), 1.0)
        whole = counts.sum(axis=0, keepdims=True)
        counts = np.concatenate([counts, whole])
        return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))

    def slice_of(self, name: str) -> Slice:
        return next(part for part in self.slices if name in part.attributes)


def stretch(column: QuasiColumn, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """The codes each class's cell stands for: from start to stop - 1."""
    domain = column.domain
    if isinstance(domain, OrderedDomain):
        mixed = (high == domain.null_code) & (low != high)  # released as "anything"
        return np.where(mixed, 0, low), high + 1
    node = domain.hierarchy.common_ancestor(low, high)
    return domain.hierarchy.start[node], domain.hierarchy.stop[node]


def bins_of(size: int) -> tuple[IntArray, int]:
    """The bin of each code: itself, or neighbours together where there are many."""
    count = min(size, MOST_BINS)
    return np.arange(size, dtype=np.int64) * count // max(size, 1), count


def distribution_shifts(view: Reconstruction) -> dict[str, float]:
    """Per column the total variation between the original and what a reader reconstructs."""
    found = {}
    for a, quasi in enumerate(view.table.quasi):
        bin_of = np.arange(quasi.domain.size, dtype=np.int64)
        guess = view.boxes.sizes @ view.quasi_shares(a, bin_of, quasi.domain.size)
        found[quasi.name] = total_variation(np.bincount(quasi.codes, minlength=quasi.domain.size), guess)
    for column in view.table.sensitive:
        groups = view.slice_of(column.name).group_of_row
        released = np.bincount(column.codes[groups >= 0], minlength=column.domain.size)
        found[column.name] = total_variation(column.counts, released)
    return found


def associations(view: Reconstruction) -> tuple[Association, ...]:
    """Every pair of columns, before and after."""
    table = view.table
    columns: list[QuasiColumn | SensitiveColumn] = [*table.quasi, *table.sensitive]
    coarse = [bins_of(column.domain.size) for column in columns]
    shares = [_row_shares(view, i, *coarse[i]) for i in range(len(columns))]
    found = []
    for i, j in combinations(range(len(columns)), 2):
        before = contingency(coarse[i][0][columns[i].codes], coarse[j][0][columns[j].codes], coarse[i][1], coarse[j][1])
        after = _together(view, columns[i], columns[j], coarse[i], coarse[j], shares[i], shares[j])
        found.append(Association(columns[i].name, columns[j].name, cramers_v(before), cramers_v(after)))
    return tuple(found)


Shares = tuple[IntArray, FloatArray]
"""Which row of a share table each released row has, and the table."""


def _row_shares(view: Reconstruction, i: int, bin_of: IntArray, bins: int) -> Shares:
    quasi = len(view.table.quasi)
    if i < quasi:
        return view.partition.class_of_row[view.kept], view.quasi_shares(i, bin_of, bins)
    column = view.table.sensitive[i - quasi]
    shares = view.sensitive_shares(column, bin_of, bins)
    return view.slice_of(column.name).group_of_row[view.kept] % len(shares), shares  # -1 is the last row


def _together(
    view: Reconstruction,
    first: QuasiColumn | SensitiveColumn,
    second: QuasiColumn | SensitiveColumn,
    bins_first: tuple[IntArray, int],
    bins_second: tuple[IntArray, int],
    one: Shares,
    other: Shares,
) -> FloatArray:
    """The expected contingency table; columns published in one slice keep their true combinations."""
    if isinstance(first, SensitiveColumn) and isinstance(second, SensitiveColumn):
        part = view.slice_of(first.name)
        if second.name in part.attributes:
            known = part.group_of_row >= 0
            codes = bins_first[0][first.codes[known]], bins_second[0][second.codes[known]]
            return contingency(*codes, bins_first[1], bins_second[1])
    rows = np.ones(len(one[0]))
    meet = sparse.csr_array((rows, (one[0], other[0])), shape=(len(one[1]), len(other[1])))
    return np.asarray(one[1].T @ (meet @ other[1]))


def contingency(first: IntArray, second: IntArray, rows: int, columns: int) -> FloatArray:
    """How many rows have each combination."""
    cells = first.astype(np.int64) * columns + second
    return np.bincount(cells, minlength=rows * columns).reshape(rows, columns).astype(np.float64)


def cramers_v(table: FloatArray) -> float:
    """sqrt(chi^2 / (n * (least number of values - 1))); 0 if a column has one value."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    total = float(table.sum())
    least = min(table.shape) - 1 if table.size else 0
    if least < 1 or total <= 0:
        return 0.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / total
    return float(np.sqrt(max(((table - expected) ** 2 / expected).sum() / (total * least), 0.0)))


def total_variation(first: IntArray | FloatArray, second: IntArray | FloatArray) -> float:
    """Half the sum of the differences of two distributions given as counts; 1 against nothing at all."""
    totals = float(first.sum()), float(second.sum())
    if min(totals) <= 0:
        return 0.0 if totals[0] == totals[1] else 1.0
    return float(np.abs(first / totals[0] - second / totals[1]).sum() / 2)
