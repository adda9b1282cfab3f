"""Encoding: parsed columns become integer codes over their domains."""

from __future__ import annotations

import polars as pl

from polyveil.arrays import IntArray
from polyveil.table.bind_column import codes_of
from polyveil.table.bound import Bound
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import as_codes


def encode(bound: Bound) -> CodedTable:
    """The coded table of a bound policy, columns in the policy's order."""
    return CodedTable(
        rows=bound.rows,
        quasi=tuple(
            QuasiColumn(c.name, c.domain, as_codes(codes_of(c.domain, c.cells), c.domain.size), c.column.weight)
            for c in bound.quasi
        ),
        sensitive=tuple(
            SensitiveColumn(
                c.name, c.domain, as_codes(codes_of(c.domain, c.cells), c.domain.size), c.distance, c.levels()
            )
            for c in bound.sensitive
        ),
        together=tuple(joint.columns for joint in bound.policy.privacy.joint),
        person=number_people(bound.person),
        keyed=bound.policy.release.person == "pseudonym",
        sampling=None if bound.sampling is None else bound.sampling.to_numpy(),
    )


def number_people(person: pl.Series | None) -> IntArray | None:
    """The number of each row's person; None if every row is a person of its own, declared or not."""
    if person is None or person.n_unique() == len(person):
        return None
    return person.rank("dense").cast(pl.Int64).to_numpy() - 1
