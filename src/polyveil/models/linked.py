"""Statistics of a release in linked tables: each sensitive attribute is judged in the groups of its own table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from polyveil.arrays import IntArray
from polyveil.models.statistics import Attribute, Block, ClassStatistics, from_classes
from polyveil.models.units import Unit


@dataclass(frozen=True, eq=False)
class LinkedStatistics(ClassStatistics):
    """`sizes` are those that k is about; `groups` holds, per attribute, the sizes of the groups of its table."""

    groups: Mapping[str, IntArray] = field(default_factory=dict)

    def block(self, attribute: str | None) -> Block:
        if attribute is None:
            return super().block(None)
        sparse = self.histograms[attribute]
        return Block(self.groups[attribute], sparse.begin, sparse.code, sparse.count, self.attributes[attribute])


@dataclass(frozen=True, eq=False)
class TableStatistics(ClassStatistics):
    """Classes of people over several tables: each attribute is counted in the rows of its own; `sizes` are people."""

    tables: Mapping[str, ClassStatistics] = field(default_factory=dict)
    """Attribute -> the statistics of its table."""

    @staticmethod
    def of(people: IntArray, tables: Sequence[ClassStatistics]) -> TableStatistics:
        """The statistics of every table in one."""
        return TableStatistics(
            people,
            {name: about for table in tables for name, about in table.attributes.items()},
            {name: sparse for table in tables for name, sparse in table.histograms.items()},
            {name: table for table in tables for name in table.attributes},
        )

    def block(self, attribute: str | None) -> Block:
        return super().block(None) if attribute is None else self.tables[attribute].block(attribute)

    def blocks(self, attribute: str | None, unit: Unit) -> tuple[Block, ...]:
        return (super().block(None),) if attribute is None else self.tables[attribute].blocks(attribute, unit)


def from_groups(
    sizes: IntArray | None,
    slices: Sequence[tuple[Sequence[str], IntArray]],
    codes: Mapping[str, IntArray],
    attributes: Mapping[str, Attribute],
) -> LinkedStatistics:
    """Count each slice (its attributes, the group of each row, negative where suppressed) on its own.

    `sizes` are the classes of rows that look alike in the quasi-identifiers; None where those are published as they
    are: then hiding among k rows means the groups, and their sizes stand in.
    """
    groups: dict[str, IntArray] = {}
    histograms = {}
    own_sizes = []
    for names, group_of_row in slices:
        counted = from_classes(group_of_row, codes, {name: attributes[name] for name in names})
        own_sizes.append(counted.sizes)
        for name in names:
            groups[name], histograms[name] = counted.sizes, counted.histograms[name]
    if sizes is None:
        sizes = np.concatenate(own_sizes) if own_sizes else np.zeros(0, dtype=np.int64)
    return LinkedStatistics(sizes, {name: attributes[name] for name in histograms}, histograms, groups)
