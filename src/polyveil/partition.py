"""Partition and Slice: which rows belong together, whoever decided it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polyveil.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Slice:
    """Sensitive attributes published together, and the group of each row (-1: suppressed in this slice)."""

    attributes: tuple[str, ...]
    group_of_row: IntArray


@dataclass(frozen=True, eq=False)
class Partition:
    """One class per row, numbered from 0 without gaps; -1 is a suppressed row.

    A sliced release also has one partition per slice. If columns are recoded one by one, `cells` has for each
    quasi-identifier the part of its values that each row is released with; else it is empty, and a row's cells are what
    its class has in common. `found` holds what the method chose by itself, for example
    the number of strata; it is reported and published, so it must say nothing about a person.
    """

    class_of_row: IntArray
    slices: tuple[Slice, ...] = ()
    found: Mapping[str, Any] = field(default_factory=dict)
    cells: tuple[IntArray, ...] = ()

    @property
    def classes(self) -> int:
        return int(self.class_of_row.max(initial=-1)) + 1

    @property
    def suppressed(self) -> int:
        return int(np.count_nonzero(self.class_of_row < 0))


def partition_of(labels: IntArray, **found: Any) -> Partition:
    """Number classes from 0 in order of the labels, whatever labels the method used; negative is suppressed."""
    kept = labels >= 0
    class_of_row = np.full(len(labels), -1, dtype=np.int64)
    _, class_of_row[kept] = np.unique(labels[kept], return_inverse=True)
    return Partition(class_of_row, found=found)
