"""The manifest of a Spark release: composed as on one machine, with the figures that the blocks gave."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from polyveil.engines.spark.block import Plan
from polyveil.engines.spark.coarsening import Coarsened
from polyveil.engines.spark.content import Content
from polyveil.engines.spark.measure import Measured
from polyveil.engines.spark.values import Values
from polyveil.measure import Loss
from polyveil.releases.linked import with_layout
from polyveil.releases.manifest import claim_of, compose, figures_in_people
from polyveil.verification.linked import mean_grouping_loss


def manifest_of(values: Values, plan: Plan, outcome: Coarsened, content: Content) -> dict[str, Any]:
    """The manifest with the figures that the blocks gave."""
    policy = values.policy
    found: dict[str, Any] = {"blocks": len(outcome.summaries)}
    if plan.method.makes_own_slices:
        found["slices"] = [list(names) for names in plan.slices]
    least, mean, greatest = content.measured.sizes
    loss = loss_of(values, [summary["costs"] for summary in outcome.summaries], outcome.suppressed)
    judged = zip(content.models, content.measured.judged, strict=True)
    manifest = compose(
        values.bound,
        values.table,
        plan.method,
        found,
        suppressed=outcome.suppressed,
        classes=content.classes,
        class_size=(int(least), mean, int(greatest)),
        claims=[claim_of(model, one.worst, one.mean) for model, one in judged],
        loss=with_sizes(loss, content.seen, outcome.suppressed, values.rows).to_dict(),
        released=None if content.attributes is plan.attributes else content.counts,
    )
    if policy.person is not None:
        manifest["people"] = _people(values, content)
    if not plan.slices:
        return manifest
    layout = plan.form.layout(policy, plan.slices)
    numbered = [{**about, "groups": count} for about, count in zip(layout, outcome.groups, strict=True)]
    lost = mean_grouping_loss(content.grouping)
    return with_layout(manifest, numbered, outcome.left, lost if math.isfinite(lost) else None)


def _people(values: Values, content: Content) -> dict[str, Any]:
    """The guarantees in people; if everybody has one row, as they are in rows."""
    measured = content.people or content.measured
    count = values.rows if values.everybody is None else values.everybody.count
    least, mean, greatest = measured.sizes
    worst = [one.worst for one in measured.judged]
    return figures_in_people(count, measured.rows, (int(least), mean, int(greatest)), content.models, worst)


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
