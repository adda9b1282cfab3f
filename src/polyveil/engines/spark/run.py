"""The path of the data on Spark, in order; compare `polyveil.pipeline`.

DataFrame -values-> Values -encoded-> codes -plant-> block tree -place_all-> released rows
   -write-> bundle on disk -measure, judge (read the files)-> published
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polyveil.engines.spark.faults import spoken
from polyveil.engines.spark.manifest import draft, filled, loss_of
from polyveil.engines.spark.measure import measure, released_counts
from polyveil.engines.spark.place import Plan, slim
from polyveil.engines.spark.release import SparkRelease, files_of, local_path, write_manifest, write_table
from polyveil.engines.spark.rounds import Outcome, place_all
from polyveil.engines.spark.rows import encoded, plant
from polyveil.engines.spark.tree import WHOLE
from polyveil.engines.spark.values import Values, bind_values
from polyveil.engines.spark.verify import judge, read_parts
from polyveil.errors import Fault, PolicyError
from polyveil.methods import make_method
from polyveil.methods.base import Method
from polyveil.models import ClassStatistics, Model, Sparse, attributes_of, models_for
from polyveil.pipeline import Clock, check_reachable, load_policy
from polyveil.policy import Policy, from_public
from polyveil.progress import SILENT, Progress
from polyveil.release.arrange import settle
from polyveil.release.bundle import check_target, move_into_place, staging, sync
from polyveil.release.release import refuse_unless
from polyveil.verify.attributes import declared_attributes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BLOCK_ROWS = 200_000
SAMPLE_PER_BLOCK = 2_000
LEAST_SAMPLE, MOST_SAMPLE = 100_000, 4_000_000
ROWS_PER_FILE = 2_000_000


@spoken
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
    policy = settle(policy, method)
    refuse_global(policy, method)
    target = None if out is None else local_path(out)
    if target is not None:
        check_target(target, overwrite=overwrite)
    with clock.stage("encode"):
        values = bind_values(frame, policy)
        attributes = attributes_of(values.table)
        models = models_for(policy, attributes)
        check_reachable(models, whole(values), policy.privacy.suppression_limit)
        chosen = secrets.randbits(62) if seed is None else seed
        plan = _plan(values, method, models, chosen)
        coded = encoded(frame, values, chosen)
    with clock.stage("partition"):
        tree = WHOLE
        if values.rows > block_rows:
            blocks = math.ceil(values.rows / block_rows)
            sample = min(max(SAMPLE_PER_BLOCK * blocks, LEAST_SAMPLE), MOST_SAMPLE)
            tree = plant(coded, plan, sample, block_rows)
        outcome = place_all(coded, plan, tree, block_rows)
    try:
        return _finished(outcome, values, method, models, target, clock)
    finally:
        if target is not None:  # otherwise the DataFrame that goes out is made of it
            outcome.let_go()


def _finished(
    outcome: Outcome,
    values: Values,
    method: Method[Any],
    models: tuple[Model, ...],
    target: Path | None,
    clock: Clock,
) -> SparkRelease:
    """From placed rows to a release that was measured and judged, in memory or on disk."""
    loss = loss_of(values, [summary["costs"] for summary in outcome.summaries], outcome.left)
    found = {"blocks": len(outcome.summaries)}
    sketch = draft(values, method, models, outcome.left, found, loss)
    table = _released(outcome, values)
    if target is None:
        return _measured_in_memory(table, sketch, models, clock)
    return _published(table, sketch, models, target, clock)


def refuse_global(policy: Policy, method: Method[Any]) -> None:
    """What cannot be done block by block is refused, with what to use instead."""
    faults = []
    if policy.release.form != "generalized":
        able = "generalized" in method.forms
        remedy = "Write release: {form: generalized}, or leave --engine spark out"
        other = "Use a method that generalizes, such as sift, fcm or mondrian, or leave --engine spark out"
        rule = (
            f"{method.name} would be released as {policy.release.form}, whose linked tables are made and checked as a "
            "whole, not block by block"
        )
        faults.append(Fault("release.form", rule, remedy if able else other))
    if policy.privacy.joint:
        rule = "combinations of columns are compared over all released rows at once, not block by block"
        faults.append(Fault("privacy.joint", rule, "Remove it, or leave --engine spark out"))
    if policy.release.format != "parquet":
        rule = f"Spark writes releases as Parquet, not as {policy.release.format}"
        faults.append(Fault("release.format", rule, "Write format: parquet, or leave it out"))
    if faults:
        raise PolicyError(faults, "the policy does not fit Spark: it")


def whole(values: Values) -> ClassStatistics:
    """The table as one class, from the counts of its values."""
    histograms = {}
    for column in values.sensitive:
        code = np.flatnonzero(column.counts).astype(np.int64)
        begin = np.array([0, len(code)], dtype=np.int64)
        histograms[column.bound.name] = Sparse(begin, code, column.counts[code])
    return ClassStatistics(np.array([values.rows], dtype=np.int64), attributes_of(values.table), histograms)


def _plan(values: Values, method: Method[Any], models: tuple[Model, ...], seed: int) -> Plan:
    return Plan(
        values=slim(values),
        method=method,
        models=models,
        attributes=attributes_of(values.table),
        published=tuple(column.published() for column in values.sensitive),
        seed=seed,
        secret=secrets.token_bytes(32),
    )


def _released(outcome: Outcome, values: Values) -> DataFrame:
    """The released table: columns by name in the policy's order, rows in a secret order over all files."""
    from pyspark.sql import functions as sf

    coded = [column.bound.name for column in (*values.quasi, *values.sensitive)]
    place = {name: f"r{i}" for i, name in enumerate(coded)}
    place |= {name: f"i{i}" for i, name in enumerate(values.policy.having("insensitive"))}
    rows = outcome.frame.where(sf.col("summary").isNull())
    files = max(math.ceil((values.rows - outcome.left) / ROWS_PER_FILE), 1)
    shuffled = rows.repartition(files, "ordering").sortWithinPartitions("ordering")
    return shuffled.select(*(sf.col(place[name]).alias(name) for name in values.policy.columns if name in place))


def _measured_in_memory(
    table: DataFrame, sketch: dict[str, Any], models: tuple[Model, ...], clock: Clock
) -> SparkRelease:
    with clock.stage("measure"):
        manifest, verification = _measured(table, sketch, models)
        refuse_unless(verification)
    return SparkRelease(table, manifest, clock.seconds)


def _measured(table: DataFrame, sketch: dict[str, Any], models: tuple[Model, ...]) -> tuple[dict[str, Any], Any]:
    """Figures of the table by the verifier's own reading of the manifest, and what the verifier says of them."""
    policy = from_public(sketch["policy"])
    declared = declared_attributes(sketch, policy)
    counts, unknown = released_counts(table, declared)
    if unknown:
        raise AssertionError(f"{len(unknown)} columns have values that were never counted")
    read_models = models_for(policy, {name: known.attribute for name, known in declared.items()})
    released = counts if sketch["suppressed"] else None
    measured = measure(table, sketch["rows"], sketch, policy, declared, read_models, released)
    manifest = filled(sketch, models, measured)
    return manifest, judge(manifest, policy, declared, read_models, counts, measured)


def _published(
    table: DataFrame, sketch: dict[str, Any], models: tuple[Model, ...], target: Path, clock: Clock
) -> SparkRelease:
    """Write, measure and judge what was written, and only then let it appear under its name."""
    spark = table.sparkSession
    with staging(target) as stage:
        with clock.stage("write"):
            write_table(table, stage)
        with clock.stage("measure"):
            manifest, verification = _measured(read_parts(stage, files_of(stage), spark), sketch, models)
        with clock.stage("verify"):
            refuse_unless(verification)
            write_manifest(stage, manifest)
            sync(stage)
            move_into_place(stage, target)
    written = spark.read.parquet((target.absolute() / "table").as_uri())
    return SparkRelease(written, manifest, clock.seconds)
