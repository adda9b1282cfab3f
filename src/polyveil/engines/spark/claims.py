"""What a release can claim: counted from the classes and codes that the blocks worked with, before a cell is written.

The verifier measures the same figures from the written files (`content`, `linked`), by the cells it finds there. What
a block said and what was written can therefore disagree, and then nothing is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from polyveil.arrays import IntArray
from polyveil.engines.spark.block import Plan
from polyveil.engines.spark.coarsening import Coarsened
from polyveil.engines.spark.content import Content, against_released
from polyveil.engines.spark.gathered import CLASS, Line, add_up
from polyveil.engines.spark.linked import LinkedView
from polyveil.engines.spark.measure import AsCoded, Judge, Known, Measured, released_counts
from polyveil.engines.spark.people import PERSON, PeopleJudge, everybody
from polyveil.engines.spark.values import with_counts
from polyveil.errors import Unsatisfiable
from polyveil.models import attribute_of
from polyveil.models.people import Everybody
from polyveil.releases.linked import NOT_AVAILABLE
from polyveil.verification.left_out import judge_left_out

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GROUP = "polyveil group {}"


def measure_blocks(outcome: Coarsened, plan: Plan) -> Content:
    """The figures of all blocks together; raises Unsatisfiable if too much was left out.

    What is left out shifts the distribution of what is released. If a class is no longer close to that, there is no
    release, although every class is close to the whole table.
    """
    names = [column.bound.name for column in plan.values.sensitive]
    columns: Known = {name: AsCoded(plan.attributes[name]) for name in names}
    released, rows = _rows(outcome, plan, names)
    measured = _of_lines if plan.packed else _of_groups if plan.slices else _of_classes
    content = measured(rows, columns, plan, outcome)
    people = None if plan.values.everybody is None else _of_people(released, columns, plan, plan.values.everybody)
    shown = None if people is None or not outcome.suppressed else everybody(released, plan.attributes, people.rows)
    if shown is not None:
        _of_people(released, columns, plan, shown)
    left_out = None if people is None or plan.values.everybody is None else plan.values.everybody.count - people.rows
    if outcome.left and judge_left_out(plan.models, plan.attributes, content.counts, left_out):
        # The input's counts would tell the values of the rows left out: the released rows' own are the reference.
        attributes = {c.name: attribute_of(with_counts(c, content.counts[c.name])) for c in plan.values.table.sensitive}
        columns = {name: AsCoded(about) for name, about in attributes.items()}
        content = measured(rows, columns, replace(plan, attributes=attributes), outcome)
        if shown is not None:
            people = _of_people(released, columns, plan, everybody(released, attributes, shown.count))
    shifted = against_released(content)
    if shifted:
        raise Unsatisfiable(
            f"{outcome.left} rows are left out, and then {shifted[0].check} does not hold: {shifted[0].message}",
            "a smaller privacy.suppression_limit, or a weaker requirement",
        )
    return replace(content, people=people)


def _rows(outcome: Coarsened, plan: Plan, names: list[str]) -> tuple[DataFrame, DataFrame]:
    """All rows as the blocks gave them, and what is measured of them: classes, groups and codes, packed or not."""
    from pyspark.sql import functions as sf

    released = outcome.frame.where(sf.col("summary").isNull())
    if plan.packed:
        return released, released.where(sf.col("kind") != "rows").select(*Line._fields)
    groups = [sf.col(f"g{number}").alias(GROUP.format(number)) for number in range(1, len(plan.slices) + 1)]
    codes = [sf.col(f"s{i}").alias(name) for i, name in enumerate(names)]
    return released, released.select(sf.col("class").alias(CLASS), *groups, *codes)


def _of_people(released: DataFrame, columns: Known, plan: Plan, reference: Everybody) -> Measured:
    """The classes in people, compared with all of them or with those released; raises Unsatisfiable if one fails."""
    from pyspark.sql import functions as sf

    names = [sf.col(f"s{i}").alias(name) for i, name in enumerate(columns)]
    rows = released.select(sf.col("class").alias(CLASS), PERSON, *names)
    found = PeopleJudge((CLASS,), columns, plan.models, of=reference).measure(rows, plan.values.rows)
    for model, one in zip(plan.models, found.judged, strict=True):
        if one.failing:
            raise Unsatisfiable(
                f"{model.statement_in_people()}, and {one.failing} groups do not keep it in people",
                "a smaller privacy.suppression_limit, or a weaker requirement",
            )
    return found


def _of_lines(lines: DataFrame, columns: Known, plan: Plan, outcome: Coarsened) -> Content:
    judge = Judge((CLASS,), columns, plan.models)
    found = add_up(lines, judge, plan.shards)
    counts: Mapping[str, IntArray] = {}
    if outcome.suppressed:  # judged once more, against the released rows, which are counted only now
        counts = found.counts_of(plan.attributes)
        found = add_up(lines, replace(judge, released=counts), plan.shards)
    measured = found.measured
    return Content(plan.attributes, plan.models, counts, (), measured.rows, measured, measured)


def _of_classes(rows: DataFrame, columns: Known, plan: Plan, outcome: Coarsened) -> Content:
    counts = released_counts(rows, columns)[0] if outcome.suppressed else {}
    judge = Judge((CLASS,), columns, plan.models, counts or None)
    measured = judge.measure(rows, plan.values.rows)
    return Content(plan.attributes, plan.models, counts, (), measured.rows, measured, measured)


def _of_groups(rows: DataFrame, columns: Known, plan: Plan, outcome: Coarsened) -> Content:
    from pyspark.sql import functions as sf

    tables, slices = {"quasi": rows}, []
    counts: dict[str, IntArray] = {}
    for number, names in enumerate(plan.slices, start=1):
        about = {"table": f"sensitive_{number}", "group": GROUP.format(number), "attributes": names}
        grouped = rows.where(sf.col(f"`{about['group']}`") != NOT_AVAILABLE)
        if outcome.left:
            counts |= released_counts(grouped, {name: columns[name] for name in names})[0]
        tables[f"sensitive_{number}"] = grouped
        slices.append(about)
    view = LinkedView(
        tables=tables,
        slices=slices,
        by=(CLASS,),
        columns=columns,
        models=plan.models,
        rows=plan.values.rows,
        exact=plan.values.policy.release.generalize == "none",
        released=counts or None,
    )
    measured, seen, grouping = view.measure()
    return Content(plan.attributes, plan.models, counts, (), seen.rows, measured, seen, outcome.left, (), grouping)
