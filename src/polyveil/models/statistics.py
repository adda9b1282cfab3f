"""Class statistics: what privacy models judge. Sizes, and per sensitive attribute how often each class has each value.

Kept sparse (class, code, count), because a table may have a million classes and an attribute twenty thousand
values, but a class never has more values than rows. Models see one attribute of all classes as a `Block`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.ground import GroundDistance, divergence
from polyveil.models.units import Unit

DENSE_CELLS = 1_000_000
"""Cells of a dense piece of a block: 8 MB, so that a few of them stay near the processor."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """A sensitive attribute as models see it: how many values, how far apart, how secret, how common overall."""

    name: str
    size: int
    whole: IntArray
    ground: GroundDistance
    levels: IntArray
    weighted: IntArray | None = field(default=None, kw_only=True)
    """The reference with sampling weights, where it is not that of the classes that are judged."""

    @cached_property
    def total(self) -> int:
        """Rows of the reference distribution."""
        return int(self.whole.sum(dtype=np.int64))

    @cached_property
    def whole_share(self) -> FloatArray:
        """The reference distribution Q, one share per value."""
        return self.whole / max(self.total, 1)

    def against(self, whole: IntArray) -> Attribute:
        """The same attribute with another reference distribution, for example that of the released rows."""
        return replace(self, whole=np.asarray(whole, dtype=np.int64))


NO_ATTRIBUTE = Attribute("", 0, np.zeros(0, np.int64), divergence("equal"), np.zeros(0, np.int64))
"""Stands in a block for models that look at class sizes alone."""


@dataclass(frozen=True, eq=False)
class Sparse:
    """Non-zero counts of one attribute, sorted by class then code; class c owns entries begin[c]:begin[c+1]."""

    begin: IntArray
    code: IntArray
    count: IntArray


@dataclass(frozen=True, eq=False)
class Block:
    """All classes seen from one attribute: `count[i]` rows of class `owner[i]` have value `code[i]`."""

    sizes: IntArray
    begin: IntArray
    code: IntArray
    count: IntArray
    attribute: Attribute

    @property
    def classes(self) -> int:
        return len(self.sizes)

    @cached_property
    def owner(self) -> IntArray:
        """The class of each entry."""
        return np.repeat(np.arange(self.classes, dtype=np.int64), self.distinct)

    @property
    def distinct(self) -> IntArray:
        """How many different values each class has."""
        return np.diff(self.begin)

    @cached_property
    def share(self) -> FloatArray:
        """P: each entry's share of its class."""
        return self.count / self.sizes[self.owner]

    @cached_property
    def whole_share(self) -> FloatArray:
        """Q: the share of each entry's value in the whole table."""
        return self.attribute.whole_share[self.code]

    @property
    def absent_share(self) -> FloatArray:
        """The share of the whole table that has values a class lacks, from whole counts so that 0 is 0."""
        present = self.sum(self.attribute.whole[self.code].astype(np.float64))
        return (self.attribute.total - present) / max(self.attribute.total, 1)

    def sum(self, values: FloatArray) -> FloatArray:
        """One value per entry, added up class by class."""
        return np.bincount(self.owner, weights=values, minlength=self.classes).astype(np.float64, copy=False)

    def greatest(self, values: FloatArray | IntArray) -> FloatArray:
        """One value per entry, the greatest of each class; 0 for a class without rows."""
        greatest = np.zeros(self.classes)
        filled = self.distinct > 0
        if filled.any():
            greatest[filled] = np.maximum.reduceat(values, self.begin[:-1][filled])
        return greatest

    def dense(self, width: int) -> Iterator[tuple[slice, IntArray]]:
        """Consecutive classes with their full count rows, as many at a time as `width` numbers per class allow."""
        step = max(1, DENSE_CELLS // max(width, 1))
        for first in range(0, self.classes, step):
            last = min(first + step, self.classes)
            entries = slice(int(self.begin[first]), int(self.begin[last]))
            counts = np.zeros((last - first, self.attribute.size), dtype=np.int64)
            counts[self.owner[entries] - first, self.code[entries]] = self.count[entries]
            yield slice(first, last), counts


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """Sizes of the classes (64-bit) and the histograms of the sensitive attributes in them."""

    sizes: IntArray
    attributes: Mapping[str, Attribute]
    histograms: Mapping[str, Sparse]
    alike: IntArray | None = field(default=None, kw_only=True)
    """Per class the fewest rows that share its cells of any few quasi-identifiers, where a policy asks for that."""
    population: IntArray | None = field(default=None, kw_only=True)
    """Per class the people of a table of the population who fit its cells, where there is such a table."""

    sampling: FloatArray | None = field(default=None, kw_only=True)
    """Per class the sampling weight that is published for its rows, where a column has the role weight."""

    in_people: ClassVar[bool] = False
    """Whether people are counted, who may have several rows."""

    @property
    def classes(self) -> int:
        return len(self.sizes)

    def block(self, attribute: str | None) -> Block:
        """All classes seen from one attribute; None gives the sizes alone."""
        if attribute is None:
            nothing = np.zeros(0, dtype=np.int64)
            return Block(self.sizes, np.zeros(self.classes + 1, dtype=np.int64), nothing, nothing, NO_ATTRIBUTE)
        found = self.histograms[attribute]
        return Block(self.sizes, found.begin, found.code, found.count, self.attributes[attribute])

    def blocks(self, attribute: str | None, unit: Unit) -> tuple[Block, ...]:
        """Every way of counting that a model must hold in; one row per person leaves just one."""
        return (self.block(attribute),)


def from_classes(
    class_of_row: IntArray, codes: Mapping[str, IntArray], attributes: Mapping[str, Attribute]
) -> ClassStatistics:
    """Count: `class_of_row` numbers classes from 0 without gaps; negative rows (suppressed) are left out."""
    kept = class_of_row >= 0
    everyone = bool(kept.all())
    owner = class_of_row if everyone else class_of_row[kept]
    classes = int(owner.max(initial=-1)) + 1
    histograms = {
        name: sparse(owner, codes[name] if everyone else codes[name][kept], about.size, classes)
        for name, about in attributes.items()
    }
    sizes = np.bincount(owner, minlength=classes).astype(np.int64)
    if classes and not sizes.all():
        raise ValueError("classes are numbered from 0 without gaps, but some number has no row")
    return ClassStatistics(sizes=sizes, attributes=attributes, histograms=histograms)


def one_class(attributes: Mapping[str, Attribute], rows: int) -> ClassStatistics:
    """The whole table as one class, from the counts of its values."""
    histograms = {}
    for name, about in attributes.items():
        code = np.flatnonzero(about.whole).astype(np.int64)
        histograms[name] = Sparse(np.array([0, len(code)], dtype=np.int64), code, about.whole[code])
    return ClassStatistics(np.array([rows], dtype=np.int64), attributes, histograms)


def sparse(owner: IntArray, codes: IntArray, size: int, classes: int, weights: IntArray | None = None) -> Sparse:
    """Count values class by class, each row once or with its weight."""
    cell = owner.astype(np.int64) * size + codes
    if classes * size <= 4 * len(cell) + DENSE_CELLS:
        # Few cells: counting into all of them is cheaper than sorting the rows.
        every = np.bincount(cell, weights=weights, minlength=classes * size)
        key = np.flatnonzero(every)
        count = every[key]
    elif weights is None:
        key, count = np.unique(cell, return_counts=True)
    else:
        key, position = np.unique(cell, return_inverse=True)
        count = np.bincount(position, weights=weights)
    begin = np.searchsorted(key, np.arange(classes + 1, dtype=np.int64) * size)
    return Sparse(
        begin=begin.astype(np.int64), code=(key % max(size, 1)).astype(np.int64), count=count.astype(np.int64)
    )
