"""The coded table: what every method works on. Integer codes with their domains; no cell text, no other columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.policy.schema import Distance
from polyveil.table.domain import Domain, TreeDomain


@dataclass(frozen=True, eq=False)
class QuasiColumn:
    """A quasi-identifier: one code per row, its domain, and its weight in distances."""

    name: str
    domain: Domain
    codes: IntArray
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive attribute: one code per row, its domain, how closeness is measured, a security level per code."""

    name: str
    domain: Domain
    codes: IntArray
    distance: Distance
    levels: IntArray

    @cached_property
    def counts(self) -> IntArray:
        """Rows per code in the whole table."""
        return np.bincount(self.codes, minlength=self.domain.size).astype(np.int64)

    def only(self, rows: IntArray | BoolArray) -> SensitiveColumn:
        """The column of some rows, in which only their values make a distance."""
        codes, domain = self.codes[rows], self.domain
        if isinstance(domain, TreeDomain):
            present = np.bincount(codes, minlength=domain.size) > 0
            domain = replace(domain, hierarchy=domain.hierarchy.used_by(present))
        return SensitiveColumn(self.name, domain, codes, self.distance, self.levels)


@dataclass(frozen=True, eq=False)
class Tuples:
    """Distinct tuples of some columns: `codes[i, a]` with `counts[i]` rows; `of_row` maps rows to tuples."""

    codes: IntArray
    counts: IntArray
    of_row: IntArray


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Rows as codes. Columns keep the policy's order."""

    rows: int
    quasi: tuple[QuasiColumn, ...]
    sensitive: tuple[SensitiveColumn, ...]
    together: tuple[tuple[str, ...], ...] = ()
    """Sensitive columns that are judged together as well as one by one."""
    person: IntArray | None = None
    """Whom each row is about, numbered from 0; None: every row is a person of its own."""
    keyed: bool = False
    """Whether a key per person is published, so that a reader sees which rows belong together and how many they are."""
    sampling: FloatArray | None = None
    """How many people of the population each row stands for, where a column says so."""

    @cached_property
    def people(self) -> int:
        """How many people the rows are about."""
        return self.rows if self.person is None else len(np.unique(self.person))

    @cached_property
    def joint_tuples(self) -> tuple[Tuples, ...]:
        """For each combination in `together`, its distinct tuples with counts, sorted by code."""
        by_name = {column.name: column for column in self.sensitive}
        chosen = [[by_name[name] for name in names] for names in self.together]
        return tuple(distinct([c.codes for c in some], [c.domain.size for c in some], self.rows) for some in chosen)

    @cached_property
    def quasi_tuples(self) -> Tuples:
        """Distinct quasi-identifier tuples with counts, sorted by code."""
        return distinct([column.codes for column in self.quasi], [c.domain.size for c in self.quasi], self.rows)

    @cached_property
    def sensitive_tuples(self) -> Tuples:
        """Distinct sensitive tuples with counts, sorted by code."""
        return distinct([c.codes for c in self.sensitive], [c.domain.size for c in self.sensitive], self.rows)

    def take(self, rows: IntArray) -> CodedTable:
        """The same columns and domains with only some rows."""
        return CodedTable(
            rows=len(rows),
            quasi=tuple(QuasiColumn(c.name, c.domain, c.codes[rows], c.weight) for c in self.quasi),
            sensitive=tuple(
                SensitiveColumn(c.name, c.domain, c.codes[rows], c.distance, c.levels) for c in self.sensitive
            ),
            together=self.together,
            person=None if self.person is None else self.person[rows],
            keyed=self.keyed,
            sampling=None if self.sampling is None else self.sampling[rows],
        )


def distinct(columns: list[IntArray], sizes: list[int], rows: int) -> Tuples:
    """Distinct tuples of code columns with counts, in lexicographic order of their codes.

    Columns are packed into one 64-bit key; where the product of the domain sizes does not fit, the packed
    prefix is first renumbered by its own distinct values, which keeps both the order and the fit.
    """
    key = np.zeros(rows, dtype=np.int64)
    span = 1
    for codes, size in zip(columns, sizes, strict=True):
        if span > (2**62) // max(size, 1):
            _, key = np.unique(key, return_inverse=True)
            key = key.astype(np.int64)
            span = int(key.max(initial=0)) + 1
        key = key * size + codes
        span *= size
    _, first, of_row, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    table = [np.asarray(codes[first], dtype=np.int64) for codes in columns]
    stacked = np.stack(table, axis=1) if table else np.zeros((len(first), 0), dtype=np.int64)
    return Tuples(codes=stacked, counts=counts.astype(np.int64), of_row=of_row.astype(np.int64))
