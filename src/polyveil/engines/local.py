"""This machine: tables in memory, read from files, databases or frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.bounds import LossBound
from polyveil.engines.base import BoundT, Engine, FiguresT, FoundT, Job, SourceT
from polyveil.measure import Boxes, loss_of_boxes, population_sizes, released_boxes
from polyveil.measure.loss import width
from polyveil.methods import Task, mended, partition, refined, without_weights
from polyveil.models import (
    Attribute,
    ClassStatistics,
    Verdict,
    attributes_of,
    codes_of,
    from_classes,
    joint_attributes_of,
)
from polyveil.models.people import PeopleStatistics, from_people, people_of, told_apart
from polyveil.partition import Partition
from polyveil.policy import Policy
from polyveil.releases import Release
from polyveil.releases.domains import with_released_domains
from polyveil.releases.left_out import released_reference
from polyveil.releases.manifest import build_manifest, people_section
from polyveil.releases.publish import check_place
from polyveil.releases.release import Original, publish_release
from polyveil.releases.shuffle import random_order
from polyveil.stopping import answering_ctrl_c
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.databases.exact import storable
from polyveil.table.encode import encode
from polyveil.table.register import Register, population_file, read_register
from polyveil.table.shifting import shifted
from polyveil.table.source import Table, read
from polyveil.table.weights import class_weights
from polyveil.verification import Verification, verify


@dataclass(frozen=True, eq=False)
class Classes:
    """What was asked of the method, and its classes."""

    task: Task
    partition: Partition


@dataclass(frozen=True, eq=False)
class LocalFigures:
    """The class statistics of a release and the models' verdicts on them."""

    statistics: ClassStatistics
    verdicts: tuple[Verdict, ...]
    people: PeopleStatistics | None = None
    """The same in people, if a person has several rows."""
    reference: Mapping[str, Attribute] | None = None
    """The released rows' distributions, if the input's would tell the values of the rows left out."""

    @property
    def classes(self) -> int:
        return self.statistics.classes


class InMemory(Engine[SourceT, BoundT, FoundT, FiguresT, pl.DataFrame, Release]):
    """What engines of this machine share: frames are written, and verified from what was written."""

    def check_place(self, out: Path | str, *, overwrite: bool) -> None:
        check_place(out, overwrite=overwrite)

    def publish(
        self, release: Release, out: Path | str, *, overwrite: bool, report: bool, accept: Callable[[Any], None]
    ) -> Release:
        publish_release(release, out, overwrite=overwrite, report=report, accept=accept)
        return release

    def verify(self, written: Any) -> Verification:
        return verify(written, population=self.population)


class LocalEngine(InMemory[Table, Original, Classes, LocalFigures]):
    """`reading` are options of the reader, such as `delimiter`."""

    def __init__(self, **reading: Any) -> None:
        self._reading = reading

    def read(self, source: Any) -> Table:
        return read(source, **self._reading)

    def natural_format(self, table: Table) -> Literal["parquet", "csv"]:
        """Whoever works with text, Excel or a statistics program gets text, which all of these open."""
        return "parquet" if table.source in (None, "parquet", "lake") else "csv"

    def columns(self, table: Table) -> Sequence[str]:
        return table.columns

    def bind(self, table: Table, policy: Policy) -> Original:
        kept = rows_kept(policy, table)
        part = table if kept is None else replace(table, frame=table.frame[kept])
        bound = bind(policy, shifted(policy, part))
        self.population = population_file(policy)
        register = read_register(bound.policy, part)
        return Original(bound, encode(bound), table.kind, kept, table.height, _hint(table), register=register)

    def attributes(self, bound: Original) -> dict[str, Attribute]:
        return attributes_of(bound.coded)

    def whole(self, bound: Original) -> ClassStatistics:
        table = bound.coded
        one_class = np.zeros(table.rows, dtype=np.int64)
        if table.person is None:
            whole = from_classes(one_class, codes_of(table), attributes_of(table))
            return with_weights(with_population(whole, bound.register, one_class), table, one_class)
        return with_weights(in_people(replace(table, keyed=False), one_class), table, one_class)

    def partition(self, job: Job, bound: Original) -> Classes:
        rng = np.random.default_rng(job.seed)
        task = Task(bound.coded, job.models, job.attributes, job.policy.privacy, rng, job.progress)
        task = replace(task, register=bound.register)
        search = without_weights(task)
        found = answering_ctrl_c(lambda told: partition(job.method, replace(search, progress=told)), job.progress)
        return Classes(task, found)

    def refine(self, job: Job, bound: Original, found: Classes) -> Classes:
        search = without_weights(found.task)
        better = answering_ctrl_c(
            lambda told: refined(replace(search, progress=told), found.partition, job.policy.method.refine),
            job.progress,
        )
        arranged = job.form.arrange(bound.bound, bound.coded, better, found.task.rng)
        while (kept := mended(found.task, arranged)) is not arranged:  # groups that then look alike are one again
            arranged = job.form.arrange(bound.bound, bound.coded, kept, found.task.rng)
        return replace(found, partition=arranged)

    def least_loss(self, job: Job, bound: Original, seconds: float, least_rows: int) -> LossBound | None:
        if job.form.name != "generalized" or bound.coded.rows < least_rows:
            return None
        from polyveil.bounds.of_table import bound_of  # kernels are slow to load

        return answering_ctrl_c(
            lambda _: bound_of(bound.coded, job.models, job.attributes, job.policy.privacy, seconds), job.progress
        )

    def measure(self, job: Job, bound: Original, found: Classes) -> LocalFigures:
        table, of_row = bound.coded, found.partition.class_of_row
        reference = released_reference(table, found.partition, job.models, job.attributes)
        statistics = job.form.statistics(job.policy, *released(table, found.partition))
        statistics = with_weights(statistics, table, of_row)
        counted = with_population(statistics, bound.register, of_row)
        verdicts = [model.judge(counted) for model in job.models]
        if reference is not None:  # what is published is judged against what is published with it, too
            statistics = job.form.statistics(job.policy, *released(table, found.partition, reference))
            statistics = with_weights(statistics, table, of_row)
            verdicts += [model.judge(replace(statistics, population=counted.population)) for model in job.models]
        if table.person is None:
            return LocalFigures(statistics, tuple(verdicts), reference=reference)
        people = with_weights(in_people(table, of_row), table, of_row)
        verdicts += [model.judge(people) for model in job.models]
        if reference is not None:
            people = with_weights(in_people(table, of_row, reference), table, of_row)
            verdicts += [model.judge(people) for model in job.models]
        return LocalFigures(statistics, tuple(verdicts), people, reference)

    def manifest(self, job: Job, bound: Original, found: Classes, figures: LocalFigures) -> dict[str, Any]:
        partition, statistics = found.partition, figures.statistics
        shown = with_released_domains(bound.coded, partition.class_of_row, job.policy)
        loss = loss_of_boxes(shown, released_boxes(shown, partition))
        counts = None if figures.reference is None else {name: a.whole for name, a in figures.reference.items()}
        manifest = build_manifest(bound.bound, shown, job.method, partition, statistics, job.models, loss, counts)
        if bound.bound.person is not None:
            manifest["people"] = people_section(bound.coded, figures.people or statistics, job.models)
            if job.policy.privacy.rows_per_person is not None:
                manifest["people"]["rows_left_out"] = bound.read - bound.coded.rows
        if bound.coded.sampling is not None:
            manifest["loss"]["weighted_loss"] = weighted_loss(shown, released_boxes(shown, partition), statistics)
        return job.form.describe(manifest, job.policy, partition, statistics, job.models)

    def tables(self, job: Job, bound: Original, found: Classes) -> dict[str, pl.DataFrame]:
        tables = job.form.tables(bound.bound, bound.coded, found.partition)
        return {name: storable(frame) for name, frame in tables.items()}

    def release(
        self,
        bound: Original,
        found: Classes,
        tables: dict[str, pl.DataFrame],
        manifest: dict[str, Any],
        seconds: Mapping[str, float],
    ) -> Release:
        return Release(
            tables,
            manifest,
            seconds,
            bound.of_all_rows(found.partition.class_of_row),
            bound.notes,
            original=replace(bound, cells=found.partition.cells),
            frame_kind=bound.kind,
        )


def with_population(statistics: ClassStatistics, register: Register | None, class_of_row: IntArray) -> ClassStatistics:
    """The statistics with the people of the population who fit each class, if there is a table of it."""
    if register is None:
        return statistics
    people = population_sizes(register.table, class_of_row, register.population)
    return replace(statistics, population=people)


StatisticsT = TypeVar("StatisticsT", bound=ClassStatistics)


def with_weights(statistics: StatisticsT, table: CodedTable, class_of_row: IntArray) -> StatisticsT:
    """The statistics with the sampling weight that each class is published with, if there are weights."""
    if table.sampling is None:
        return statistics
    return replace(statistics, sampling=class_weights(table.sampling, class_of_row))


def weighted_loss(table: CodedTable, boxes: Boxes, statistics: ClassStatistics) -> float:
    """The detail that the released rows lost, each counted with its published weight, from 0 to 1."""
    count = boxes.sizes * (1.0 if statistics.sampling is None else statistics.sampling)
    costs = [
        width(column.domain, boxes.low[:, a], boxes.high[:, a], boxes.distinct[:, a])
        for a, column in enumerate(table.quasi)
    ]
    return float(sum(count @ each for each in costs)) / max(float(count.sum()) * len(costs), 1e-300)


def _hint(table: Table) -> str | None:
    """How people get back the kind of file they came with."""
    if table.source not in ("excel", "statistical"):
        return None
    ending = {".sav": ".sav", ".zsav": ".sav", ".dta": ".dta"}.get(Path(table.name).suffix.lower(), ".xlsx")
    labels = f" --labels-from {table.name}" if table.labels or table.codebook else ""
    return f"`polyveil export RELEASE --to FILE{ending}{labels}` copies the release into a file for the same program."


def in_people(
    table: CodedTable, class_of_row: IntArray, reference: Mapping[str, Attribute] | None = None
) -> PeopleStatistics:
    """What the models judge if a person has several rows; the whole table is the reference, or the one given.

    A reader of keys counts people and rows alike, and compares with the people who are released. So does everybody if
    the manifest tells the released rows' counts.
    """
    if table.person is None:
        raise ValueError("every row is a person of its own")
    if not table.keyed and reference is None:
        codes, attributes = codes_of(table), attributes_of(table)
        return from_people(class_of_row, codes, attributes, people_of(table.person, codes, attributes))
    kept = np.flatnonzero(class_of_row >= 0)
    single = attributes_of(replace(table, together=())) if reference is None else reference
    rows = table.take(kept)
    person, codes, attributes = table.person[kept], codes_of(rows), {**single, **joint_attributes_of(rows, single)}
    groups = told_apart(class_of_row[kept], person) if table.keyed else class_of_row[kept]
    return from_people(groups, codes, attributes, people_of(person, codes, attributes))


def rows_kept(policy: Policy, table: Table) -> IntArray | None:
    """The rows that rows_per_person leaves in, in their order; which of a person's rows those are is chance."""
    limit = policy.privacy.rows_per_person
    if limit is None or policy.person is None or policy.person not in table.frame.columns:
        return None
    order = random_order(table.height)
    shuffled = table.frame.get_column(policy.person)[order].to_frame()
    rank = shuffled.select(pl.int_range(pl.len()).over(policy.person)).to_series().to_numpy()
    return np.sort(order[rank < limit.at_most])


def released(
    table: CodedTable, partition: Partition, reference: Mapping[str, Attribute] | None = None
) -> tuple[Partition, Mapping[str, IntArray], Mapping[str, Attribute]]:
    """The partition, codes and attributes that the models judge.

    Combinations of values are compared with those of the released rows, each column with the whole input or with the
    `reference`.
    """
    kept, rows, shown = np.flatnonzero(partition.class_of_row >= 0), table, partition
    if table.together and len(kept) < table.rows:
        rows = table.take(kept)
        slices = tuple(replace(part, group_of_row=part.group_of_row[kept]) for part in partition.slices)
        shown = replace(partition, class_of_row=partition.class_of_row[kept], slices=slices)
    single = attributes_of(replace(table, together=())) if reference is None else reference
    return shown, codes_of(rows), {**single, **joint_attributes_of(rows, single)}
