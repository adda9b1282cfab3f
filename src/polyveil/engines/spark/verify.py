"""Verifying a release that is too large for one machine: the same checks, measured by Spark from the files alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyveil.engines.spark.faults import spoken
from polyveil.engines.spark.measure import Measured, measure, released_counts
from polyveil.errors import InputError
from polyveil.models import Model, models_for
from polyveil.policy import Policy, from_public
from polyveil.policy.hierarchy import IntArray
from polyveil.verify.attributes import Declared, declared_attributes
from polyveil.verify.claims import compare_claims, compare_figures, promise_finding
from polyveil.verify.files import check_files, read_manifest
from polyveil.verify.findings import Finding, Verification, fails
from polyveil.verify.generalized import check_rows, compare_distribution
from polyveil.verify.loss import compare_loss

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@spoken
def verify(place: Path | str, spark: SparkSession) -> Verification:
    """Check a bundle on a filesystem that this machine and Spark's workers both see."""
    folder = Path(place)
    manifest = read_manifest(folder)
    if manifest["form"] != "generalized":
        raise InputError(f"Spark verifies generalized releases, this one is {manifest['form']}. Leave --engine out")
    findings = check_files(folder, manifest)
    if any(finding.outcome == "fails" for finding in findings):
        return Verification(tuple(findings))  # what is not the released file is not worth a cluster's time
    content = verify_frame(manifest, read_parts(folder, manifest["files"], spark))
    return Verification((*findings, *content.findings), content.verdicts)


def read_parts(folder: Path, files: Iterable[str], spark: SparkSession) -> DataFrame:
    """The released table, from the files the manifest lists and no others."""
    parts = [name for name in files if name.endswith(".parquet")]
    if not parts:
        raise InputError(f"{folder} has no Parquet table. Leave --engine out")
    return spark.read.parquet(*((folder.absolute() / name).as_uri() for name in parts))


def verify_frame(manifest: Mapping[str, Any], frame: DataFrame) -> Verification:
    """All checks that need the table's content."""
    policy = from_public(manifest["policy"])
    if sorted(frame.columns) != sorted(policy.columns):
        return Verification((fails("columns", "the table does not have exactly the columns its policy publishes"),))
    declared = declared_attributes(manifest, policy)
    counts, unknown = released_counts(frame, declared)
    if unknown:
        return Verification(
            tuple(
                fails(f"values of {name}", f"{name} has values that the input's distribution does not have")
                for name in unknown
            )
        )
    models = models_for(policy, {name: known.attribute for name, known in declared.items()})
    released = counts if manifest["suppressed"] else None
    measured = measure(frame, manifest["rows"], manifest, policy, declared, models, released)
    return judge(manifest, policy, declared, models, counts, measured)


def judge(
    manifest: Mapping[str, Any],
    policy: Policy,
    declared: Mapping[str, Declared],
    models: tuple[Model, ...],
    counts: Mapping[str, IntArray],
    measured: Measured,
) -> Verification:
    """The findings that follow from what was measured."""
    verdicts = [found.verdict(model, measured.classes) for model, found in zip(models, measured.judged, strict=True)]
    findings: list[Finding] = check_rows(manifest, policy, measured.rows)
    findings += compare_distribution(manifest, {name: known.attribute for name, known in declared.items()}, counts)
    findings += [promise_finding(verdict, measured.classes) for verdict in verdicts]
    for model, found in zip(models, measured.again, strict=False):
        verdict = found.verdict(model, measured.classes)
        if model.attribute and not verdict.holds:
            finding = promise_finding(verdict, measured.classes)
            findings.append(Finding(f"{finding.check} against the released rows", finding.outcome, finding.message))
    means = {
        (model.key, model.attribute): (found.worst, found.total / max(measured.classes, 1))
        for model, found in zip(models, measured.judged, strict=True)
    }
    findings += compare_claims(manifest, models, means)
    findings += compare_figures(manifest, measured.classes, measured.sizes)
    findings += compare_loss(manifest, policy, measured.loss)
    return Verification(tuple(findings), tuple(verdicts))
