"""What must hold in a group of people, judged from its histogram in rows and in people.

The twin of the models on `PeopleStatistics`; tests keep the two equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._kernels.by_reference import by_reference
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.judge import JudgeSpec, asks_more, compile_constraints, violation
from polyveil.methods.base import Task
from polyveil.models import Model
from polyveil.models.people import People

ROWS, SHARING, HAVING = range(3)
"""The parts of a histogram."""


LEAST = 1e-9
"""What a broken constraint adds at least, so that only a group that holds has 0."""


class ThreeSpecs(NamedTuple):
    """All constraints on each part of a histogram."""

    rows: JudgeSpec
    sharing: JudgeSpec
    having: JudgeSpec


@by_reference
class Judges(NamedTuple):
    """What must hold in rows, in people who share their weight over their rows, and in people who have a value.

    Caps and closeness lie in flat arrays over all parts.
    """

    caps: FloatArray  # greatest share per place of a histogram, or none
    ranges: IntArray  # closeness: range x (start, stop, constraint)
    terms: FloatArray  # closeness: range x (weight, share in the whole table)
    limits: FloatArray  # closeness: one per constraint
    part: IntArray  # closeness: the part of the histogram of each constraint
    reach: int  # closeness: where the last range ends
    upto: IntArray  # room for running totals of a histogram
    weight: int  # of a person, where it is shared
    least: int  # people in a group
    width: int  # of one part of a histogram
    parts: int  # how many parts of a histogram are judged: the first, the first two, all, or none
    everything: ThreeSpecs | None  # where there are constraints other than size, caps and closeness


def judges_of(task: Task, people: People) -> Judges:
    """The task's models as they count; the size of a group is counted in people."""
    about_values = [model for model in task.models if model.attribute is not None]
    models = (about_values, _with_unit(about_values, "sharing"), _with_unit(about_values, "having"))
    references = (task.attributes, people.shared, task.attributes)
    specs = ThreeSpecs(
        *(compile_constraints(m, reference, task.table) for m, reference in zip(models, references, strict=True))
    )
    sizes = [model for model in task.models if model.attribute is None]
    width = specs.rows.width
    parts = [np.full(len(spec.close_limit), part, dtype=np.int64) for part, spec in enumerate(specs)]
    owner = [np.repeat(np.arange(len(spec.close_limit)), np.diff(spec.range_begin)) for spec in specs]
    before = np.cumsum([0, *(len(part) for part in parts)])
    ranges = [
        np.stack([spec.range_start + i * width, spec.range_stop + i * width, owner[i] + before[i]], axis=1)
        for i, spec in enumerate(specs)
    ]
    terms = [np.stack([spec.range_weight, spec.range_share], axis=1) for spec in specs]
    reach = max((int(found[:, 1].max(initial=0)) for found in ranges), default=0)
    has_caps, has_more = any(spec.has_caps for spec in specs), any(asks_more(spec) for spec in specs)
    return Judges(
        caps=np.concatenate([spec.cap for spec in specs]) if has_caps else np.zeros(0),
        ranges=np.concatenate(ranges).astype(np.int64),
        terms=np.concatenate(terms),
        limits=np.concatenate([spec.close_limit for spec in specs]),
        part=np.concatenate(parts),
        reach=reach,
        upto=np.zeros(3 * width + 1, dtype=np.int64),
        weight=people.weight,
        least=max(compile_constraints(sizes, task.attributes, task.table).min_size, 1),
        width=width,
        parts=len(specs) if has_caps or has_more else -(-reach // max(width, 1)),
        everything=specs if has_more else None,
    )


def _with_unit(models: list[Model], unit: str) -> list[Model]:
    return [model for model in models if model.unit == unit]


@njit
def broken_by(judges: Judges, hist: IntArray, c: int, people: int, rows: int, enough: float) -> float:
    """How far a group with histogram c, which has members, breaks its guarantees: 0 if all hold.

    What is more than `enough` is too much in any case, and need not be counted to its end.
    """
    total = max(judges.least - people, 0) / judges.least
    if total > enough:
        return total
    if judges.everything is None:
        total += broken_caps(judges, hist, c, people, rows)
        return total + broken_limits(judges, hist, c, people, rows, enough - total)
    return total + broken_of_all(judges.everything, hist, c, people, rows, judges.weight)


@njit
def size_of(judges: Judges, part: int, people: int, rows: int) -> int:
    """What all shares of a part of a histogram add up to."""
    if part == ROWS:
        return rows
    return people * judges.weight if part == SHARING else people


@njit
def broken_caps(judges: Judges, hist: IntArray, c: int, people: int, rows: int) -> float:
    """By how much shares exceed their caps."""
    excess = 0.0
    for v in range(len(judges.caps)):
        if judges.caps[v] < np.inf:
            size = size_of(judges, v // judges.width, people, rows)
            if hist[c, v] > judges.caps[v] * size:
                excess += max(hist[c, v] / size - judges.caps[v], LEAST)
    return excess


@njit
def broken_limits(judges: Judges, hist: IntArray, c: int, people: int, rows: int, enough: float) -> float:
    """By how much earth mover's distances exceed their limits; counted no further than beyond `enough`."""
    if len(judges.limits) == 0 or enough < 0.0:
        return 0.0
    upto = judges.upto
    for v in range(judges.reach):
        upto[v + 1] = upto[v] + hist[c, v]
    excess, work, j = 0.0, 0.0, 0
    size = size_of(judges, judges.part[0], people, rows)
    for r in range(len(judges.ranges) + 1):
        if r == len(judges.ranges) or judges.ranges[r, 2] != j:
            beyond = work / size - judges.limits[j]
            if beyond > 0.0:
                excess += max(beyond, LEAST)
            if r == len(judges.ranges) or excess > enough:
                break
            j, work = judges.ranges[r, 2], 0.0
            size = size_of(judges, judges.part[j], people, rows)
        inside = upto[judges.ranges[r, 1]] - upto[judges.ranges[r, 0]]
        work += judges.terms[r, 0] * abs(inside - judges.terms[r, 1] * size)
    return excess


@njit
def broken_of_all(specs: ThreeSpecs | None, hist: IntArray, c: int, people: int, rows: int, weight: int) -> float:
    """How far constraints of every kind are broken."""
    if specs is None:
        return 0.0
    width = hist.shape[1] // 3
    total = violation(specs.rows, hist[c, :width], rows)
    total += violation(specs.sharing, hist[c, width : 2 * width], people * weight)
    return total + violation(specs.having, hist[c, 2 * width :], people)
