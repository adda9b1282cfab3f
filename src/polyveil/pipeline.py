"""The path of the data, in order. This is the only place that knows it; command line, Python API, workbench and
engines are doors to it.

    source -read-> Table -bind-> Bound -encode-> CodedTable -method-> Partition -release form-> tables
       -measure-> manifest -write-> bundle on disk -verify (reads the files)-> published
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.measure import measure_loss
from polyveil.methods import Task, make_method
from polyveil.methods import partition as partition_rows
from polyveil.models import (
    ClassStatistics,
    Model,
    attributes_of,
    codes_of,
    from_classes,
    joint_attributes_of,
    models_for,
)
from polyveil.models.linked import LinkedStatistics, from_groups
from polyveil.partition import Partition
from polyveil.policy import Policy, check
from polyveil.policy.schema import Refinement
from polyveil.progress import SILENT, Progress
from polyveil.releases import FORMS, Release
from polyveil.releases.arrange import arrange, resolve_form
from polyveil.releases.linked import linked_manifest
from polyveil.releases.manifest import build_manifest
from polyveil.releases.publish import check_place, publish
from polyveil.releases.release import refuse_unless, require_verified
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read

STAGES = ("read", "encode", "partition", "refine", "release", "measure", "write", "verify")


def anonymize(
    source: Any,
    policy: Policy | Mapping[str, Any] | Path | str,
    *,
    out: Path | str | None = None,
    overwrite: bool = False,
    seed: int | None = None,
    report: bool = True,
    progress: Progress = SILENT,
    reading: Mapping[str, Any] | None = None,
) -> Release:
    """Anonymize a table by a policy; with `out`, publish it there as a bundle once its files have been verified.

    `source` is a path or a polars, pandas or pyarrow frame; a Spark DataFrame is anonymized by Spark, and the release's
    table is one again. `seed` reproduces the method's choices; the order of the
    released rows never follows from it. `report` puts report.html into the bundle. `reading` passes options such as
    `delimiter` on to the reader.
    Raises PolicyError or InputError for what cannot be used, Unsatisfiable where the policy cannot be reached.
    """
    if type(source).__module__.startswith("pyspark.sql"):
        from polyveil.engines.spark import anonymize as on_spark

        options = dict(reading or {})
        # The same properties on a Spark DataFrame; only a Release in memory has class_of_row.
        return cast(
            Release, on_spark(source, policy, out=out, overwrite=overwrite, seed=seed, progress=progress, **options)
        )
    clock = Clock(progress)
    policy = load_policy(policy)
    method = make_method(policy.method)
    policy = resolve_form(policy, method)
    if out is not None:
        check_place(out, overwrite=overwrite)
    with clock.stage("read"):
        table = read(source, **(reading or {}))
    with clock.stage("encode"):
        bound = bind(policy, table)
        coded = encode(bound)
        attributes = attributes_of(coded)
        models = models_for(policy, attributes)
        check_reachable(models, whole_table(coded), policy.privacy.suppression_limit)
    with clock.stage("partition"):
        task = Task(coded, models, attributes, policy.privacy, np.random.default_rng(seed), progress)
        found = partition_rows(method, task)
    with clock.stage("refine"):
        partition = arrange(bound, coded, refined(task, found, policy.method.refine), task.rng)
        statistics = statistics_of(coded, partition, exact=policy.release.generalize == "none")
        check_reached(models, statistics)
    with clock.stage("release"):
        tables = FORMS[policy.release.form or "generalized"](bound, coded, partition)
    with clock.stage("measure"):
        loss = measure_loss(coded, partition.class_of_row)
        manifest = build_manifest(bound, coded, method, partition, statistics, models, loss)
        if isinstance(statistics, LinkedStatistics):
            manifest = linked_manifest(manifest, policy, partition, statistics, models)
        release = Release(tables, manifest, clock.seconds, partition.class_of_row, bound.notes)
    if out is None:
        with clock.stage("verify"):
            refuse_unless(release.verify())
    else:
        _publish(release, out, overwrite, report, clock)
    return release


def _publish(release: Release, out: Path | str, overwrite: bool, report: bool, clock: Clock) -> None:
    """Write, verify what was written, and only then let it appear under its name."""

    def verified(written: Any) -> None:
        with clock.stage("verify"):
            require_verified(written)

    with clock.stage("write"):
        publish(
            out,
            release.tables,
            release.manifest,
            file_format=release.file_format,
            overwrite=overwrite,
            report=report,
            accept=verified,
        )


def refined(task: Task, partition: Partition, effort: Refinement) -> Partition:
    """The method's classes improved as far as asked; as they are where it is not asked."""
    if effort is None:
        return partition
    from polyveil.methods.refine import refine

    return refine(task, partition, effort)


def load_policy(policy: Policy | Mapping[str, Any] | Path | str) -> Policy:
    """A policy as it comes: an object, plain data, or the path of a file."""
    if isinstance(policy, Policy):
        faults = check(policy)
        if faults:
            raise PolicyError(faults)
        return policy
    return Policy.from_dict(policy) if isinstance(policy, Mapping) else Policy.from_yaml(policy)


def whole_table(table: CodedTable) -> ClassStatistics:
    """The table as one class: the most any method can join."""
    return statistics_of(table, Partition(np.zeros(table.rows, dtype=np.int64)))


def statistics_of(table: CodedTable, partition: Partition, *, exact: bool = False) -> ClassStatistics:
    """What the models judge, counted from the codes; `exact` where quasi-identifiers are published as they are."""
    kept = np.flatnonzero(partition.class_of_row >= 0)
    if not table.together or len(kept) == table.rows:
        codes, attributes = codes_of(table), attributes_of(table)
        kept = np.arange(table.rows)
    else:
        # Combinations of values are compared with those of the released rows; each column with the whole input.
        released = table.take(kept)
        single = attributes_of(replace(table, together=()))
        codes, attributes = codes_of(released), {**single, **joint_attributes_of(released, single)}
    class_of_row = partition.class_of_row[kept]
    if not partition.slices:
        return from_classes(class_of_row, codes, attributes)
    together = tuple(name for name in attributes if name not in {column.name for column in table.sensitive})
    slices = [((*part.attributes, *together), part.group_of_row[kept]) for part in partition.slices]
    sizes = None if exact else np.bincount(class_of_row[class_of_row >= 0]).astype(np.int64)
    return from_groups(sizes, slices, codes, attributes)


def check_reachable(models: Sequence[Model], whole: ClassStatistics, suppression_limit: float) -> None:
    """Without suppression nothing is safer than the whole table as one class; name the first demand it fails."""
    if suppression_limit > 0:
        return
    for model in models:
        verdict = model.judge(whole)
        if model.monotone and not verdict.holds:
            raise Unsatisfiable(
                f"{verdict.statement}, but even the whole table as one class has {verdict.value:.6g}",
                f"{verdict.value:.6g} for {model.key}"
                + (f" of {model.attribute}" if model.attribute else "")
                + "; or allow rows to be left out with privacy.suppression_limit",
            )


def check_reached(models: Sequence[Model], statistics: ClassStatistics) -> None:
    """A method's classes must satisfy every model before anything is made of them."""
    for model in models:
        verdict = model.judge(statistics)
        if not verdict.holds:
            reached = (
                "nothing is left to release" if statistics.classes == 0 else f"the worst class has {verdict.value:.6g}"
            )
            raise Unsatisfiable(f"{verdict.statement}, but {reached}", f"{verdict.value:.6g} with this method")


class Clock:
    """Seconds per stage, and the progress of stages."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = dict.fromkeys((*STAGES, "total"), 0.0)
        self._nested = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage; a stage within a stage is counted once, as itself."""
        self.progress.stage(name)
        outer, self._nested = self._nested, 0.0
        start = time.perf_counter()
        try:
            yield
        finally:
            passed = time.perf_counter() - start
            self.seconds[name] += passed - self._nested
            self.seconds["total"] += passed - self._nested
            self._nested = outer + passed
