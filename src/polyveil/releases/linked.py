"""The anatomized and the sliced form: a quasi-identifier table and sensitive tables, linked by group ids alone.

Anatomized: `quasi` with one column `group`, and `sensitive_1`. Sliced (han2013, Definition 4): `quasi` with a group
column per slice, and one sensitive table per slice; `NA` stands for a suppressed value's group.

A sensitive table holds group ids and values, nothing else (with `counts`, equal rows once with their number). Groups
are numbered at random and the rows of every table are shuffled on their own, both with the system's randomness, so that
no order and no number links a row of one table to a row of another beyond its group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.measure.additional_loss import additional_information_loss
from polyveil.models import Model
from polyveil.models.linked import LinkedStatistics
from polyveil.partition import Partition, Slice
from polyveil.policy.schema import Policy
from polyveil.releases.generalized import published, quasi_columns
from polyveil.releases.shuffle import random_order
from polyveil.table.bind import Bound
from polyveil.table.coded import CodedTable

NOT_AVAILABLE = "NA"


def linked(bound: Bound, table: CodedTable, partition: Partition) -> dict[str, pl.DataFrame]:
    """The tables to publish, each in an order of its own."""
    layout = table_layout(bound.policy, [part.attributes for part in partition.slices])
    kept = partition.class_of_row >= 0
    ids = [_random_ids(part) for part in partition.slices]
    columns = {series.name: series for series in _quasi(bound, table, partition, kept)}
    for series in bound.insensitive.get_columns():
        columns[series.name] = series.filter(pl.Series(kept))
    names = [name for name in bound.policy.columns if name in columns]
    groups = [
        pl.Series(about["group"], of_row[kept], dtype=pl.String) for about, of_row in zip(layout, ids, strict=True)
    ]
    tables = {"quasi": pl.DataFrame([*(columns[name] for name in names), *groups])}
    for about, of_row in zip(layout, ids, strict=True):
        tables[about["table"]] = _sensitive(bound, about, of_row)
    return {name: frame[random_order(frame.height)] for name, frame in tables.items()}


def table_layout(policy: Policy, slices: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Per slice: the table's name, its columns, and the name of its group column (never that of another column)."""
    single = policy.release.form == "anatomized"
    layout = []
    for i, attributes in enumerate(slices, start=1):
        about: dict[str, Any] = {
            "table": f"sensitive_{i}",
            "group": _free("group" if single else f"group_{i}", policy),
            "attributes": list(attributes),
        }
        if policy.release.counts:
            about["count"] = _free("count", policy)
        layout.append(about)
    return layout


def _free(name: str, policy: Policy) -> str:
    while name in policy.columns:
        name += "_"
    return name


def _quasi(bound: Bound, table: CodedTable, partition: Partition, kept: np.ndarray) -> list[pl.Series]:
    if bound.policy.release.generalize == "none":
        return [published(column.cells).rename(column.name).filter(pl.Series(kept)) for column in bound.quasi]
    return quasi_columns(bound, table, partition)


def _random_ids(part: Slice) -> np.ndarray:
    """A random number, as text, for every group; `NA` for suppressed values."""
    groups = int(part.group_of_row.max(initial=-1)) + 1
    texts = np.array([*(str(number + 1) for number in random_order(groups)), NOT_AVAILABLE], dtype=object)
    return np.asarray(texts[part.group_of_row], dtype=object)


def _sensitive(bound: Bound, about: Mapping[str, Any], ids: np.ndarray) -> pl.DataFrame:
    cells = {column.name: published(column.cells) for column in bound.sensitive}
    frame = pl.DataFrame(
        [pl.Series(about["group"], ids, dtype=pl.String), *(cells[name].rename(name) for name in about["attributes"])]
    ).filter(pl.col(about["group"]) != NOT_AVAILABLE)
    if "count" in about:
        frame = frame.group_by(pl.all()).agg(pl.len().cast(pl.Int64).alias(about["count"]))
    return frame


def linked_manifest(
    manifest: dict[str, Any],
    policy: Policy,
    partition: Partition,
    statistics: LinkedStatistics,
    models: Sequence[Model],
) -> dict[str, Any]:
    """The manifest with the layout of the tables and the loss of grouping."""
    slices = [part.attributes for part in partition.slices]
    lost = additional_information_loss(statistics, models, slices)
    groups = [int(part.group_of_row.max(initial=-1)) + 1 for part in partition.slices]
    layout = [{**about, "groups": count} for about, count in zip(table_layout(policy, slices), groups, strict=True)]
    return with_layout(manifest, layout, rows_with_suppressed_values(partition), lost)


def with_layout(
    manifest: Mapping[str, Any],
    layout: Sequence[Mapping[str, Any]],
    incomplete: int,
    grouping_loss: float | None,
) -> dict[str, Any]:
    """The manifest of linked tables; `incomplete` rows are suppressed or have a suppressed value."""
    loss = {
        **manifest["loss"],
        "suppression_ratio": incomplete / max(manifest["rows"], 1),
        "additional_information_loss": grouping_loss,
    }
    return {
        **manifest,
        "loss": loss,
        "linked": {"slices": list(layout), "rows_with_suppressed_values": incomplete - manifest["suppressed"]},
    }


def rows_with_suppressed_values(partition: Partition) -> int:
    """Rows that are suppressed, or have a suppressed value in some slice (han2013, Definition 13)."""
    missing: IntArray = partition.class_of_row < 0  # type: ignore[assignment]
    for part in partition.slices:
        missing = missing | (part.group_of_row < 0)
    return int(np.count_nonzero(missing))
