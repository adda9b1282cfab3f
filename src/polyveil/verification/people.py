"""The guarantees in people: figures that files can contradict, people counted by their keys, and what stays unknown.

A release without keys does not show whose rows belong together, so nobody can count its people from the files. Its
figures in people are then compared with what the rows allow, and the verifier says what it did not check.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polyveil.arrays import IntArray
from polyveil.models import Model
from polyveil.models.people import PeopleStatistics, from_people, people_of
from polyveil.policy import Policy
from polyveil.verification.claims import compare_parts, promise_finding
from polyveil.verification.findings import Finding, fails, holds, unchecked

PER_GROUP = "people per group"
NOT_COUNTED = "the files do not show whose rows belong together. Verify with --source TABLE to check"


class GroupSizes(NamedTuple):
    """The groups of a release in rows."""

    rows: int
    groups: int
    least: int
    greatest: int


def group_sizes(sizes: IntArray) -> GroupSizes:
    """The same from the size of each group."""
    if not len(sizes):
        return GroupSizes(0, 0, 0, 0)
    return GroupSizes(int(sizes.sum()), len(sizes), int(sizes.min()), int(sizes.max()))


def check_people(manifest: Mapping[str, Any], models: Sequence[Model], sizes: GroupSizes) -> list[Finding]:
    """What files without keys can say about the figures in people: whether they are possible."""
    wrong = _impossible(manifest, models, sizes)
    if wrong:
        return [fails("people", f"the manifest's figures in people are not possible: {words}") for words in wrong]
    return [
        holds("people", f"{manifest['people']['count']} people are possible, and their figures keep every guarantee"),
        unchecked(PER_GROUP, NOT_COUNTED),
    ]


def _impossible(manifest: Mapping[str, Any], models: Sequence[Model], sizes: GroupSizes) -> list[str]:
    people = manifest["people"]
    count, released, size = people["count"], people["released"], people["class_size"]
    least, mean, greatest = size["min"], size["mean"], size["max"]
    found = []
    if not released <= count <= manifest["rows"] or released > sizes.rows:
        found.append("there are more people than rows, or more released than there are")
    if count - released > manifest["suppressed"] or (released < count and not manifest["suppressed"]):
        found.append("people are missing although no row of theirs was left out")
    if sizes.groups and (least > sizes.least or greatest > sizes.greatest):
        found.append("a group has more people than rows")
    if sizes.groups and not (least <= mean <= greatest and math.isclose(mean, released / sizes.groups, rel_tol=1e-9)):
        found.append("the sizes of the groups do not fit the number of people")
    claims = people["claims"]
    if not _are_claims_of(models, claims):
        return [*found, "they are not the guarantees of the policy"]
    stated: dict[str, Any] = {"k": least, "l": {}, "t": {}}
    for model, claim in zip(models, claims, strict=True):
        value = np.inf if claim["measured"] is None else float(claim["measured"])
        name = f"{model.key} of {model.attribute}" if model.attribute else model.key
        if claim.get("statement", model.statement_in_people()) != model.statement_in_people():
            found.append(f"they do not state that {model.statement_in_people()}")
        if np.isfinite(value) and not model.passes(np.array([value]))[0]:
            found.append(f"{name} is not kept")
        if model.attribute is None and model.parameter == "k" and value != least:
            found.append(f"{name} is not the size of the smallest group")
        if model.summary:
            stated.setdefault(model.summary, {})[model.attribute] = value
    if compare_parts("privacy", people["privacy"], stated):
        found.append("the summary is not that of the claims")
    return found


def _are_claims_of(models: Sequence[Model], claims: Sequence[Mapping[str, Any]]) -> bool:
    return [(claim["model"], claim["attribute"]) for claim in claims] == [(m.key, m.attribute) for m in models]


def check_keys(
    manifest: Mapping[str, Any],
    policy: Policy,
    models: Sequence[Model],
    classes: IntArray,
    person: IntArray,
    codes: Mapping[str, IntArray],
    attributes: Mapping[str, Any],
) -> list[Finding]:
    """People counted by their keys. A reader of keys sees how many rows a person has, and tells people apart by it."""
    _, number, rows = np.unique(person, return_inverse=True, return_counts=True)
    limit = policy.privacy.rows_per_person
    if limit is not None and rows.max(initial=0) > limit.at_most:
        return [fails("people", f"somebody has {rows.max()} rows, the policy allows {limit.at_most}")]
    of_person = np.full(len(rows), -1, dtype=np.int64)
    of_person[number] = classes
    if (of_person[number] != classes).any():
        return [fails("people", "the rows of one person are in several groups")]
    count = manifest["people"]["count"]
    if len(rows) > count or (not manifest["suppressed"] and len(rows) < count):
        return [fails("people", "the keys are not those of as many people as the manifest says")]
    apart = np.unique(classes * (int(rows.max(initial=0)) + 1) + rows[number], return_inverse=True)[1].astype(np.int64)
    return judge_people(manifest, models, counted(apart, person, codes, attributes), how="who have as many rows")


def counted(
    classes: IntArray, person: IntArray, codes: Mapping[str, IntArray], attributes: Mapping[str, Any]
) -> PeopleStatistics:
    """The classes in people, `person` giving whose each row is; the rows given are the reference."""
    return from_people(classes, codes, attributes, people_of(person, codes, attributes))


def judge_people(
    manifest: Mapping[str, Any], models: Sequence[Model], statistics: PeopleStatistics, *, how: str
) -> list[Finding]:
    """Every guarantee in people, and the manifest's figures against those counted."""
    if not _are_claims_of(models, manifest["people"]["claims"]):
        return [fails("people", "the manifest's claims in people are not the guarantees of its policy")]
    findings = []
    measured = []
    for model in models:
        verdict = model.judge(statistics)
        finding = promise_finding(verdict, statistics.classes)
        findings.append(Finding(f"{finding.check} in people", finding.outcome, f"in people: {finding.message}"))
        measured.append(verdict.value)
    sizes, people = statistics.people, manifest["people"]
    figures = {"min": float(sizes.min()), "mean": float(sizes.mean()), "max": float(sizes.max())}
    wrong = compare_parts("people.class_size", people["class_size"], figures)
    wrong += compare_parts("people.released", people["released"], float(sizes.sum()))
    stated: dict[str, Any] = {"k": figures["min"], "l": {}, "t": {}}
    for model, claim, value in zip(models, people["claims"], measured, strict=True):
        wrong += compare_parts(f"people.{claim['model']}", claim["measured"], value)
        if claim.get("statement", model.statement_in_people()) != model.statement_in_people():
            wrong.append(fails("claim", f"the manifest does not state that {model.statement_in_people()}"))
        if model.summary:
            stated.setdefault(model.summary, {})[model.attribute] = value
    wrong += compare_parts("people.privacy", people["privacy"], stated)
    if wrong:
        return [*findings, *wrong]
    return [*findings, holds(PER_GROUP, f"every group has at least {int(sizes.min())} people, {how}")]
