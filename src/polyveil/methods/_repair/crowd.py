"""People in groups, for kernels: each person a box over the quasi-identifiers and a multiset of sensitive values.

A histogram has three parts, side by side: rows with a value, the weight of people who share it, and people who have it.
Parts at its end that nothing judges are left out.
Boxes of people and of groups lie in one array, the people's first, so that joining either kind is one operation. All
statistics are exact at all times: tests recount them after a search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.boxes import SET, kind_of
from polyveil.methods._kernels.by_reference import by_reference
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.judge import compile_constraints, sensitive_matrix
from polyveil.methods._repair.crowd_judge import Judges, broken_by
from polyveil.methods._search.space import (
    GAP,
    KIND,
    NULL,
    ORDERED,
    POSITION,
    WORD,
    WORDS,
    Bits,
    Space,
    as_int64,
    bit_count,
    costliest_first,
    make_space,
)
from polyveil.methods.base import Task
from polyveil.models.joint import joint_name
from polyveil.models.people import People
from polyveil.table.coded import CodedTable


@by_reference
class Costs(NamedTuple):
    """What boxes cost: `shape` and `cost` of a `Space`."""

    shape: IntArray
    cost: FloatArray
    words: int


@by_reference
class Crowd(NamedTuple):
    """People, who never change: their rows, and what they add to histograms; their boxes are in `Groups`."""

    rows: IntArray
    begin: IntArray  # person p adds what lies from begin[p] to begin[p + 1]
    place: Codes
    times: Codes
    weight: Codes
    width: int  # of one part of a histogram
    parts: int


@by_reference
class Groups(NamedTuple):
    """Groups of people under change; a group without members has no rows and no loss."""

    of_person: Codes
    after: Codes  # the next member of the same group (-1: none)
    before: Codes
    head: Codes
    people: IntArray
    rows: IntArray
    box: Codes
    words: Bits
    hist: IntArray
    loss: FloatArray
    broken: FloatArray  # how far the guarantees are broken


def crowd_of(table: CodedTable, people: People, judges: Judges) -> Crowd:
    """What each person adds to a histogram, equal values together; people are numbered from 0 without gaps."""
    places = sensitive_matrix(table)
    names = [*(column.name for column in table.sensitive), *map(joint_name, table.together)]
    weights = np.array([people.weights[name] for name in names], dtype=np.int64).reshape(len(names), table.rows).T
    width = int(places.max(initial=0)) + 1
    key = people.person[:, None].astype(np.int64) * width + places
    found, which = np.unique(key.ravel(), return_inverse=True)
    of_person = found // width
    return Crowd(
        rows=np.bincount(people.person).astype(np.int64),
        begin=np.searchsorted(of_person, np.arange(int(people.person.max(initial=-1)) + 2)).astype(np.int64),
        place=(found % width).astype(np.int32),
        times=np.bincount(which.ravel(), minlength=len(found)).astype(np.int32),
        weight=np.bincount(which.ravel(), weights=weights.ravel(), minlength=len(found)).astype(np.int32),
        width=judges.width,
        parts=judges.parts,
    )


@njit
def box_cost(costs: Costs, box: Codes, words: Bits, b: int, other: int) -> float:
    """What a row costs in the box that covers two boxes, which may be the same one twice."""
    total = 0.0
    attributes = len(costs.shape)
    for a in range(attributes):
        if costs.shape[a, KIND] == SET:
            values, begin = -1, costs.shape[a, WORD]
            for i in range(begin, begin + costs.shape[a, WORDS]):
                values += bit_count(words[b, i] | words[other, i])
            total += values * costs.cost[a]
            continue
        low = min(box[b, a], box[other, a])
        high = max(box[b, attributes + a], box[other, attributes + a])
        total += range_cost(costs, a, low, high)
    return total


@njit
def range_cost(costs: Costs, a: int, low: int, high: int) -> float:
    """What a row costs whose attribute a, not a set, spans two codes and all between."""
    if low >= high:
        return 0.0
    if costs.shape[a, KIND] != ORDERED:
        level = 0
        while (2 << level) <= high - low:
            level += 1
        begin = costs.shape[a, GAP + level]
        return max(costs.cost[begin + low], costs.cost[begin + high - (1 << level)])
    if high == costs.shape[a, NULL]:
        return costs.cost[a]
    begin = costs.shape[a, POSITION]
    return costs.cost[begin + high] - costs.cost[begin + low]


@njit
def least_cost(costs: Costs, box: Codes, words: Bits, whole: int, gone: int, stays: int, come: int) -> float:
    """No more than what a row costs in a group without its member `gone` and with `come`; `stays` is another member.

    `whole` is the group's box. It shrinks at most by what `gone` reaches; which other members reach as far is not
    looked up.
    """
    total = 0.0
    attributes = len(costs.shape)
    for a in range(attributes):
        if costs.shape[a, KIND] == SET:
            values, begin = -1, costs.shape[a, WORD]
            for i in range(begin, begin + costs.shape[a, WORDS]):
                values += bit_count((words[whole, i] & ~words[gone, i]) | words[stays, i] | words[come, i])
            total += values * costs.cost[a]
            continue
        low = min(box[stays, a], box[come, a])
        high = max(box[stays, attributes + a], box[come, attributes + a])
        if box[gone, a] > box[whole, a]:
            low = min(low, box[whole, a])
        if box[gone, attributes + a] < box[whole, attributes + a]:
            high = max(high, box[whole, attributes + a])
        total += range_cost(costs, a, low, high)
    return total


def space_of(task: Task) -> tuple[Space, CodedTable]:
    """What boxes cost, and the table with its quasi-identifiers in the space's order."""
    table = costliest_first(task.table)
    only_boxes = CodedTable(rows=table.rows, quasi=table.quasi, sensitive=())
    return make_space(only_boxes, compile_constraints((), {}, only_boxes))[0], table


def groups_of(
    costs: Costs, table: CodedTable, crowd: Crowd, judges: Judges, person: IntArray, label: IntArray
) -> Groups:
    """Groups from each person's label, numbered from 0; every label has a slot of its own."""
    people, slots = len(label), int(label.max(initial=-1)) + 1
    attributes = len(table.quasi)
    box = np.empty((people + slots + 2, 2 * attributes), dtype=np.int32)  # two to try changes in
    words = np.zeros((people + slots + 2, costs.words), dtype=np.uint64)
    box[:, :attributes], box[:, attributes:] = np.iinfo(np.int32).max, -1
    for a, column in enumerate(table.quasi):
        if kind_of(column) == SET:
            word = costs.shape[a, WORD] + (column.codes >> 6)
            bit = np.uint64(1) << (column.codes & 63).astype(np.uint64)
            np.bitwise_or.at(words, (person, word), bit)
        else:
            np.minimum.at(box[:, a], person, column.codes.astype(np.int32))
            np.maximum.at(box[:, attributes + a], person, column.codes.astype(np.int32))
    nobody = np.full(people, -1, dtype=np.int32)
    groups = Groups(
        of_person=nobody,
        after=nobody.copy(),
        before=nobody.copy(),
        head=np.full(slots, -1, dtype=np.int32),
        people=np.zeros(slots, dtype=np.int64),
        rows=np.zeros(slots, dtype=np.int64),
        box=box,
        words=words,
        hist=np.zeros((slots, judges.parts * judges.width), dtype=np.int64),
        loss=np.zeros(slots),
        broken=np.zeros(slots),
    )
    fill(costs, crowd, judges, groups, label.astype(np.int64))
    return groups


@njit
def fill(costs: Costs, crowd: Crowd, judges: Judges, groups: Groups, label: IntArray) -> None:
    """Put everybody into the group of their label."""
    first = len(groups.of_person)
    for p in range(first):
        c = label[p]
        link(groups, c, p)
        count(crowd, groups, c, p, 1)
        join_box(groups, first + c, p)
    for c in range(len(groups.head)):
        if groups.people[c] > 0:
            groups.loss[c] = box_cost(costs, groups.box, groups.words, first + c, first + c)
            groups.broken[c] = broken(judges, groups, c, np.inf)


@njit
def link(groups: Groups, c: int, p: int) -> None:
    """Make p the first in the list of c's members."""
    old = groups.head[c]
    groups.of_person[p], groups.after[p], groups.before[p] = c, old, -1
    if old >= 0:
        groups.before[old] = p
    groups.head[c] = p


@njit
def unlink(groups: Groups, p: int) -> None:
    """Take p out of the list of members."""
    before, after = groups.before[p], groups.after[p]
    if before >= 0:
        groups.after[before] = after
    else:
        groups.head[groups.of_person[p]] = after
    if after >= 0:
        groups.before[after] = before


@njit
def count(crowd: Crowd, groups: Groups, c: int, p: int, by: int) -> None:
    """Count person p `by` times more in the sizes and the histogram of c."""
    groups.people[c] += by
    groups.rows[c] += by * crowd.rows[p]
    if crowd.parts == 0:
        return
    for i in range(crowd.begin[p], crowd.begin[p + 1]):
        v = crowd.place[i]
        groups.hist[c, v] += by * crowd.times[i]
        if crowd.parts > 1:
            groups.hist[c, crowd.width + v] += by * crowd.weight[i]
        if crowd.parts > 2:
            groups.hist[c, 2 * crowd.width + v] += by


@njit
def broken(judges: Judges, groups: Groups, c: int, enough: float) -> float:
    """How far group c, which has members, breaks its guarantees; counted no further than beyond `enough`."""
    return broken_by(judges, groups.hist, c, groups.people[c], groups.rows[c], enough)


@njit
def join_box(groups: Groups, to: int, other: int) -> None:
    """Widen box `to` to cover box `other`."""
    attributes = groups.box.shape[1] // 2
    for a in range(attributes):  # of a set both ends stay as they are in an empty box
        groups.box[to, a] = min(groups.box[to, a], groups.box[other, a])
        groups.box[to, attributes + a] = max(groups.box[to, attributes + a], groups.box[other, attributes + a])
    for i in range(groups.words.shape[1]):
        groups.words[to, i] |= groups.words[other, i]


@njit
def box_without(groups: Groups, p: int, to: int) -> None:
    """The box of p's group without p, into box `to`; stops as soon as it is as wide as with p."""
    c = as_int64(groups.of_person[p])
    whole = len(groups.of_person) + c
    clear(groups, to)
    member = as_int64(groups.head[c])
    while member >= 0:
        if member != p:
            join_box(groups, to, member)
            if same_box(groups, to, whole):
                return
        member = as_int64(groups.after[member])


@njit
def clear(groups: Groups, b: int) -> None:
    """Make box b empty."""
    for i in range(groups.box.shape[1]):
        groups.box[b, i] = np.int32(2**31 - 1) if 2 * i < groups.box.shape[1] else np.int32(-1)
    for i in range(groups.words.shape[1]):
        groups.words[b, i] = np.uint64(0)


@njit
def copy(groups: Groups, b: int, to: int) -> None:
    """Copy box b to another place."""
    for i in range(groups.box.shape[1]):
        groups.box[to, i] = groups.box[b, i]
    for i in range(groups.words.shape[1]):
        groups.words[to, i] = groups.words[b, i]


@njit
def same_box(groups: Groups, one: int, two: int) -> bool:
    """Whether two boxes are equal."""
    for i in range(groups.box.shape[1]):
        if groups.box[one, i] != groups.box[two, i]:
            return False
    same = True
    for i in range(groups.words.shape[1]):
        same &= groups.words[one, i] == groups.words[two, i]
    return same
