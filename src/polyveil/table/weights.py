"""Sampling weights: how many people of the population a row stands for. Read, checked, and made fit to be published.

A weight is published as the mean of its group, so that it tells nothing that the group does not: weighted totals of
every group stay as they are, and no row is told from another by it. Three digits are published, because a mean with all
of them tells whoever knows the other weights of a group the last one.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from polyveil.arrays import FloatArray, IntArray
from polyveil.errors import Fault
from polyveil.policy.schema import Policy
from polyveil.results import counted
from polyveil.table.parse import parse_numbers, without_markers
from polyveil.table.source import Table

DIGITS = 3
"""Significant digits of a published weight."""


def bind_weights(policy: Policy, table: Table) -> tuple[pl.Series | None, list[Fault]]:
    """The weights of the rows, or what is wrong with them."""
    name = policy.sampling_weight
    if name is None or name not in table.frame.columns:
        return None, []
    place, remedy = f"columns.{name}", "Mend these cells, or write role: drop"
    cells = without_markers(table.frame.get_column(name), [*policy.missing, *policy.columns[name].missing])
    missing = cells.null_count()
    if missing:
        return None, [Fault(place, f"the weight is missing in {counted(missing, 'row')}", remedy)]
    numbers, unread = parse_numbers(name, cells, table)
    if unread:
        return None, [Fault(place, each.rule, remedy) for each in unread]
    negative = int((numbers < 0).sum())
    if negative:
        rule = f"the weight is negative in {counted(negative, 'row')}, and it counts people"
        return None, [Fault(place, rule, remedy)]
    if not numbers.sum():
        return None, [Fault(place, "all weights are 0, so that the rows stand for nobody", "Write role: drop")]
    return numbers.rename(name), []


def class_weights(weights: FloatArray, class_of_row: IntArray) -> FloatArray:
    """The weight that is published for each class: the mean of its rows, in few digits."""
    kept = class_of_row >= 0
    owner = class_of_row[kept]
    return rounded(np.bincount(owner, weights=weights[kept]) / np.maximum(np.bincount(owner), 1))


def rounded(numbers: FloatArray) -> FloatArray:
    """Numbers in three significant digits, each the float that its decimals are read as."""
    distinct, where = np.unique(numbers, return_inverse=True)
    return np.array([float(f"{number:.{DIGITS}g}") for number in distinct.tolist()])[where]
