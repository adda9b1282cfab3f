"""Statistics in people: what models judge where a person may have several rows.

Every model is judged twice, and both must hold: on the rows, which is what a reader without keys sees, and on people.

- k counts the people of a class.
- Models that count who has a value (`unit = "having"`) count the people who have it in any of their rows.
- Models that compare distributions (`unit = "sharing"`) give every person the same weight, shared over their rows.
  Weights are whole numbers, so that sums are exact: a person weighs 2520, which rows up to ten share evenly; of more
  rows those with the first values weigh one more than others. In tables of more than a million people they weigh 60.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from polyveil.arrays import IntArray
from polyveil.models.statistics import NO_ATTRIBUTE, Attribute, Block, ClassStatistics, Sparse, from_classes, sparse
from polyveil.models.units import Unit

FINE, COARSE = 2520, 60
"""The weight of a person: divisible by 1 to 10, and by 1 to 6."""
MANY_PEOPLE = 1_000_000


@dataclass(frozen=True, eq=False)
class PeopleStatistics(ClassStatistics):
    """`sizes` and `histograms` count rows; `people`, `having` and `sharing` count people as described above."""

    in_people: ClassVar[bool] = True
    people: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    weight: int = FINE
    having: Mapping[str, Sparse] = field(default_factory=dict)
    sharing: Mapping[str, Sparse] = field(default_factory=dict)
    shared_attributes: Mapping[str, Attribute] = field(default_factory=dict)

    def blocks(self, attribute: str | None, unit: Unit) -> tuple[Block, ...]:
        if attribute is None:
            nothing = np.zeros(0, dtype=np.int64)
            begin = np.zeros(self.classes + 1, dtype=np.int64)
            return (Block(self.people, begin, nothing, nothing, NO_ATTRIBUTE),)
        if unit == "having":
            found, sizes, about = self.having[attribute], self.people, self.attributes[attribute]
        else:
            found, sizes = self.sharing[attribute], self.people * self.weight
            about = self.shared_attributes[attribute]
        return (self.block(attribute), Block(sizes, found.begin, found.code, found.count, about))


@dataclass(frozen=True, eq=False)
class People:
    """Who each row is about, each row's part of its person's weight, and the attributes with people as reference."""

    person: IntArray
    weight: int
    weights: Mapping[str, IntArray]
    shared: Mapping[str, Attribute]

    def take(self, rows: IntArray) -> People:
        """The same people with only some of their rows, which keep their weights."""
        weights = {name: found[rows] for name, found in self.weights.items()}
        return replace(self, person=self.person[rows], weights=weights)


@dataclass(frozen=True, eq=False)
class Everybody:
    """All people of a table too large to hold: how many, what they weigh, and per attribute who shares and has what."""

    count: int
    weight: int
    shared: Mapping[str, Attribute]
    having: Mapping[str, IntArray]

    def as_one_class(self, rows: ClassStatistics) -> PeopleStatistics:
        """All people in one class, of which `rows` are the statistics in rows."""

        def all_of(counts: IntArray) -> Sparse:
            present = np.flatnonzero(counts)
            return Sparse(np.array([0, len(present)]), present, counts[present])

        return PeopleStatistics(
            sizes=rows.sizes,
            attributes=rows.attributes,
            histograms=rows.histograms,
            people=np.array([self.count]),
            weight=self.weight,
            having={name: all_of(counts) for name, counts in self.having.items()},
            sharing={name: all_of(about.whole) for name, about in self.shared.items()},
            shared_attributes=self.shared,
        )


def weight_among(people: int) -> int:
    """What a person weighs in a table of so many."""
    return FINE if people <= MANY_PEOPLE else COARSE


def people_of(
    person: IntArray,
    codes: Mapping[str, IntArray],
    attributes: Mapping[str, Attribute],
    everybody: Everybody | None = None,
) -> People:
    """The people of a whole table, which is the reference; or of a part of it, and then `everybody` is."""
    weight = weight_among(len(np.unique(person))) if everybody is None else everybody.weight
    weights = {name: weight_of_rows(person, weight, codes[name]) for name in attributes}
    if everybody is not None:
        return People(person, weight, weights, everybody.shared)
    shared = {
        name: about.against(np.bincount(codes[name], weights=weights[name], minlength=about.size).astype(np.int64))
        for name, about in attributes.items()
    }
    return People(person, weight, weights, shared)


def numbered(people: People) -> People:
    """The same people, numbered from 0 without gaps."""
    return replace(people, person=np.unique(people.person, return_inverse=True)[1])


def rows_of_people(person: IntArray) -> IntArray:
    """For each row, how many rows its person has."""
    _, number, rows = np.unique(person, return_inverse=True, return_counts=True)
    return np.asarray(rows[number], dtype=np.int64)


def told_apart(class_of_row: IntArray, person: IntArray) -> IntArray:
    """Classes as a reader of keys sees them, who knows how many rows a person has; rows left out (-1) stay so."""
    kept = class_of_row >= 0
    found = np.full(len(class_of_row), -1, dtype=np.int64)
    rows = rows_of_people(person[kept])
    found[kept] = np.unique(class_of_row[kept] * (rows.max(initial=0) + 1) + rows, return_inverse=True)[1]
    return found


def weight_of_rows(person: IntArray, weight: int, codes: IntArray) -> IntArray:
    """Each row's part of its person's weight; what does not divide evenly goes to the rows with the least codes.

    So the order of the rows does not matter.
    """
    _, number, rows = np.unique(person, return_inverse=True, return_counts=True)
    order = np.lexsort((codes, number))
    begin = np.cumsum(rows) - rows
    rank = np.empty(len(person), dtype=np.int64)
    rank[order] = np.arange(len(person)) - begin[number[order]]
    of_row = rows[number]
    return (weight // of_row + (rank < weight % of_row)).astype(np.int64)


def from_people(
    class_of_row: IntArray, codes: Mapping[str, IntArray], attributes: Mapping[str, Attribute], people: People
) -> PeopleStatistics:
    """Count rows and people; negative rows (left out) are not counted."""
    kept = np.flatnonzero(class_of_row >= 0)
    owner, some = class_of_row[kept], people.take(kept)
    codes = {name: codes[name][kept] for name in attributes}
    rows = from_classes(owner, codes, attributes)
    span = int(some.person.max(initial=0)) + 1
    members = _distinct(owner * span + some.person)
    return PeopleStatistics(
        sizes=rows.sizes,
        attributes=attributes,
        histograms=rows.histograms,
        people=np.bincount(members // span, minlength=rows.classes).astype(np.int64),
        weight=people.weight,
        having={
            name: _having(owner, some.person, codes[name], about.size, rows.classes)
            for name, about in attributes.items()
        },
        sharing={
            name: sparse(owner, codes[name], about.size, rows.classes, some.weights[name])
            for name, about in attributes.items()
        },
        shared_attributes=people.shared,
    )


def _having(owner: IntArray, person: IntArray, codes: IntArray, size: int, classes: int) -> Sparse:
    """People per class and value, each counted once however often they have it."""
    span = (int(person.max(initial=0)) + 1) * max(size, 1)
    if classes < 2**62 // span:  # one sort of whole numbers is several times faster than one by three columns
        key = _distinct(owner.astype(np.int64) * span + person.astype(np.int64) * size + codes)
        return sparse(key // span, key % max(size, 1), size, classes)
    order = np.lexsort((codes, person, owner))
    one, two = order[1:], order[:-1]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (owner[one] != owner[two]) | (person[one] != person[two]) | (codes[one] != codes[two])
    chosen = order[fresh]
    return sparse(owner[chosen], codes[chosen], size, classes)


def _distinct(numbers: IntArray) -> IntArray:
    """The distinct numbers in order, by sorting: numpy's own way of hashing takes ten times as long here."""
    ordered = np.sort(numbers)
    fresh = np.ones(len(ordered), dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    return np.asarray(ordered[fresh])
