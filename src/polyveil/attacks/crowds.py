"""Released groups as an adversary sees them, the people attacked, and which groups each of them fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.cells import misfits
from polyveil.errors import InputError
from polyveil.models import ClassStatistics, from_classes
from polyveil.policy import Policy
from polyveil.table.coded import CodedTable
from polyveil.verification.attributes import Declared, codes_of_cells

_CELLS = 20_000_000
NEAR = 1e-12

Weights = Any
"""A sparse matrix (scipy.sparse.csr_array, which has no types)."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Sensitive columns that are published together, and the groups they are published in.

    `codes[name][r]` is the value of released record r, `group_of_record[r]` its group. `weights[i, g]` says how likely
    one record of group g is target i's, up to a factor; targets that fit no group have an empty row. Where rows are
    marked as withheld, their group is the last column of the weights; of it only `withheld[name]` is known, the values
    that the manifest counts and the records do not have.
    """

    attributes: tuple[str, ...]
    group_of_record: IntArray
    codes: Mapping[str, IntArray]
    statistics: ClassStatistics
    weights: Weights
    group_of_row: IntArray
    """The group of each row of the table with the quasi-identifiers, -1 if its values are suppressed."""
    ids: tuple[str, ...] = ()
    """The groups' names, where groups have names."""
    withheld: Mapping[str, IntArray] = field(default_factory=dict)

    @property
    def groups(self) -> int:
        return self.statistics.classes

    @cached_property
    def reached(self) -> IntArray:
        """Targets that fit at least one group; the others must have been left out of the release."""
        return np.flatnonzero(np.diff(self.weights.indptr) > 0)

    @cached_property
    def named(self) -> Weights:
        """The weights of the groups whose records are published."""
        return self.weights[:, : self.groups]

    def histogram(self, codes: IntArray, size: int) -> Weights:
        """Records per group and value, for any coding of the records."""
        rows = np.ones(len(codes))
        return sparse.csr_array((rows, (self.group_of_record, codes)), shape=(self.groups, size))

    def shares(self, codes: IntArray, size: int) -> Weights:
        """Each group's distribution over the values."""
        return normalized(self.histogram(codes, size))

    def belief(
        self, name: str, size: int, coarser: IntArray | None = None, per_record: FloatArray | None = None
    ) -> Weights:
        """What the adversary believes of each target: a distribution over the values, one row per target.

        All groups that a target fits are combined, the rows whose values are withheld among them. `per_record` weighs
        the records of each group.
        """
        codes = self.codes[name] if coarser is None else coarser[self.codes[name]]
        records = self.histogram(codes, size)
        if self.withheld:
            rest = self.withheld[name]
            of_value = np.arange(len(rest)) if coarser is None else coarser
            counts = np.bincount(of_value, weights=rest, minlength=size)
            records = sparse.vstack([records, sparse.csr_array(counts[None, :])])
        weights = self.weights if per_record is None else self.weights @ sparse.diags_array(per_record)
        return normalized(weights @ records)


def normalized(table: Weights) -> Weights:
    """Every row divided by its sum."""
    found = sparse.csr_array(table, dtype=np.float64)
    total = np.asarray(found.sum(axis=1)).ravel()
    found.data /= np.repeat(np.where(total > 0, total, 1.0), np.diff(found.indptr))
    found.eliminate_zeros()
    found.sort_indices()
    return found


@dataclass(frozen=True, eq=False)
class Targets:
    """Who is attacked: one row of each, and all rows of each where people have several.

    `rows` holds rows of the original and `owner` the number of the target each belongs to.
    """

    first: IntArray
    rows: IntArray
    owner: IntArray
    records: IntArray | None = None
    """How many rows of the release each target has, where it is not as many as are known of them."""

    @property
    def released(self) -> IntArray:
        """How many rows of the release each target has."""
        return np.bincount(self.owner) if self.records is None else self.records

    def fitting_all(self, weights: Weights) -> Weights:
        """Weights of rows as weights of people: a group counts only if it fits every row of the person."""
        if len(self.rows) == len(self.first):
            return weights
        count = np.bincount(self.owner)
        rows = (np.ones(len(self.rows)), (self.owner, np.arange(len(self.rows))))
        belongs = sparse.csr_array(rows, shape=(len(self.first), len(self.rows)))
        total = sparse.csr_array(belongs @ weights)
        reached = sparse.csr_array(belongs @ weights.astype(bool).astype(np.float64))
        everywhere = reached.data >= np.repeat(count, np.diff(reached.indptr))
        kept = sparse.csr_array((everywhere.astype(np.float64), reached.indices, reached.indptr), shape=reached.shape)
        found = sparse.csr_array(total.multiply(kept))
        found.eliminate_zeros()
        return found


def draw_targets(people: CodedTable, trials: int, rng: np.random.Generator) -> Targets:
    """People drawn at random, with all their rows."""
    if people.person is None:
        first = np.sort(rng.choice(people.rows, size=min(trials, people.rows), replace=False))
        return Targets(first, first, np.arange(len(first)))
    _, person = np.unique(people.person, return_inverse=True)
    chosen = np.sort(rng.choice(people.people, size=min(trials, people.people), replace=False))
    number = np.full(people.people, -1)
    number[chosen] = np.arange(len(chosen))
    rows = rng.permutation(np.flatnonzero(number[person] >= 0))  # which row is the first is left to chance
    rows = rows[np.argsort(number[person[rows]], kind="stable")]
    owner = number[person[rows]]
    return Targets(rows[np.searchsorted(owner, np.arange(len(chosen)))], rows, owner)


def generalized_crowd(
    frame: pl.DataFrame, alike: IntArray, fits: Weights, declared: Mapping[str, Declared], targets: Targets
) -> Crowd:
    """The groups of a single table: its rows that look alike."""
    codes = sensitive_codes(frame, declared)
    single = {name: known.attribute for name, known in declared.items()}
    statistics = from_classes(alike, codes, single)
    return Crowd(tuple(codes), alike, codes, statistics, targets.fitting_all(fits), alike)


def sensitive_codes(frame: pl.DataFrame, declared: Mapping[str, Declared]) -> dict[str, IntArray]:
    """The codes of a released table's sensitive cells."""
    codes = {}
    for name, known in declared.items():
        if name in frame.columns:
            found = codes_of_cells(known, frame.get_column(name))
            if found is None:
                raise InputError(
                    f"the released column {name} has values its manifest does not know. Run `polyveil verify`"
                )
            codes[name] = found
    return codes


def group_fits(
    frame: pl.DataFrame, policy: Policy, people: CodedTable, group_of_row: IntArray, rows: IntArray
) -> Weights:
    """Which groups' cells each row of the original fits (1 if so); the nearest where numbers hide their range."""
    groups = int(group_of_row.max(initial=-1)) + 1
    first = np.zeros(groups, dtype=np.int64)
    first[group_of_row[::-1]] = np.arange(len(group_of_row))[::-1]
    columns = []
    for column in people.quasi:
        cells = frame.get_column(column.name)
        if policy.release.numbers != "interval" and column.domain.kind == "numeric":
            cells = cells.cast(pl.Float64)
        misfit, cell_of_row = misfits(column, cells)
        columns.append((misfit, cell_of_row[first], column.codes[rows].astype(np.int64)))
    return _nearest(columns, len(rows), groups)


def _nearest(columns: Sequence[tuple[FloatArray, IntArray, IntArray]], targets: int, groups: int) -> Weights:
    step = max(1, _CELLS // max(groups, 1))
    parts = []
    for begin in range(0, targets, step):
        some = slice(begin, min(begin + step, targets))
        misfit = np.zeros((some.stop - some.start, groups))
        for table, cell_of_group, codes in columns:
            misfit += table[:, codes[some]][cell_of_group].T
        least = misfit.min(axis=1, initial=np.inf)
        parts.append(sparse.csr_array((misfit <= least[:, None] + NEAR) & np.isfinite(misfit)))
    return sparse.csr_array(sparse.vstack(parts), dtype=np.float64) if parts else sparse.csr_array((0, groups))
