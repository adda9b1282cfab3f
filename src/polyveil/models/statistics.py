"""Class statistics: what privacy models judge. Sizes, and per sensitive attribute how often each class has each value.

Kept sparse (class, code, count), because a table may have a million classes and an attribute twenty thousand
values; models see them as dense blocks of classes of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from polyveil.models.ground import Ground, divergence
from polyveil.policy.hierarchy import IntArray

BLOCK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Attribute:
    """A sensitive attribute as models see it: how many values, how far apart, how secret, how common overall."""

    name: str
    size: int
    whole: IntArray
    ground: Ground
    levels: IntArray


NO_ATTRIBUTE = Attribute("", 0, np.zeros(0, np.int64), divergence("equal"), np.zeros(0, np.int64))
"""Stands in a block for models that look at class sizes alone."""


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive classes, densely: `counts[i, v]` rows of class `first + i` have value v."""

    first: int
    sizes: IntArray
    counts: IntArray
    attribute: Attribute


@dataclass(frozen=True, eq=False)
class Sparse:
    """Non-zero counts of one attribute, sorted by class then code; class c owns entries begin[c]:begin[c+1]."""

    begin: IntArray
    code: IntArray
    count: IntArray


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """Sizes of the classes (64-bit) and the histograms of the sensitive attributes in them."""

    sizes: IntArray
    attributes: Mapping[str, Attribute]
    histograms: Mapping[str, Sparse]

    @property
    def classes(self) -> int:
        return len(self.sizes)

    def blocks(self, attribute: str) -> Iterator[Block]:
        """All classes' histograms of one attribute, a bounded number of cells at a time; "" gives the sizes alone."""
        if not attribute:
            counts = np.zeros((self.classes, 0), dtype=np.int64)
            yield Block(first=0, sizes=self.sizes, counts=counts, attribute=NO_ATTRIBUTE)
            return
        about = self.attributes[attribute]
        sparse = self.histograms[attribute]
        step = max(1, BLOCK_CELLS // max(about.size, 1))
        for first in range(0, self.classes, step):
            last = min(first + step, self.classes)
            counts = np.zeros((last - first, about.size), dtype=np.int64)
            begin, end = sparse.begin[first], sparse.begin[last]
            owner = np.repeat(np.arange(last - first), np.diff(sparse.begin[first : last + 1]))
            counts[owner, sparse.code[begin:end]] = sparse.count[begin:end]
            yield Block(first=first, sizes=self.sizes[first:last], counts=counts, attribute=about)


def from_classes(
    class_of_row: IntArray, codes: Mapping[str, IntArray], attributes: Mapping[str, Attribute]
) -> ClassStatistics:
    """Count: `class_of_row` numbers classes from 0 without gaps; negative rows (suppressed) are left out."""
    kept = class_of_row >= 0
    everyone = bool(kept.all())
    owner = class_of_row if everyone else class_of_row[kept]
    classes = int(owner.max(initial=-1)) + 1
    histograms = {
        name: _sparse(owner, codes[name] if everyone else codes[name][kept], about.size, classes)
        for name, about in attributes.items()
    }
    sizes = np.bincount(owner, minlength=classes).astype(np.int64)
    return ClassStatistics(sizes=sizes, attributes=attributes, histograms=histograms)


def _sparse(owner: IntArray, codes: IntArray, size: int, classes: int) -> Sparse:
    key, count = np.unique(owner.astype(np.int64) * size + codes, return_counts=True)
    begin = np.searchsorted(key, np.arange(classes + 1, dtype=np.int64) * size)
    return Sparse(begin=begin.astype(np.int64), code=key % max(size, 1), count=count.astype(np.int64))
