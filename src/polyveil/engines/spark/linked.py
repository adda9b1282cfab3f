"""Measuring an anatomized or sliced release by Spark: every group judged where its rows are, tables compared by joins.

Compare `polyveil.verification.linked`, which says what the figures mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from polyveil.arrays import IntArray
from polyveil.engines.spark.content import Content, Link, judge_loss, judge_promises, undeclared
from polyveil.engines.spark.measure import Judge, Judged, Known, Measured, released_counts
from polyveil.engines.spark.values import quoted
from polyveil.engines.spark.without_data import items_without_data
from polyveil.models import Model, models_for
from polyveil.policy import Policy
from polyveil.verification.attributes import Declared, declared_attributes
from polyveil.verification.copies import MOST_GROUPS, Occurrence, check_copies, compare_copies
from polyveil.verification.findings import Finding, Verification
from polyveil.verification.generalized import check_rows, compare_distribution
from polyveil.verification.left_out import check_left_out
from polyveil.verification.linked import (
    NOT_AVAILABLE,
    SCATTERED,
    compare_grouping_loss,
    compare_groups,
    compare_suppression,
    with_missing_values,
    withholds,
)
from polyveil.verification.orders import agreement_findings, deviations, neighbour_findings

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


NUMBER = "^[1-9][0-9]{0,17}$"
"""The id of a group."""


def measure_linked(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, DataFrame]) -> Content:
    """The figures of linked tables; their columns are known to be those that the policy publishes."""
    slices: Sequence[Mapping[str, Any]] = manifest["linked"]["slices"]
    quasi = tables["quasi"]
    declared = declared_attributes(manifest, policy)
    attributes = {name: known.attribute for name, known in declared.items()}
    models = models_for(policy, attributes)
    counts, unknown = _counts(slices, tables, declared)
    if unknown:
        return Content(attributes, models, counts, unknown, 0, Measured(), Measured())
    missing, nameless = _suppressed(quasi, slices)
    exact = policy.release.generalize == "none"
    view = LinkedView(
        tables=tables,
        slices=slices,
        by=policy.having("quasi"),
        columns=declared,
        models=models,
        rows=manifest["rows"],
        exact=exact,
        released=counts if manifest["suppressed"] + missing else None,
        loss=None if exact else (manifest, policy),
    )
    measured, seen, grouping = view.measure()
    links = tuple(_link(quasi, tables[about["table"]], about, nameless[about["group"]]) for about in slices)
    copies = tuple(_copies(policy, slices, tables, links))
    found = Content(attributes, models, counts, (), seen.rows, measured, seen, missing, links, grouping)
    return replace(found, copies=copies)


@dataclass(frozen=True, eq=False)
class LinkedView:
    """Linked tables as they are measured: of a bundle's files, or as the blocks have them.

    Rows with equal cells in the columns `by` of the table `quasi` are a class; `exact` if these are published as they
    are, so that k is about the groups. `released` are the counts to judge against as well.
    """

    tables: Mapping[str, DataFrame]
    slices: Sequence[Mapping[str, Any]]
    by: tuple[str, ...]
    columns: Known
    models: tuple[Model, ...]
    rows: int
    exact: bool
    released: Mapping[str, IntArray] | None = None
    loss: tuple[Mapping[str, Any], Policy] | None = None

    def measure(self) -> tuple[Measured, Measured, tuple[tuple[float, float] | None, ...]]:
        """The figures of all models, those of rows that look alike, and what the groups of each table hold."""
        of_rows = tuple(model for model in self.models if model.attribute is None)
        judge = Judge(self.by, {}, () if self.exact else of_rows, loss=self.loss)
        seen = judge.measure(self.tables["quasi"], self.rows)
        parts = []
        for about in self.slices:
            known = {name: self.columns[name] for name in about["attributes"]}
            asked = (*(of_rows if self.exact else ()), *(m for m in self.models if m.attribute in known))
            released = {name: self.released[name] for name in known} if self.released else None
            judge = Judge((about["group"],), known, asked, released, about.get("count"), grouping=True)
            parts.append((asked, judge.measure(self.tables[about["table"]], self.rows)))
        together = _together(self.models, None if self.exact else (of_rows, seen), parts)
        return together, seen, tuple(measured.grouping for _, measured in parts)


def _counts(
    slices: Sequence[Mapping[str, Any]], tables: Mapping[str, DataFrame], declared: Mapping[str, Declared]
) -> tuple[dict[str, IntArray], list[str]]:
    counts: dict[str, IntArray] = {}
    unknown: list[str] = []
    for about in slices:
        known = {name: declared[name] for name in about["attributes"]}
        found, strange = released_counts(tables[about["table"]], known, about.get("count"))
        counts |= found
        unknown += strange
    return counts, unknown


def _together(
    models: Sequence[Model],
    rows: tuple[tuple[Model, ...], Measured] | None,
    parts: Sequence[tuple[tuple[Model, ...], Measured]],
) -> Measured:
    """All models in the policy's order; class sizes of the rows that look alike, or of all groups if none do."""
    sizes = [rows[1]] if rows else [measured for _, measured in parts]
    whole = Measured(
        rows=sum(one.rows for one in sizes),
        classes=sum(one.classes for one in sizes),
        least=min((one.least for one in sizes if one.classes), default=0),
        greatest=max((one.greatest for one in sizes), default=0),
    )
    judging = [*([rows] if rows else []), *parts]
    for model in models:
        for kind, found in (("judged", whole.judged), ("again", whole.again)):
            one = Judged()
            for asked, measured in judging:
                for other, judged in zip(asked, getattr(measured, kind), strict=False):
                    if other is model:
                        one.add(judged, model)
            found.append(one)
    if not any(measured.again for _, measured in parts):
        whole.again = []
    return whole


def _suppressed(quasi: DataFrame, slices: Sequence[Mapping[str, Any]]) -> tuple[int, dict[str, bool]]:
    """Rows with a suppressed value in some slice, and the group columns in which a row has no id at all."""
    from functools import reduce

    from pyspark.sql import functions as sf

    columns = [quoted(about["group"]) for about in slices]
    some = reduce(lambda a, b: a | b, [sf.coalesce(sf.col(name) == NOT_AVAILABLE, sf.lit(False)) for name in columns])
    found = quasi.agg(_how_many(some), *(_how_many(sf.col(name).isNull()) for name in columns)).collect()[0]
    return int(found[0] or 0), {
        about["group"]: bool(empty) for about, empty in zip(slices, tuple(found)[1:], strict=True)
    }


def _how_many(condition: Column) -> Column:
    from pyspark.sql import functions as sf

    return sf.sum(sf.when(condition, 1).otherwise(0))


def _link(quasi: DataFrame, frame: DataFrame, about: Mapping[str, Any], nameless: bool) -> Link:
    """Sizes and mean positions of every group in both tables, compared by one join."""
    from pyspark.sql import functions as sf

    group = quoted(about["group"])
    here = quasi.select(sf.col(group).alias("id")).where(sf.col("id") != NOT_AVAILABLE)
    rows = sf.lit(1) if "count" not in about else sf.col(quoted(about["count"]))
    there = frame.select(sf.col(group).alias("id"), rows.alias("rows"))
    here = here.withColumn("position", sf.monotonically_increasing_id())
    there = there.withColumn("position", sf.monotonically_increasing_id())
    one = here.groupBy("id").agg(sf.count("*").alias("n"), sf.avg("position").alias("p"))
    other = there.groupBy("id").agg(
        sf.sum("rows").alias("m"), sf.count("*").alias("stored"), sf.avg("position").alias("q")
    )
    found = (
        one.join(other, "id", "full_outer")
        .agg(
            _how_many(~sf.col("n").eqNullSafe(sf.col("m"))).alias("differ"),
            sf.count("m").alias("groups"),
            _how_many(sf.col("m").isNotNull() & (sf.col("id").isNull() | (sf.col("id") == NOT_AVAILABLE))).alias("bad"),
            _how_many(sf.col("m").isNotNull() & ~sf.col("id").rlike(NUMBER)).alias("unnumbered"),
            sf.max(sf.when(sf.col("m").isNotNull() & sf.col("id").rlike(NUMBER), sf.col("id").cast("bigint"))).alias(
                "highest"
            ),
            sf.corr("p", "q").alias("correlation"),
            *(sf.sum(sf.col(c) * (sf.col(c) - 1)).cast("double").alias(f"pairs_{c}") for c in ("n", "stored")),
            *(sf.sum(c).alias(f"rows_{c}") for c in ("n", "stored")),
        )
        .collect()[0]
    )
    together = {
        name: (_neighbours(table, about["group"]), float(found[f"pairs_{c}"] or 0.0), int(found[f"rows_{c}"] or 0))
        for name, table, c in ((about["table"], frame, "stored"), ("quasi", quasi, "n"))
    }
    correlation = found["correlation"]
    agreement = deviations(0.0 if correlation is None else float(correlation), int(found["groups"]))
    groups = int(found["groups"])
    return Link(
        nameless=nameless or bool(found["bad"]),
        differ=int(found["differ"] or 0),
        groups=groups,
        numbered=not found["unnumbered"] and found["highest"] in (groups, None),
        agreement=agreement,
        together=together,
    )


def _copies(
    policy: Policy, slices: Sequence[Mapping[str, Any]], tables: Mapping[str, DataFrame], links: Sequence[Link]
) -> list[Finding]:
    """Columns beside the quasi-identifiers that tell a sensitive one, as `polyveil.verification.copies` finds them."""
    from pyspark.sql import functions as sf

    findings = []
    beside = [*policy.having("quasi"), *policy.having("insensitive")]
    for about, link in zip(slices, links, strict=True):
        group = about["group"]
        rows = tables["quasi"].where(sf.col(quoted(group)) != NOT_AVAILABLE)
        kept = _occurrences(tables[about["table"]], group, about["attributes"], about.get("count"))
        repeated = compare_copies(link.groups, kept, _occurrences(rows, group, beside))
        some = _some(tables[about["table"]], group, about["attributes"], about.get("count"))
        findings += repeated or check_copies(_some(rows, group, beside), group, beside, some, about["attributes"])
    return findings


def _some(frame: DataFrame, group: str, names: Sequence[str], count: str | None = None) -> pl.DataFrame:
    """The rows of so many groups as sums are guessed from; groups are numbered at random."""
    from pyspark.sql import functions as sf

    each = sf.lit(1) if count is None else sf.col(quoted(count))
    cells = [sf.col(quoted(name)).cast("string").alias(f"c{i}") for i, name in enumerate((group, *names))]
    rows = frame.where(sf.col(quoted(group)).cast("int") <= MOST_GROUPS).select(*cells, each.cast("int").alias("rows"))
    told = [tuple(row)[:-1] for row in rows.collect() for _ in range(row["rows"])]
    return pl.DataFrame(told, schema=dict.fromkeys((group, *names), pl.String), orient="row")


def _occurrences(frame: DataFrame, group: str, names: Sequence[str], count: str | None = None) -> dict[str, Occurrence]:
    """Sums of hashes instead of the values and groups themselves: two columns that repeat each other have the same."""
    from pyspark.sql import functions as sf

    columns = [
        sf.struct(sf.lit(i).alias("column"), sf.col(quoted(name)).cast("string").alias("value"))
        for i, name in enumerate(names)
    ]
    each = sf.lit(1) if count is None else sf.col(quoted(count))
    cells = frame.select(sf.col(quoted(group)).alias("id"), each.alias("rows"), sf.explode(sf.array(*columns)))
    by_group = cells.groupBy("col.column", "id", "col.value").agg(sf.sum("rows").alias("rows"))
    by_value = by_group.groupBy("column", "value").agg(_sum_of_hashes("id", "rows").alias("where"))
    found = by_value.groupBy("column").agg(sf.count("*"), _sum_of_hashes("value", "where"), _sum_of_hashes("where"))
    return {names[row[0]]: Occurrence(int(row[1]), row[2], row[3]) for row in found.collect()}


def _sum_of_hashes(*names: str) -> Column:
    from pyspark.sql import functions as sf

    return sf.sum(sf.xxhash64(*names).cast("decimal(38,0)"))


def _neighbours(frame: DataFrame, group: str) -> int:
    """Rows whose successor, where they stand, is of the same group."""
    from pyspark.sql import functions as sf

    ids = frame.select(sf.col(quoted(group)).alias("id")).where(sf.col("id") != NOT_AVAILABLE)
    found = ids.mapInArrow(_count_neighbours, "together bigint").agg(sf.sum("together")).collect()[0][0]
    return int(found or 0)


def _count_neighbours(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from items_without_data(_counted_neighbours(batches))


def _counted_neighbours(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    total, last = 0, None
    for batch in batches:
        ids = batch.column(0)
        if not len(ids):
            continue
        total += int(last is not None and ids[0].as_py() == last)
        total += int(pc.sum(pc.equal(ids[1:], ids[:-1])).as_py() or 0)
        last = ids[-1].as_py()
    yield pa.RecordBatch.from_arrays([pa.array([total], pa.int64())], names=["together"])


def judge_linked(manifest: Mapping[str, Any], policy: Policy, content: Content) -> Verification:
    """The findings that follow from what was measured."""
    if content.unknown:
        return Verification(undeclared(content))
    slices: Sequence[Mapping[str, Any]] = manifest["linked"]["slices"]
    findings = check_rows(manifest, policy, content.rows) + compare_suppression(manifest, policy, content.missing)
    orders: list[Finding] = []
    for about, link in zip(slices, content.links, strict=True):
        findings += compare_groups(about, link.nameless, link.differ, link.groups, numbered=link.numbered)
        orders += agreement_findings(about["table"], link.agreement)
        for table, (together, pairs, rows) in link.together.items():
            orders += neighbour_findings(table, together, pairs, rows)
    findings += content.copies
    promises, verdicts = judge_promises(manifest, content)
    findings += compare_distribution(with_missing_values(manifest), content.attributes, content.counts)
    findings += promises
    findings += check_left_out(manifest, withholds(policy), content.models, content.attributes, content.counts)
    findings += compare_grouping_loss(manifest, content.grouping)
    findings += orders or [SCATTERED]
    findings += judge_loss(manifest, policy, content)
    return Verification(tuple(findings), verdicts)
