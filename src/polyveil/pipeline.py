"""The path of the data, in order. This is the only place that knows it; command line, Python API and workbench are
doors to it, and an engine takes the steps.

    source -read-> Table -bind-> Bound -encode-> CodedTable -method-> Partition -measure-> manifest
       -release form-> tables -write-> bundle on disk -verify (reads the files)-> published
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from polyveil.bounds import LossBound
from polyveil.engines import engine_for
from polyveil.engines.base import Engine, Job
from polyveil.methods import make_method
from polyveil.models import models_for
from polyveil.models.reach import check_reachable, check_reached
from polyveil.policy import PolicyLike, fitted, load_policy
from polyveil.progress import SILENT, Progress, shown
from polyveil.releases import Release, form_of, resolve_form, with_format
from polyveil.releases.release import refuse_unless
from polyveil.releases.signing import Signer, signer_of
from polyveil.table.databases.place import is_url

STAGES = ("read", "encode", "partition", "refine", "measure", "release", "write", "verify")
BOUND_SHARE, BOUND_SECONDS, BOUND_ROWS = 0.1, 1.0, 2_000
"""The bound may take a tenth of the time of the search. Unless asked for, it is left out if that is under a second, and
for tables of few rows, for which loading its kernels takes longer than the search."""


def anonymize(
    source: Any,
    policy: PolicyLike,
    *,
    out: Path | str | None = None,
    overwrite: bool = False,
    sign: Path | str | None = None,
    seed: int | None = None,
    report: bool = True,
    bound: bool | None = None,
    progress: Progress | bool = False,
    reading: Mapping[str, Any] | None = None,
) -> Release:
    """Anonymize a table by a policy, and publish it once its own verifier has passed it.

    Parameters
    ----------
    source : path, frame, Table or address
        The table. A Spark DataFrame is anonymized by Spark, and the released tables are Spark DataFrames again.
    policy : Policy, dict or path
        What each column is, and which guarantees the release must give.
    out : path or address, optional
        Where to publish the release: a folder, here or in an object store, or a database with ``?schema=NAME``.
        Without it, the release stays in memory, and `Release.save` publishes it.
    overwrite : bool
        Replace an older release in that place.
    sign : path, optional
        Private key, as `polyveil keys` makes it, to sign the release folder with.
    seed : int, optional
        Reproduces the method's choices. The order of the released rows never follows from it.
    report : bool
        Put report.html, a page for readers, into the release folder.
    bound : bool, optional
        Whether to compute `Release.bound`, the detail that every release must lose, as `polyveil.bound` does. By
        default, for tables of 2,000 rows or more, if a tenth of the time of the search is a second or more.
    progress : Progress or bool
        True shows a bar, in a terminal or a notebook.
    reading : dict, optional
        Options of `polyveil.read`, such as ``{"delimiter": ";"}``.

    Returns
    -------
    Release
        The released tables, as the kind of frame that went in, with the guarantees measured and the detail lost.

    Raises
    ------
    PolicyError, InputError
        The policy or the table cannot be used; the message names every fault and its remedy.
    Unsatisfiable
        No release of this table can give these guarantees; names the binding one and the nearest that can be reached.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 31, 52, 53], "disease": ["flu", "asthma", "flu", "asthma"]})
    >>> policy = {"columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, "privacy": {"k": 2}}
    >>> release = polyveil.anonymize(people, policy)
    >>> sorted(release.table["age"].unique())
    ['[30-31]', '[52-53]']
    >>> release.privacy["k"]
    2
    """
    with shown(progress) as listening:
        return _anonymize(source, policy, out, overwrite, sign, seed, report, bound, listening, reading)


def try_out(
    table: Any, policy: PolicyLike, *, seed: int | None = None, reading: Mapping[str, Any] | None = None
) -> Release:
    """A release for its figures alone: nobody gets it, so it is not verified."""
    return _anonymize(table, policy, None, False, None, seed, False, False, SILENT, reading, verified=False)


def _anonymize(
    source: Any,
    policy: PolicyLike,
    out: Path | str | None,
    overwrite: bool,
    sign: Path | str | None,
    seed: int | None,
    report: bool,
    with_bound: bool | None,
    progress: Progress,
    reading: Mapping[str, Any] | None,
    *,
    verified: bool = True,
) -> Release:
    """The stages in order."""
    clock = Clock(progress)
    policy = load_policy(policy)
    signed = signer_of(sign, out)
    method = make_method(policy.method)
    policy = resolve_form(policy, method)
    engine = engine_for(source, policy, **(reading or {}))
    engine.refuse(policy, method)
    if out is not None:
        engine.check_place(out, overwrite=overwrite)
    with engine.running():
        with clock.stage("read"):
            table = engine.read(source)
            policy = fitted(policy, engine.columns(table))
            if not is_url(out):
                policy = with_format(policy, engine.natural_format(table))
        with clock.stage("encode"):
            bound = engine.bind(table, policy)
            attributes = engine.attributes(bound)
            models = models_for(policy, attributes)
            check_reachable(models, engine.whole(bound), policy.privacy.suppression_limit)
        job = Job(policy, method, form_of(policy), attributes, models, seed, progress)
        release = _made(engine, job, bound, with_bound, clock)
        if out is None and verified:
            with clock.stage("verify"):
                release = replace(release, verification=refuse_unless(_verified(engine, release)))
        elif out is not None:
            release = _published(engine, release, out, overwrite, report, signed, clock)
    # Of Spark, a release with the same properties on Spark DataFrames; only one in memory has class_of_row.
    return cast(Release, release)


def _verified(engine: AnyEngine, release: Any) -> Any:
    """What the verifier says of a release in memory, with the table of the population if there is one."""
    return release.verify() if engine.population is None else engine.verify(release)


AnyEngine = Engine[Any, Any, Any, Any, Any, Any]


def _made(engine: AnyEngine, job: Job, bound: Any, with_bound: bool | None, clock: Clock) -> Any:
    """From a bound table to a release in memory."""
    with clock.stage("partition"):
        found = engine.partition(job, bound)
    with clock.stage("refine"):
        found = engine.refine(job, bound, found)
    least = _least_loss(engine, job, bound, with_bound, clock)
    with clock.stage("measure"):
        figures = engine.measure(job, bound, found)
        check_reached(figures.verdicts, figures.classes)
        manifest = engine.manifest(job, bound, found, figures)
    with clock.stage("release"):
        tables = engine.tables(job, bound, found)
    release = engine.release(bound, found, tables, manifest, clock.seconds)
    release = replace(release, notes=(*release.notes, *_undivided(job, manifest)))
    return release if least is None else replace(release, bound=least)


def _undivided(job: Job, manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """What to do if a search by the clock ended with all rows in one group."""
    effort = getattr(job.method.options, "effort", None)
    if manifest.get("classes") != 1 or not isinstance(effort, int | float):
        return ()
    return (
        f"All rows are in one group: in {effort:g} s the search divided nothing. Unless the requirements allow nothing "
        "else, more seconds give smaller groups: method.effort.",
    )


def _least_loss(engine: AnyEngine, job: Job, bound: Any, with_bound: bool | None, clock: Clock) -> LossBound | None:
    """What every release must lose, if it is asked for, or if the search took so long that it hardly counts."""
    allowed = BOUND_SHARE * (clock.seconds["partition"] + clock.seconds["refine"])
    if not (allowed >= BOUND_SECONDS if with_bound is None else with_bound):
        return None
    with clock.stage("measure"):
        return engine.least_loss(job, bound, max(allowed, BOUND_SECONDS), BOUND_ROWS if with_bound is None else 0)


def _published(
    engine: AnyEngine, release: Any, out: Path | str, overwrite: bool, report: bool, signed: Signer, clock: Clock
) -> Any:
    """Write, verify what was written, and only then let it appear under its name."""

    found = []

    def accept(written: Any) -> None:
        signed(written)
        with clock.stage("verify"):
            found.append(refuse_unless(engine.verify(written)))

    with clock.stage("write"):
        published = engine.publish(release, out, overwrite=overwrite, report=report, accept=accept)
    return replace(published, verification=found[0])


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
