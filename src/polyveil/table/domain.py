"""Domains: the values a coded column can take, in code order, and what a range of codes costs.

Codes run from 0 to `size - 1`. Where a column has missing values, "missing" is a value of its own with the last code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from polyveil.arrays import FloatArray, IntArray
from polyveil.policy.hierarchy import Hierarchy
from polyveil.policy.rules import number_label


class NumberLabels(Sequence[str]):
    """How numbers are written in a release, each made when it is asked for: texts of millions would fill the memory."""

    def __init__(self, numbers: FloatArray) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> NumberLabels: ...
    def __getitem__(self, at: int | slice) -> str | NumberLabels:
        return NumberLabels(self._numbers[at]) if isinstance(at, slice) else number_label(self._numbers[at])

    def __iter__(self) -> Iterator[str]:
        return map(number_label, self._numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, eq=False)
class OrderedDomain:
    """Numbers, dates or ordered categories: sorted distinct values, generalized to ranges.

    `positions` are the numbers themselves, days since 1970 for dates, ranks for ordered categories.
    `labels` is how each value is written in a release.
    """

    kind: Literal["numeric", "date", "ordinal"]
    positions: FloatArray
    labels: Sequence[str]
    has_null: bool = False

    @property
    def size(self) -> int:
        return len(self.labels) + self.has_null

    @property
    def null_code(self) -> int:
        """The code of "missing", or -1."""
        return len(self.labels) if self.has_null else -1

    @cached_property
    def normalized(self) -> FloatArray:
        """Positions scaled to 0..1 (all 0 for a single value)."""
        if len(self.positions) < 2:
            return np.zeros(len(self.positions))
        # Numbers beyond half of the greatest may differ by more than there are numbers for.
        positions = (
            self.positions / 4 if np.abs(self.positions).max() > np.finfo(np.float64).max / 2 else self.positions
        )
        return np.asarray((positions - positions[0]) / (positions[-1] - positions[0]))

    def loss(self, low: npt.ArrayLike, high: npt.ArrayLike) -> FloatArray:
        """(hi - lo) / (U - L), element by element; a range that mixes values and "missing" costs 1."""
        low, high = np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)
        padded = np.append(self.normalized, 0.0)
        plain: FloatArray = padded[high] - padded[low]
        if not self.has_null:
            return plain
        return np.where(low == self.null_code, 0.0, np.where(high == self.null_code, 1.0, plain))


@dataclass(frozen=True, eq=False)
class TreeDomain:
    """Categories below a hierarchy, generalized to nodes - or, with `as_set`, released as the set of values."""

    hierarchy: Hierarchy
    has_null: bool = False
    as_set: bool = False

    @property
    def kind(self) -> Literal["categorical"]:
        return "categorical"

    @property
    def size(self) -> int:
        return self.hierarchy.leaf_count

    @property
    def null_code(self) -> int:
        """The code of "missing", or -1."""
        return self.size - 1 if self.has_null else -1

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The values in code order, without "missing"."""
        return tuple(label for label in self.hierarchy.leaves if label is not None)

    @cached_property
    def _node_loss(self) -> FloatArray:
        return self.hierarchy.loss_of_nodes()

    def loss(self, low: npt.ArrayLike, high: npt.ArrayLike) -> FloatArray:
        """(leaves - 1) / (all leaves - 1) of the lowest common ancestor of each range of codes."""
        return self._node_loss[self.hierarchy.common_ancestor(low, high)]

    def set_loss(self, distinct: npt.ArrayLike) -> FloatArray:
        """(values in the set - 1) / (all values - 1)."""
        return (np.asarray(distinct, dtype=np.float64) - 1.0) / max(self.size - 1, 1)


Domain = OrderedDomain | TreeDomain


def smallest_dtype(size: int) -> type[np.signedinteger[npt.NBitBase]]:
    """The smallest signed integer type that holds the codes of a domain."""
    for dtype in (np.int8, np.int16, np.int32):
        if size <= np.iinfo(dtype).max:
            return dtype  # type: ignore[return-value]
    return np.int64  # type: ignore[return-value]


def as_codes(codes: npt.ArrayLike, size: int) -> IntArray:
    """Codes in the smallest fitting dtype (typed as 64-bit for readers; kernels accept any width)."""
    return np.ascontiguousarray(codes, dtype=smallest_dtype(size))
