"""k for any few quasi-identifiers: whoever knows at most m of a person's values finds nobody, or k rows that fit.

All quasi-identifiers together may be too many: nobody knows twenty values of a person, and hiding all of them among k
rows costs nearly all detail. The guarantee is about every combination of at most m columns: each combination of cells
in them that a row has is shared by at least k rows, cell by cell equal. Cells may overlap (`[20-29]`, `[25-34]`, `*`).
Somebody who knows m values finds the rows whose cells fit, and these consist of sets of k rows or more that are equal
in these columns. Rows that merely fit, such as those with `*`, do not count for others: a person who is the only one
with a value would still stand out among them.

A group that shares all quasi-identifiers shares any of them, so the size of a class is a lower bound where the
combinations were not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.base import Model
from polyveil.models.statistics import Block, ClassStatistics
from polyveil.policy.schema import Policy


class AnyColumns(Model):
    """Every combination of cells of at most m quasi-identifiers is shared by at least k rows."""

    key = "any-columns"
    parameter = "any"
    title = "k-anonymity in any few quasi-identifiers"
    source = "Terrovitis, Mamoulis & Kalnis 2008 (for sets of items)"
    helps_against = "finding a known person's row by linking a few quasi-identifiers with another table"
    leaves_open = "whoever knows more quasi-identifiers of a person may find their row, and all it tells"
    direction = "at least"
    monotone = False

    def __init__(self, k: int, columns: int) -> None:
        super().__init__(k)
        self.columns = columns

    def measure(self, block: Block) -> FloatArray:
        return block.sizes.astype(np.float64)

    def measure_all(self, statistics: ClassStatistics) -> FloatArray:
        counted = None if statistics.in_people else statistics.alike
        return super().measure_all(statistics) if counted is None else counted.astype(np.float64)

    def statement(self) -> str:
        some = "quasi-identifier" if self.columns == 1 else f"combination of at most {self.columns} quasi-identifiers"
        return f"in every {some}, the cells of a row are shared by at least {self.threshold:g} rows"

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        k, columns = policy.privacy.k, policy.privacy.any
        if k is None or columns is None or policy.release.form not in (None, "generalized"):
            return ()
        return (cls(k, columns),)


def least_alike(class_of_row: IntArray, cells: Sequence[IntArray], columns: int) -> IntArray:
    """For each class the fewest rows that share its cells of any so many columns; cells are numbered from 0."""
    sizes = np.bincount(class_of_row)
    first = np.unique(class_of_row, return_index=True)[1]
    parts = [np.asarray(numbers[first], dtype=np.int64) for numbers in cells]
    fewest = np.full(len(sizes), len(class_of_row), dtype=np.int64)
    for some in combinations(parts, min(columns, len(parts))):
        key = np.zeros(len(sizes), dtype=np.int64)
        for numbers in some:
            key = np.unique(key * (int(numbers.max(initial=0)) + 1) + numbers, return_inverse=True)[1]
        fewest = np.minimum(fewest, np.bincount(key, weights=sizes)[key].astype(np.int64))
    return fewest
