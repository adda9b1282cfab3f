"""All classes of a small table whose cost is not much above the sum of its rows' prices: branch and bound over rows.

Rows that are alike in every quasi-identifier and sensitive value are one type, with as many units. A class is built
unit by unit, types in order. With n rows wanted, the units still to come cost at least n times the box that the class
then has, less the best prices of units within that box; and they must be able to keep sizes, shares, numbers of values
and earth mover's distances. What is left is judged by the compiled judge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.judge import JudgeSpec, holds

IS_SET, SIZE, BEGIN = range(3)
"""Columns of `Types.shape`: whether it is released as a set, values told apart, where its costs begin."""


class Types(NamedTuple):
    """Rows alike, in the order in which classes are built.

    Codes i and j of quasi-identifier a cost `cost[BEGIN of a + i * SIZE of a + j]`, a set of m values
    `cost[BEGIN of a + m]`.
    """

    shape: IntArray
    cost: FloatArray
    codes: IntArray
    places: IntArray
    units: IntArray


@njit
def bits_of(word: np.uint64) -> int:
    """How many bits of a word are set."""
    found = 0
    while word:
        word &= word - np.uint64(1)
        found += 1
    return found


@njit
def widened(types: Types, low: IntArray, high: IntArray, held: FloatArray, j: int) -> float:
    """The cost of a box once a unit of type j is in it; `held` are the values of sets, as bits."""
    total = 0.0
    for a in range(len(types.shape)):
        code, begin = types.codes[j, a], types.shape[a, BEGIN]
        if types.shape[a, IS_SET]:
            total += types.cost[begin + bits_of(held[a] | np.uint64(1) << np.uint64(code))]
        else:
            total += types.cost[begin + min(low[a], code) * types.shape[a, SIZE] + max(high[a], code)]
    return total


@njit
def keep_best(top: FloatArray, kept: int, most: int, price: float, units: int) -> int:
    """Put units of a price among the `most` best, sorted from the best: how many are kept then."""
    for _ in range(min(units, most)):
        place = kept
        if kept == most:
            if price <= top[most - 1]:
                break
            place -= 1
        else:
            kept += 1
        while place > 0 and top[place - 1] < price:
            top[place] = top[place - 1]
            place -= 1
        top[place] = price
    return kept


@njit
def may_hold_shares(judge: JudgeSpec, hist: IntArray, n: int, more: int, can: IntArray) -> bool:
    """Whether `more` units, at most can[v] of each value, may keep every share and number of values."""
    if judge.has_caps or judge.has_floors:
        for a in range(len(judge.offset) - 1):
            room, lack = 0, 0
            for v in range(judge.offset[a], judge.offset[a + 1]):
                most = can[v]
                if judge.cap[v] < 1.0:
                    most = min(most, int(judge.cap[v] * n) - hist[v])
                least = int(np.ceil(judge.floor[v] * n)) - hist[v]
                if most < max(least, 0):
                    return False
                room += most
                lack += max(least, 0)
            if room < more or lack > more:
                return False
    for d in range(len(judge.distinct_least)):
        a, values, fresh = judge.distinct_attribute[d], 0, 0
        for v in range(judge.offset[a], judge.offset[a + 1]):
            values += hist[v] > 0
            fresh += hist[v] == 0 and can[v] > 0
        if values + min(fresh, more) < judge.distinct_least[d]:
            return False
    return True


@njit
def may_be_close(judge: JudgeSpec, hist: IntArray, n: int, more: int, can: IntArray, units: int) -> bool:
    """Whether `more` of the units may bring every earth mover's distance below its limit, each range by itself."""
    for j in range(len(judge.close_limit)):
        work = 0.0
        for r in range(judge.range_begin[j], judge.range_begin[j + 1]):
            inside, within = 0, 0
            for v in range(judge.range_start[r], judge.range_stop[r]):
                inside += hist[v]
                within += can[v]
            least, most = inside + max(0, more - (units - within)), inside + min(more, within)
            wanted = judge.range_share[r] * n
            work += judge.range_weight[r] * max(least - wanted, wanted - most, 0.0)
        if work > judge.close_limit[j] * n:
            return False
    return True


@njit
def shared_attribute(judge: JudgeSpec) -> int:
    """The first attribute whose values have least or greatest shares; -1 if there is none."""
    for a in range(len(judge.offset) - 1):
        for v in range(judge.offset[a], judge.offset[a + 1]):
            if judge.cap[v] < 1.0 or judge.floor[v] > 0.0:
                return a
    return -1


@njit
def best_shared(
    types: Types,
    judge: JudgeSpec,
    prices: FloatArray,
    by_price: IntArray,
    a: int,
    n: int,
    more: int,
    hist: IntArray,
    may: IntArray,
    room: IntArray,
) -> float:
    """The best prices of `more` units, may[i] of type i, that keep the shares of attribute a; minus infinity: none."""
    free = more
    for v in range(judge.offset[a], judge.offset[a + 1]):
        lack = max(int(np.ceil(judge.floor[v] * n)) - hist[v], 0)
        free -= lack
        most = int(judge.cap[v] * n) - hist[v] if judge.cap[v] < 1.0 else more
        room[v] = most - lack
        room[v + judge.width] = lack
    total, wanted = 0.0, more
    for i in by_price:
        v = types.places[i, a]
        needed = min(may[i], room[v + judge.width])
        spare = min(may[i] - needed, room[v], free)
        room[v + judge.width] -= needed
        room[v] -= spare
        free -= spare
        wanted -= needed + spare
        total += prices[i] * (needed + spare)
    return total if wanted == 0 else -np.inf


@njit
def classes_below(
    types: Types,
    judge: JudgeSpec,
    prices: FloatArray,
    n: int,
    first: int,
    limit: float,
    falling: bool,
    most_steps: int,
    found: IntArray,
    costs: FloatArray,
    number: int,
) -> tuple[int, int, float]:
    """Classes of n rows, the first of type `first`, whose cost less prices is below the limit.

    They are written to `found` (units of each type) and `costs` from place `number` on; if `falling`, each must be
    below the one before. Returns how many there are then, the steps, and the last limit. It ends early if there is no
    more room, or after `most_steps`.
    """
    count, width = types.codes.shape
    low, high = np.empty((n + 1, width), dtype=np.int64), np.empty((n + 1, width), dtype=np.int64)
    held = np.zeros((n + 1, width), dtype=np.uint64)
    other, units = np.empty((n + 1, count), dtype=np.int64), np.empty((n + 1, count), dtype=np.int64)
    others, at, taken = (
        np.zeros(n + 1, dtype=np.int64),
        np.zeros(n + 1, dtype=np.int64),
        np.empty(n + 1, dtype=np.int64),
    )
    paid, top, box = np.zeros(n + 1), np.empty(n + 1), np.empty(count)
    order, inside = np.empty(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    hist, can = np.zeros(judge.width, dtype=np.int64), np.zeros(judge.width, dtype=np.int64)
    shared, by_price = shared_attribute(judge), np.argsort(-prices)
    may, room_of = np.zeros(count, dtype=np.int64), np.zeros(2 * judge.width, dtype=np.int64)
    level, steps, j = 0, 0, first
    for a in range(width):
        low[0, a] = high[0, a] = types.codes[first, a]
    for q in range(first, count):
        other[0, q - first], units[0, q - first] = q, types.units[q]
    others[0] = count - first
    while True:
        # Take a unit of type j.
        begin, more = at[level], n - level - 1
        kept, room = 0, 0
        for q in range(begin, others[level]):
            left = units[level, q] - (q == begin)
            if left > 0:
                other[level + 1, kept], units[level + 1, kept] = other[level, q], left
                kept += 1
                room += left
        at[level] += 1
        paid[level + 1] = paid[level] + prices[j]
        for a in range(width):
            code = types.codes[j, a]
            low[level + 1, a], high[level + 1, a] = min(low[level, a], code), max(high[level, a], code)
            held[level + 1, a] = held[level, a] | np.uint64(1) << np.uint64(code)
        level += 1
        taken[level], at[level], others[level] = j, 0, 0
        inside[j] += 1
        for s in range(types.places.shape[1]):
            hist[types.places[j, s]] += 1
        steps += 1
        if more == 0:
            cost = n * widened(types, low[level], high[level], held[level], j)
            if cost - paid[level] < limit and holds(judge, hist, n):
                found[number, :], costs[number] = inside, cost
                number += 1
                if falling:
                    limit = cost - paid[level]
        elif room >= more:
            best = 0
            for q in range(kept):
                best = keep_best(top, best, more, prices[other[level, q]], units[level, q])
            rest_top = top[:more].sum()
            rest = paid[level] + rest_top - top[more - 1]
            useful = 0
            for q in range(kept):
                i = other[level, q]
                cost = widened(types, low[level], high[level], held[level], i)
                if n * cost - rest - prices[i] < limit:
                    other[level, useful], units[level, useful], box[useful] = i, units[level, q], cost
                    place = useful
                    while place > 0 and box[order[place - 1]] > cost:
                        order[place] = order[place - 1]
                        place -= 1
                    order[place] = useful
                    useful += 1
            least, best = np.inf, 0
            for o in range(useful):
                q = order[o]
                best = keep_best(top, best, more, prices[other[level, q]], units[level, q])
                if best == more:
                    least = min(least, n * box[q] - paid[level] - top[:more].sum())
            if least < limit:
                can[:] = 0
                room = 0
                for q in range(useful):
                    room += units[level, q]
                    for s in range(types.places.shape[1]):
                        can[types.places[other[level, q], s]] += units[level, q]
                if may_hold_shares(judge, hist, n, more, can) and may_be_close(judge, hist, n, more, can, room):
                    others[level] = useful
                if shared >= 0 and others[level] > 0:
                    least, room = np.inf, 0
                    may[:] = 0
                    for o in range(useful):
                        q = order[o]
                        may[other[level, q]] = units[level, q]
                        room += units[level, q]
                        if room >= more and n * box[q] - paid[level] - rest_top < least:
                            paying = best_shared(types, judge, prices, by_price, shared, n, more, hist, may, room_of)
                            least = min(least, n * box[q] - paid[level] - paying)
                    if least >= limit:
                        others[level] = 0
        if number >= len(found) or steps >= most_steps:
            return number, steps, limit
        while at[level] >= others[level]:
            inside[taken[level]] -= 1
            for s in range(types.places.shape[1]):
                hist[types.places[taken[level], s]] -= 1
            level -= 1
            if level == 0:
                return number, steps, limit
        j = other[level, at[level]]
