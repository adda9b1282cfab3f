"""Encoding: parsed columns become integer codes over their domains."""

from __future__ import annotations

from polyveil.table.bind import Bound, codes_of
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
    )
