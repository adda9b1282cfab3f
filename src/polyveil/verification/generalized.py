"""Verifying a generalized release: one table, classes of equal quasi-identifier cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.models import Attribute, ClassStatistics, JointAttribute, from_classes, models_for
from polyveil.policy import Policy
from polyveil.verification.any_columns import fewest_alike
from polyveil.verification.attributes import Declared, codes_of_cells, declared_attributes
from polyveil.verification.claims import check_claims, judge_against_released, judge_promises
from polyveil.verification.classes import class_of_row
from polyveil.verification.findings import Finding, Verification, fails, holds
from polyveil.verification.joint import with_joint
from polyveil.verification.left_out import check_left_out
from polyveil.verification.loss import check_loss, check_weighted_loss, class_sizes
from polyveil.verification.orders import check_order
from polyveil.verification.people import check_keys, check_people, group_sizes
from polyveil.verification.replaced import check_pseudonyms
from polyveil.verification.risk import check_risk
from polyveil.verification.weights import check_weights


def verify_generalized(
    manifest: Mapping[str, Any],
    policy: Policy,
    tables: Mapping[str, pl.DataFrame],
    *,
    apart: IntArray | None = None,
) -> Verification:
    """All checks that need the table's content; `apart` are the groups a reader of several tables tells people by."""
    if "table" not in tables:
        return Verification((fails("table", "the release has no readable table"),))
    frame = tables["table"]
    if frame.columns != list(policy.columns):  # their order could tell something
        return Verification((fails("columns", "the table does not have exactly the columns its policy publishes"),))
    declared = declared_attributes(manifest, policy)
    findings = check_rows(manifest, policy, frame.height)
    codes, value_findings = sensitive_codes(frame, declared)
    findings += value_findings
    if value_findings:
        return Verification(tuple(findings))
    codes, attributes = with_joint(policy, codes, {name: known.attribute for name, known in declared.items()})
    classes = class_of_row(frame, policy.having("quasi"))
    statistics = from_classes(classes, codes, attributes)
    if policy.privacy.any is not None:
        alike = fewest_alike(frame, policy.having("quasi"), policy.privacy.any, classes)
        statistics = replace(statistics, alike=alike)
    weights, sampling = check_weights(policy, frame, classes)
    findings += weights
    statistics = replace(statistics, sampling=sampling)
    models = models_for(policy, attributes)
    promises, verdicts = judge_promises(models, statistics)
    findings += check_distribution(manifest, statistics)
    findings += promises
    readable = policy.sampling_weight is None or sampling is not None
    findings += check_risk(manifest, policy, frame) if readable else []
    findings += check_left_out(manifest, False, models, attributes, released_counts(statistics))
    if manifest["suppressed"]:
        findings += judge_against_released(models, statistics)
    findings += check_claims(manifest, models, statistics)
    findings += check_pseudonyms(policy, frame)
    if "people" in manifest:
        seen = classes if apart is None else apart
        findings += people_findings(manifest, policy, frame, seen, codes, attributes, statistics)
    findings += check_loss(manifest, policy, frame, class_sizes(statistics.sizes))
    findings += check_weighted_loss(manifest, policy, frame) if readable else []
    if "tables" not in manifest:  # a database keeps no order of rows
        findings += check_order("table", frame, classes)
    return Verification(tuple(findings), tuple(verdicts))


def people_findings(
    manifest: Mapping[str, Any],
    policy: Policy,
    frame: pl.DataFrame,
    classes: IntArray,
    codes: Mapping[str, IntArray],
    attributes: Mapping[str, Attribute],
    statistics: ClassStatistics,
) -> list[Finding]:
    """The guarantees in people: counted by their keys, or as far as files without keys allow."""
    models = models_for(policy, attributes)
    if policy.person is None:
        return check_people(manifest, models, group_sizes(statistics.sizes))
    keys = frame.get_column(policy.person)
    if keys.null_count():
        return [fails("people", "some rows have no key, so that nobody can tell whom they are about")]
    person = keys.rank("dense").cast(pl.Int64).to_numpy() - 1
    return check_keys(manifest, policy, models, classes, person, codes, attributes)


def check_rows(manifest: Mapping[str, Any], policy: Policy, released: int) -> list[Finding]:
    """Input rows = released + suppressed, and no more were suppressed than the policy allows."""
    rows, suppressed = manifest["rows"], manifest["suppressed"]
    findings = []
    if released + suppressed != rows:
        findings.append(
            fails("rows", f"{released} rows released and {suppressed} left out do not make {rows} input rows")
        )
    allowed = int(policy.privacy.suppression_limit * rows + 1e-9)
    if suppressed > allowed:
        findings.append(fails("suppression", f"{suppressed} rows are left out, the policy allows {allowed}"))
    return findings or [holds("rows", f"{released} released and {suppressed} left out make {rows} input rows")]


def sensitive_codes(frame: pl.DataFrame, declared: Mapping[str, Declared]) -> tuple[dict[str, IntArray], list[Finding]]:
    """Codes of the sensitive cells, by this verifier's own coding."""
    codes: dict[str, IntArray] = {}
    findings = []
    for name, known in declared.items():
        found = codes_of_cells(known, frame.get_column(name))
        if found is None:
            findings.append(
                fails(f"values of {name}", f"{name} has values that the input's distribution does not have")
            )
        else:
            codes[name] = found
    return codes, findings


def check_distribution(manifest: Mapping[str, Any], statistics: ClassStatistics) -> list[Finding]:
    """The released values are among the input's, and all of them where nothing was suppressed."""
    return compare_distribution(manifest, statistics.attributes, released_counts(statistics))


def released_counts(statistics: ClassStatistics) -> dict[str, IntArray]:
    """How often each value was released; a joint reference is the released rows themselves and is left out."""
    released = {}
    for name, about in statistics.attributes.items():
        if not isinstance(about, JointAttribute):
            released[name] = np.zeros(about.size, dtype=np.int64)
            np.add.at(released[name], statistics.histograms[name].code, statistics.histograms[name].count)
    return released


def compare_distribution(
    manifest: Mapping[str, Any], attributes: Mapping[str, Attribute], counts: Mapping[str, IntArray]
) -> list[Finding]:
    """The counts of the released values against those of the manifest: the input's, or the released rows' own."""
    findings = []
    for name, released in counts.items():
        about = attributes[name]
        if manifest.get("counts_of", "input") == "released":
            if (released != about.whole).any():
                findings.append(fails(f"distribution of {name}", "the manifest's counts are not those of the files"))
        elif int(about.whole.sum()) != manifest["rows"]:
            findings.append(fails(f"distribution of {name}", "the manifest's counts do not add up to the input rows"))
        elif (released > about.whole).any() or (not manifest["suppressed"] and (released != about.whole).any()):
            findings.append(
                fails(f"distribution of {name}", "released values do not come from the input's distribution")
            )
    return findings or [holds("distributions", "released sensitive values agree with the input's distributions")]
