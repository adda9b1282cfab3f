"""Which sensitive values a class must hold, as far as the values alone decide that some guarantee is broken.

Whatever rows a class has, the values that it lacks must be near values that it holds:

    sum over the values v of mass(v) * distance(v, nearest value in the class) <= limit.

For an earth mover's distance this is exact: the least distance from the whole table's distribution to any on the values
held carries the share of each value to the nearest one held. Other guarantees ask for a number of values or for values
of some total share: then any two values are 1 apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.bounds.nearest import Stop
from polyveil.models import codes_of
from polyveil.models.constraints import (
    Closeness,
    Constraint,
    Divergence,
    MinDistinct,
    MinEntropy,
    Recursive,
    ShareCap,
    ShareFloor,
)
from polyveil.table.coded import CodedTable

MOST_VALUES = 256
"""Values of a sensitive column that are told apart; ordered ones are taken together beyond, others are left out."""
MOST_PAIRS = 20_000_000
"""Pairs of a tuple and a value that it has, over all columns; needs beyond are left out."""
ROUNDING = 1e-9


class Need(NamedTuple):
    """What one guarantee asks of the values of an attribute; `group` is the place of each code in the others."""

    attribute: str
    group: IntArray
    mass: FloatArray
    far: FloatArray
    limit: float


class Needs(NamedTuple):
    """For kernels: need c has `size[c]` values, from `first[c]` on in `mass` and from `square[c]` on in `far`.

    The values that tuple j holds are `value[begin[c, j]:begin[c, j + 1]]`.
    """

    size: IntArray
    first: IntArray
    square: IntArray
    mass: FloatArray
    far: FloatArray
    limit: FloatArray
    begin: IntArray
    value: IntArray


def need_of(asked: Constraint) -> Need | None:
    """What a constraint asks of the values of a class by themselves, None if nothing."""
    match asked:
        case Closeness():
            return _near_all(asked)
        case ShareCap(attribute=name, cap=cap):
            return _of_share(name, np.clip(cap, 0.0, 1.0), 1.0)
        case ShareFloor(attribute=name, floor=floor):
            return _of_share(name, (floor > 0).astype(np.float64), float(np.count_nonzero(floor > 0)))
        case Divergence(attribute=name, whole=whole):
            return _of_share(name, whole / max(int(whole.sum()), 1), _least_share(asked))
        case _:
            return None


def count_of(asked: Constraint, values: int) -> Need | None:
    """What a constraint asks of the number of different values, of an attribute that has so many."""
    match asked:
        case MinDistinct(attribute=name, values=least) | Recursive(attribute=name, l=least):
            return _of_share(name, np.ones(values), float(least))
        case MinEntropy(attribute=name, nats=nats):
            return _of_share(name, np.ones(values), float(np.ceil(np.exp(nats) - 1e-6)))
        case _:
            return None


def _of_share(attribute: str, share: FloatArray, least: float) -> Need | None:
    """The shares of the values held must sum up to `least`."""
    size = len(share)
    if size > MOST_VALUES:
        return None
    return Need(attribute, np.arange(size), share, 1.0 - np.eye(size), float(share.sum()) - least)


def _least_share(asked: Divergence) -> float:
    """The least share of the whole table that the values held have: a divergence never grows if values are merged."""
    least, most = 0.0, 1.0
    for _ in range(50):
        share = (least + most) / 2.0
        if _of_two(asked.kind, share) <= asked.limit:
            most = share
        else:
            least = share
    return least


def _of_two(kind: str, share: float) -> float:
    """The divergence of (1, 0) from (share, 1 - share)."""
    if kind == "hellinger":
        return float(np.sqrt(max(1.0 - np.sqrt(share), 0.0)))
    if kind == "kl":
        return float(-np.log2(max(share, 1e-300)))
    middle, rest = (1.0 + share) / 2.0, (1.0 - share) / 2.0
    other = share * np.log2(max(share, 1e-300) / middle) + 2.0 * rest
    return float((other - np.log2(middle)) / 2.0)


def _near_all(asked: Closeness) -> Need | None:
    """Closeness whose ranges lie one inside the other or apart, so that the distance is one along a tree."""
    size = len(asked.whole)
    counted = asked.weight > 0
    start, stop, weight = asked.start[counted], asked.stop[counted], asked.weight[counted]
    prefixes = bool(np.all(start == 0))
    if not prefixes and (size > MOST_VALUES or not _laminar(start, stop)):
        return None
    upto = np.cumsum(asked.whole)
    cuts = np.searchsorted(upto, np.linspace(0, upto[-1], min(size, MOST_VALUES) + 1)[1:-1], side="right")
    first = np.arange(size) if size <= MOST_VALUES else np.unique(np.append(0, np.minimum(cuts, size - 1)))
    last = np.append(first[1:], size) - 1
    group = np.searchsorted(first, np.arange(size), side="right") - 1
    far = np.zeros((len(first), len(first)))
    for from_code, to_code, much in zip(start, stop, weight, strict=True):
        low = (last >= from_code) & (last < to_code)
        high = (first >= from_code) & (first < to_code)
        far += np.triu(much * (low[:, None] != high[None, :]), 1)
    mass = np.bincount(group, weights=asked.whole, minlength=len(first)) / max(int(asked.whole.sum()), 1)
    return Need(asked.attribute, group, mass, far + far.T, asked.limit)


def _laminar(start: IntArray, stop: IntArray) -> bool:
    crossing = (start[:, None] < start) & (start < stop[:, None]) & (stop[:, None] < stop)
    return not crossing.any()


def needs_of(table: CodedTable, asked: Sequence[Constraint], stop: Stop = lambda: False) -> Needs | None:
    """The needs found before `stop`, of a table whose tuples are those of its quasi-identifiers; None if none."""
    codes = codes_of(table)
    tuples = table.quasi_tuples
    found: list[Need] = []
    begins: list[IntArray] = []
    values: list[IntArray] = []
    for each in asked:
        if stop():
            break
        need = need_of(each)
        if need is None and (about := codes.get(getattr(each, "attribute", ""))) is not None:
            need = count_of(each, int(about.max(initial=0)) + 1)
        if need is None or need.limit >= _most_lack(need):
            continue
        size = len(need.mass)
        pairs = np.unique(tuples.of_row.astype(np.int64) * size + need.group[codes[need.attribute]])
        if sum(len(part) for part in values) + len(pairs) > MOST_PAIRS:
            break
        found.append(need)
        begins.append(np.searchsorted(pairs, np.arange(len(tuples.counts) + 1) * size))
        values.append((pairs % size).astype(np.int64))
    if not found:
        return None
    sizes = np.array([len(need.mass) for need in found], dtype=np.int64)
    ahead = np.append(0, np.cumsum([len(part) for part in values])[:-1])
    return Needs(
        size=sizes,
        first=np.cumsum(sizes) - sizes,
        square=np.cumsum(sizes**2) - sizes**2,
        mass=np.concatenate([need.mass for need in found]),
        far=np.concatenate([need.far.ravel() for need in found]),
        limit=np.array([need.limit for need in found]) + ROUNDING,
        begin=np.stack(begins) + ahead[:, None],
        value=np.concatenate(values),
    )


def _most_lack(need: Need) -> float:
    """More than a class of any one value lacks: nothing is asked then."""
    return float((need.mass @ need.far).max(initial=0.0))
