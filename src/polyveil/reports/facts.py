"""What a report tells, gathered from the released tables and the manifest alone: nothing else is at hand here.

So a report can say no more than the release does, and can be made again for any release by anyone who has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import FloatArray, IntArray
from polyveil.errors import InputError
from polyveil.models import ClassStatistics, Model, TCloseness, from_classes, models_for
from polyveil.models.linked import LinkedStatistics, TableStatistics, from_groups
from polyveil.policy import Policy, from_public
from polyveil.reports.language import say
from polyveil.verification.attributes import Declared, codes_of_cells, declared_attributes
from polyveil.verification.classes import class_of_row
from polyveil.verification.relational import views_of


def claims_in_people(manifest: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The claims; where the policy names whom a row is about, as stated and measured in people: the weaker of both."""
    people = manifest.get("people")
    if people is None:
        return list(manifest["claims"])
    return [{**claim, **counted} for claim, counted in zip(manifest["claims"], people["claims"], strict=True)]


@dataclass(frozen=True, eq=False)
class Facts:
    """A release as its reader sees it."""

    manifest: Mapping[str, Any]
    policy: Policy
    tables: Mapping[str, pl.DataFrame]
    declared: Mapping[str, Declared]
    statistics: ClassStatistics
    models: tuple[Model, ...]

    @property
    def form(self) -> str:
        return str(self.manifest["form"])

    @property
    def exact_quasi(self) -> bool:
        """Quasi-identifiers are published as they are, and only groups hide the sensitive values."""
        return self.policy.release.exact_quasi

    @property
    def linked(self) -> bool:
        """Whether sensitive columns are published in tables of their own."""
        return "linked" in self.manifest

    @property
    def published(self) -> Mapping[str, pl.DataFrame]:
        """The tables as they are in the release."""
        names = self.manifest["relational"]["tables"] if "relational" in self.manifest else self.tables
        return {name: self.tables[name] for name in names}

    @property
    def quasi(self) -> pl.DataFrame:
        """The table that holds the quasi-identifiers."""
        return self.tables["table" if "table" in self.tables else "quasi"]

    def released(self, name: str) -> IntArray:
        """Released rows per value of a sensitive column."""
        counts = np.zeros(self.declared[name].attribute.size, dtype=np.int64)
        sparse = self.statistics.histograms[name]
        np.add.at(counts, sparse.code, sparse.count)
        return counts

    def labels(self, name: str) -> list[str]:
        """The values of a sensitive column in code order."""
        by_code = sorted(self.declared[name].code.items(), key=lambda item: item[1])
        return [say("missing") if label is None else label for label, _ in by_code]

    def distances(self) -> list[tuple[Model, FloatArray, IntArray]]:
        """Every closeness of one column that was asked for, with the distance and size of each class."""
        close = [model for model in self.models if model.key == TCloseness.key]
        return [(model, model.measure_all(self.statistics), self.sizes_of(model.attribute)) for model in close]

    def sizes_of(self, attribute: str | None) -> IntArray:
        """Rows of the classes or groups that a sensitive column is published in."""
        return self.statistics.block(attribute).sizes


def gather(manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Facts:
    """Count what the report shows."""
    if "relational" in manifest:
        return _of_tables(manifest, tables)
    policy = from_public(manifest["policy"])
    declared = declared_attributes(manifest, policy)
    statistics = _classes(manifest, policy, tables, declared)
    return Facts(manifest, policy, tables, declared, statistics, models_for(policy, statistics.attributes))


def _of_tables(manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Facts:
    """Linked tables: the people with the cells of all tables, and every sensitive column as its own table has it."""
    views = views_of(manifest, tables)
    parts = [gather(view.manifest, view.frames) for view in views.values()]
    first, policy = parts[0], from_public(manifest["policy"])
    declared = {name: part.declared[name] for part in parts for name in part.declared}
    statistics = TableStatistics.of(first.statistics.sizes, [part.statistics for part in parts])
    models = models_for(policy, statistics.attributes)
    shown = {**first.tables, **{name: tables[name] for name in views}}
    return Facts(manifest, policy, shown, {n: declared[n] for n in policy.having("sensitive")}, statistics, models)


def _classes(
    manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, pl.DataFrame], declared: Mapping[str, Declared]
) -> ClassStatistics:
    attributes = {name: known.attribute for name, known in declared.items()}
    if "linked" not in manifest:
        frame = tables["table"]
        return from_classes(
            class_of_row(frame, policy.having("quasi")), _codes(frame, list(declared), declared), attributes
        )
    parts = [_part(about, tables[about["table"]]) for about in manifest["linked"]["slices"]]
    counted = [
        from_groups(None, [(names, groups)], _codes(frame, names, declared), attributes)
        for names, frame, groups in parts
    ]
    if policy.release.generalize == "none":
        sizes = np.concatenate([one.sizes for one in counted])
    else:
        sizes = np.bincount(class_of_row(tables["quasi"], policy.having("quasi"))).astype(np.int64)
    return LinkedStatistics(
        sizes,
        attributes,
        {name: sparse for one in counted for name, sparse in one.histograms.items()},
        {name: groups for one in counted for name, groups in one.groups.items()},
    )


def _codes(frame: pl.DataFrame, names: Sequence[str], declared: Mapping[str, Declared]) -> dict[str, IntArray]:
    found = {}
    for name in names:
        codes = codes_of_cells(declared[name], frame.get_column(name))
        if codes is None:
            raise InputError(f"{name} has values that the manifest does not know. The release is damaged: verify it")
        found[name] = codes
    return found


def _part(about: Mapping[str, Any], frame: pl.DataFrame) -> tuple[list[str], pl.DataFrame, IntArray]:
    """A sensitive table with one row per person, and the group of each row."""
    if "count" in about:
        repeats = frame.get_column(about["count"]).cast(pl.Int64).to_numpy()
        frame = frame[pl.Series(np.repeat(np.arange(frame.height), repeats))]
    return list(about["attributes"]), frame, class_of_row(frame, [about["group"]])
