"""People with several rows: the method groups people, and the classes it finds are judged by all their rows.

A method sees one row per person, drawn at random, so that on average every row counts as it should. All rows of a
person then go where the person goes. Methods that search (those with an effort) go on with people as they are, who
change classes until all hold and less is lost (`regroup`); what they do before is then only a beginning, and with the
effort `fast` they improve it no further. Other methods see the least and the greatest code of each
quasi-identifier, as two columns where they differ, so that people whose rows span the same range come together. Classes
that in the end do not hold, counted in people and in rows, are merged with near ones.

Where a key per person is published, a reader sees how many rows a person has: classes are formed among people with the
same number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polyveil.arrays import BoolArray, IntArray
from polyveil.errors import Fault, PolicyError, Unsatisfiable
from polyveil.methods._repair import by_model
from polyveil.methods._repair.merging import merge_failing
from polyveil.methods.base import Method, Task
from polyveil.models import JointCloseness, Model, TCloseness, attributes_of, codes_of, from_classes
from polyveil.models.people import People, from_people, numbered, people_of, rows_of_people
from polyveil.partition import Partition, partition_of
from polyveil.table.coded import CodedTable, QuasiColumn

ROOM, ROOM_TO_SEARCH = 0.85, 1.2
"""How much of the allowed distance a method may use. With less, fewer classes fail with all rows; if people change
classes afterwards, a little too much gives more and smaller classes, which are then mended. On 8,000 rows of
Diabetes-130 at t = 0.3, `sift` loses 13.0 % of the detail with 1.0, 12.5 % with 1.2 and 12.6 % with 1.5."""
SHARE = 0.6
"""Of an effort in seconds, what the method gets before people change classes."""

Work = Callable[[Task, People, IntArray], Partition]
"""Makes classes of a table's people, who are numbered from 0; it is told which rows of the whole table these are."""

OF_ONE_ROW_EACH = ("levels", "optimal")
"""What a method says of columns and of its optimum does not describe the groups of people with several rows."""


def partition(method: Method[Any], task: Task) -> Partition:
    """The method's classes, of rows or, where people have several, of people."""
    if task.table.person is None:
        return by_model.partition(method, task)
    if method.makes_own_slices:
        rule = f"{method.name} groups every slice on its own, so it cannot keep the rows of a person together"
        raise PolicyError([Fault("method.name", rule, "Use another method, for example sift")])
    effort = getattr(method.options, "effort", None)
    if isinstance(effort, (int, float)):
        method = type(method)(method.options.model_copy(update={"effort": SHARE * effort}))
        effort = (1 - SHARE) * effort
    return _of_strata(task, lambda part, people, _: _grouped(part, people, method, effort))


def refine_people(task: Task, classes: Partition, effort: str | float) -> Partition:
    """The same people in classes of no more loss; those left out stay so."""
    if classes.slices:
        return classes

    from polyveil.methods._repair.regroup import settled  # kernels are slow to load

    def work(part: Task, people: People, rows: IntArray) -> Partition:
        labels = partition_of(classes.class_of_row[rows]).class_of_row
        return partition_of(settled(part, people, labels, judge_rows(part, people, labels >= 0), effort))

    return replace(_of_strata(task, work), found={**classes.found, "refined": effort})


def _of_strata(task: Task, work: Work) -> Partition:
    """What `work` makes of all people or, where keys show how many rows they have, of those with as many rows each."""
    table = task.table
    if table.person is None:
        raise ValueError("this is for tables that say whom a row is about")
    people = people_of(table.person, codes_of(table), task.attributes, task.everybody)
    strata = np.zeros(table.rows, dtype=np.int64)
    if table.keyed:
        strata = rows_of_people(table.person)
        check_strata(task, people, strata)
    labels = np.full(table.rows, -1, dtype=np.int64)
    told: Mapping[str, Any] = {}
    for number in np.unique(strata):
        rows = np.flatnonzero(strata == number)
        found = work(replace(task, table=table.take(rows)), numbered(people.take(rows)), rows)
        labels[rows] = np.where(found.class_of_row < 0, -1, found.class_of_row + labels.max(initial=-1) + 1)
        told = found.found
    return replace(partition_of(labels), found=told)


def _grouped(task: Task, people: People, method: Method[Any], effort: str | float | None) -> Partition:
    """Classes of the people of a table, be it part of a larger one whose people are the reference."""
    room = ROOM if effort is None else ROOM_TO_SEARCH
    units = replace(_unit_task(task, people, room), goes_on=effort is not None)
    found = by_model.partition(method, units)
    labels = within_limit(found.class_of_row, people.person, task.suppressible)[people.person]
    labels = partition_of(labels).class_of_row
    judge = judge_rows(task, people, labels >= 0)
    if effort is None:
        labels = merge_failing(task.table, labels, judge)
    else:
        from polyveil.methods._repair.regroup import regrouped  # kernels are slow to load

        labels = regrouped(task, people, labels, judge, effort)
    told = {key: value for key, value in found.found.items() if key not in OF_ONE_ROW_EACH}
    return replace(partition_of(labels), found=told)


def check_strata(task: Task, people: People, count: IntArray) -> None:
    """Where keys show how many rows a person has, all who have as many must be able to hide among each other."""
    _, strata = np.unique(count, return_inverse=True)
    codes = codes_of(task.table)
    verdicts = [model.judge(from_people(strata, codes, task.attributes, people)) for model in task.models]
    broken = [verdict for verdict in verdicts if not verdict.holds]
    if not broken:
        return
    rows = int(np.unique(count)[broken[0].worst_class or 0])
    works = _most_rows_that_work(task, people)
    remedy = "none" if works is None else f"privacy.rows_per_person: {{at_most: {works}}}"
    raise Unsatisfiable(
        f"{broken[0].statement}, but keys show how many rows a person has, and all people with {rows} rows "
        f"as one group have {broken[0].value:.6g}",
        f"{remedy}; or publish no keys with release.person: none",
    )


def _most_rows_that_work(task: Task, people: People) -> int | None:
    """The greatest number of rows per person with which all people of as many rows keep every guarantee."""
    codes = codes_of(task.table)
    order = task.rng.permutation(task.table.rows)
    order = order[np.argsort(people.person[order], kind="stable")]
    start = np.flatnonzero(np.diff(people.person[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(start, np.diff(np.append(start, len(order))))
    for most in range(int(rank.max(initial=0)), 0, -1):
        kept = order[rank < most]
        some = {name: found[kept] for name, found in codes.items()}
        attributes = {
            name: about.against(np.bincount(some[name], minlength=about.size))
            for name, about in task.attributes.items()
        }
        _, strata = np.unique(rows_of_people(people.person[kept]), return_inverse=True)
        statistics = from_people(strata, some, attributes, people_of(people.person[kept], some, attributes))
        if all(model.judge(statistics).holds for model in task.models):
            return most
    return None


def _unit_task(task: Task, people: People, room: float) -> Task:
    units = one_row_each(task.table, people.person, task.rng, ends=room < 1)
    attributes = attributes_of(units)
    for name, about in people.shared.items():
        if name in {column.name for column in units.sensitive}:
            attributes[name] = attributes[name].against(about.whole)
    models = tuple(tightened(model, room) for model in task.models if not _only_by_all_rows(model, task, people, units))
    return replace(task, table=units, attributes=attributes, models=models)


def _only_by_all_rows(model: Model, task: Task, people: People, units: CodedTable) -> bool:
    """Whether all people as one group keep the model by all their rows, but not by one row of each.

    Groups are then mended for it in the end: no method could find any.
    """
    attributes = {name: about for name, about in people.shared.items() if name in codes_of(units)}
    by_one = from_classes(np.zeros(units.rows, dtype=np.int64), codes_of(units), attributes)
    if model.judge(by_one).holds:
        return False
    codes = codes_of(task.table)
    return model.judge(from_people(np.zeros(task.table.rows, dtype=np.int64), codes, task.attributes, people)).holds


def tightened(model: Model, room: float = ROOM) -> Model:
    """A distance that leaves room for the rows of a person that the method does not see."""
    if not isinstance(model, TCloseness | JointCloseness):
        return model
    return type(model)(room * model.threshold, model.attribute)


def one_row_each(table: CodedTable, person: IntArray, rng: np.random.Generator, *, ends: bool = True) -> CodedTable:
    """One row by chance of every person, who are numbered from 0; with `ends`, quasi-identifiers from and to."""
    rows = np.bincount(person)
    begin = np.cumsum(rows) - rows
    by_chance = rng.permutation(table.rows)
    drawn = by_chance[np.argsort(person[by_chance], kind="stable")][begin]
    units = replace(table.take(drawn), person=None)
    if not ends:
        return units
    columns: list[QuasiColumn] = []
    for column in table.quasi:
        ordered = column.codes[np.lexsort((column.codes, person))]
        low, high = ordered[begin], ordered[begin + rows - 1]
        if np.array_equal(low, high):
            columns.append(replace(column, codes=low))
        else:
            half = column.weight / 2
            columns.append(replace(column, codes=low, weight=half))
            columns.append(replace(column, name=f"{column.name} (to)", codes=high, weight=half))
    return replace(units, quasi=tuple(columns))


def within_limit(class_of_person: IntArray, person: IntArray, most: int) -> IntArray:
    """People left out, as long as their rows are no more than allowed; the others become classes of their own."""
    out = np.flatnonzero(class_of_person < 0)
    rows = np.bincount(person)[out]
    order = np.argsort(rows, kind="stable")
    back = out[order][np.cumsum(rows[order]) > most]
    labels = class_of_person.copy()
    labels[back] = int(labels.max(initial=-1)) + 1 + np.arange(len(back))
    return labels


def judge_rows(task: Task, people: People, kept: BoolArray) -> Callable[[IntArray, IntArray], BoolArray]:
    """Which classes fail, against the whole table and, where rows are left out, against those released."""
    codes = codes_of(task.table)
    references = [(task.attributes, people)]
    if not kept.all():
        shown = {
            name: about.against(np.bincount(codes[name][kept], minlength=about.size))
            for name, about in task.attributes.items()
        }
        weights = {name: found[kept] for name, found in people.weights.items()}
        shared = {
            name: about.against(
                np.bincount(codes[name][kept], weights=weights[name], minlength=about.size).astype(np.int64)
            )
            for name, about in people.shared.items()
        }
        references.append((shown, replace(people, shared=shared)))

    def failing(rows: IntArray, labels: IntArray) -> BoolArray:
        some = {name: found[rows] for name, found in codes.items()}
        bad = np.zeros(int(labels.max(initial=-1)) + 1, dtype=bool)
        for attributes, reference in references:
            statistics = from_people(labels, some, attributes, reference.take(rows))
            for model in (model for model in task.models if model.per_group):
                bad |= ~model.passes(model.measure_all(statistics))
        return bad

    return failing
