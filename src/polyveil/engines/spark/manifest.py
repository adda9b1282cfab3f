"""The manifest of a Spark release: composed as on one machine, with the figures that Spark measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polyveil.engines.spark.content import Content
from polyveil.engines.spark.measure import Measured
from polyveil.engines.spark.values import Values
from polyveil.measure import Loss
from polyveil.methods.base import Method
from polyveil.releases.linked import table_layout, with_layout
from polyveil.releases.manifest import claim_of, compose
from polyveil.verification.linked import mean_grouping_loss


@dataclass(frozen=True, eq=False)
class ManifestSketch:
    """What is known of a release before its tables are measured: `left` rows lack some value, `suppressed` all."""

    values: Values
    method: Method[Any]
    slices: tuple[tuple[str, ...], ...]
    found: Mapping[str, Any]
    suppressed: int
    left: int
    loss: Loss

    def manifest(self, content: Content | None = None) -> dict[str, Any]:
        """The manifest with the figures measured; without any, what describes the input and the tables."""
        measured, loss = Measured(), self.loss
        claims: list[dict[str, Any]] = []
        if content is not None:
            measured, loss = content.measured, with_sizes(self.loss, content.seen, self.suppressed, self.values.rows)
            judged = zip(content.models, measured.judged, strict=True)
            claims = [claim_of(model, found.worst, found.mean) for model, found in judged]
        least, mean, greatest = measured.sizes
        manifest = compose(
            self.values.bound,
            self.values.table,
            self.method,
            self.found,
            suppressed=self.suppressed,
            classes=measured.classes,
            class_size=(int(least), mean, int(greatest)),
            claims=claims,
            loss=loss.to_dict(),
        )
        return self._linked(manifest, content) if self.slices else manifest

    def _linked(self, manifest: dict[str, Any], content: Content | None) -> dict[str, Any]:
        policy = self.values.policy
        layout = table_layout(policy, self.slices)
        groups = [link.groups for link in content.links] if content else [0] * len(layout)
        lost = mean_grouping_loss(content.grouping) if content else math.nan
        numbered = [{**about, "groups": count} for about, count in zip(layout, groups, strict=True)]
        return with_layout(manifest, numbered, self.left, lost if math.isfinite(lost) else None)


def with_sizes(loss: Loss, seen: Measured, suppressed: int, rows: int) -> Loss:
    """The loss with the figures that follow from class sizes."""
    return replace(
        loss,
        discernibility=seen.squares + suppressed * rows,
        average_class_size=seen.sizes[1],
        entropy=entropy(seen, suppressed),
    )


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
