"""The manifest of a Spark release: the same keys as on one machine, the figures from Spark's measurement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polyveil.engines.spark.measure import Measured
from polyveil.engines.spark.values import Values
from polyveil.measure import Loss
from polyveil.methods.base import Method, Partition
from polyveil.models import ClassStatistics, Model
from polyveil.release.manifest import build_manifest

NO_CLASSES = np.zeros(0, dtype=np.int64)


def draft(
    values: Values, method: Method[Any], models: Sequence[Model], suppressed: int, found: Mapping[str, Any], loss: Loss
) -> dict[str, Any]:
    """All that is known before the written table is measured."""
    nothing = ClassStatistics(NO_CLASSES, {}, {})
    partition = Partition(NO_CLASSES, found=found)
    silent = [_Unmeasured(model) for model in models]
    manifest = build_manifest(values.bound, values.table, method, partition, nothing, silent, loss)  # type: ignore[arg-type]
    return {**manifest, "suppressed": suppressed}


class _Unmeasured:
    """A model that has not looked at any class yet."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def measure_all(self, statistics: ClassStatistics) -> Any:
        return np.zeros(0)

    def judge(self, statistics: ClassStatistics) -> Any:
        return self._model._verdict("not checked", math.nan, None, 0)


def filled(draft: Mapping[str, Any], models: Sequence[Model], measured: Measured) -> dict[str, Any]:
    """The draft with what Spark measured on the written table."""
    claims = []
    for claim, found in zip(draft["claims"], measured.judged, strict=True):
        mean = found.total / measured.classes if measured.classes else math.nan
        claims.append({**claim, "measured": _finite(found.worst), "mean": _finite(mean)})
    privacy: dict[str, Any] = {"k": measured.least, "l": {}, "t": {}}
    for claim in claims:
        if claim["model"].endswith("-diversity"):
            privacy["l"][claim["attribute"]] = claim["measured"]
        elif claim["model"] == "t-closeness":
            privacy["t"][claim["attribute"]] = claim["measured"]
    least, mean_size, greatest = measured.sizes
    loss = {
        **draft["loss"],
        "discernibility": measured.squares + draft["suppressed"] * draft["rows"],
        "average_class_size": mean_size,
        "entropy": entropy(measured, draft["suppressed"]),
    }
    return {
        **draft,
        "classes": measured.classes,
        "class_size": {"min": int(least), "mean": mean_size, "max": int(greatest)},
        "privacy": privacy,
        "claims": claims,
        "loss": loss,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def entropy(measured: Measured, suppressed: int) -> float:
    """Entropy in bits of a row's class, the suppressed rows as one class more: log N - (sum n log n) / N."""
    rows = measured.rows + suppressed
    if not rows:
        return 0.0
    logs = measured.logs + (suppressed * math.log2(suppressed) if suppressed else 0.0)
    return max(math.log2(rows) - logs / rows, 0.0)


def loss_of(values: Values, costs: Sequence[Mapping[str, Mapping[str, float]]], suppressed: int) -> Loss:
    """Information loss, precision and distortion from the sums of all blocks; class sizes are filled in later."""
    names = [column.bound.name for column in values.quasi]
    rows, quasi = max(values.rows, 1), max(len(names), 1)

    def means(kind: str) -> dict[str, float]:
        return {name: (math.fsum(cost[kind][name] for cost in costs if cost) + suppressed) / rows for name in names}

    by_attribute = means("width")
    total = sum(by_attribute.values())
    return Loss(
        information_loss=total,
        normalized_loss=total / quasi,
        discernibility=0,
        precision=1.0 - sum(means("height").values()) / quasi,
        average_class_size=0.0,
        entropy=0.0,
        suppression_ratio=suppressed / rows,
        distortion=sum(means("weighted_height").values()) * rows,
        by_attribute=by_attribute,
    )
