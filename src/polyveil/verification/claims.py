"""Promises and claims: every model is judged anew, and every figure of the manifest compared with what was measured."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polyveil.arrays import IntArray
from polyveil.models import Attribute, ClassStatistics, Model, Verdict
from polyveil.verification.findings import Finding, fails, holds, not_checked
from polyveil.verification.former_statements import is_stated, limits_are_stated
from polyveil.verification.versions import is_former

CLOSE = 1e-9


def judge_promises(models: Sequence[Model], statistics: ClassStatistics) -> tuple[list[Finding], list[Verdict]]:
    """One finding per model, from its verdict."""
    findings, verdicts = [], []
    for model in models:
        verdict = model.judge(statistics)
        verdicts.append(verdict)
        findings.append(promise_finding(verdict, statistics.classes))
    return findings, verdicts


def promise_name(verdict: Verdict) -> str:
    """The check that a verdict answers."""
    return f"{verdict.model} of {verdict.attribute}" if verdict.attribute else verdict.model


def promise_finding(verdict: Verdict, classes: int) -> Finding:
    """A model's verdict in words."""
    name = promise_name(verdict)
    if verdict.holds:
        return holds(name, f"{verdict.statement}: measured {verdict.value:.6g}")
    if verdict.outcome == "fails":
        if not verdict.failing_classes:  # a guarantee about all groups together
            return fails(name, f"{verdict.statement}: measured {verdict.value:.6g}")
        failing = f"{verdict.failing_classes} of {classes} groups do not"
        return fails(name, f"{verdict.statement}: {failing}, worst {verdict.value:.6g}")
    return not_checked(name, f"{verdict.statement}: {verdict.reason}")


def judge_against_released(models: Sequence[Model], statistics: ClassStatistics) -> list[Finding]:
    """Where rows were suppressed, closeness must hold against the released rows' own distribution as well."""
    released: dict[str, Attribute] = {}
    for name, about in statistics.attributes.items():
        counts: IntArray = np.zeros(about.size, dtype=np.int64)
        np.add.at(counts, statistics.histograms[name].code, statistics.histograms[name].count)
        released[name] = replace(about, whole=counts)
    again = replace(statistics, attributes=released)
    findings, _ = judge_promises([model for model in models if model.attribute], again)
    return [
        replace(finding, check=f"{finding.check} against the released rows")
        for finding in findings
        if finding.outcome != "holds"
    ]


WorstAndMean = Mapping[tuple[str, str | None], tuple[float, float]]
"""Model and attribute -> the worst and the mean value over all classes."""


def check_claims(manifest: Mapping[str, Any], models: Sequence[Model], statistics: ClassStatistics) -> list[Finding]:
    """The manifest's claims, counts of rows and classes, and summary, against what is measured from the files."""
    measured = {}
    for model in models:
        values = model.measure_all(statistics)
        worst, mean = (float(values[model.worst(values)]), float(np.mean(values))) if len(values) else (math.nan,) * 2
        measured[model.key, model.attribute] = (worst, mean)
    sizes = statistics.sizes
    some = (float(sizes.min()), float(sizes.mean()), float(sizes.max())) if len(sizes) else (0.0, 0.0, 0.0)
    findings = compare_claims(manifest, models, measured)
    return findings + compare_figures(manifest, models, measured, statistics.classes, some)


def compare_claims(manifest: Mapping[str, Any], models: Sequence[Model], found: WorstAndMean) -> list[Finding]:
    """The manifest's claims against the worst and the mean value found for each model."""
    claimed = {(claim["model"], claim["attribute"]): claim for claim in manifest["claims"]}
    asked = {(model.key, model.attribute): model for model in models}
    former = is_former(manifest)
    findings = [
        fails("claim", f"the manifest claims {_name(key)}, which its policy does not ask for")
        for key in claimed
        if key not in asked
    ]
    if [(claim["model"], claim["attribute"]) for claim in manifest["claims"]] != list(asked) and not findings:
        findings.append(fails("claim", "the manifest does not make each claim once, in the order of its policy"))
    for key, model in asked.items():
        claim = claimed.get(key)
        if claim is None:
            findings.append(fails("claim", f"the policy asks for {_name(key)}, the manifest claims nothing about it"))
            continue
        if not is_stated(model, claim["statement"], former=former):
            findings.append(fails("claim", f"{_name(key)}: the manifest does not state that {model.statement()}"))
        if not limits_are_stated(model, claim["helps_against"], claim["leaves_open"], former=former):
            findings.append(fails("claim", f"{_name(key)}: the manifest does not say what it helps against"))
        measured = dict(zip(("threshold", "measured", "mean"), (model.threshold, *found[key]), strict=True))
        findings.extend(
            fails("claim", f"{_name(key)}: the manifest says {field} {claim[field]}, the files give {value:.9g}")
            for field, value in measured.items()
            if not same(claim[field], value)
        )
    return findings or [holds("claims", f"all {len(asked)} claims are as measured")]


def compare_figures(
    manifest: Mapping[str, Any],
    models: Sequence[Model],
    found: WorstAndMean,
    classes: int,
    sizes: tuple[float, float, float],
) -> list[Finding]:
    """The manifest's figures against the number of classes, their sizes and each model's worst value."""
    least, mean, greatest = sizes
    privacy: dict[str, Any] = {"k": least, "l": {}, "t": {}}
    for model in models:
        if model.summary:
            privacy.setdefault(model.summary, {})[model.attribute] = found[model.key, model.attribute][0]
    figures = {"classes": classes, "class_size": {"min": least, "mean": mean, "max": greatest}, "privacy": privacy}
    findings = [finding for name, value in figures.items() for finding in compare_parts(name, manifest[name], value)]
    return findings or [holds("figures", "row, group and summary figures are as measured")]


def compare_parts(name: str, stated: Any, measured: Any, check: str = "figure") -> list[Finding]:
    """Figures by name, to any depth: each as measured, none missing, and none that nothing was measured for."""
    if not isinstance(measured, Mapping):
        if same(stated, measured):
            return []
        return [fails(check, f"the manifest says {name} is {stated}, the files give {measured:.9g}")]
    if not isinstance(stated, Mapping):
        return [fails(check, f"the manifest has no figures of {name}")]
    findings = [
        fails(check, f"the manifest has a figure {name}.{part} that the release does not have")
        for part in stated
        if part not in measured
    ]
    for part, value in measured.items():
        findings += compare_parts(f"{name}.{part}", stated.get(part), value, check)
    return findings


def same(stated: Any, measured: float) -> bool:
    """Equal within rounding; a figure that is not a finite number is written as null."""
    if stated is None or not isinstance(stated, (int, float)):
        return stated is None and not math.isfinite(measured)
    if isinstance(stated, bool) or abs(stated) > sys.float_info.max:
        return False
    return math.isclose(float(stated), measured, rel_tol=CLOSE, abs_tol=CLOSE)


def _name(key: tuple[str, str | None]) -> str:
    return f"{key[0]} of {key[1]}" if key[1] else key[0]
