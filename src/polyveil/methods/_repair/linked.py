"""Several tables about the same people: the method groups people, and the classes are judged in every table.

A method sees one row per person: of each quasi-identifier in any table the least and the greatest code over the
person's rows, and of each sensitive column the value of one of their rows, by chance. A person's rows in all tables
then go where the person goes. Classes that fail in any table, counted in people or in rows, are merged with near ones.
The people of a class who have values in a table are judged once more by themselves: a reader may know who they are.

Where a key per person is published, a reader sees how many rows a person has in each table: classes are formed among
people who have as many in all of them, and those of a class who lack values in the same tables are judged as a class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from polyveil.arrays import BoolArray, IntArray
from polyveil.errors import Unsatisfiable
from polyveil.methods._repair.merging import Failing, merge_failing
from polyveil.methods._repair.people import judge_rows, one_row_each, tightened, within_limit
from polyveil.methods.base import Task
from polyveil.models import attributes_of, codes_of
from polyveil.models.people import People, from_people, people_of
from polyveil.partition import Partition, partition_of
from polyveil.table.coded import CodedTable

Work = Callable[[Task, IntArray], Partition]
"""What is made of one row per person, given the class each already has."""


@dataclass(frozen=True, eq=False)
class Part:
    """A table with its own models, in which everybody has a row; `absent` are the rows without values."""

    task: Task
    absent: BoolArray


def on_linked(tables: Sequence[Part], work: Work, class_of_person: IntArray | None = None) -> Partition:
    """Classes of people that hold in every table."""
    parts = [table.task for table in tables]
    people = [people_of(_person(part.table), codes_of(part.table), part.attributes) for part in parts]
    apart = rows_in_each([part.table for part in parts])
    if not parts[0].table.keyed:
        apart = np.zeros_like(apart)
    else:
        check_strata(parts, people, apart)
    labels = np.full(len(apart), -1, dtype=np.int64)
    found: Partition | None = None
    for stratum in range(int(apart.max(initial=-1)) + 1):
        members = np.flatnonzero(apart == stratum)
        given = np.zeros(0, dtype=np.int64) if class_of_person is None else class_of_person[members]
        taken = [_taken(part, each, members) for part, each in zip(tables, people, strict=True)]
        found = _grouped(taken, work, given)
        labels[members] = np.where(found.class_of_row < 0, -1, found.class_of_row + labels.max(initial=-1) + 1)
    return partition_of(labels) if found is None else replace(partition_of(labels), found=found.found)


def rows_in_each(tables: Sequence[CodedTable]) -> IntArray:
    """A number for each person: equal where people have as many rows in every table."""
    counts = np.stack([np.bincount(_person(table)) for table in tables], axis=1)
    return np.unique(counts, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def check_strata(parts: Sequence[Task], people: Sequence[People], apart: IntArray) -> None:
    """Where keys show how many rows a person has, all who have as many must be able to hide among each other."""
    for part, each in zip(parts, people, strict=True):
        statistics = from_people(apart[each.person], codes_of(part.table), part.attributes, each)
        broken = [verdict for verdict in (model.judge(statistics) for model in part.models) if not verdict.holds]
        if broken:
            raise Unsatisfiable(
                f"{broken[0].statement}, but keys show how many rows a person has in each table, and all people with "
                f"as many rows as one group have {broken[0].value:.6g}",
                "a smaller privacy.rows_per_person: {at_most: m}; or publish no keys with release.person: none",
            )


def _person(table: CodedTable) -> IntArray:
    if table.person is None:
        raise ValueError("linked tables say whom each row is about")
    return table.person


@dataclass(frozen=True, eq=False)
class _Some:
    """The rows of some people, who are numbered from 0, in one table."""

    task: Task
    people: People
    absent: BoolArray


def _taken(part: Part, people: People, members: IntArray) -> _Some:
    number = np.full(int(people.person.max(initial=-1)) + 1, -1, dtype=np.int64)
    number[members] = np.arange(len(members))
    rows = np.flatnonzero(number[people.person] >= 0)
    person = number[people.person[rows]]
    table = replace(part.task.table.take(rows), person=person)
    return _Some(replace(part.task, table=table), replace(people.take(rows), person=person), part.absent[rows])


def _grouped(parts: Sequence[_Some], work: Work, given: IntArray) -> Partition:
    task = _unit_task(parts)
    found = work(task, given)
    labels = found.class_of_row
    for part in parts:
        labels = within_limit(labels, part.people.person, part.task.suppressible)
    kept = labels >= 0
    judges = [_judge(part.task, part.people, kept, len(labels)) for part in parts]
    if any(part.absent.any() for part in parts):
        keyed = parts[0].task.table.keyed
        split = presence([(part.people.person, part.absent) for part in parts], len(labels)) if keyed else None
        judges += [_judge(*present(part.task, part.absent, kept), kept, len(labels), split) for part in parts]

    def failing(members: IntArray, classes: IntArray) -> BoolArray:
        return np.any([judge(members, classes) for judge in judges], axis=0)

    labels = merge_failing(task.table, partition_of(labels).class_of_row, failing)
    return replace(partition_of(labels), found=found.found)


def present(task: Task, absent: BoolArray, kept: BoolArray) -> tuple[Task, People]:
    """The rows with values of one table, which are compared with each other.

    In a table in which some have none, k is not asked: it is about the people of a class, whether they have any or not.
    """
    rows = np.flatnonzero(~absent)
    table = task.table.take(rows)
    person, codes = _person(table), codes_of(table)
    shown = kept[person]
    attributes = {
        name: about.against(np.bincount(codes[name][shown], minlength=about.size))
        for name, about in task.attributes.items()
    }
    models = tuple(model for model in task.models if model.attribute is not None or not absent.any())
    people = people_of(person[shown], {name: found[shown] for name, found in codes.items()}, attributes)
    weights = {name: np.zeros(len(rows), dtype=np.int64) for name in attributes}
    for name, found in people.weights.items():
        weights[name][shown] = found
    whole = replace(people, person=person, weights=weights)
    return replace(task, table=table, attributes=attributes, models=models), whole


def presence(tables: Sequence[tuple[IntArray, BoolArray]], people: int) -> IntArray:
    """A number for each person: equal where people have values in the same tables."""
    shown = np.stack([np.bincount(person[~absent], minlength=people) > 0 for person, absent in tables], axis=1)
    return np.unique(shown, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def _judge(task: Task, people: People, kept: BoolArray, members: int, split: IntArray | None = None) -> Failing:
    """Which classes of people fail in one table, or a part of them in `split`; classes without rows in it do not."""
    failing = judge_rows(task, people, kept[people.person])
    order = np.argsort(people.person, kind="stable")
    count = np.bincount(people.person, minlength=members)
    begin = np.cumsum(count) - count

    def of_people(some: IntArray, classes: IntArray) -> BoolArray:
        parts = 1 if split is None else int(split.max(initial=0)) + 1
        seen = classes if split is None else classes * parts + split[some]
        length = count[some]
        inside = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        rows = order[np.repeat(begin[some], length) + inside]
        found, labels = np.unique(np.repeat(seen, length), return_inverse=True)
        bad = np.zeros(int(classes.max(initial=-1)) + 1, dtype=bool)
        bad[found[failing(rows, labels)] // parts] = True
        return bad

    return of_people


def _unit_task(parts: Sequence[_Some]) -> Task:
    """One row per person with the columns of all tables."""
    units = [one_row_each(part.task.table, part.people.person, part.task.rng) for part in parts]
    table = CodedTable(
        rows=units[0].rows,
        quasi=tuple(chain.from_iterable(each.quasi for each in units)),
        sensitive=tuple(chain.from_iterable(each.sensitive for each in units)),
        together=tuple(chain.from_iterable(each.together for each in units)),
    )
    attributes = attributes_of(table)
    for part in parts:
        for name, about in part.people.shared.items():
            if name in {column.name for column in table.sensitive}:
                attributes[name] = attributes[name].against(about.whole)
    models = dict.fromkeys(chain.from_iterable(part.task.models for part in parts))
    asked = {(model.key, model.attribute): tightened(model) for model in models}
    return replace(parts[0].task, table=table, attributes=attributes, models=tuple(asked.values()))
