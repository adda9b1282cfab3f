"""What the tables of a release were found to hold, and what the verifier says of it; one table here, linked ones apart.

The same checks as on one machine (`polyveil.verification`), on figures that Spark has gathered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from polyveil.arrays import IntArray
from polyveil.engines.spark.gathered import CLASS, Gathered, TableCounter, gather
from polyveil.engines.spark.measure import AsCoded, Judge, Measured, shards_of
from polyveil.engines.spark.parts import PartCheck, RowCheck, findings_of_rows
from polyveil.models import Attribute, Model, Verdict, models_for
from polyveil.policy import Policy
from polyveil.verification.attributes import declared_attributes
from polyveil.verification.claims import compare_claims, compare_figures, promise_finding
from polyveil.verification.findings import Finding, Verification, fails, unchecked
from polyveil.verification.generalized import check_rows, compare_distribution
from polyveil.verification.left_out import check_left_out
from polyveil.verification.loss import NOTHING, ClassSizes, CostsOf, compare_loss
from polyveil.verification.people import PER_GROUP, GroupSizes, check_people

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class Link:
    """How the groups of one sensitive table and of the quasi-identifier table go together."""

    nameless: bool
    differ: int
    groups: int
    numbered: bool
    agreement: float
    together: Mapping[str, tuple[int, float, int]]
    """Per table: neighbours of one group, the pairs that could be neighbours, and rows."""


@dataclass(frozen=True, eq=False)
class Content:
    """Figures of a release. `measured` are the classes that k is about, `seen` those of equal quasi-identifiers.

    `unknown` are columns with values that were never declared; nothing else was measured then. The others are for
    linked tables: rows with suppressed values, per sensitive table its links and what its groups hold, and columns that
    repeat a sensitive one.
    """

    attributes: Mapping[str, Attribute]
    models: tuple[Model, ...]
    counts: Mapping[str, IntArray]
    unknown: Sequence[str]
    rows: int
    measured: Measured
    seen: Measured
    missing: int = 0
    links: tuple[Link, ...] = ()
    grouping: tuple[tuple[float, float] | None, ...] = ()
    people: Measured | None = None
    """The classes counted in people, if one has several rows and it is known whose they are."""
    copies: tuple[Finding, ...] = ()

    @property
    def classes(self) -> int:
        return self.measured.classes

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What each model says of the classes, in the policy's order."""
        return tuple(found.verdict(model) for model, found in zip(self.models, self.measured.judged, strict=True))


def measure_table(
    manifest: Mapping[str, Any], policy: Policy, frame: DataFrame, check: PartCheck | RowCheck
) -> tuple[Content, Gathered]:
    """The figures of a generalized release, from the lines that `check` makes of its rows, and what else these say."""
    declared = declared_attributes(manifest, policy)
    attributes = {name: known.attribute for name, known in declared.items()}
    models = models_for(policy, attributes)
    shards = shards_of(manifest["rows"])
    counter = TableCounter(manifest, policy, declared, shards)
    judge = Judge((CLASS,), {name: AsCoded(about) for name, about in attributes.items()}, models)
    found = gather(frame, replace(check, counter=counter), judge, shards)
    faults = any(finding.outcome == "fails" for finding in findings_of_rows(found.others))
    counts = found.counts_of(attributes)
    if found.unknown or faults:
        return Content(attributes, models, counts, found.unknown, 0, Measured(), Measured()), found
    measured = found.measured
    if manifest["suppressed"]:  # judged once more, against the released rows, which are counted only now
        again = replace(check, counter=replace(counter, only_classes=True))
        measured = gather(frame, again, replace(judge, released=counts), shards).measured
        measured.loss = found.measured.loss
    return Content(attributes, models, counts, (), measured.rows, measured, measured), found


def judge_table(manifest: Mapping[str, Any], policy: Policy, content: Content) -> Verification:
    """The findings that follow from what was measured."""
    if content.unknown:
        return Verification(undeclared(content))
    promises, verdicts = judge_promises(manifest, content)
    findings = check_rows(manifest, policy, content.rows)
    findings += compare_distribution(manifest, content.attributes, content.counts)
    findings += promises
    findings += check_left_out(manifest, False, content.models, content.attributes, content.counts)
    findings += people_findings(manifest, policy, content)
    findings += judge_loss(manifest, policy, content)
    return Verification(tuple(findings), verdicts)


def people_findings(manifest: Mapping[str, Any], policy: Policy, content: Content) -> list[Finding]:
    """The guarantees in people, as far as files without keys allow; keys are counted on one machine."""
    if "people" not in manifest:
        return []
    if policy.person is not None:
        return [unchecked(PER_GROUP, "Spark does not count people by their keys. Verify without --engine spark")]
    seen = content.seen
    return check_people(manifest, content.models, GroupSizes(seen.rows, seen.classes, seen.least, seen.greatest))


def judge_loss(manifest: Mapping[str, Any], policy: Policy, content: Content) -> list[Finding]:
    """The stated losses against those of the classes that a reader sees and of their cells."""
    seen = content.seen
    sizes = ClassSizes(seen.rows, seen.classes, seen.squares, seen.logs)
    costs: CostsOf | Finding = seen.loss
    if not isinstance(costs, Finding):
        costs = {name: costs.get(name, NOTHING) for name in policy.having("quasi")}
    return compare_loss(manifest, policy, costs, sizes)


def undeclared(content: Content) -> tuple[Finding, ...]:
    """A finding for every column with values that the manifest does not know."""
    return tuple(
        fails(f"values of {name}", f"{name} has values that the input's distribution does not have")
        for name in content.unknown
    )


def judge_promises(manifest: Mapping[str, Any], content: Content) -> tuple[list[Finding], tuple[Verdict, ...]]:
    """Every model, against the input and against the released rows; every claim and figure of the manifest."""
    models, measured = content.models, content.measured
    verdicts = content.verdicts
    findings = [
        promise_finding(verdict, found.classes) for verdict, found in zip(verdicts, measured.judged, strict=True)
    ]
    findings += against_released(content)
    means = {
        (model.key, model.attribute): (found.worst, found.mean)
        for model, found in zip(models, measured.judged, strict=True)
    }
    findings += compare_claims(manifest, models, means)
    return findings + compare_figures(manifest, models, means, measured.classes, measured.sizes), verdicts


def against_released(content: Content) -> list[Finding]:
    """If rows were suppressed: the models that do not hold against the released rows' own distribution."""
    findings = []
    for model, found in zip(content.models, content.measured.again, strict=False):
        if model.attribute and not found.verdict(model).holds:
            finding = promise_finding(found.verdict(model), found.classes)
            findings.append(Finding(f"{finding.check} against the released rows", finding.outcome, finding.message))
    return findings
