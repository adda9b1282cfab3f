"""Verifying a release that is too large for one machine: the same checks, measured by Spark from the files alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyveil.engines.spark.content import Content, judge_table, measure_table
from polyveil.engines.spark.faults import as_input_errors
from polyveil.engines.spark.gathered import Gathered
from polyveil.engines.spark.linked import judge_linked, measure_linked
from polyveil.engines.spark.measure import distinct_cells
from polyveil.engines.spark.parts import (
    RowCheck,
    check_parts,
    check_rows,
    findings_of_parts,
    findings_of_rows,
    part_check,
)
from polyveil.errors import InputError, UnreadableTable
from polyveil.policy import Policy, from_public
from polyveil.table.databases import is_url, opened, place_of
from polyveil.table.databases.names import TableName
from polyveil.verification.closed import check_closed
from polyveil.verification.database import StoredRelease, compare_table, stored_manifest, unreadable
from polyveil.verification.database import check_beside as check_beside_tables
from polyveil.verification.domains import compare_domains
from polyveil.verification.files import ENDING_OF_PARTS, check_folder, check_form, read_manifest, table_of
from polyveil.verification.findings import Finding, Verification, fails, holds
from polyveil.verification.linked import check_columns
from polyveil.verification.signature import check_beside
from polyveil.verification.steady import read_steadily

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


FORMS = ("generalized", "anatomized", "sliced")
"""The forms whose tables Spark measures."""


@as_input_errors()
def verify(place: Path | str | StoredRelease, spark: SparkSession, *, signer: Path | str | None = None) -> Verification:
    """Check a release in a folder that this machine and the workers both see, or in a schema of Spark's catalogs."""
    if isinstance(place, StoredRelease):
        return _of_catalog(place, signer)
    if is_url(place):
        at = place_of(place)
        if at.kind != "spark":
            raise InputError(f"{at.title} is read on this machine. Leave --engine out")
        with opened(at) as session:
            release = StoredRelease(session, str(at.schema))
            found = _of_catalog(release, signer)
            if _any_fails(found.findings):
                stored_manifest(release)  # refuses a release that is just being replaced, whose tables do not fit
            return found
    folder = Path(place)
    return read_steadily(lambda: _of_folder(folder, spark, signer), folder)


def _of_folder(folder: Path, spark: SparkSession, signer: Path | str | None) -> Verification:
    manifest = read_manifest(folder)
    policy = from_public(manifest["policy"])
    _refuse_unmeasured(manifest, policy)
    findings = check_folder(folder, manifest) + check_beside(folder, signer) + check_form(manifest, policy)
    if not _any_fails(findings):  # what is not the released file is not worth a cluster's time
        findings += check_closed(manifest, policy) + _strange_columns(manifest, policy, _listed(manifest))
    if _any_fails(findings):
        return Verification(tuple(findings))
    if manifest["form"] == "generalized":
        names, check = part_check(folder, manifest, policy, spark)
        content, found = measure_table(manifest, policy, names, check)
        return _verified(manifest, policy, [*findings, *findings_of_parts(manifest, found.others)], content, found)
    findings += check_parts(folder, manifest, policy, spark)
    if _any_fails(findings):
        return Verification(tuple(findings))
    linked = _linked(manifest, policy, read_parts(folder, manifest["files"], spark))
    return Verification((*findings, *linked.findings), linked.verdicts)


def _of_catalog(release: StoredRelease, signer: Path | str | None) -> Verification:
    """The same of tables in a catalog, each where it is."""
    manifest = stored_manifest(release)
    policy = from_public(manifest["policy"])
    _refuse_unmeasured(manifest, policy)
    findings = check_beside_tables(release, manifest) + check_form(manifest, policy)
    if signer is not None:
        findings.append(fails("signature", "only a release folder is signed, and this is none"))
    session: Any = release.session
    frames = {} if _any_fails(findings) else {name: session.frame(_at(release, name)) for name in manifest["tables"]}
    if frames:
        findings += check_closed(manifest, policy)
        findings += _strange_columns(manifest, policy, {name: frame.columns for name, frame in frames.items()})
    for name, frame in frames.items():
        try:
            findings += compare_table(name, manifest["tables"][name], session.described(_at(release, name)))
        except UnreadableTable as error:
            findings.append(unreadable(name, error))
        except InputError:
            if not _any_fails(findings):  # what was found already says why Spark stumbles
                raise
        if not _any_fails(findings) and manifest["form"] != "generalized":
            findings += check_rows(name, frame, manifest, policy)
    if _any_fails(findings):
        return Verification(tuple(findings))
    tables = holds("tables", f"every table is there and unchanged ({len(frames)})")
    if manifest["form"] == "generalized":
        check = RowCheck("table", manifest, policy)
        content, found = measure_table(manifest, policy, frames["table"], check)
        return _verified(manifest, policy, [*findings, *findings_of_rows(found.others), tables], content, found)
    linked = _linked(manifest, policy, frames)
    return Verification((*findings, tables, *linked.findings), linked.verdicts)


def _verified(
    manifest: Mapping[str, Any], policy: Policy, findings: Sequence[Finding], content: Content, found: Gathered
) -> Verification:
    """What was found in the parts of the one table, and what they show together."""
    if _any_fails(findings):
        return Verification(tuple(findings))
    domains = compare_domains(manifest, policy, found.cells.get)
    judged = judge_table(manifest, policy, content)
    return Verification((*findings, *domains, *judged.findings), judged.verdicts)


def _at(release: StoredRelease, name: str) -> TableName:
    return release.session.stored(release.schema, name)


def _refuse_unmeasured(manifest: Mapping[str, Any], policy: Policy) -> None:
    """What a release guarantees and Spark does not measure."""
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
    if manifest["form"] not in FORMS:
        raise InputError(
            "Spark does not verify a release of several tables about people, whose rows it would have to join for each "
            "person. Leave --engine out: this machine reads the tables into memory"
        )
    if policy.pseudonyms:
        raise InputError("Spark does not verify random keys in the place of identifiers (replace). Leave --engine out")


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
    findings += _strange_columns(manifest, policy, {name: frame.columns for name, frame in tables.items()})
    if _any_fails(findings):
        return Verification(tuple(findings))
    if manifest["form"] == "generalized":
        check = RowCheck("table", manifest, policy, typed=False)
        content, found = measure_table(manifest, policy, tables["table"], check)
        return _verified(manifest, policy, findings, content, found)
    linked = _linked(manifest, policy, tables)
    return Verification((*findings, *linked.findings), linked.verdicts)


def _linked(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, DataFrame]) -> Verification:
    strange = _strange_columns(manifest, policy, {name: frame.columns for name, frame in tables.items()})
    if strange:
        return Verification(tuple(strange))
    domains = compare_domains(manifest, policy, distinct_cells(tables["quasi"], policy.having("quasi")).get)
    content = judge_linked(manifest, policy, measure_linked(manifest, policy, tables))
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
