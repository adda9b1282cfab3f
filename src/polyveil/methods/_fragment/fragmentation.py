"""Fragmentations of the space of sensitive values: bagai2023, FIND-FRAGMENTATION-GENERALIZED.

A fragment is a box of units with the sensitive tuples in it. If a class has the same share of every fragment as the
whole table ("conforms"), then its distance to the table, attribute by attribute, is at most the sum over the fragments
of Delta, the farthest that the fragment's mass can be moved inside it (Theorem 20). Delta is the distance to a vertex,
for any ground distance, because the earth mover's distance is convex (Theorem 10 is the ordered case):

    Delta(P) = max over values v of  sum_j p_j d(j, v)
             = sum over ranges r of w_r P(r)  +  max over v of  sum over the ranges r that hold v of w_r (|P| - 2 P(r))

- `paper`: d is scaled to the fragment's own length, and v is any value of the box;
- `tight`: d is that of the whole domain, in which the mass moves, and v a value that occurs in the fragment. Both
  are bounds; this one is far smaller.

Starting from one fragment, the split with the least Psi (what the bounds exceed the thresholds by) is made until all
bounds are within their thresholds. Splits are cached: only the two new fragments are evaluated.

Cost: a fragment with u units per axis and c tuples costs O(sum of cuts * sum of units + c log c) once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._fragment.axes import Axis
from polyveil.methods._kernels.compiled import njit

Bound = Literal["paper", "tight"]
FULL_PER_EMPTY, LEAST_EMPTY = 16, 64
"""As many fragments without rows are made at most as one in so many of those with rows, but so many in any case: the
bound of the paper cuts off empty boxes for ever where there are ten sensitive columns."""


class AxisSpec(NamedTuple):
    """All axes side by side: axis a has units `begin[a]` to `begin[a + 1]`, ranges `first[a]` to `first[a + 1]`."""

    begin: IntArray
    first: IntArray
    start: IntArray
    stop: IntArray
    weight: FloatArray
    meet: IntArray  # boundary b of attribute a at begin[a] + a + b
    own_length: bool


@dataclass(frozen=True, eq=False)
class Fragmentation:
    """The fragment of each tuple, numbered along the cuts, and the bound reached for each attribute.

    `boxes` counts all fragments, `fragments` those with rows in them. The bounds include what values move inside a bin;
    `complete` says that cutting was not stopped before the bounds between bins were within their limits.
    """

    of_tuple: IntArray
    fragments: int
    boxes: int
    bounds: FloatArray
    complete: bool


def axis_spec(axes: Sequence[Axis], bound: Bound) -> AxisSpec:
    """Flatten the axes for the kernels."""
    return AxisSpec(
        begin=np.append(0, np.cumsum([axis.units for axis in axes])).astype(np.int64),
        first=np.append(0, np.cumsum([len(axis.start) for axis in axes])).astype(np.int64),
        start=np.concatenate([axis.start for axis in axes]).astype(np.int64),
        stop=np.concatenate([axis.stop for axis in axes]).astype(np.int64),
        weight=np.concatenate([axis.weight for axis in axes]).astype(np.float64),
        meet=np.concatenate([axis.meet for axis in axes]).astype(np.int64),
        own_length=bound == "paper",
    )


def find_fragmentation(
    units: IntArray, counts: IntArray, axes: Sequence[Axis], bound: Bound = "tight", most: int = 4096
) -> Fragmentation:
    """Split until every bound is within its limit, or there are `most` fragments with rows, or many without.

    `units[i, a]` is the unit of tuple i on axis a, `counts[i]` how many rows have the tuple.
    """
    spec = axis_spec(axes, bound)
    # Masses are numbers of rows, exact in a float; limits are scaled to them.
    share, total = counts.astype(np.float64), float(counts.sum())
    limit = np.array([min(axis.limit, 1.0) * total for axis in axes])
    order = np.arange(len(units))
    boxes = [np.array([[0, axis.units - 1] for axis in axes], dtype=np.int64)]
    parts = [(0, len(units))]
    reached = fragment_bounds(spec, units, share, order, boxes[0])
    splits = Splits.empty(len(axes))
    splits.add(0, *evaluate_splits(spec, units, share, order, boxes[0]))
    full, most_empty = 1, max(most // FULL_PER_EMPTY, LEAST_EMPTY)
    while np.any(reached > limit) and full < most and len(parts) - full < most_empty:
        best = cheapest_split(splits.change[: splits.used], reached, limit)
        if best < 0:
            break
        owner, a, cut = splits.owner[best], int(splits.axis[best]), int(splits.cut[best])
        reached = reached + splits.change[best]
        first, last = parts[owner]
        stretch = order[first:last]
        stretch = stretch[np.argsort(units[stretch, a], kind="stable")]
        order[first:last] = stretch
        middle = first + int(np.searchsorted(units[stretch, a], cut))
        splits.drop(owner)
        right = boxes[owner].copy()
        boxes[owner][a, 1], right[a, 0] = cut - 1, cut
        parts[owner] = (first, middle)
        parts.append((middle, last))
        boxes.append(right)
        full += first < middle < last
        for number, (begin, end) in ((owner, (first, middle)), (len(parts) - 1, (middle, last))):
            splits.add(number, *evaluate_splits(spec, units, share, order[begin:end], boxes[number]))
    inside = np.array([axis.inside for axis in axes])
    bounds, complete = np.maximum(reached / total, 0.0) + inside, not np.any(reached > limit)
    return _numbered(order, parts, bounds, len(units), complete)


def _numbered(
    order: IntArray, parts: list[tuple[int, int]], bounds: FloatArray, tuples: int, complete: bool
) -> Fragmentation:
    of_tuple = np.empty(tuples, dtype=np.int64)
    with_rows = [part for part in sorted(parts) if part[0] < part[1]]
    for number, (first, last) in enumerate(with_rows):
        of_tuple[order[first:last]] = number
    return Fragmentation(of_tuple, len(with_rows), len(parts), bounds, complete)


@dataclass(eq=False)
class Splits:
    """All possible splits of all fragments: fragment, axis, cut, and what the split changes in each bound."""

    owner: IntArray
    axis: IntArray
    cut: IntArray
    change: FloatArray
    used: int

    @classmethod
    def empty(cls, axes: int) -> Splits:
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, nothing.copy(), nothing.copy(), np.zeros((0, axes)), 0)

    def add(self, owner: int, axis: IntArray, cut: IntArray, change: FloatArray) -> None:
        if self.used + len(axis) > len(self.owner):
            room = 2 * (self.used + len(axis))
            self.owner, self.axis, self.cut = (np.resize(a, room) for a in (self.owner, self.axis, self.cut))
            self.change = np.resize(self.change, (room, self.change.shape[1]))
        new = slice(self.used, self.used + len(axis))
        self.owner[new], self.axis[new], self.cut[new], self.change[new] = owner, axis, cut, change
        self.used += len(axis)

    def drop(self, owner: int) -> None:
        """Forget the splits of a fragment that is split now."""
        kept = np.flatnonzero(self.owner[: self.used] != owner)
        for array in (self.owner, self.axis, self.cut):
            array[: len(kept)] = array[kept]
        self.change[: len(kept)] = self.change[kept]
        self.used = len(kept)


@njit
def cheapest_split(change: FloatArray, reached: FloatArray, limit: FloatArray) -> int:
    """The split with the least Psi = sum of max(bound - limit, 0); among equals, that with the least sum of bounds."""
    best, least_psi, least_sum = -1, np.inf, np.inf
    for i in range(len(change)):
        psi, total = 0.0, 0.0
        for a in range(len(reached)):
            bound = reached[a] + change[i, a]
            psi += max(bound - limit[a], 0.0)
            total += bound
        if psi < least_psi - 1e-9 or (psi < least_psi + 1e-9 and total < least_sum - 1e-9):
            best, least_psi, least_sum = i, psi, total
    return best


@njit
def delta(spec: AxisSpec, a: int, mass: FloatArray, low: int, high: int) -> float:
    """Delta of one attribute; `mass` is the share of each unit, zero outside the box low..high."""
    units, base, total = spec.begin[a + 1] - spec.begin[a], 0.0, 0.0
    upto, gain = np.zeros(units + 1), np.zeros(units + 1)
    for u in range(units):
        upto[u + 1] = upto[u] + mass[u]
    total = upto[units]
    length = 0.0
    for r in range(spec.first[a], spec.first[a + 1]):
        start, stop, weight = spec.start[r], spec.stop[r], spec.weight[r]
        inside = upto[stop] - upto[start]
        base += weight * inside
        gain[start] += weight * (total - 2.0 * inside)
        gain[stop] -= weight * (total - 2.0 * inside)
        if (start <= low < stop) != (start <= high < stop):
            length += weight
    most, running = 0.0, 0.0
    for u in range(units):
        running += gain[u]
        counts = low <= u <= high if spec.own_length else mass[u] > 0.0
        if counts:
            most = max(most, base + running)
    if spec.own_length:
        return most / length if length > 0.0 else 0.0
    return most


@njit
def fragment_bounds(spec: AxisSpec, units: IntArray, share: FloatArray, part: IntArray, box: IntArray) -> FloatArray:
    """Delta of every attribute for one fragment."""
    attributes = units.shape[1]
    found = np.empty(attributes)
    for a in range(attributes):
        mass = np.zeros(spec.begin[a + 1] - spec.begin[a])
        for i in part:
            mass[units[i, a]] += share[i]
        found[a] = delta(spec, a, mass, box[a, 0], box[a, 1])
    return found


@njit
def evaluate_splits(
    spec: AxisSpec, units: IntArray, share: FloatArray, part: IntArray, box: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Every split of a fragment in two: axis, cut, and the change of each attribute's bound."""
    attributes, width = units.shape[1], spec.begin[units.shape[1]]
    before = fragment_bounds(spec, units, share, part, box)
    axis, cuts = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    change = np.empty((width, attributes))
    found = 0
    if len(part) == 0:
        return axis[:0], cuts[:0], change[:0]
    for a in range(attributes):
        by_unit = part[np.argsort(units[part, a], kind="mergesort")]
        left, right = np.zeros(width), np.zeros(width)
        for i in part:
            for s in range(attributes):
                right[spec.begin[s] + units[i, s]] += share[i]
        # The paper may also cut empty units off; without its own-length factor that changes nothing.
        low = box[a, 0] if spec.own_length else units[by_unit[0], a]
        high = box[a, 1] if spec.own_length else units[by_unit[len(part) - 1], a]
        top = _highest_meeting(spec, a, low, high)
        place, before_cut = 0, low
        for cut in range(low + 1, high + 1):
            while place < len(part) and units[by_unit[place], a] < cut:
                i = by_unit[place]
                before_cut = units[i, a]
                for s in range(attributes):
                    left[spec.begin[s] + units[i, s]] += share[i]
                    right[spec.begin[s] + units[i, s]] -= share[i]
                place += 1
            if spec.own_length:
                before_cut = cut - 1
            elif units[by_unit[place], a] != cut:
                continue
            if _highest_meeting(spec, a, before_cut, cut) < top:
                continue
            axis[found], cuts[found] = a, cut
            for s in range(attributes):
                first, last = spec.begin[s], spec.begin[s + 1]
                one = delta(spec, s, left[first:last], box[s, 0], cut - 1 if s == a else box[s, 1])
                two = delta(spec, s, right[first:last], cut if s == a else box[s, 0], box[s, 1])
                change[found, s] = one + two - before[s]
            found += 1
    return axis[:found], cuts[:found], change[:found]


@njit
def _highest_meeting(spec: AxisSpec, a: int, low: int, high: int) -> int:
    """The greatest height at which neighbouring units from low to high meet."""
    top = 0
    for b in range(low + 1, high + 1):
        top = max(top, spec.meet[spec.begin[a] + a + b])
    return top
