"""The anatomized and the sliced form: a quasi-identifier table and sensitive tables, linked by group ids alone.

Anatomized: `quasi` with one column `group`, and `sensitive_1`. Sliced (han2013, Definition 4): `quasi` with a group
column per slice, and one sensitive table per slice; `NA` stands for a suppressed value's group.

A sensitive table holds group ids and values, nothing else (with `counts`, equal rows once with their number). Groups
are numbered at random and the rows of every table are shuffled on their own, both with the system's randomness, so that
no order and no number links a row of one table to a row of another beyond its group.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.measure.additional_loss import additional_information_loss
from polyveil.methods.base import Method
from polyveil.models import Attribute, ClassStatistics, JointAttribute, Model
from polyveil.models.linked import LinkedStatistics, from_groups
from polyveil.partition import Partition, Slice, partition_of
from polyveil.policy import Policy
from polyveil.releases.form import Form, Slices
from polyveil.releases.generalized import join_look_alikes, published, quasi_columns
from polyveil.releases.shuffle import random_order
from polyveil.table.bound import Bound
from polyveil.table.coded import CodedTable

NOT_AVAILABLE = "NA"


class Linked(Form):
    """A table of quasi-identifiers and sensitive tables, linked by groups of rows.

    `class_of_row` holds the classes of the quasi-identifier table: rows with equal values (`generalize: none`), k rows
    or more by KACA (`kaca`), or the groups themselves (`range`).
    """

    options = frozenset({"generalize", "counts"})

    def fill_in(self, policy: Policy, method: Method[Any]) -> dict[str, Any]:
        by_method = "kaca" if method.makes_own_slices and policy.privacy.k else "none"
        return {"generalize": policy.release.generalize or by_method}

    def faults(self, policy: Policy, method: Method[Any]) -> list[Fault]:
        generalize, k = policy.release.generalize, policy.privacy.k
        faults = []
        if not policy.having("sensitive"):
            rule = (
                f"the {self.name} form publishes sensitive columns in tables of their own, and no column is sensitive"
            )
            faults.append(Fault("release.form", rule, "Give a column the role sensitive, or use form: generalized"))
        if policy.person is not None:
            rule = f"{self.name} releases do not keep the rows of a person together"
            faults.append(Fault("release.form", rule, "Use form: generalized"))
        if policy.pseudonyms:
            rule = f"{self.name} releases have no pseudonyms"
            faults.append(Fault(f"columns.{policy.pseudonyms[0]}.replace", rule, "Use form: generalized"))
        if policy.privacy.risk is not None:
            rule = f"risk is guaranteed by making rows alike, and the {self.name} form links people to groups instead"
            faults.append(Fault("privacy.risk", rule, "Use form: generalized, or remove risk"))
        if policy.privacy.any is not None:
            rule = f"any is guaranteed by recoding columns, and the {self.name} form links people to groups instead"
            faults.append(Fault("privacy.any", rule, "Use form: generalized, or remove any"))
        if generalize == "kaca" and k is None:
            faults.append(Fault("release.generalize", "kaca makes k rows alike, and no k is given", "Give privacy.k"))
        if method.makes_own_slices and generalize == "range":
            rule = f"{method.name} groups every slice in its own way, so there is no one range"
            faults.append(Fault("release.generalize", rule, "Use kaca or none"))
        if method.makes_own_slices and generalize == "none" and k is not None:
            rule = f"{method.name} keeps k by generalizing the quasi-identifiers"
            faults.append(Fault("release.generalize", rule, "Use kaca, or remove privacy.k"))
        return faults

    @abstractmethod
    def slices(self, policy: Policy) -> Slices: ...

    def group_column(self, number: int) -> str:
        """The column that holds the group ids of a sensitive table."""
        return f"group_{number}"

    def layout(self, policy: Policy, slices: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
        """Per slice: the table's name, its columns, and the name of its group column (never that of another column)."""
        layout = []
        for number, attributes in enumerate(slices, start=1):
            about: dict[str, Any] = {
                "table": f"sensitive_{number}",
                "group": _free(self.group_column(number), policy),
                "attributes": list(attributes),
            }
            if policy.release.counts:
                about["count"] = _free("count", policy)
            layout.append(about)
        return layout

    def arrange(self, bound: Bound, table: CodedTable, partition: Partition, rng: np.random.Generator) -> Partition:
        generalize, groups = bound.policy.release.generalize, partition.class_of_row
        slices = partition.slices or tuple(Slice(names, groups) for names in self.slices(bound.policy))
        if generalize == "none":
            classes = np.where(groups >= 0, table.quasi_tuples.of_row, -1)
            return Partition(partition_of(classes).class_of_row, slices, partition.found)
        if generalize == "kaca" and not partition.slices:
            groups = _by_kaca(table, groups, bound.policy.privacy.k or 1, rng)
        return Partition(join_look_alikes(bound, table, groups), slices, partition.found)

    def statistics(
        self,
        policy: Policy,
        partition: Partition,
        codes: Mapping[str, IntArray],
        attributes: Mapping[str, Attribute],
    ) -> LinkedStatistics:
        classes = partition.class_of_row
        exact = policy.release.generalize == "none"
        sizes = None if exact else np.bincount(classes[classes >= 0]).astype(np.int64)
        joint = tuple(name for name, about in attributes.items() if isinstance(about, JointAttribute))
        slices = [((*part.attributes, *joint), part.group_of_row) for part in partition.slices]
        return from_groups(sizes, slices, codes, attributes)

    def tables(self, bound: Bound, table: CodedTable, partition: Partition) -> dict[str, pl.DataFrame]:
        _refuse_copies(bound, table)
        layout = self.layout(bound.policy, [part.attributes for part in partition.slices])
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

    def describe(
        self,
        manifest: dict[str, Any],
        policy: Policy,
        partition: Partition,
        statistics: ClassStatistics,
        models: Sequence[Model],
    ) -> dict[str, Any]:
        """The manifest with the layout of the tables and the loss of grouping."""
        slices = [part.attributes for part in partition.slices]
        groups = [int(part.group_of_row.max(initial=-1)) + 1 for part in partition.slices]
        layout = [{**about, "groups": n} for about, n in zip(self.layout(policy, slices), groups, strict=True)]
        lost = additional_information_loss(cast(LinkedStatistics, statistics), models, slices)
        return with_layout(manifest, layout, rows_with_suppressed_values(partition), lost)


class Anatomized(Linked):
    """All sensitive columns in one table."""

    name = "anatomized"

    def slices(self, policy: Policy) -> Slices:
        return (policy.having("sensitive"),)

    def group_column(self, number: int) -> str:
        return "group"


class Sliced(Linked):
    """A sensitive table per slice: the method's slices, or one per sensitive column."""

    name = "sliced"

    def faults(self, policy: Policy, method: Method[Any]) -> list[Fault]:
        faults = super().faults(policy, method)
        if policy.privacy.joint:
            rule = "a sliced release does not say which values of different slices belong together"
            faults.append(Fault("privacy.joint", rule, "Use form: anatomized, or remove privacy.joint"))
        return faults

    def slices(self, policy: Policy) -> Slices:
        return tuple((name,) for name in policy.having("sensitive"))


def _by_kaca(table: CodedTable, groups: IntArray, k: int, rng: np.random.Generator) -> IntArray:
    from polyveil.methods.kaca import k_classes

    kept = np.flatnonzero(groups >= 0)
    classes = np.full(table.rows, -1, dtype=np.int64)
    classes[kept] = k_classes(table.take(kept), k, rng)
    return classes


def _free(name: str, policy: Policy) -> str:
    while name in policy.columns:
        name += "_"
    return name


def _quasi(bound: Bound, table: CodedTable, partition: Partition, kept: np.ndarray) -> list[pl.Series]:
    if bound.policy.release.generalize == "none":
        return [published(column.cells).rename(column.name).filter(pl.Series(kept)) for column in bound.quasi]
    return quasi_columns(bound, table, partition)


def _refuse_copies(bound: Bound, table: CodedTable) -> None:
    """A column beside the quasi-identifiers that has one value for each sensitive value would tell every person's."""
    beside = {cells.name: cells.rank("dense").fill_null(0).to_numpy() for cells in bound.insensitive.get_columns()}
    if bound.policy.release.generalize == "none":
        beside |= {column.name: column.codes for column in table.quasi}
    rule = "it has one value for each value of {}, and linked tables would publish it beside the quasi-identifiers"
    faults = [
        Fault(f"columns.{name}.role", rule.format(column.name), "Write role: drop, or use form: generalized")
        for name, codes in beside.items()
        for column in table.sensitive
        if _one_to_one(pl.DataFrame({"here": codes, "there": column.codes}))
    ]
    if faults:
        raise PolicyError(faults)


def _one_to_one(pairs: pl.DataFrame) -> bool:
    here, there = pairs.get_column("here").n_unique(), pairs.get_column("there").n_unique()
    return here == there > 1 and pairs.n_unique() == here


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
