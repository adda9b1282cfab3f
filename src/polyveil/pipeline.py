"""The path of the data, in order. This is the only place that knows it; command line, Python API and workbench are
doors to it, and an engine takes the steps.

    source -read-> Table -bind-> Bound -encode-> CodedTable -method-> Partition -measure-> manifest
       -release form-> tables -write-> bundle on disk -verify (reads the files)-> published
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from polyveil.engines import Engine, engine_for
from polyveil.engines.base import Job
from polyveil.errors import PolicyError
from polyveil.methods import make_method
from polyveil.models import models_for
from polyveil.models.reach import check_reachable, check_reached
from polyveil.policy import Policy, check
from polyveil.progress import SILENT, Progress
from polyveil.releases import Release, form_of, resolve_form
from polyveil.releases.release import refuse_unless

STAGES = ("read", "encode", "partition", "refine", "measure", "release", "write", "verify")


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
    clock = Clock(progress)
    policy = load_policy(policy)
    method = make_method(policy.method)
    policy = resolve_form(policy, method)
    engine = engine_for(source, **(reading or {}))
    engine.refuse(policy, method)
    if out is not None:
        engine.check_place(out, overwrite=overwrite)
    with engine.running():
        with clock.stage("read"):
            table = engine.read(source)
        with clock.stage("encode"):
            bound = engine.bind(table, policy)
            attributes = engine.attributes(bound)
            models = models_for(policy, attributes)
            check_reachable(models, engine.whole(bound), policy.privacy.suppression_limit)
        job = Job(policy, method, form_of(policy), attributes, models, seed, progress)
        release = _made(engine, job, bound, clock)
        if out is None:
            with clock.stage("verify"):
                refuse_unless(release.verify())
        else:
            release = _published(engine, release, out, overwrite, report, clock)
    # Of Spark, a release with the same properties on Spark DataFrames; only one in memory has class_of_row.
    return cast(Release, release)


AnyEngine = Engine[Any, Any, Any, Any, Any, Any]


def _made(engine: AnyEngine, job: Job, bound: Any, clock: Clock) -> Any:
    """From a bound table to a release in memory."""
    with clock.stage("partition"):
        found = engine.partition(job, bound)
    with clock.stage("refine"):
        found = engine.refine(job, bound, found)
    with clock.stage("measure"):
        figures = engine.measure(job, bound, found)
        check_reached(figures.verdicts, figures.classes)
        manifest = engine.manifest(job, bound, found, figures)
    with clock.stage("release"):
        tables = engine.tables(job, bound, found)
    return engine.release(bound, found, tables, manifest, clock.seconds)


def _published(engine: AnyEngine, release: Any, out: Path | str, overwrite: bool, report: bool, clock: Clock) -> Any:
    """Write, verify what was written, and only then let it appear under its name."""

    def accept(written: Any) -> None:
        with clock.stage("verify"):
            refuse_unless(engine.verify(written))

    with clock.stage("write"):
        return engine.publish(release, out, overwrite=overwrite, report=report, accept=accept)


def load_policy(policy: Policy | Mapping[str, Any] | Path | str) -> Policy:
    """A policy as it comes: an object, plain data, or the path of a file."""
    if isinstance(policy, Policy):
        faults = check(policy)
        if faults:
            raise PolicyError(faults)
        return policy
    return Policy.from_dict(policy) if isinstance(policy, Mapping) else Policy.from_yaml(policy)


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
