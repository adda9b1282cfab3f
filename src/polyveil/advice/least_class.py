"""How small a class can be at all under t: with few rows, no class can come close to the whole table.

For a class of n rows the smallest possible distance is found over all whole counts that sum to n. The earth mover's
distance is a sum over nested ranges of w * |c(range) - n * Q(range)| / n, and each term is convex in the range's count;
so the least total for a node, as a function of its count, is the merge of its children's slopes (infimal convolution),
plus its own term. That is exact. Divergences are sums of convex terms of single values: adding rows one by one where
the term falls most is exact as well. Where a column has many values in a tree, every range is rounded on its own, which
can only make the distance smaller: the size is then a lower bound (on a plain ordered line it is exact all the same).

One column gives a size; for several columns a class must have a possible size in each, so the first n that suits all of
them is a lower bound: real rows may not supply the combinations.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polyveil.arrays import FloatArray
from polyveil.models import TOLERANCE, Attribute, JointAttribute

SMALL = 200
"""Values up to which a tree is solved exactly."""
LARGEST = 2_000
"""Class sizes tried before the search is given up."""


@dataclass(frozen=True)
class LeastClass:
    """The smallest possible class size; None where none up to `LARGEST` or the table's size is."""

    t: float
    size: int | None
    exact: bool


def least_class(attributes: Mapping[str, Attribute], t: float | Mapping[str, float]) -> LeastClass:
    """The smallest n for which every column has whole counts within its t."""
    single = {name: about for name, about in attributes.items() if not isinstance(about, JointAttribute)}
    limits = {name: t if isinstance(t, float | int) else t[name] for name in single}
    rows = max((about.total for about in single.values()), default=0)
    exact = len(single) <= 1 and all(_is_exact(about) for about in single.values())
    for size in range(1, min(rows, LARGEST) + 1):
        if all(least_distance(about, size) <= limits[name] + TOLERANCE for name, about in single.items()):
            return LeastClass(max(limits.values(), default=1.0), size, exact)
    return LeastClass(max(limits.values(), default=1.0), rows if rows <= LARGEST else None, exact)


def _is_exact(about: Attribute) -> bool:
    return about.size <= SMALL or not about.ground.is_emd or _is_line(about)


def _is_line(about: Attribute) -> bool:
    return about.ground.distance == "ordered" and bool((about.ground.start == 0).all())


def least_distance(about: Attribute, rows: int) -> float:
    """The smallest distance from the whole table that a class of so many rows can have (or a lower bound of it)."""
    ground = about.ground
    if not ground.is_emd:
        return _least_divergence(about, rows)
    if len(ground.start) == 0:
        return 0.0
    if _is_line(about) or about.size > SMALL:
        upto = np.append(0.0, np.cumsum(about.whole_share))
        wanted = rows * (upto[ground.stop] - upto[ground.start])
        return float(ground.weight @ np.abs(np.rint(wanted) - wanted)) / rows
    return _least_over_tree(about, rows)


class _Convex(NamedTuple):
    """A convex function of a count: its value at `first`, and its slopes from there on."""

    first: int
    value: float
    slopes: FloatArray


def _least_over_tree(about: Attribute, rows: int) -> float:
    """Merge from the leaves up; ranges are nested or apart, so each is the union of those right below it."""
    ground, share = about.ground, about.whole_share
    every = zip(ground.start.tolist(), ground.stop.tolist(), ground.weight.tolist(), strict=True)
    ranges = sorted(every, key=lambda one: (one[1] - one[0], one[0]))
    # A best count is never more than two rows away from the value's fair share.
    low = np.maximum(np.floor(rows * share) - 2, 0).astype(int)
    high = np.minimum(np.minimum(np.floor(rows * share) + 3, rows), about.whole).astype(int)
    parts = {
        code: (code + 1, _Convex(int(low[code]), 0.0, np.zeros(max(int(high[code] - low[code]), 0))))
        for code in range(about.size)
    }
    for start, stop, weight in ranges:
        inside = _collect(parts, start, stop)
        parts[start] = (stop, _with_term(_merged(inside), weight, rows * float(share[start:stop].sum())))
    whole = _merged([part for _, part in parts.values()])
    values = whole.value + np.append(0.0, np.cumsum(whole.slopes))
    place = rows - whole.first
    return float(values[place]) / rows if 0 <= place < len(values) else 1.0


def _collect(parts: dict[int, tuple[int, _Convex]], start: int, stop: int) -> list[_Convex]:
    """Take out the parts that make up a range."""
    found, place = [], start
    while place < stop:
        end, part = parts.pop(place)
        found.append(part)
        place = end
    return found


def _merged(parts: Sequence[_Convex]) -> _Convex:
    slopes = np.sort(np.concatenate([part.slopes for part in parts]))
    return _Convex(sum(part.first for part in parts), sum(part.value for part in parts), slopes)


def _with_term(part: _Convex, weight: float, wanted: float) -> _Convex:
    counts = part.first + np.arange(len(part.slopes) + 1)
    term = weight * np.abs(counts - wanted)
    return _Convex(part.first, part.value + float(term[0]), part.slopes + np.diff(term))


def _least_divergence(about: Attribute, rows: int) -> float:
    """Add rows one by one to the value whose term falls most."""
    shares = about.whole_share
    present = np.flatnonzero(about.whole > 0)
    counts = np.zeros(about.size)
    gains = [(_term(about, 1 / rows, shares[v]) - _term(about, 0.0, shares[v]), int(v), 1) for v in present]
    heapq.heapify(gains)
    for _ in range(rows):
        _, value, count = heapq.heappop(gains)
        counts[value] = count
        step = _term(about, (count + 1) / rows, shares[value]) - _term(about, count / rows, shares[value])
        heapq.heappush(gains, (step, value, count + 1))
    total = sum(_term(about, counts[v] / rows, shares[v]) for v in present)
    return float(np.sqrt(max(total, 0.0))) if about.ground.distance == "hellinger" else max(float(total), 0.0)


def _term(about: Attribute, p: float, q: float) -> float:
    """One value's part of the divergence; Hellinger's before the root."""
    match about.ground.distance:
        case "hellinger":
            return float((np.sqrt(p) - np.sqrt(q)) ** 2 / 2)
        case "kl":
            return float(p * np.log2(p / q)) if p > 0 else 0.0
        case _:
            of_p = p * np.log2(2 * p / (p + q)) if p > 0 else 0.0
            return float(of_p + q * np.log2(2 * q / (p + q))) / 2
