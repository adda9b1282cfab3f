"""Several tables about the same people, on this machine.

What is published is, for each table, what a reader gets by joining the others to it: its rows with the
quasi-identifiers of all tables. Every such view is a release of one table with several rows per person, and is
measured as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.engines.base import Job
from polyveil.engines.local import Classes, InMemory, LocalEngine, LocalFigures, in_people, rows_kept
from polyveil.errors import InputError
from polyveil.methods import Part, Task, on_linked, partition, presence, present, refined, rows_in_each
from polyveil.models import Attribute, ClassStatistics, Verdict, attributes_of, codes_of, models_for
from polyveil.models.linked import TableStatistics
from polyveil.models.people import from_people
from polyveil.partition import Partition, partition_of
from polyveil.policy import Policy, public
from polyveil.policy.linked import view_of
from polyveil.releases import Release
from polyveil.releases.relational import group_column, rows_of, view_loss
from polyveil.releases.release import Original
from polyveil.stopping import answering_ctrl_c
from polyveil.table.databases.exact import storable
from polyveil.table.linked import (
    LinkedBound,
    LinkedCodes,
    bind_linked,
    join_people,
    names_of,
    read_linked,
    with_trees,
)
from polyveil.table.source import Table
from polyveil.verification.relational import OF_VIEW


@dataclass(frozen=True, eq=False)
class LinkedOriginal:
    """The tables a release is made of."""

    bound: LinkedBound
    coded: LinkedCodes
    rows_left_out: Mapping[str, int]
    kind: Any

    def part(self, name: str) -> Original:
        """One table as a release of one table knows it."""
        coded = self.coded.parts[name]
        return Original(self.bound.parts[name], coded, self.kind, None, coded.rows + self.rows_left_out[name])

    @property
    def notes(self) -> tuple[str, ...]:
        """What the steward should know."""
        notes = [note for part in self.bound.parts.values() for note in part.notes]
        limit = self.bound.policy.privacy.rows_per_person
        for name, rows in self.rows_left_out.items():
            if rows and limit is not None:
                words = f"{rows:,} rows of {name} were left out by chance, so that nobody has more than"
                notes.append(f"{words} {limit.at_most} (privacy.rows_per_person).")
        return tuple(notes)


@dataclass(frozen=True, eq=False)
class RelationalFigures:
    """What was measured of every view."""

    views: Mapping[str, LocalFigures]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(chain.from_iterable(figures.verdicts for figures in self.views.values()))

    @property
    def classes(self) -> int:
        return next(iter(self.views.values())).classes


class RelationalEngine(InMemory[dict[str, Table], LinkedOriginal, Partition, RelationalFigures]):
    """`policy` names the tables; `reading` are options of the reader, such as `delimiter`."""

    def __init__(self, policy: Policy, **reading: Any) -> None:
        self._policy = policy
        self._reading = {key: value for key, value in reading.items() if value is not None}
        self._source: Any = None
        self._local = LocalEngine()

    def read(self, source: Any) -> dict[str, Table]:
        if {"table", "query"} & set(self._reading):
            raise InputError("--table and --query read one table. The policy says with tables: what to read")
        self._source = source
        return read_linked(source, self._policy.tables, **self._reading)

    def natural_format(self, table: dict[str, Table]) -> Literal["parquet", "csv"]:
        return "csv" if all(self._local.natural_format(part) == "csv" for part in table.values()) else "parquet"

    def columns(self, table: dict[str, Table]) -> list[str]:
        return names_of(table)

    def _pairs(self, name: str) -> Table:
        """A table of pairs of codes, from where the other tables are."""
        if isinstance(self._source, Mapping):
            raise InputError(f"pairs: {name} names a table of a folder or database. Give a CSV file")
        about = self._policy.tables[next(iter(self._policy.tables))].model_copy(update={"source": None})
        return next(iter(read_linked(self._source, {name: about}, **self._reading).values()))

    def bind(self, table: dict[str, Table], policy: Policy) -> LinkedOriginal:
        policy = with_trees(policy, table, self._pairs)
        left_out = dict.fromkeys(table, 0)

        def keep(own: Policy, part: Table) -> IntArray | None:
            kept = rows_kept(own, part)
            left_out[part.name] = 0 if kept is None else part.height - len(kept)
            return kept

        named = {name: replace(part, name=name) for name, part in table.items()}
        bound, coded = bind_linked(policy, join_people(policy, named, keep))
        return LinkedOriginal(bound, coded, left_out, next(iter(table.values())).kind)

    def attributes(self, bound: LinkedOriginal) -> dict[str, Attribute]:
        return {name: about for part in bound.coded.parts.values() for name, about in attributes_of(part).items()}

    def whole(self, bound: LinkedOriginal) -> ClassStatistics:
        parts = bound.coded.parts.values()
        found = [in_people(replace(part, keyed=False), np.zeros(part.rows, dtype=np.int64)) for part in parts]
        return TableStatistics.of(np.array([bound.coded.rows], dtype=np.int64), found)

    def partition(self, job: Job, bound: LinkedOriginal) -> Partition:
        return answering_ctrl_c(
            lambda told: on_linked(
                self._tasks(replace(job, progress=told), bound), lambda units, _: partition(job.method, units)
            ),
            job.progress,
        )

    def refine(self, job: Job, bound: LinkedOriginal, found: Partition) -> Partition:
        effort = job.policy.method.refine
        if effort is not None:
            found = answering_ctrl_c(
                lambda told: on_linked(
                    self._tasks(replace(job, progress=told), bound),
                    lambda units, given: refined(units, replace(found, class_of_row=given), effort),
                    found.class_of_row,
                ),
                job.progress,
            )
        return job.form.arrange(bound.bound, bound.coded, found, np.random.default_rng(job.seed))

    def _tasks(self, job: Job, bound: LinkedOriginal) -> list[Part]:
        rng = np.random.default_rng(job.seed)
        tasks = []
        for name, part in bound.coded.parts.items():
            view = self._view(job, bound, name)
            task = Task(part, view.models, view.attributes, view.policy.privacy, rng, job.progress)
            tasks.append(Part(task, bound.coded.absent[name]))
        return tasks

    def _view(self, job: Job, bound: LinkedOriginal, name: str) -> Job:
        """The job of one table."""
        policy, attributes = view_of(bound.bound.policy, name), attributes_of(bound.coded.parts[name])
        return replace(job, policy=policy, attributes=attributes, models=models_for(policy, attributes))

    def measure(self, job: Job, bound: LinkedOriginal, found: Partition) -> RelationalFigures:
        views = {}
        for name, part in bound.coded.parts.items():
            view = self._view(job, bound, name)
            classes = self._classes(view, part, found)
            figures = self._local.measure(view, bound.part(name), classes)
            if part.keyed:
                # A reader of keys tells people of a group apart by how many rows they have in all tables.
                apart = rows_of(part, _apart(bound.coded, found.class_of_row))
                people = in_people(part, apart, figures.reference)
                verdicts = tuple(model.judge(people) for model in view.models)
                figures = replace(figures, people=people, verdicts=(*figures.verdicts, *verdicts))
            views[name] = replace(figures, verdicts=(*figures.verdicts, *self._of_present(view, bound, name, found)))
        return RelationalFigures(views)

    def _of_present(self, view: Job, bound: LinkedOriginal, name: str, found: Partition) -> list[Verdict]:
        """The guarantees among the people of each class who have values in a table."""
        tables, classes = bound.coded, found.class_of_row
        if not any(absent.any() for absent in tables.absent.values()):
            return []
        task, people = present(self._classes(view, tables.parts[name], found).task, tables.absent[name], classes >= 0)
        if tables.keyed:  # a reader of keys sees who has values in which tables
            shown = [
                (part.person, tables.absent[each]) for each, part in tables.parts.items() if part.person is not None
            ]
            split = presence(shown, len(classes))
            classes = np.where(classes < 0, -1, classes * (int(split.max(initial=0)) + 1) + split)
        labels = partition_of(classes[people.person]).class_of_row
        statistics = from_people(labels, codes_of(task.table), task.attributes, people)
        return [model.judge(statistics) for model in task.models]

    def _classes(self, view: Job, part: Any, found: Partition) -> Classes:
        task = Task(part, view.models, view.attributes, view.policy.privacy, np.random.default_rng(0))
        return Classes(task, Partition(rows_of(part, found.class_of_row), found=found.found))

    def manifest(self, job: Job, bound: LinkedOriginal, found: Partition, figures: RelationalFigures) -> dict[str, Any]:
        parts = {}
        for name, part in bound.coded.parts.items():
            view = self._view(job, bound, name)
            own = self._local.manifest(view, bound.part(name), self._classes(view, part, found), figures.views[name])
            parts[name] = {**own, "loss": view_loss(bound.coded, found.class_of_row, name).to_dict()}
        policy = bound.bound.policy
        first = next(iter(parts.values()))
        views = {name: {key: part[key] for key in OF_VIEW if key in part} for name, part in parts.items()}
        return {
            **first,
            "form": job.form.name,
            "policy": public(policy),
            "claims": _claims(job, parts, lambda part: part["claims"]),
            "privacy": _privacy([part["privacy"] for part in parts.values()]),
            "quasi": _described(parts, "quasi", policy.having("quasi")),
            "sensitive": _described(parts, "sensitive", policy.having("sensitive")),
            "counts_of": "released" if any(part["counts_of"] == "released" for part in parts.values()) else "input",
            "people": _people(job, parts),
            "relational": {"group": group_column(policy), "tables": views},
        }

    def tables(self, job: Job, bound: LinkedOriginal, found: Partition) -> dict[str, pl.DataFrame]:
        tables = job.form.tables(bound.bound, bound.coded, found)
        return {name: storable(frame) for name, frame in tables.items()}

    def release(
        self,
        bound: LinkedOriginal,
        found: Partition,
        tables: dict[str, pl.DataFrame],
        manifest: dict[str, Any],
        seconds: Mapping[str, float],
    ) -> Release:
        return Release(tables, manifest, seconds, found.class_of_row, bound.notes, frame_kind=bound.kind)


def _claims(job: Job, parts: Mapping[str, Any], claims_of: Callable[[Any], Any]) -> list[Any]:
    """Each guarantee as measured in the table of its column; those about groups, in the table of people."""
    of_part = [{(claim["model"], claim["attribute"]): claim for claim in claims_of(part)} for part in parts.values()]
    return [
        next(claims[model.key, model.attribute] for claims in of_part if (model.key, model.attribute) in claims)
        for model in job.models
    ]


def _privacy(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """k of the table of people, and of every column what its table has."""
    found: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            if isinstance(value, Mapping):
                found[key] = {**found.get(key, {}), **value}
            else:
                found.setdefault(key, value)
    return found


def _people(job: Job, parts: Mapping[str, Any]) -> dict[str, Any]:
    every = [part["people"] for part in parts.values()]
    left_out = {"rows_left_out": sum(part["rows_left_out"] for part in every if "rows_left_out" in part)}
    return {
        **every[0],
        "privacy": _privacy([part["privacy"] for part in every]),
        "claims": _claims(job, parts, lambda part: part["people"]["claims"]),
        **(left_out if "rows_left_out" in every[0] else {}),
    }


def _described(parts: Mapping[str, Any], key: str, names: Sequence[str]) -> dict[str, Any]:
    every = {name: about for part in parts.values() for name, about in part[key].items()}
    return {name: every[name] for name in names}


def _apart(tables: LinkedCodes, class_of_person: IntArray) -> IntArray:
    """Classes as a reader of keys sees them, who knows how many rows a person has in each table."""
    strata = rows_in_each(list(tables.parts.values()))
    found = np.full(len(strata), -1, dtype=np.int64)
    kept = class_of_person >= 0
    pairs = class_of_person[kept] * (int(strata.max(initial=0)) + 1) + strata[kept]
    found[kept] = np.unique(pairs, return_inverse=True)[1]
    return found
