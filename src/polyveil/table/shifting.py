"""Dates moved by a random number of days, the same for all dates of a person: before anything else is computed.

The time between two dates of a person stays, which analyses need and which somebody who knows it may recognize.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.policy import Policy
from polyveil.table.parse import column_type, parse_dates, without_markers
from polyveil.table.source import Table


def shifted(policy: Policy, table: Table) -> Table:
    """The table with every date that the policy shifts moved by the days of its person; others as they are."""
    names = [name for name in policy.shifted if name in table.frame.columns]
    if not names:
        return table
    offsets: IntArray | None = None
    columns, faults = [], []
    for name in names:
        column = policy.columns[name]
        cells = without_markers(table.frame.get_column(name), [*policy.missing, *column.missing])
        if column_type(column, cells) != "date" or column.shift is None:
            faults.append(
                Fault(f"columns.{name}.shift", "shift is for dates, and this column has none", "Add type: date")
            )
            continue
        days, wrong = parse_dates(name, cells, column, table)
        faults += wrong
        if offsets is None:
            offsets = _offsets(policy, table, column.shift.days)
        columns.append((days.cast(pl.Int32) + pl.Series(offsets, dtype=pl.Int32)).cast(pl.Date).alias(name))
    if faults:
        raise PolicyError(faults, f"the policy does not fit {table.name}: it")
    return replace(table, frame=table.frame.with_columns(columns))


def _offsets(policy: Policy, table: Table, most: int) -> IntArray:
    """Per row the days of its person, each from -most to most equally likely, from the system's randomness."""
    who = np.arange(table.height)
    if policy.person is not None and policy.person in table.frame.columns:
        who = table.frame.get_column(policy.person).rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    drawn = np.frombuffer(os.urandom(8 * (int(who.max(initial=0)) + 1)), dtype=np.uint64)
    return (drawn % np.uint64(2 * most + 1)).astype(np.int64)[who] - most
