"""Promises and claims: every model is judged anew, and every figure of the manifest compared with what was measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polyveil.models import Attribute, ClassStatistics, Model, Verdict
from polyveil.policy.hierarchy import IntArray
from polyveil.verify.findings import Finding, fails, holds, not_checked

CLOSE = 1e-9


def judge_promises(models: Sequence[Model], statistics: ClassStatistics) -> tuple[list[Finding], list[Verdict]]:
    """One finding per model, from its verdict."""
    findings, verdicts = [], []
    for model in models:
        verdict = model.judge(statistics)
        verdicts.append(verdict)
        name = f"{model.key} of {model.attribute}" if model.attribute else model.key
        if verdict.holds:
            findings.append(holds(name, f"{verdict.statement}: measured {verdict.value:.6g}"))
        elif verdict.outcome == "fails":
            failing = f"{verdict.failing_classes} of {statistics.classes} classes do not"
            findings.append(fails(name, f"{verdict.statement}: {failing}, worst {verdict.value:.6g}"))
        else:
            findings.append(not_checked(name, f"{verdict.statement}: {verdict.reason}"))
    return findings, verdicts


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


def check_claims(manifest: Mapping[str, Any], models: Sequence[Model], statistics: ClassStatistics) -> list[Finding]:
    """The manifest's claims, one by one, against the same figures measured from the files."""
    claimed = {(claim["model"], claim["attribute"]): claim for claim in manifest["claims"]}
    asked = {(model.key, model.attribute): model for model in models}
    findings = [
        fails("claim", f"the manifest claims {_name(key)}, which its policy does not ask for")
        for key in claimed
        if key not in asked
    ]
    for key, model in asked.items():
        claim = claimed.get(key)
        if claim is None:
            findings.append(fails("claim", f"the policy asks for {_name(key)}, the manifest claims nothing about it"))
            continue
        values = model.measure_all(statistics)
        measured = {
            "threshold": model.threshold,
            "measured": float(values[model.worst(values)]) if len(values) else math.nan,
            "mean": float(np.mean(values)) if len(values) else math.nan,
        }
        findings.extend(
            fails("claim", f"{_name(key)}: the manifest says {field} {claim[field]}, the files give {value:.9g}")
            for field, value in measured.items()
            if not same(claim[field], value)
        )
    return findings or [holds("claims", f"all {len(asked)} claims are as measured")]


def check_figures(manifest: Mapping[str, Any], statistics: ClassStatistics) -> list[Finding]:
    """Row and class counts, and the summary of the claims."""
    sizes = statistics.sizes
    measured: dict[str, float] = {
        "classes": statistics.classes,
        "class_size.min": float(sizes.min()) if len(sizes) else 0.0,
        "class_size.mean": float(sizes.mean()) if len(sizes) else 0.0,
        "class_size.max": float(sizes.max(initial=0)),
        "privacy.k": float(sizes.min()) if len(sizes) else 0.0,
    }
    for claim in manifest["claims"]:
        part = "l" if claim["model"].endswith("-diversity") else "t" if claim["model"] == "t-closeness" else None
        if part:
            measured[f"privacy.{part}.{claim['attribute']}"] = (
                math.nan if claim["measured"] is None else claim["measured"]
            )
    findings = []
    for name, value in measured.items():
        stated: Any = manifest
        for step in name.split(".", 2):
            stated = stated.get(step) if isinstance(stated, Mapping) else None
        if not same(stated, value):
            findings.append(fails("figure", f"the manifest says {name} is {stated}, the files give {value:.9g}"))
    return findings or [holds("figures", "row, class and summary figures are as measured")]


def same(stated: Any, measured: float) -> bool:
    """Equal within rounding; a figure that is not a finite number is written as null."""
    if stated is None or not isinstance(stated, (int, float)):
        return stated is None and not math.isfinite(measured)
    return math.isclose(float(stated), measured, rel_tol=CLOSE, abs_tol=CLOSE)


def _name(key: tuple[str, str | None]) -> str:
    return f"{key[0]} of {key[1]}" if key[1] else key[0]
