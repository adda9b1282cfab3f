"""Distances between single values, and between tuples of values of several attributes.

A ground distance is given as weighted ranges of codes (see `ground`); the distance between two values is the weight of
the ranges that hold one of them and not the other. Here the same distance gets coordinates, so that any pair costs a
few additions however many values there are: a place on a line for ordered values, a path of labels for hierarchies.

Between tuples the distance is the *greatest* of the attributes' distances, not their mean. Then the joint distance of
several attributes is never less than that of any of them or of any part of them: asking for more columns never asks
for less protection. A mean would let a column that is close to the whole table hide one that is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.ground import GroundDistance


@dataclass(frozen=True, eq=False)
class ValueSpace:
    """Coordinates of the values of one attribute; row u belongs to code u.

    The distance of u and v is |place_u - place_v| + |aside_u - aside_v| plus, at every level where their labels differ,
    the weights of both labels. `aside` is where a missing value of an ordered attribute hangs off the line.
    """

    place: FloatArray
    aside: FloatArray
    label: IntArray
    weight: FloatArray

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        """The distance of each pair of codes (arrays of any shapes that fit together)."""
        found = np.abs(self.place[first] - self.place[second]) + np.abs(self.aside[first] - self.aside[second])
        for level in range(self.label.shape[1]):
            differs = self.label[first, level] != self.label[second, level]
            found = found + differs * (self.weight[first, level] + self.weight[second, level])
        return found

    def to_nearest(self, chosen: IntArray) -> FloatArray:
        """The distance of every value from the nearest of the chosen ones."""
        everything = np.arange(len(self.place))
        if self.label.shape[1] == 0 and len(chosen) > 1:
            return self._to_nearest_on_line(chosen)
        nearest = np.full(len(everything), np.inf)
        for one in chosen:
            nearest = np.minimum(nearest, self.between(everything, np.full(1, one)))
        return nearest

    def _to_nearest_on_line(self, chosen: IntArray) -> FloatArray:
        """Two neighbours are enough on a line; a missing value hangs aside and is looked at by itself."""
        nearest = np.full(len(self.place), np.inf)
        on_line = np.sort(self.place[chosen[self.aside[chosen] == 0]])
        if len(on_line):
            right = np.searchsorted(on_line, self.place)
            left = on_line[np.maximum(right - 1, 0)]
            nearest = np.minimum(np.abs(self.place - left), np.abs(self.place - on_line[right % len(on_line)]))
            nearest = nearest + self.aside
        for one in chosen[self.aside[chosen] > 0]:
            nearest = np.minimum(nearest, self.between(np.arange(len(self.place)), np.full(1, one)))
        return nearest


def value_space(ground: GroundDistance, size: int) -> ValueSpace:
    """The coordinates of a ground distance over `size` codes; divergences, which have none, count every pair as 1."""
    if ground.distance == "ordered":
        return _line(ground, size)
    if ground.distance == "hierarchical":
        return _paths(ground, size)
    half = np.full((size, 1), 0.5)
    return ValueSpace(np.zeros(size), np.zeros(size), np.arange(size, dtype=np.int64)[:, None], half)


def _line(ground: GroundDistance, size: int) -> ValueSpace:
    """Places from 0 to 1 by the weight of the ranges between a value and the first one."""
    missing = ground.stop == size  # without missing values, no range reaches the end of the codes
    change = np.zeros(size + 1)
    for start, stop, weight in zip(ground.start, ground.stop, ground.weight, strict=True):
        if start == 0:
            change[stop] += weight  # holds the first value: whoever is beyond it lies farther
        else:
            change[start] += weight
            change[stop] -= weight
    place, aside = np.cumsum(change)[:size], np.zeros(size)
    if missing.any():
        aside[size - 1] = float(ground.weight[missing].sum())
        place[size - 1] = float(place[: size - 1].max(initial=0.0)) / 2.0
    return ValueSpace(place, aside, np.zeros((size, 0), dtype=np.int64), np.zeros((size, 0)))


def _paths(ground: GroundDistance, size: int) -> ValueSpace:
    """Each value's nodes from the top down; ranges come in preorder, so each lies within the last wider one."""
    order = np.lexsort((-ground.stop, ground.start))
    open_until: list[int] = []
    levels = np.zeros(len(order), dtype=np.int64)
    for r in order:
        while open_until and open_until[-1] <= ground.start[r]:
            open_until.pop()
        levels[r] = len(open_until)
        open_until.append(int(ground.stop[r]))
    deep = int(levels.max(initial=-1)) + 1
    label, weight = np.full((size, deep), -1, dtype=np.int64), np.zeros((size, deep))
    for r in range(len(levels)):
        label[ground.start[r] : ground.stop[r], levels[r]] = r
        weight[ground.start[r] : ground.stop[r], levels[r]] = ground.weight[r]
    return ValueSpace(np.zeros(size), np.zeros(size), label, weight)


@dataclass(frozen=True, eq=False)
class TupleSpace:
    """Coordinates of tuples (tuples x attributes); the labels of attribute a are columns `first[a]:first[a + 1]`."""

    place: FloatArray
    aside: FloatArray
    label: IntArray
    weight: FloatArray
    first: IntArray

    @property
    def attributes(self) -> int:
        return int(self.place.shape[1])

    def part(self, a: int, i: IntArray | int, j: IntArray | int) -> FloatArray:
        """The distance of tuples i and j in attribute a alone."""
        found = np.abs(self.place[i, a] - self.place[j, a]) + np.abs(self.aside[i, a] - self.aside[j, a])
        for level in range(self.first[a], self.first[a + 1]):
            differs = self.label[i, level] != self.label[j, level]
            found = found + differs * (self.weight[i, level] + self.weight[j, level])
        return np.asarray(found)

    def between(self, i: IntArray | int, j: IntArray | int) -> FloatArray:
        """The distance of tuples i and j: the greatest over the attributes."""
        found = self.part(0, i, j)
        for a in range(1, self.attributes):
            found = np.maximum(found, self.part(a, i, j))
        return found

    def take(self, tuples: IntArray) -> TupleSpace:
        """Some of the tuples, in a new order."""
        return TupleSpace(self.place[tuples], self.aside[tuples], self.label[tuples], self.weight[tuples], self.first)


def tuple_space(spaces: Sequence[ValueSpace], codes: IntArray) -> TupleSpace:
    """The coordinates of tuples given by their codes (tuples x attributes)."""
    columns = [(space, codes[:, a]) for a, space in enumerate(spaces)]
    return TupleSpace(
        place=np.stack([space.place[at] for space, at in columns], axis=1),
        aside=np.stack([space.aside[at] for space, at in columns], axis=1),
        label=np.concatenate([space.label[at] for space, at in columns], axis=1),
        weight=np.concatenate([space.weight[at] for space, at in columns], axis=1),
        first=np.append(0, np.cumsum([space.label.shape[1] for space in spaces])).astype(np.int64),
    )
