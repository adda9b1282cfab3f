"""The manifest: what a release claims, so that a reader can check it from the files alone.

It holds the public policy, the claims with their measured values, the input's distribution of each sensitive column
and the losses - never the seed, the input's path, row numbers or identifiers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polyveil.arrays import IntArray
from polyveil.measure import Loss
from polyveil.methods.base import Method
from polyveil.models import MODELS, ClassStatistics, Model
from polyveil.models.people import PeopleStatistics
from polyveil.partition import Partition
from polyveil.policy import Policy, public
from polyveil.policy.rules import File, Order, Tree
from polyveil.table.bound import Bound
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import OrderedDomain
from polyveil.version import __version__

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
    released: Mapping[str, IntArray] | None = None,
) -> dict[str, Any]:
    """Everything but the list of files, which the bundle adds when it has written them.

    `released` are counts to publish instead of the input's, which would tell the values of the rows left out.
    """
    values = [model.measure_all(statistics) for model in models]
    claims = [
        claim_of(model, model.judge(statistics).value, float(np.mean(found)) if len(found) else np.nan)
        for model, found in zip(models, values, strict=True)
    ]
    return compose(
        bound,
        table,
        method,
        partition.found,
        suppressed=partition.suppressed,
        classes=statistics.classes,
        class_size=_sizes(statistics.sizes),
        claims=claims,
        loss=loss.to_dict(),
        released=released,
    )


def _sizes(sizes: IntArray) -> tuple[int, float, int]:
    """The least, mean and greatest of some sizes."""
    return (int(sizes.min()), float(sizes.mean()), int(sizes.max())) if len(sizes) else (0, 0.0, 0)


def people_section(table: CodedTable, statistics: ClassStatistics, models: Sequence[Model]) -> dict[str, Any]:
    """The guarantees in people. A reader without keys cannot check these figures, and is told so."""
    sizes = statistics.people if isinstance(statistics, PeopleStatistics) else statistics.sizes
    measured = [model.judge(statistics).value for model in models]
    return figures_in_people(table.people, int(sizes.sum()), _sizes(sizes), models, measured)


def figures_in_people(
    count: int, released: int, class_size: tuple[int, float, int], models: Sequence[Model], measured: Sequence[float]
) -> dict[str, Any]:
    """The section from figures, wherever they were measured; `class_size` is least, mean and greatest."""
    claims = [
        {
            "model": model.key,
            "attribute": model.attribute,
            "statement": model.statement_in_people(),
            "measured": _finite(value),
        }
        for model, value in zip(models, measured, strict=True)
    ]
    return {
        "count": count,
        "released": released,
        "class_size": dict(zip(("min", "mean", "max"), class_size, strict=True)),
        "privacy": privacy_summary(class_size[0], claims),
        "claims": claims,
    }


def compose(
    bound: Bound,
    table: CodedTable,
    method: Method[Any],
    found: Mapping[str, Any],
    *,
    suppressed: int,
    classes: int,
    class_size: tuple[int, float, int],
    claims: Sequence[Mapping[str, Any]],
    loss: Mapping[str, Any],
    released: Mapping[str, IntArray] | None = None,
) -> dict[str, Any]:
    """The manifest from figures, wherever they were measured; `class_size` is least, mean and greatest."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "polyveil": __version__,
        "form": bound.policy.release.form,
        "policy": public(_without_values_left_out(bound.policy, table, released)),
        "method": {
            "name": method.name,
            "parameters": method.options.model_dump(mode="json"),
            "found": dict(found),
        },
        "rows": table.rows,
        "suppressed": suppressed,
        "classes": classes,
        "class_size": dict(zip(("min", "mean", "max"), class_size, strict=True)),
        "privacy": privacy_summary(class_size[0], claims),
        "claims": list(claims),
        "loss": dict(loss),
        "quasi": {column.name: _quasi_domain(column, bound) for column in table.quasi},
        "sensitive": {
            column.name: {
                "distance": column.distance,
                "kind": column.domain.kind,
                **_values(column, None if released is None else released[column.name]),
            }
            for column in table.sensitive
        },
        "counts_of": "input" if released is None else "released",
    }


def _without_values_left_out(policy: Policy, table: CodedTable, released: Mapping[str, IntArray] | None) -> Policy:
    """The policy without security levels of values that only rows left out have, where their counts are not told."""
    if released is None:
        return policy
    columns = dict(policy.columns)
    for column in table.sensitive:
        about = columns[column.name]
        if not isinstance(about.hierarchy, Tree | File | Order):  # these name their values anyway
            there = {label for label, count in zip(column.domain.labels, released[column.name], strict=False) if count}
            levels = {level: tuple(v for v in values if v in there) for level, values in about.levels.items()}
            kept = {level: values for level, values in levels.items() if values}
            columns[column.name] = about.model_copy(update={"levels": kept})
    return policy.model_copy(update={"columns": columns})


def _values(column: SensitiveColumn, released: IntArray | None) -> dict[str, Any]:
    """The values with the input's counts, or those that are released with theirs and no other value."""
    if released is None:
        return {"values": list(column.domain.labels), "counts": [int(count) for count in column.counts]}
    labels = column.domain.labels
    there = released > 0
    return {
        "values": [label for label, is_there in zip(labels, there[: len(labels)], strict=True) if is_there],
        "counts": [int(count) for count in released[there]],
    }


def claim_of(model: Model, worst: float, mean: float) -> dict[str, Any]:
    """What is said of a model: its demand, the worst class and the mean of all."""
    return {
        "model": model.key,
        "attribute": model.attribute,
        "statement": model.statement(),
        "threshold": model.threshold,
        "measured": _finite(worst),
        "mean": _finite(mean),
        "helps_against": model.helps_against,
        "leaves_open": model.leaves_open,
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def privacy_summary(least: int, claims: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """k as measured, which is the least class size, and per attribute what each model puts into the summary."""
    summary: dict[str, Any] = {"k": least, "l": {}, "t": {}}
    for claim in claims:
        part = MODELS[claim["model"]].summary
        if part:
            summary.setdefault(part, {})[claim["attribute"]] = claim["measured"]
    return summary


def _quasi_domain(column: QuasiColumn, bound: Bound) -> dict[str, Any]:
    """What a reader needs to re-measure the loss of a cell and the release shows anyway.

    How many values there are is told of sets, whose cells name them all, and of a hierarchy that the policy gives.
    """
    domain = column.domain
    if not isinstance(domain, OrderedDomain):
        kind = {"kind": "set" if domain.as_set else "categorical"}
        known = domain.as_set or isinstance(bound.policy.columns[column.name].hierarchy, Tree | File)
        return {**kind, **({"values": domain.size} if known else {}), "missing": domain.has_null}
    about: dict[str, Any] = {"kind": domain.kind, "missing": domain.has_null}
    if bound.policy.release.numbers == "interval" and domain.kind != "ordinal" and domain.labels:
        about |= {"low": domain.labels[0], "high": domain.labels[-1]}
    return about
