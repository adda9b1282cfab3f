"""Verifying a release that is too large for one machine: the same checks, measured by Spark from the files alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyveil.engines.spark.content import Content, judge_table, measure_table
from polyveil.engines.spark.faults import as_input_errors
from polyveil.engines.spark.footers import check_footers
from polyveil.engines.spark.linked import judge_linked, measure_linked
from polyveil.errors import InputError
from polyveil.policy import Policy, from_public
from polyveil.verification.closed import check_closed
from polyveil.verification.files import check_folder, check_form, read_manifest
from polyveil.verification.findings import Finding, Verification, fails
from polyveil.verification.linked import check_columns
from polyveil.verification.signature import check_signature

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@as_input_errors()
def verify(place: Path | str, spark: SparkSession, *, signer: Path | str | None = None) -> Verification:
    """Check a bundle on a filesystem that this machine and Spark's workers both see."""
    folder = Path(place)
    manifest = read_manifest(folder)
    if from_public(manifest["policy"]).privacy.joint:
        raise InputError("Spark does not measure privacy.joint, which this release guarantees. Leave --engine out")
    findings = check_folder(folder, manifest) + check_signature(folder, signer)
    if not any(finding.outcome == "fails" for finding in findings):
        findings += check_footers(folder, manifest["files"])
    if any(finding.outcome == "fails" for finding in findings):
        return Verification(tuple(findings))  # what is not the released file is not worth a cluster's time
    content = verify_frames(manifest, read_parts(folder, manifest["files"], spark))
    return Verification((*findings, *content.findings), content.verdicts)


def read_parts(folder: Path, files: Iterable[str], spark: SparkSession) -> dict[str, DataFrame]:
    """The released tables by name, from the files the manifest lists and no others."""
    parts: dict[str, list[str]] = {}
    for name in files:
        if name.endswith(".parquet"):
            table = name.split("/")[0].removesuffix(".parquet")
            parts.setdefault(table, []).append((folder.absolute() / name).as_uri())
    if not parts:
        raise InputError(f"{folder} has no Parquet table. Leave --engine out")
    return {table: spark.read.parquet(*addresses) for table, addresses in parts.items()}


def verify_frames(manifest: Mapping[str, Any], tables: Mapping[str, DataFrame]) -> Verification:
    """All checks that need the tables' content."""
    policy = from_public(manifest["policy"])
    strange = check_form(manifest, policy) or _strange_columns(manifest, policy, tables)
    if strange:
        return Verification(tuple(strange))
    content = judge(manifest, policy, measure(manifest, policy, tables))
    return Verification((*check_closed(manifest, policy), *content.findings), content.verdicts)


def _strange_columns(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, DataFrame]) -> list[Finding]:
    if manifest["form"] != "generalized":
        columns = {name: frame.columns for name, frame in tables.items()}
        return check_columns(policy, manifest["linked"]["slices"], columns)
    if set(tables) != {"table"}:
        return [fails("table", "the release does not have exactly one table")]
    if tables["table"].columns != list(policy.columns):
        return [fails("columns", "the table does not have exactly the columns its policy publishes")]
    return []


def measure(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, DataFrame]) -> Content:
    """The figures of a release of any form; of the manifest, only what describes the input is used."""
    return (measure_table if manifest["form"] == "generalized" else measure_linked)(manifest, policy, tables)


def judge(manifest: Mapping[str, Any], policy: Policy, content: Content) -> Verification:
    """What the verifier says of the figures of a release of any form."""
    return (judge_table if manifest["form"] == "generalized" else judge_linked)(manifest, policy, content)
