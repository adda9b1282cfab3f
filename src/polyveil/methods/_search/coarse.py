"""Closeness of attributes with thousands of values, judged on bins: cheap, and never too lenient.

An earth mover's distance is a sum over ranges of values. Moving the ends of the ranges down to the edges of bins
changes the share of a range by no more than what the bins with an end inside hold, in the class or in the whole table:
altogether by at most twice the weight of the ends inside any one bin. With the limit lowered by that much, a class that
is close on bins is close on values. Bins are made fine enough for that to be a small part of the limit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._kernels.judge import JudgeSpec

MANY = 512
"""Attributes with no more values than this are judged as they are."""
GIVEN_AWAY = 0.05
"""The part of the limit that may be lost to bins."""


def coarsen(judge: JudgeSpec) -> tuple[JudgeSpec, IntArray]:
    """A judge over bins, and the bin of every place of a histogram; for judges of size, caps and closeness alone."""
    owner = np.repeat(np.arange(len(judge.close_limit)), np.diff(judge.range_begin))
    limits = judge.close_limit.copy()
    floor_of = np.arange(judge.width + 1)  # the first place of the bin of every place
    for a in range(len(judge.offset) - 1):
        begin, end = int(judge.offset[a]), int(judge.offset[a + 1])
        if end - begin > MANY and not np.isfinite(judge.cap[begin:end]).any():
            floor_of[begin:end] = _bins(judge, begin, end, owner, limits)
    bin_of = np.cumsum(floor_of == np.arange(judge.width + 1)) - 1
    if bin_of[-1] == judge.width:
        return judge, bin_of[:-1]
    return _snapped(judge, owner, limits, floor_of, bin_of), bin_of[:-1]


def _bins(judge: JudgeSpec, begin: int, end: int, owner: IntArray, limits: FloatArray) -> IntArray:
    """The first place of each place's bin, for bins as wide as the limits allow; lowers them by what is given away."""
    own = (judge.range_start >= begin) & (judge.range_start < end)
    width = max(int(own.sum()) * 4 // MANY, 2)
    while width > 1:
        some = _edges(judge.range_start[own], judge.range_stop[own], begin, end, width)
        floor_of = some[np.searchsorted(some, np.arange(begin, end), side="right") - 1]
        lost = {j: _given_away(judge, own & (owner == j), begin, floor_of) for j in np.unique(owner[own])}
        if all(found <= GIVEN_AWAY * limits[j] for j, found in lost.items()):
            for j, found in lost.items():
                limits[j] -= found
            return floor_of
        width //= 2
    return np.arange(begin, end)


def _edges(start: IntArray, stop: IntArray, begin: int, end: int, width: int) -> IntArray:
    """Edges of bins: every so many ends of ranges, and the ends that many ranges share (such as that of "missing")."""
    chosen = [np.array([begin], dtype=np.int64)]
    for side in (start, stop):
        ends, ranges = np.unique(side, return_counts=True)
        chosen += [ends[ranges <= width][::width], ends[ranges > width]]
    edges = np.unique(np.concatenate(chosen))
    return edges[edges < end]


def _given_away(judge: JudgeSpec, ranges: npt.NDArray[np.bool_], begin: int, floor_of: IntArray) -> float:
    """Twice the greatest weight of range ends inside one bin; infinite if a range between edges has no share."""
    inside = np.zeros(len(floor_of) + 1)
    down = np.append(floor_of, begin + len(floor_of))
    start, stop = judge.range_start[ranges], judge.range_stop[ranges]
    for side in (start, stop):
        moved = down[side - begin]
        np.add.at(inside, moved[moved != side] - begin, judge.range_weight[ranges][moved != side])
    known = set(zip(start.tolist(), stop.tolist(), strict=True))
    wanted = set(zip(down[start - begin].tolist(), down[stop - begin].tolist(), strict=True))
    if any(low < high and (low, high) not in known for low, high in wanted):
        return np.inf
    return 2.0 * float(inside.max())


def _snapped(judge: JudgeSpec, owner: IntArray, limits: FloatArray, floor_of: IntArray, bin_of: IntArray) -> JudgeSpec:
    """Ranges with their ends at the edges of bins; ranges that became equal are one, of their weight together."""
    exact = {
        (j, low, high): share
        for j, low, high, share in zip(
            owner.tolist(), judge.range_start.tolist(), judge.range_stop.tolist(), judge.range_share, strict=True
        )
    }
    ends = np.stack([owner, floor_of[judge.range_start], floor_of[judge.range_stop]], axis=1)
    keys, inverse = np.unique(ends[ends[:, 1] < ends[:, 2]], axis=0, return_inverse=True)
    weight = np.zeros(len(keys))
    np.add.at(weight, inverse.ravel(), judge.range_weight[ends[:, 1] < ends[:, 2]])
    cap = np.full(int(bin_of[-1]), np.inf)
    np.minimum.at(cap, bin_of[:-1], judge.cap)
    return judge._replace(
        offset=bin_of[judge.offset],
        width=int(bin_of[-1]),
        cap=cap,
        floor=np.zeros(int(bin_of[-1])),
        range_begin=np.searchsorted(keys[:, 0], np.arange(len(limits) + 1)).astype(np.int64),
        range_start=bin_of[keys[:, 1]],
        range_stop=bin_of[keys[:, 2]],
        range_weight=weight,
        range_share=np.array([exact[j, low, high] for j, low, high in keys.tolist()]),
        close_limit=limits,
    )
