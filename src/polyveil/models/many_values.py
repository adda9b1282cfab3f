"""The earth mover's distance without dense rows, for attributes of thousands of values.

`closeness.earth_mover` spreads every class over all values: readable, and fast for the few values most attributes have.
Here only the values a class really has are touched. Tests keep the two equal.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.statistics import Block

DENSE_PER_ENTRY = 20
"""About how many dense cells take as long as one entry here."""


def worthwhile(block: Block) -> bool:
    """Whether touching only the values that occur is likely to be quicker than spreading every class out."""
    dense = block.classes * (block.attribute.size + len(block.attribute.ground.start))
    return dense > DENSE_PER_ENTRY * len(block.code) + 1_000_000


def earth_mover(block: Block) -> FloatArray:
    """sum over ranges of weight * |P(range) - Q(range)| for every class."""
    ground = block.attribute.ground
    if ground.distance != "ordered":
        return _few_ranges_per_value(block, np.arange(len(ground.start)))
    # A line has as many ranges as values, each of up to all values - but they all share an end, so that both
    # distributions only rise along them: those from the first value, and those up to the last that is not missing.
    from_first = np.flatnonzero(ground.start == 0)
    others = np.flatnonzero(ground.start > 0)
    last = int(ground.stop[others].min(initial=block.attribute.size))
    to_last = others[ground.stop[others] == last]
    rest = others[ground.stop[others] != last]
    result = _rising(block, ground.stop[from_first], ground.weight[from_first], np.zeros(block.classes))
    if len(to_last):
        # P([s, last)) - Q([s, last)) = surplus - (P([0, s)) - Q([0, s))), with the same surplus for every s.
        held = block.sum(np.where(block.code < last, block.share, 0.0))
        surplus = held - _whole_upto(block)[last]
        result += _rising(block, ground.start[to_last], ground.weight[to_last], surplus)
    return result + _few_ranges_per_value(block, rest)


def _rising(block: Block, ends: IntArray, weight: FloatArray, surplus: FloatArray) -> FloatArray:
    """sum over i of weight_i * |P([0, end_i)) - surplus - Q([0, end_i))|.

    P is a staircase: between two values of a class it stays level. On a level stretch the sum splits where Q, which
    only rises, overtakes it; sums of the weights and of weight * Q up to any place then give it at once.
    """
    order = np.argsort(ends, kind="stable")
    ends, weight = ends[order], weight[order]
    q = _whole_upto(block)[ends]
    weight_upto = np.append(0.0, np.cumsum(weight))
    weighted_upto = np.append(0.0, np.cumsum(weight * q))

    def level_stretch(first: IntArray, stop: IntArray, level: FloatArray) -> FloatArray:
        middle = np.clip(np.searchsorted(q, level), first, stop)
        below = level * (weight_upto[middle] - weight_upto[first]) - (weighted_upto[middle] - weighted_upto[first])
        above = (weighted_upto[stop] - weighted_upto[middle]) - level * (weight_upto[stop] - weight_upto[middle])
        return np.asarray(below + above)

    counted = np.cumsum(block.count)
    before = np.append(0, counted)[block.begin[:-1]]
    steps_at = np.searchsorted(ends, block.code, side="right")
    until = np.append(steps_at[1:], len(ends))
    until[block.begin[1:] - 1] = len(ends)
    level = (counted - before[block.owner]) / block.sizes[block.owner] - surplus[block.owner]
    before_first = level_stretch(np.zeros(block.classes, dtype=np.int64), steps_at[block.begin[:-1]], -surplus)
    return before_first + block.sum(level_stretch(steps_at, until, level))


def _few_ranges_per_value(block: Block, ranges: IntArray) -> FloatArray:
    """The sum over the given ranges where each value lies in few of them (at most the depth of a hierarchy).

    A range that a class has no value of adds weight * Q(range); the others are corrected one by one.
    """
    ground = block.attribute.ground
    start, stop, weight = ground.start[ranges], ground.stop[ranges], ground.weight[ranges]
    whole_upto = _whole_upto(block)
    q = whole_upto[stop] - whole_upto[start]
    # Ranges listed per value: value v lies in inside[begin[v] : begin[v + 1]].
    length = stop - start
    value = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length) + np.repeat(start, length)
    inside = np.repeat(np.arange(len(start)), length)[np.argsort(value, kind="stable")]
    many = np.bincount(value, minlength=block.attribute.size)
    begin = np.cumsum(many) - many
    repeat = many[block.code]
    entry = np.repeat(np.arange(len(block.code)), repeat)
    nth = np.arange(len(entry)) - np.repeat(np.cumsum(repeat) - repeat, repeat)
    touched = block.owner[entry] * len(start) + inside[begin[block.code[entry]] + nth]
    pair, position = np.unique(touched, return_inverse=True)
    owner, which = pair // max(len(start), 1), pair % max(len(start), 1)
    p = np.bincount(position, weights=block.count[entry], minlength=len(pair)) / block.sizes[owner]
    correction = weight[which] * (np.abs(p - q[which]) - q[which])
    return np.asarray(float(weight @ q) + np.bincount(owner, weights=correction, minlength=block.classes))


def _whole_upto(block: Block) -> FloatArray:
    """Q([0, v)) for every v, from whole counts."""
    return np.append(0, np.cumsum(block.attribute.whole, dtype=np.int64)) / max(block.attribute.total, 1)
