"""The manifest: what a release claims, so that a reader can check it from the files alone.

It holds the public policy, the claims with their measured values, the input's distribution of each sensitive column
and the losses - never the seed, the input's path, row numbers or identifiers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polyveil import __version__
from polyveil.measure import Loss
from polyveil.methods.base import Method, Partition
from polyveil.models import ClassStatistics, Model, Verdict
from polyveil.policy import public
from polyveil.table.bind import Bound
from polyveil.table.coded import CodedTable
from polyveil.table.domain import OrderedDomain

FORMAT = "polyveil-release"
FORMAT_VERSION = 1


def build_manifest(
    bound: Bound,
    table: CodedTable,
    method: Method[Any],
    partition: Partition,
    statistics: ClassStatistics,
    models: Sequence[Model],
    loss: Loss,
) -> dict[str, Any]:
    """Everything but the list of files, which the bundle adds when it has written them."""
    claims = [_claim(model, model.judge(statistics), statistics) for model in models]
    sizes = statistics.sizes
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "polyveil": __version__,
        "form": bound.policy.release.form,
        "policy": public(bound.policy),
        "method": {
            "name": method.name,
            "parameters": method.options.model_dump(mode="json"),
            "found": dict(partition.found),
        },
        "rows": table.rows,
        "suppressed": partition.suppressed,
        "classes": statistics.classes,
        "class_size": {
            "min": int(sizes.min()) if len(sizes) else 0,
            "mean": float(sizes.mean()) if len(sizes) else 0.0,
            "max": int(sizes.max(initial=0)),
        },
        "privacy": privacy_summary(statistics, claims),
        "claims": claims,
        "loss": loss.to_dict(),
        "quasi": {column.name: _quasi_domain(column.domain, bound) for column in table.quasi},
        "sensitive": {
            column.name: {
                "distance": column.distance,
                "kind": column.domain.kind,
                "values": list(column.domain.labels),
                "counts": [int(count) for count in column.counts],
            }
            for column in table.sensitive
        },
    }


def _claim(model: Model, verdict: Verdict, statistics: ClassStatistics) -> dict[str, Any]:
    values = model.measure_all(statistics)
    return {
        "model": model.key,
        "attribute": model.attribute,
        "statement": verdict.statement,
        "threshold": model.threshold,
        "measured": _finite(verdict.value),
        "mean": _finite(float(np.mean(values))) if len(values) else None,
        "helps_against": model.helps_against,
        "leaves_open": model.leaves_open,
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def privacy_summary(statistics: ClassStatistics, claims: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """k as measured, and per attribute the measured l and t where they were asked for."""
    summary: dict[str, Any] = {"k": int(statistics.sizes.min()) if statistics.classes else 0, "l": {}, "t": {}}
    for claim in claims:
        if claim["model"].endswith("-diversity"):
            summary["l"][claim["attribute"]] = claim["measured"]
        elif claim["model"] == "t-closeness":
            summary["t"][claim["attribute"]] = claim["measured"]
        elif claim["model"] == "joint-t-closeness":
            summary.setdefault("joint", {})[claim["attribute"]] = claim["measured"]
    return summary


def _quasi_domain(domain: Any, bound: Bound) -> dict[str, Any]:
    """What a reader needs to re-measure the loss of a cell and the release shows anyway."""
    if not isinstance(domain, OrderedDomain):
        return {"kind": "set" if domain.as_set else "categorical", "values": domain.size, "missing": domain.has_null}
    about: dict[str, Any] = {"kind": domain.kind, "missing": domain.has_null}
    if bound.policy.release.numbers == "interval" and domain.kind != "ordinal":
        about |= {"low": domain.labels[0], "high": domain.labels[-1]}
    return about
