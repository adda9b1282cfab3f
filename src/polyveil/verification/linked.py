"""Verifying an anatomized or sliced release: k in the quasi-identifiers, l in every group of every sensitive table.

Tables may be linked by group ids and by nothing else: group sizes must agree, no table has a column beyond what the
policy publishes, and the order of rows in one table must say nothing about the order in another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import FloatArray, IntArray
from polyveil.models import Attribute, LevelDiversity, Model, RecursiveDiversity, models_for
from polyveil.models.linked import LinkedStatistics, from_groups
from polyveil.policy import Policy
from polyveil.verification.attributes import declared_attributes
from polyveil.verification.claims import check_claims, judge_against_released, judge_promises, same
from polyveil.verification.classes import class_of_row
from polyveil.verification.copies import check_copies
from polyveil.verification.findings import Finding, Verification, fails, holds
from polyveil.verification.generalized import check_distribution, check_rows, released_counts, sensitive_codes
from polyveil.verification.joint import with_joint
from polyveil.verification.left_out import check_left_out
from polyveil.verification.loss import check_loss, class_sizes
from polyveil.verification.orders import (
    agreement_findings,
    column_findings,
    mean_places,
    rank_agreement,
    stand_alike,
    stand_together,
)

NOT_AVAILABLE = "NA"
SCATTERED = holds("row order", "the order of rows in one table says nothing about another's")


@dataclass(frozen=True, eq=False)
class SensitiveTable:
    """One sensitive table, one row per person (counts written out), and its groups numbered from 0.

    `stored` are the groups of the rows as they stand in the file.
    """

    about: Mapping[str, Any]
    frame: pl.DataFrame
    group_of_row: IntArray
    stored: IntArray
    ids: list[str]


def verify_linked(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, pl.DataFrame]) -> Verification:
    """All checks that need the tables' content."""
    slices: Sequence[Mapping[str, Any]] = manifest["linked"]["slices"]
    findings = check_columns(policy, slices, {name: frame.columns for name, frame in tables.items()})
    if findings:
        return Verification(tuple(findings))
    quasi = tables["quasi"]
    typed = policy.release.file_format != "csv" or "tables" in manifest
    findings = [
        finding for about in slices for finding in check_group_cells(about, tables[about["table"]], quasi, typed=typed)
    ]
    if findings:
        return Verification(tuple(findings))
    parts = [_read(about, tables[about["table"]]) for about in slices]
    findings = check_rows(manifest, policy, quasi.height) + _check_suppression(manifest, policy, quasi, slices)
    findings += [finding for part in parts for finding in _check_groups(part, quasi)]
    beside = [*policy.having("quasi"), *policy.having("insensitive")]
    for part in parts:
        findings += check_copies(quasi, part.about["group"], beside, part.frame, part.about["attributes"])
    codes, attributes, value_findings = _codes(manifest, policy, parts)
    if value_findings:
        return Verification((*findings, *value_findings))
    exact = policy.release.generalize == "none"
    sizes = np.bincount(class_of_row(quasi, policy.having("quasi"))).astype(np.int64)
    statistics = _statistics(None if exact else sizes, parts, codes, attributes)
    models = models_for(policy, attributes)
    promises, verdicts = judge_promises(models, statistics)
    findings += _check_distribution(manifest, statistics)
    findings += promises
    findings += check_left_out(manifest, withholds(policy), models, attributes, released_counts(statistics))
    if manifest["suppressed"] or manifest["linked"]["rows_with_suppressed_values"]:
        findings += judge_against_released(models, statistics)
    findings += check_claims(manifest, models, statistics)
    findings += _check_additional_loss(manifest, models, statistics, slices)
    findings += _check_orders(tables, parts)
    findings += check_loss(manifest, policy, quasi, class_sizes(sizes), exact=exact)
    return Verification(tuple(findings), tuple(verdicts))


def check_columns(
    policy: Policy, slices: Sequence[Mapping[str, Any]], tables: Mapping[str, Sequence[str]]
) -> list[Finding]:
    """Exactly the tables and columns that may be there, in their order: a tuple id, or a value elsewhere, is a leak."""
    beside = [name for name, column in policy.columns.items() if column.role in ("quasi", "insensitive")]
    expected = {"quasi": [*beside, *(about["group"] for about in slices)]}
    for about in slices:
        expected[about["table"]] = [
            about["group"],
            *about["attributes"],
            *([about["count"]] if "count" in about else []),
        ]
    findings = [
        fails("columns", f"{name} does not have exactly the columns its policy publishes")
        for name, columns in expected.items()
        if name not in tables or list(tables[name]) != columns
    ]
    findings += [fails("table", f"{name} is no table of this form") for name in tables if name not in expected]
    published = sorted(name for about in slices for name in about["attributes"])
    if published != sorted(policy.having("sensitive")):
        findings.append(fails("slices", "the slices do not hold every sensitive column exactly once"))
    if policy.release.form == "anatomized" and len(slices) != 1:
        findings.append(fails("slices", "an anatomized release has one sensitive table"))
    return findings


def check_group_cells(
    about: Mapping[str, Any], frame: pl.DataFrame, quasi: pl.DataFrame, *, typed: bool
) -> list[Finding]:
    """Every row has a group, and counts are numbers that say no more rows than there are."""
    if quasi.get_column(about["group"]).dtype != pl.String:
        return [fails(f"groups of {about['table']}", "group ids are not text")]
    return check_sensitive_rows(about, frame, quasi.height, typed=typed)


def check_sensitive_rows(about: Mapping[str, Any], frame: pl.DataFrame, rows: int, *, typed: bool) -> list[Finding]:
    """The same of some rows of a sensitive table, where `quasi` has so many."""
    check = f"groups of {about['table']}"
    if frame.get_column(about["group"]).has_nulls():
        return [fails(check, "a row has no group id")]
    if frame.get_column(about["group"]).dtype != pl.String:
        return [fails(check, "group ids are not text")]
    if "count" not in about:
        return []
    written = frame.get_column(about["count"])
    counts = written.cast(pl.Int64, strict=False)
    if (
        written.dtype not in (pl.Int64, pl.Int64 if typed else pl.String)
        or (counts.cast(written.dtype) != written).any()
    ):
        return [fails(check, f"{about['count']} is not written as releases are")]
    if counts.has_nulls() or (counts < 1).any() or sum(counts.to_list()) > rows:
        return [fails(check, f"{about['count']} does not say how many rows of quasi each row stands for")]
    return []


def _read(about: Mapping[str, Any], frame: pl.DataFrame) -> SensitiveTable:
    groups = frame.get_column(about["group"]).cast(pl.String)
    ids = sorted(groups.unique().drop_nulls().to_list())
    stored = groups.cast(pl.Enum(ids)).to_physical().cast(pl.Int64).to_numpy()
    if "count" not in about:
        return SensitiveTable(about, frame, stored, stored, ids)
    rows = np.repeat(np.arange(frame.height), frame.get_column(about["count"]).cast(pl.Int64).to_numpy())
    return SensitiveTable(about, frame.drop(about["count"])[pl.Series(rows)], stored[rows], stored, ids)


def _check_suppression(
    manifest: Mapping[str, Any], policy: Policy, quasi: pl.DataFrame, slices: Sequence[Mapping[str, Any]]
) -> list[Finding]:
    """Rows with any suppressed value count as suppressed (han2013, Definition 13)."""
    columns = [about["group"] for about in slices]
    missing = quasi.select(pl.any_horizontal(pl.col(columns).cast(pl.String) == NOT_AVAILABLE)).to_series()
    return compare_suppression(manifest, policy, int(missing.sum()))


def compare_suppression(manifest: Mapping[str, Any], policy: Policy, found: int) -> list[Finding]:
    """The manifest and the policy against the rows found to have suppressed values."""
    findings = []
    stated = manifest["linked"]["rows_with_suppressed_values"]
    if found != stated:
        findings.append(fails("suppression", f"{found} rows have withheld values, the manifest says {stated}"))
    rows, total = manifest["rows"], found + manifest["suppressed"]
    allowed = int(policy.privacy.suppression_limit * rows + 1e-9)
    if total > allowed:
        findings.append(
            fails("suppression", f"{total} rows are left out or have withheld values, the policy allows {allowed}")
        )
    if not same(manifest["loss"].get("suppression_ratio"), total / max(rows, 1)):
        findings.append(fails("suppression", "the manifest's suppression ratio is not that of the files"))
    return findings or [holds("suppression", f"{total} rows are left out or have withheld values")]


def _check_groups(part: SensitiveTable, quasi: pl.DataFrame) -> list[Finding]:
    """Every group has as many rows in the quasi-identifier table as in the sensitive one."""
    column = part.about["group"]
    here = dict(zip(part.ids, np.bincount(part.group_of_row, minlength=len(part.ids)).tolist(), strict=True))
    there = dict(quasi.get_column(column).cast(pl.String).value_counts().iter_rows())
    there.pop(NOT_AVAILABLE, None)
    nameless = None in there or NOT_AVAILABLE in here
    differ = sum(here.get(key) != there.get(key) for key in {*here, *there})
    numbered = set(part.ids) == {str(number) for number in range(1, len(part.ids) + 1)}
    return compare_groups(part.about, nameless, differ, len(part.ids), numbered=numbered)


def compare_groups(
    about: Mapping[str, Any], nameless: bool, differ: int, groups: int, *, numbered: bool
) -> list[Finding]:
    """From what was counted: whether a row has no group id, groups whose sizes differ, groups in all, and their ids."""
    name = about["table"]
    if not numbered:
        return [fails(f"groups of {name}", "the groups are not numbered from 1 without a gap")]
    if nameless:
        return [fails(f"groups of {name}", "a row has no group id")]
    if differ:
        return [fails(f"groups of {name}", f"{differ} groups do not have the same number of rows in both tables")]
    if groups != about["groups"]:
        return [fails(f"groups of {name}", f"the manifest says {about['groups']} groups, there are {groups}")]
    return [holds(f"groups of {name}", f"{groups} groups have the same number of rows in both tables")]


def _codes(
    manifest: Mapping[str, Any], policy: Policy, parts: Sequence[SensitiveTable]
) -> tuple[dict[str, IntArray], dict[str, Attribute], list[Finding]]:
    declared = declared_attributes(manifest, policy)
    codes: dict[str, IntArray] = {}
    findings = []
    for part in parts:
        found, faults = sensitive_codes(part.frame, {name: declared[name] for name in part.about["attributes"]})
        codes |= found
        findings += faults
    attributes = {name: known.attribute for name, known in declared.items()}
    if findings or len(parts) != 1:
        return codes, attributes, findings
    joined, all_attributes = with_joint(policy, codes, attributes)
    return joined, all_attributes, findings


def _statistics(
    sizes: IntArray | None,
    parts: Sequence[SensitiveTable],
    codes: Mapping[str, IntArray],
    attributes: Mapping[str, Attribute],
) -> LinkedStatistics:
    if len(parts) == 1:
        return from_groups(sizes, [(list(attributes), parts[0].group_of_row)], codes, attributes)
    counted = [from_groups(None, [(part.about["attributes"], part.group_of_row)], codes, attributes) for part in parts]
    if sizes is None:
        sizes = np.concatenate([one.sizes for one in counted])
    return LinkedStatistics(
        sizes,
        {name: about for one in counted for name, about in one.attributes.items()},
        {name: sparse for one in counted for name, sparse in one.histograms.items()},
        {name: groups for one in counted for name, groups in one.groups.items()},
    )


def _check_distribution(manifest: Mapping[str, Any], statistics: LinkedStatistics) -> list[Finding]:
    """A suppressed value is missing from its slice alone; only then may released values be fewer than the input's."""
    return check_distribution(with_missing_values(manifest), statistics)


def withholds(policy: Policy) -> bool:
    """Whether the policy asks by name to withhold single values of a row, as han2013 prints it."""
    return bool(policy.method.options.get("withhold") == "values")


def with_missing_values(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with rows of which some value is missing counted among the suppressed."""
    return {**manifest, "suppressed": manifest["suppressed"] + manifest["linked"]["rows_with_suppressed_values"]}


def _check_additional_loss(
    manifest: Mapping[str, Any],
    models: Sequence[Model],
    statistics: LinkedStatistics,
    slices: Sequence[Mapping[str, Any]],
) -> list[Finding]:
    """Definition 14 of xiao2020, averaged over the slices as in eq. (8) of han2013, from the files."""
    sums = [grouping_sums(statistics, models, about["attributes"]) for about in slices]
    return compare_grouping_loss(manifest, sums)


def grouping_sums(
    statistics: LinkedStatistics, models: Sequence[Model], names: Sequence[str]
) -> tuple[float, float] | None:
    """Of one slice's groups, the rows beyond the least and the least itself, each summed; None if no l is asked."""
    asked = [model for model in models if model.parameter == "l" and model.attribute in names]
    if not asked:
        return None
    sizes = statistics.groups[names[0]]
    least = np.max([_least(statistics, model) for model in asked], axis=0)
    return float((sizes - least).sum()), float(least.sum())


def mean_grouping_loss(sums: Sequence[tuple[float, float] | None]) -> float:
    """The loss of every slice, averaged; not a number if a slice has no least size."""
    losses = [math.nan if one is None else one[0] / one[1] if one[1] else 0.0 for one in sums]
    return float(np.mean(losses)) if losses else math.nan


def compare_grouping_loss(manifest: Mapping[str, Any], sums: Sequence[tuple[float, float] | None]) -> list[Finding]:
    """The manifest's figure against the groups."""
    measured = mean_grouping_loss(sums)
    stated = manifest["loss"].get("additional_information_loss")
    if not same(stated, measured):
        return [fails("loss of grouping", f"the manifest says {stated}, the groups give {measured:.9g}")]
    return [holds("loss of grouping", "additional information loss is as measured from the groups")]


def _least(statistics: LinkedStatistics, model: Model) -> FloatArray:
    """The l of the most demanding value in each group."""
    block = statistics.block(model.attribute)
    if isinstance(model, LevelDiversity):
        return block.greatest(model.asked(block.attribute.levels)[block.code])
    asked = float(model.l if isinstance(model, RecursiveDiversity) else model.threshold)
    return np.full(block.classes, asked)


def _check_orders(tables: Mapping[str, pl.DataFrame], parts: Sequence[SensitiveTable]) -> list[Finding]:
    """Groups must not stand together in a table, nor in orders that go together in two: a shuffle does neither."""
    findings = []
    quasi = tables["quasi"]
    for part in parts:
        name = part.about["table"]
        ids = quasi.get_column(part.about["group"]).cast(pl.String)
        numbers = ids.replace_strict(part.ids, list(range(len(part.ids))), default=-1, return_dtype=pl.Int64).to_numpy()
        places = mean_places(numbers, len(part.ids)), mean_places(part.group_of_row, len(part.ids))
        findings += agreement_findings(name, rank_agreement(*places))
        findings += stand_alike("quasi", name, numbers[numbers >= 0], part.stored)
        for table, groups in ((name, part.stored), ("quasi", numbers[numbers >= 0])):
            findings += stand_together(table, groups)
    for table, frame in tables.items():
        findings += column_findings(table, frame)
    return findings or [SCATTERED]
