"""Classes from a tree, bottom-up: each node takes the largest class it can out of what its children left over.

Near the leaves classes cost nothing; only what does not fit travels up. "Largest" is greedy: while the pool breaks a
model, take away a row of the sensitive tuple that is most over-represented - whose values push hardest on the broken
constraints (`pressure`). For earth mover's distances the push is the slope of the distance in the value's share, so a
step never goes the wrong way in the linear program that the largest class would be.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.judge import JudgeSpec
from polyveil.methods._kernels.judge_spec import HELLINGER, KL
from polyveil.methods._search.space import Counts, Flag, Rows, Space
from polyveil.methods._search.tally import class_holds, count_ranges, count_row, count_values, distances
from polyveil.methods._search.tree import Tree, grow_tree

NEAR = 0.8
"""A closeness this near its limit already pushes, so that mending one attribute does not break another."""


@njit
def pressure(space: Space, hist: Counts, i: int, n: int, push: FloatArray) -> float:
    """How hard each value pushes on what histogram i breaks, into `push`; returns the mean push of the class's rows."""
    push[:] = 0.0
    if len(space.limits) > 0:
        push_of_closeness(space, hist, i, n, push)
    for v in range(len(space.caps)):
        if hist[i, v] > space.caps[v] * n:
            push[v] += 1.0 + hist[i, v] / n - space.caps[v]
    for v in range(space.joint, space.width):  # combinations: more than their share push up, less push down
        push[v] += 0.1 * np.sign(hist[i, v] / n - space.shares[v])
    push_of_more(space.other_constraints, hist, i, space.width, n, push)
    mean = 0.0
    for v in range(space.width):
        mean += push[v] * hist[i, v]
    return mean / n


@njit
def push_of_closeness(space: Space, hist: Counts, i: int, n: int, push: FloatArray) -> None:
    """The slope of the earth mover's distances: a value pushes by the weight of the ranges with too much in them."""
    distances(space, hist, i, n)
    ranges = space.ranges
    for r in range(len(ranges)):
        j = ranges[r, 2]
        beyond = space.spent[j] - NEAR * space.limits[j]
        over = hist[i, space.width + r] - space.terms[r, 1] * n
        if beyond > 0.0 and abs(over) > 1e-9:
            step = beyond * space.terms[r, 0] * np.sign(over)
            push[ranges[r, 0]] += step
            if ranges[r, 1] < space.width:
                push[ranges[r, 1]] -= step
    for v in range(1, space.width):
        push[v] += push[v - 1]


@njit
def push_of_more(more: JudgeSpec | None, hist: Counts, i: int, width: int, n: int, push: FloatArray) -> None:
    """The push on constraints other than closeness and caps."""
    if more is None:
        return
    counts = hist[i, :width].astype(np.int64)
    push_of_floors(more, counts, n, push)
    push_of_divergences(more, counts, n, push)
    push_of_diversity(more, counts, push)


@njit
def push_of_floors(judge: JudgeSpec, hist: IntArray, n: int, push: FloatArray) -> None:
    """Values at or below their floor push down."""
    if judge.has_floors:
        for v in range(len(hist)):
            if hist[v] <= judge.floor[v] * n + 1.0:
                push[v] -= 1.0


@njit
def push_of_divergences(judge: JudgeSpec, hist: IntArray, n: int, push: FloatArray) -> None:
    """The slope of each divergence in a value's share."""
    for j in range(len(judge.divergence_limit)):
        a, begin = judge.divergence_attribute[j], judge.divergence_begin[j]
        for v in range(judge.offset[a], judge.offset[a + 1]):
            q = judge.divergence_share[begin + v - judge.offset[a]]
            p = hist[v] / n
            if p == 0.0 or q == 0.0:
                continue
            if judge.divergence_kind[j] == HELLINGER:
                push[v] -= 0.5 * np.sqrt(q / p)
            elif judge.divergence_kind[j] == KL:
                push[v] += np.log2(p / q)
            else:
                push[v] += 0.5 * np.log2(2.0 * p / (p + q))


@njit
def push_of_diversity(judge: JudgeSpec, hist: IntArray, push: FloatArray) -> None:
    """For entropy and recursive diversity: frequent values push by their count."""
    for attributes in (judge.entropy_attribute, judge.recursive_attribute):
        for j in range(len(attributes)):
            first, last = judge.offset[attributes[j]], judge.offset[attributes[j] + 1]
            most = 1
            for v in range(first, last):
                most = max(most, hist[v])
            for v in range(first, last):
                push[v] += hist[v] / most


@njit
def take_out(space: Space, tuple_of: Codes, pool: Codes, floor: int, spare: Codes, kept: Codes, stop: Flag) -> int:
    """Mark in `kept` the largest found subset of the pool that holds and has `floor` rows; returns its size or 0.

    Once `stop` is set, 0. `spare` is all zeros, one per sensitive tuple, and is left so.
    """
    n = len(pool)
    kept[:n] = 1
    if space.width == 0:
        return n if n >= floor else 0
    hist = np.zeros((1, space.length), dtype=np.int32)
    tuples = np.empty(min(n, len(spare)), dtype=np.int64)
    first = np.empty(len(tuples), dtype=np.int64)
    left = np.zeros(len(tuples), dtype=np.int64)
    chain = np.empty(n, dtype=np.int64)
    found = 0
    for i in range(n):
        s = tuple_of[pool[i]]
        if spare[s] == 0:
            tuples[found], first[found] = s, -1
            found += 1
            spare[s] = found
        x = spare[s] - 1
        chain[i], first[x] = first[x], i
        left[x] += 1
        count_values(space, hist, 0, s, 1)
    count_ranges(space, hist, 0)
    for x in range(found):
        spare[tuples[x]] = 0
    push = np.empty(space.width)
    while n >= floor and stop[0] == 0:
        if class_holds(space, hist, 0, n):
            return n
        pressure(space, hist, 0, n, push)
        x = most_pressing(space, tuples, left, found, push)
        for _ in range(max(1, n // 128)):  # large pools lose several rows at a time
            if left[x] == 0:
                break
            i = first[x]
            first[x] = chain[i]
            kept[i] = 0
            left[x] -= 1
            n -= 1
            count_row(space, hist, 0, tuples[x], -1)
    return 0


@njit
def most_pressing(space: Space, tuples: IntArray, left: IntArray, found: int, push: FloatArray) -> int:
    """The tuple with rows left whose values push hardest."""
    best, chosen = -np.inf, 0
    for x in range(found):
        if left[x] > 0:
            total = 0.0
            for s in range(space.places.shape[1]):
                total += push[space.places[tuples[x], s]]
            if total > best:
                best, chosen = total, x
    return chosen


@njit
def sift_rows(space: Space, rows: Rows, order: Codes, floor: int, jitter: float, labels: Codes, stop: Flag) -> int:
    """Grow a tree over all rows (permutes `order`) and walk it up; labels rows, -1 if left over at the root."""
    tree = grow_tree(space, rows.codes, order, jitter, stop)
    return walk_up(space, rows, order, tree, floor, labels, stop)


@njit
def walk_up(space: Space, rows: Rows, order: Codes, tree: Tree, floor: int, labels: Codes, stop: Flag) -> int:
    """Pool what children leave over, take classes out, hand the rest up; returns the number of classes.

    A row handed up is a place of `order` in its node's chain.
    """
    nodes = len(tree.begin)
    head, tail = np.full(nodes, -1, dtype=np.int32), np.full(nodes, -1, dtype=np.int32)
    size = np.zeros(nodes, dtype=np.int32)
    chain = np.full(len(order), -1, dtype=np.int32)
    at, pool = np.empty(len(order), dtype=np.int32), np.empty(len(order), dtype=np.int32)
    kept = np.empty(len(order), dtype=np.int32)
    spare = np.zeros(space.places.shape[0], dtype=np.int32)
    labels[:] = -1
    classes = 0
    for node in range(nodes - 1, -1, -1):
        if stop[0] != 0:
            break
        if tree.is_leaf[node] == 1:
            for place in range(tree.begin[node], tree.end[node]):
                push_place(chain, head, tail, size, node, place)
        n = size[node]
        if n >= floor:
            place = head[node]
            for i in range(n):
                at[i], pool[i] = place, order[place]
                place = chain[place]
            if take_out(space, rows.tuple_of, pool[:n], floor, spare, kept, stop) > 0:
                head[node], tail[node], size[node] = -1, -1, 0
                for i in range(n):
                    if kept[i] == 1:
                        labels[pool[i]] = classes
                    else:
                        push_place(chain, head, tail, size, node, at[i])
                classes += 1
        hand_up(chain, head, tail, size, node, tree.parent[node])
    return classes


@njit
def push_place(chain: Codes, head: Codes, tail: Codes, size: Codes, node: int, place: int) -> None:
    """Add a place to a node's chain."""
    chain[place] = head[node]
    head[node] = place
    if tail[node] < 0:
        tail[node] = place
    size[node] += 1


@njit
def hand_up(chain: Codes, head: Codes, tail: Codes, size: Codes, node: int, parent: int) -> None:
    """Append a node's chain to its parent's."""
    if parent < 0 or size[node] == 0:
        return
    if head[parent] < 0:
        head[parent], tail[parent] = head[node], tail[node]
    else:
        chain[tail[parent]] = head[node]
        tail[parent] = tail[node]
    size[parent] += size[node]
