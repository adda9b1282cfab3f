"""The steps of `polyveil.pipeline` on a Spark DataFrame.

DataFrame -bind_values-> Values -encoded-> codes -plant-> block tree -anonymize_blocks-> released rows
   -measure_blocks-> manifest -write-> bundle on disk -verify (reads the files)-> published
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyveil.engines.base import Engine, Job
from polyveil.engines.spark.block import Plan, slim
from polyveil.engines.spark.claims import measure_blocks
from polyveil.engines.spark.coarsening import Coarsened, anonymize_blocks
from polyveil.engines.spark.content import Content
from polyveil.engines.spark.faults import as_input_errors
from polyveil.engines.spark.manifest import manifest_of
from polyveil.engines.spark.measure import shards_of
from polyveil.engines.spark.people import everybody, person_faults
from polyveil.engines.spark.release import SparkRelease, is_catalog, local_path, write_anywhere
from polyveil.engines.spark.rows import encoded, plant
from polyveil.engines.spark.session import read_source, session_for
from polyveil.engines.spark.tables import files_of, released_tables, tables_to_order
from polyveil.engines.spark.tree import WHOLE, BlockTree
from polyveil.engines.spark.values import Values, bind_values
from polyveil.engines.spark.verify import verify
from polyveil.errors import Fault, InputError, PolicyError
from polyveil.methods.base import Method
from polyveil.models import Attribute, ClassStatistics, attributes_of, one_class
from polyveil.models.people import Everybody
from polyveil.policy import Policy
from polyveil.releases.bundle import check_target
from polyveil.releases.database import check_release_target
from polyveil.verification import Verification

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BLOCK_ROWS = 200_000
SAMPLE_PER_BLOCK = 10_000
"""With 2,000, parts of ten million rows looked farther from the table than they are and were divided by hash: 6.9 % of
the detail lost instead of 5.4 %. A tree on 10,000 for each block is grown in a second."""
LEAST_SAMPLE, MOST_SAMPLE = 100_000, 4_000_000


@dataclass(frozen=True, eq=False)
class SparkInput:
    """A Spark table, and a policy bound to its values."""

    frame: DataFrame
    values: Values


@dataclass(frozen=True, eq=False)
class Blocks:
    """The task of the blocks, and their results."""

    plan: Plan
    outcome: Coarsened


class SparkEngine(Engine["DataFrame", SparkInput, Blocks, Content, "DataFrame", SparkRelease]):
    """`block_rows` is the size of the blocks in which the method works: larger ones lose less and need more memory.

    `as_of` is a version or a time of a Delta or Iceberg table that is given by its name.
    """

    def __init__(self, block_rows: int = BLOCK_ROWS, as_of: str | int | None = None) -> None:
        self._block_rows = block_rows
        self._as_of = as_of
        self._held: Coarsened | None = None
        self._published = False

    @contextmanager
    def running(self) -> Iterator[None]:
        finished = False
        try:
            with as_input_errors():
                yield
            finished = True
        finally:
            # DataFrames that are not published are made of what Spark holds for them.
            if self._held is not None and (self._published or not finished):
                self._held.let_go()

    def refuse(self, policy: Policy, method: Method[Any]) -> None:
        """What cannot be done block by block, or not twice alike, is refused, with what to use instead."""
        faults = []
        for name, effort in (("effort", getattr(method.options, "effort", None)), ("refine", policy.method.refine)):
            if isinstance(effort, (int, float)):
                rule = "as much as fits into some seconds is not the same again when a lost task is run once more"
                remedy = "Write fast, balanced or thorough, or leave --engine spark out"
                faults.append(Fault(f"method.{name}", rule, remedy))
        by_chance = {
            "release.person": policy.release.person == "pseudonym",
            "privacy.rows_per_person": policy.privacy.rows_per_person is not None,
        }
        for place in (name for name, is_asked in by_chance.items() if is_asked):
            rule = "keys and rows per person are drawn at random once, and Spark may run a lost task twice"
            faults.append(Fault(place, rule, "Remove it, or leave --engine spark out"))
        coarser = [name for name, column in policy.columns.items() if column.publish is not None]
        if coarser:
            rule = "numbers are made coarser before they are read by Spark, or on this machine"
            remedy = "Round them in Spark and remove publish, or leave --engine spark out"
            faults.append(Fault(f"columns.{coarser[0]}.publish", rule, remedy))
        risk = policy.privacy.risk
        for key in ("average", "unique_in_population"):
            if getattr(risk, key, None) is not None:
                rule = "what all groups together have is not known block by block"
                faults.append(Fault(f"privacy.risk.{key}", rule, "Use max, or leave --engine spark out"))
        if risk is not None and risk.by_table:
            rule = "people of a population table are counted for all groups on this machine"
            faults.append(Fault("privacy.risk.population", rule, "Use fraction, or leave --engine spark out"))
        if policy.sampling_weight is not None:
            rule = "weights of all groups together are not known block by block"
            remedy = "Write role: drop, or leave --engine spark out"
            faults.append(Fault(f"columns.{policy.sampling_weight}.role", rule, remedy))
        if policy.privacy.any is not None:
            rule = "columns are recoded for all rows at once, not block by block"
            faults.append(Fault("privacy.any", rule, "Remove it, or leave --engine spark out"))
        if policy.tables:
            faults.append(Fault("tables", "Spark reads one table", "Leave --engine spark out"))
        for key, names in (("replace", policy.pseudonyms), ("shift", policy.shifted)):
            if names:
                rule = f"{key} draws random values once, and Spark may run a lost task twice"
                faults.append(Fault(f"columns.{names[0]}.{key}", rule, "Remove it, or leave --engine spark out"))
        if policy.privacy.joint:
            rule = "combinations of columns are compared over all released rows at once, not block by block"
            faults.append(Fault("privacy.joint", rule, "Remove it, or leave --engine spark out"))
        if policy.release.file_format != "parquet":
            rule = f"Spark writes releases as Parquet, not as {policy.release.format}"
            faults.append(Fault("release.format", rule, "Write format: parquet, or leave it out"))
        if faults:
            raise PolicyError(faults, "the policy does not fit Spark: it")

    def check_place(self, out: Path | str, *, overwrite: bool) -> None:
        if is_catalog(out):
            check_release_target(out, overwrite=overwrite)
        else:
            check_target(local_path(out), overwrite=overwrite)

    def read(self, source: DataFrame | str) -> DataFrame:
        if isinstance(source, str):
            return read_source(session_for(), source, self._as_of)
        if self._as_of is not None:
            raise InputError("as_of is for a table that is given by its name. Read the DataFrame as of that version")
        return source

    def columns(self, table: DataFrame) -> Sequence[str]:
        return list(table.columns)

    def bind(self, table: DataFrame, policy: Policy) -> SparkInput:
        people, faults = person_faults(table, policy)
        values = bind_values(table, policy, faults)
        if people in (0, values.rows):  # nobody has several rows
            return SparkInput(table, values)
        attributes = attributes_of(values.table)
        known = replace(values, everybody=Everybody(people, 0, {}, {}))  # so that rows are encoded with their person
        found = everybody(encoded(table, known, 0), attributes, people)
        return SparkInput(table, replace(values, everybody=found))

    def attributes(self, bound: SparkInput) -> dict[str, Attribute]:
        return attributes_of(bound.values.table)

    def whole(self, bound: SparkInput) -> ClassStatistics:
        rows = one_class(self.attributes(bound), bound.values.rows)
        everyone = bound.values.everybody
        return rows if everyone is None else everyone.as_one_class(rows)

    def partition(self, job: Job, bound: SparkInput) -> Blocks:
        seed = secrets.randbits(62) if job.seed is None else job.seed
        coded = encoded(bound.frame, bound.values, seed)
        plan, tree = self._planted(bound, coded, _plan(job, bound.values, seed))
        self._held = anonymize_blocks(bound.frame, plan, tree, self._block_rows, values=bound.values)
        return Blocks(plan, self._held)

    def _planted(self, bound: SparkInput, coded: DataFrame, plan: Plan) -> tuple[Plan, BlockTree]:
        """The block tree, and the plan with the slices that a method with slices of its own makes of all rows."""
        own_slices = plan.method.makes_own_slices
        if plan.values.rows <= self._block_rows and not own_slices:
            return plan, WHOLE
        blocks = math.ceil(plan.values.rows / self._block_rows)
        sample = min(max(SAMPLE_PER_BLOCK * blocks, LEAST_SAMPLE), MOST_SAMPLE)
        share, seed = min(1.0, sample / plan.values.rows), plan.seed % 2**31
        if share == 1.0:
            some = coded
        elif plan.values.everybody is None:
            some = encoded(bound.frame.sample(fraction=share, seed=seed), bound.values, plan.seed)
        else:  # a row is coded with all rows of its person
            some = coded.sample(fraction=share, seed=seed)
        tree, slices = plant(some, plan, self._block_rows)
        return (replace(plan, slices=slices) if own_slices else plan), tree

    def refine(self, job: Job, bound: SparkInput, found: Blocks) -> Blocks:
        """Each block has refined and arranged its own classes."""
        return found

    def measure(self, job: Job, bound: SparkInput, found: Blocks) -> Content:
        return measure_blocks(found.outcome, found.plan)

    def manifest(self, job: Job, bound: SparkInput, found: Blocks, figures: Content) -> dict[str, Any]:
        return manifest_of(bound.values, found.plan, found.outcome, figures)

    def tables(self, job: Job, bound: SparkInput, found: Blocks) -> dict[str, DataFrame]:
        return released_tables(found.outcome, found.plan)

    def release(
        self,
        bound: SparkInput,
        found: Blocks,
        tables: dict[str, DataFrame],
        manifest: dict[str, Any],
        seconds: Mapping[str, float],
    ) -> SparkRelease:
        to_order = tables_to_order(found.outcome, found.plan)
        return SparkRelease(tables, manifest, seconds, bound.values.bound.notes, to_order=to_order)

    def publish(
        self, release: SparkRelease, out: Path | str, *, overwrite: bool, report: bool, accept: Callable[[Any], None]
    ) -> SparkRelease:
        """As on one machine, but without a report, which needs the tables in memory."""
        tables = write_anywhere(release, out, overwrite=overwrite, accept=accept)
        self._published = True
        return replace(release, tables=tables, to_order={})

    def verify(self, written: Any) -> Verification:
        return verify(*written)


def _plan(job: Job, values: Values, seed: int) -> Plan:
    release = job.policy.release
    return Plan(
        values=slim(values),
        method=job.method,
        form=job.form,
        models=job.models,
        attributes=job.attributes,
        published=tuple(column.published() for column in values.sensitive),
        seed=seed,
        secret=secrets.token_bytes(32),
        as_they_are=tuple(column.published() for column in values.quasi) if release.generalize == "none" else (),
        slices=job.form.slices(job.policy),
        files=files_of(values.rows),
        shards=shards_of(values.rows),
    )
