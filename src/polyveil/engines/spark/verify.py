"""Verifying a release that is too large for one machine: the same checks, measured by Spark from the files alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyveil.engines.spark.content import Content, judge_table, measure_table
from polyveil.engines.spark.faults import as_input_errors
from polyveil.engines.spark.linked import judge_linked, measure_linked
from polyveil.engines.spark.measure import distinct_cells
from polyveil.engines.spark.parts import check_parts
from polyveil.errors import InputError
from polyveil.policy import Policy, from_public
from polyveil.verification.closed import check_closed
from polyveil.verification.domains import compare_domains
from polyveil.verification.files import ENDING_OF_PARTS, check_folder, check_form, read_manifest, table_of
from polyveil.verification.findings import Finding, Verification, fails
from polyveil.verification.linked import check_columns
from polyveil.verification.signature import check_beside

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


FORMS = ("generalized", "anatomized", "sliced")
"""The forms whose tables Spark measures."""


@as_input_errors()
def verify(place: Path | str, spark: SparkSession, *, signer: Path | str | None = None) -> Verification:
    """Check a bundle on a filesystem that this machine and Spark's workers both see."""
    folder = Path(place)
    manifest = read_manifest(folder)
    policy = from_public(manifest["policy"])
    if policy.privacy.joint:
        raise InputError("Spark does not measure privacy.joint, which this release guarantees. Leave --engine out")
    if policy.privacy.any is not None:
        raise InputError("Spark does not measure privacy.any, which this release guarantees. Leave --engine out")
    risk = policy.privacy.risk
    if risk is not None and risk.by_table:
        raise InputError("Spark does not count a population, by which this release limits a risk. Leave --engine out")
    if risk is not None and (risk.average is not None or risk.unique_in_population is not None):
        words = "Spark does not measure the risk of all groups together, which this release guarantees"
        raise InputError(f"{words}. Leave --engine out")
    if manifest["form"] not in FORMS or policy.pseudonyms:
        raise InputError("Spark does not verify linked tables about people, or pseudonyms. Leave --engine out")
    findings = check_folder(folder, manifest) + check_beside(folder, signer) + check_form(manifest, policy)
    if not _any_fails(findings):  # what is not the released file is not worth a cluster's time
        findings += check_closed(manifest, policy) + _strange_columns(manifest, policy, _listed(manifest))
    if not _any_fails(findings):
        findings += check_parts(folder, manifest, policy, spark)
    if _any_fails(findings):
        return Verification(tuple(findings))
    content = _content(manifest, policy, read_parts(folder, manifest["files"], spark))
    return Verification((*findings, *content.findings), content.verdicts)


def _listed(manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """The columns of each table as the manifest lists them for every file, which each file is compared with."""
    columns: dict[str, list[str]] = {}
    for name, about in manifest["files"].items():
        if name.endswith(ENDING_OF_PARTS):
            first = columns.setdefault(table_of(name), about["columns"])
            if about["columns"] != first:
                columns[table_of(name)] = []
    return columns


def _any_fails(findings: Iterable[Finding]) -> bool:
    return any(finding.outcome == "fails" for finding in findings)


def read_parts(folder: Path, files: Iterable[str], spark: SparkSession) -> dict[str, DataFrame]:
    """The released tables by name, from the files the manifest lists and no others."""
    parts: dict[str, list[str]] = {}
    for name in files:
        if name.endswith(ENDING_OF_PARTS):
            parts.setdefault(table_of(name), []).append((folder.absolute() / name).as_uri())
    if not parts:
        raise InputError(f"{folder} has no Parquet table. Leave --engine out")
    return {table: spark.read.parquet(*addresses) for table, addresses in parts.items()}


def verify_frames(manifest: Mapping[str, Any], tables: Mapping[str, DataFrame]) -> Verification:
    """All checks that need the tables' content; that of their files is `verify`'s."""
    policy = from_public(manifest["policy"])
    findings = check_form(manifest, policy) or check_closed(manifest, policy)
    content = Verification(()) if _any_fails(findings) else _content(manifest, policy, tables)
    return Verification((*findings, *content.findings), content.verdicts)


def _content(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, DataFrame]) -> Verification:
    strange = _strange_columns(manifest, policy, {name: frame.columns for name, frame in tables.items()})
    if strange:
        return Verification(tuple(strange))
    first = tables["table" if manifest["form"] == "generalized" else "quasi"]
    domains = compare_domains(manifest, policy, distinct_cells(first, policy.having("quasi")).get)
    content = judge(manifest, policy, measure(manifest, policy, tables))
    return Verification((*domains, *content.findings), content.verdicts)


def _strange_columns(
    manifest: Mapping[str, Any], policy: Policy, columns: Mapping[str, Sequence[str]]
) -> list[Finding]:
    if manifest["form"] != "generalized":
        return check_columns(policy, manifest["linked"]["slices"], columns)
    if set(columns) != {"table"}:
        return [fails("table", "the release does not have exactly one table")]
    if list(columns["table"]) != list(policy.columns):
        return [fails("columns", "the table does not have exactly the columns its policy publishes")]
    return []


def measure(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, DataFrame]) -> Content:
    """The figures of a release of any form; of the manifest, only what describes the input is used."""
    return (measure_table if manifest["form"] == "generalized" else measure_linked)(manifest, policy, tables)


def judge(manifest: Mapping[str, Any], policy: Policy, content: Content) -> Verification:
    """What the verifier says of the figures of a release of any form."""
    return (judge_table if manifest["form"] == "generalized" else judge_linked)(manifest, policy, content)
