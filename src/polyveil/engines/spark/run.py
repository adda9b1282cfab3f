"""The path of the data on Spark, in order; compare `polyveil.pipeline`.

DataFrame -values-> Values -encoded-> codes -plant-> block tree -place_all-> released rows
   -write-> bundle on disk -measure, judge (read the files)-> published
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyveil.engines.spark.block import Plan, slim
from polyveil.engines.spark.coarsening import Coarsened, place_all
from polyveil.engines.spark.content import against_released
from polyveil.engines.spark.faults import as_input_errors
from polyveil.engines.spark.manifest import ManifestSketch, loss_of
from polyveil.engines.spark.release import SparkRelease, files_of, local_path, write_tables
from polyveil.engines.spark.rows import encoded, plant
from polyveil.engines.spark.tables import released_tables
from polyveil.engines.spark.tree import WHOLE, BlockTree, one_class
from polyveil.engines.spark.values import Values, bind_values
from polyveil.engines.spark.verify import judge, measure, read_parts
from polyveil.errors import Fault, PolicyError, Unsatisfiable
from polyveil.methods import make_method
from polyveil.methods.base import Method
from polyveil.models import Model, attributes_of, models_for
from polyveil.pipeline import Clock, check_reachable, load_policy
from polyveil.policy import Policy, from_public
from polyveil.progress import SILENT, Progress
from polyveil.releases.arrange import resolve_form, slices_of
from polyveil.releases.bundle import check_target, move_into_place, staging, sync, write_manifest
from polyveil.releases.release import refuse_unless

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BLOCK_ROWS = 200_000
SAMPLE_PER_BLOCK = 2_000
LEAST_SAMPLE, MOST_SAMPLE = 100_000, 4_000_000


@as_input_errors
def anonymize(
    frame: DataFrame,
    policy: Policy | Mapping[str, Any] | Path | str,
    *,
    out: Path | str | None = None,
    overwrite: bool = False,
    seed: int | None = None,
    progress: Progress = SILENT,
    block_rows: int = BLOCK_ROWS,
) -> SparkRelease:
    """Anonymize a Spark DataFrame by a policy; with `out`, publish it there once its files have been verified.

    The same promises as `polyveil.anonymize`: every model holds in every class, closeness against the whole table.
    `block_rows` is the size of the blocks in which the method works: larger ones lose less and need more memory.
    """
    clock = Clock(progress)
    policy = load_policy(policy)
    method = make_method(policy.method)
    policy = resolve_form(policy, method)
    refuse_global(policy, method)
    target = None if out is None else local_path(out)
    if target is not None:
        check_target(target, overwrite=overwrite)
    with clock.stage("encode"):
        values = bind_values(frame, policy)
        attributes = attributes_of(values.table)
        models = models_for(policy, attributes)
        check_reachable(models, one_class(attributes, values.rows), policy.privacy.suppression_limit)
        chosen = secrets.randbits(62) if seed is None else seed
        plan = _plan(values, method, models, chosen)
        coded = encoded(frame, values, chosen)
    with clock.stage("partition"):
        plan, tree = _planted(coded, plan, block_rows)
        outcome = place_all(coded, plan, tree, block_rows)
    try:
        return _finished(outcome, plan, values, target, clock)
    finally:
        if target is not None:  # otherwise the DataFrames that go out are made of it
            outcome.let_go()


def _plan(values: Values, method: Method[Any], models: tuple[Model, ...], seed: int) -> Plan:
    release = values.policy.release
    return Plan(
        values=slim(values),
        method=method,
        models=models,
        attributes=attributes_of(values.table),
        published=tuple(column.published() for column in values.sensitive),
        seed=seed,
        secret=secrets.token_bytes(32),
        as_they_are=tuple(column.published() for column in values.quasi) if release.generalize == "none" else (),
        slices=() if release.form == "generalized" else slices_of(values.policy),
    )


def _planted(coded: DataFrame, plan: Plan, block_rows: int) -> tuple[Plan, BlockTree]:
    """The block tree, and the plan with the slices that a method with slices of its own makes of the whole table."""
    own_slices = plan.method.forms == ("sliced",)
    if plan.values.rows <= block_rows and not own_slices:
        return plan, WHOLE
    blocks = math.ceil(plan.values.rows / block_rows)
    sample = min(max(SAMPLE_PER_BLOCK * blocks, LEAST_SAMPLE), MOST_SAMPLE)
    tree, slices = plant(coded, plan, sample, block_rows)
    return (replace(plan, slices=slices) if own_slices else plan), tree


def _finished(outcome: Coarsened, plan: Plan, values: Values, target: Path | None, clock: Clock) -> SparkRelease:
    """From placed rows to a release that was measured and judged, in memory or on disk."""
    found: dict[str, Any] = {"blocks": len(outcome.summaries)}
    if plan.method.forms == ("sliced",):
        found["slices"] = [list(names) for names in plan.slices]
    loss = loss_of(values, [summary["costs"] for summary in outcome.summaries], outcome.suppressed)
    sketch = ManifestSketch(values, plan.method, plan.slices, found, outcome.suppressed, outcome.left, loss)
    tables = released_tables(outcome, plan)
    if target is None:
        with clock.stage("measure"):
            manifest = _measured(tables, sketch)
        return SparkRelease(tables, manifest, clock.seconds, sketch.values.bound.notes)
    return _published(tables, sketch, target, clock)


def refuse_global(policy: Policy, method: Method[Any]) -> None:
    """What cannot be done block by block, or not twice alike, is refused, with what to use instead."""
    faults = []
    for name, effort in (("effort", getattr(method.options, "effort", None)), ("refine", policy.method.refine)):
        if isinstance(effort, (int, float)):
            rule = "as much as fits into some seconds is not the same again when a lost task is run once more"
            faults.append(
                Fault(f"method.{name}", rule, "Write fast, balanced or thorough, or leave --engine spark out")
            )
    if policy.privacy.joint:
        rule = "combinations of columns are compared over all released rows at once, not block by block"
        faults.append(Fault("privacy.joint", rule, "Remove it, or leave --engine spark out"))
    if policy.release.format != "parquet":
        rule = f"Spark writes releases as Parquet, not as {policy.release.format}"
        faults.append(Fault("release.format", rule, "Write format: parquet, or leave it out"))
    if faults:
        raise PolicyError(faults, "the policy does not fit Spark: it")


def _measured(tables: Mapping[str, DataFrame], sketch: ManifestSketch) -> dict[str, Any]:
    """The manifest with the figures of the tables, as the verifier reads them; raises unless it is content.

    What is left out shifts the distribution of what is released. Where a class is no longer close to that, no release
    was to be had, which is not a fault of the tables.
    """
    draft = sketch.manifest()
    policy = from_public(draft["policy"])
    content = measure(draft, policy, tables)
    shifted = [] if content.unknown else against_released(content)
    if shifted:
        raise Unsatisfiable(
            f"{sketch.left} rows are left out, and then {shifted[0].check} does not hold: {shifted[0].message}",
            "a smaller privacy.suppression_limit, or a weaker demand",
        )
    manifest = sketch.manifest(content)
    refuse_unless(judge(manifest, policy, content))
    return manifest


def _published(tables: Mapping[str, DataFrame], sketch: ManifestSketch, target: Path, clock: Clock) -> SparkRelease:
    """Write, measure and judge what was written, and only then let it appear under its name."""
    spark = next(iter(tables.values())).sparkSession
    with staging(target) as stage:
        with clock.stage("write"):
            write_tables(tables, stage)
            files = files_of(stage)
        with clock.stage("measure"):
            manifest = _measured(read_parts(stage, files, spark), sketch)
        with clock.stage("verify"):
            write_manifest(stage, {**manifest, "files": files})
            sync(stage)
            move_into_place(stage, target)
    return SparkRelease(read_parts(target, files, spark), manifest, clock.seconds, sketch.values.bound.notes)
