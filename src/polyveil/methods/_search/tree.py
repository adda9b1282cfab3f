"""The tree over the rows' quasi-identifiers: cut the widest attribute, down to rows that look alike.

Numbers are cut at the median, categories into the children of the common ancestor, sets into the most frequent value
and the rest, missing numbers apart from the others. `jitter` above 0 chooses attributes and cuts at random around
these, which gives as many different trees, and orders of the rows, as wanted. Cost: rows x attributes per level.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import Codes, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.space import (
    GAP,
    KIND,
    NULL,
    ORDERED,
    SET,
    SIZE,
    Bits,
    Flag,
    Space,
    as_int64,
    cell_loss,
    clear_box,
    copy_values,
    most_codes,
    numbers,
    shuffle,
    widen,
    width,
)


class Tree(NamedTuple):
    """Nodes as stretches of an order of rows; parents come before their children."""

    begin: Codes
    end: Codes
    parent: Codes
    is_leaf: Codes


@njit
def grow_tree(space: Space, codes: Codes, order: Codes, jitter: float, stop: Flag) -> Tree:
    """Cut `order` (row numbers, permuted in place) until every leaf has one tuple of codes, or `stop` is set."""
    attributes = codes.shape[1]
    box, words = np.empty((1, 2 * attributes), dtype=np.int32), np.empty((1, space.words), dtype=np.uint64)
    spare = np.empty(len(order), dtype=np.int32)
    bounds = np.empty(most_codes(space) + 2, dtype=np.int64)
    room = 1024
    begin, end = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    parent, is_leaf = np.empty(room, dtype=np.int32), np.zeros(room, dtype=np.int32)
    begin[0], end[0], parent[0] = 0, len(order), -1
    nodes, node = 1, 0
    while node < nodes:
        first, last = begin[node], end[node]
        a = -1
        if stop[0] == 0:
            a = widest(space, codes, order, first, last, jitter, box, words)
        if a < 0:
            is_leaf[node] = 1
        else:
            low, high = as_int64(box[0, a]), as_int64(box[0, attributes + a])
            parts = cut_rows(space, codes, order[first:last], a, low, high, jitter, spare, bounds)
            if nodes + parts > room:
                room = 2 * (nodes + parts)
                begin, end = grown(begin, room), grown(end, room)
                parent, is_leaf = grown(parent, room), grown(is_leaf, room)
            for p in range(parts):
                begin[nodes], end[nodes], parent[nodes] = first + bounds[p], first + bounds[p + 1], node
                nodes += 1
        node += 1
    return Tree(begin[:nodes], end[:nodes], parent[:nodes], is_leaf[:nodes])


@njit
def grown(values: Codes, room: int) -> Codes:
    """The same values in a longer array, zeros behind them."""
    longer = np.zeros(room, dtype=np.int32)
    copy_values(values, longer)
    return longer


@njit
def widest(
    space: Space, codes: Codes, order: Codes, first: int, last: int, jitter: float, box: Codes, words: Bits
) -> int:
    """The attribute with the greatest cost over some rows (-1: all rows alike); fills their box."""
    clear_box(space, box, words, 0)
    for i in range(first, last):
        widen(space, codes, order[i], box, words, 0)
    best, found = 0.0, -1
    for a in range(codes.shape[1]):
        cost = width(space, a, box, words, 0)
        if cost > 0.0 and jitter > 0.0:
            cost *= np.exp(jitter * np.random.randn())  # noqa: NPY002 - kernels have no generators
        if cost > best:
            best, found = cost, a
    return found


@njit
def cut_rows(
    space: Space,
    codes: Codes,
    order: Codes,
    a: int,
    low: int,
    high: int,
    jitter: float,
    spare: Codes,
    bounds: IntArray,
) -> int:
    """Sort some rows into the parts of a cut of attribute a; fills `bounds`, returns the number of parts."""
    if space.shape[a, KIND] == SET:
        low, high = 0, space.shape[a, SIZE] - 1
    part_of = np.zeros(high - low + 1, dtype=np.int64)
    count = np.zeros(high - low + 1, dtype=np.int64)
    for i in range(len(order)):
        count[codes[order[i], a] - low] += 1
    if space.shape[a, KIND] == ORDERED:
        cut = low + median_code(space, a, count, len(order), high, jitter)
        for code in range(cut + 1, high + 1):
            part_of[code - low] = 1
        parts = 2
    elif space.shape[a, KIND] == SET:
        chosen = 0
        for code in range(len(count)):
            part_of[code] = 1
            if count[code] > count[chosen]:
                chosen = code
        if jitter > 0.0 and np.random.random() < 0.3:  # noqa: NPY002
            chosen = codes[order[np.random.randint(len(order))], a]  # noqa: NPY002
        part_of[chosen] = 0
        parts = 2
    else:
        parts = number_children(space, a, low, high, part_of)
    return counting_sort(codes[:, a], order, low, part_of, parts, spare, bounds)


@njit
def median_code(space: Space, a: int, count: IntArray, rows: int, high: int, jitter: float) -> int:
    """The last code, from the lowest, of the lower part: nearest to half of the rows; missing values apart."""
    if high == space.shape[a, NULL]:
        return len(count) - 2
    half = rows * (0.3 + 0.4 * np.random.random()) if jitter > 0.0 else rows / 2  # noqa: NPY002
    below, nearest, cut = 0, np.inf, 0
    for code in range(len(count) - 1):
        below += count[code]
        if count[code] > 0 and abs(below - half) < nearest:
            nearest, cut = abs(below - half), code
    return cut


@njit
def number_children(space: Space, a: int, low: int, high: int, part_of: IntArray) -> int:
    """Number the codes low..high by the child of their common ancestor: it is where neighbours cost the most."""
    top = cell_loss(space, a, low, high)
    begin = space.shape[a, GAP]
    part = 0
    for code in range(low, high + 1):
        part_of[code - low] = part
        if code < high and space.cost[begin + code] >= top - 1e-12:
            part += 1
    return part + 1


@njit
def counting_sort(
    column: Codes, order: Codes, low: int, part_of: IntArray, parts: int, spare: Codes, bounds: IntArray
) -> int:
    """Sort rows by the part of their code, stably; empty parts are left out of `bounds`."""
    at = np.zeros(parts + 1, dtype=np.int64)
    for i in range(len(order)):
        at[part_of[column[order[i]] - low] + 1] += 1
    filled = 0
    bounds[0] = 0
    for p in range(parts):
        if at[p + 1] > 0:
            filled += 1
            bounds[filled] = bounds[filled - 1] + at[p + 1]
        at[p + 1] += at[p]
    for i in range(len(order)):
        part = part_of[column[order[i]] - low]
        spare[at[part]] = order[i]
        at[part] += 1
    copy_values(spare[: len(order)], order)
    return filled


@njit
def random_order(space: Space, codes: Codes, jitter: float, stop: Flag) -> Codes:
    """All rows in the order of the leaves of a random tree: rows near each other are alike."""
    order = numbers(codes.shape[0])
    shuffle(order)
    grow_tree(space, codes, order, jitter, stop)
    return order
