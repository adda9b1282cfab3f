"""Whether the order of rows tells more than the tables: rows of a group must be scattered, in each table on its own."""

from __future__ import annotations

import math

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.verification.findings import Finding, fails

SUSPICIOUS = 6.0
"""Standard deviations of chance agreement between the orders of two tables above which an order is called a link."""


def agreement_findings(table: str, agreement: float) -> list[Finding]:
    """A finding where the groups' places in `quasi` and another table go together, in standard deviations."""
    if agreement <= SUSPICIOUS:
        return []
    message = f"rows of quasi and {table} stand in orders that go together ({agreement:.1f} standard deviations)"
    return [fails("row order", message)]


def neighbour_findings(table: str, together: int, pairs: float, rows: int) -> list[Finding]:
    """A finding where more neighbours share a group than chance makes likely.

    `pairs` is the sum of s (s - 1) over the groups' sizes; a shuffle of `rows` rows makes pairs / rows neighbours.
    """
    expected = pairs / max(rows, 1)
    if together <= expected + SUSPICIOUS * (math.sqrt(expected) + 1.0):
        return []
    return [fails("row order", f"rows of a group stand together in {table} more often than in a shuffled table")]


def neighbours(groups: IntArray) -> int:
    """Rows whose successor is of the same group."""
    return int(np.count_nonzero(groups[1:] == groups[:-1]))


def pairs_of(groups: IntArray) -> float:
    """The sum of s (s - 1) over the sizes s of the groups."""
    sizes = np.bincount(groups) if len(groups) else np.zeros(1, dtype=np.int64)
    return float((sizes * (sizes - 1.0)).sum())


def mean_places(group_of_row: IntArray, groups: int) -> FloatArray:
    """Where the rows of each group stand on average."""
    kept = np.flatnonzero(group_of_row >= 0)
    total = np.bincount(group_of_row[kept], weights=kept, minlength=groups)
    return np.asarray(total / np.maximum(np.bincount(group_of_row[kept], minlength=groups), 1))


def rank_agreement(first: FloatArray, second: FloatArray) -> float:
    """Spearman's rank correlation of two orders in units of its standard deviation under independence."""
    a, b = (np.argsort(np.argsort(values)).astype(np.float64) for values in (first, second))
    return deviations(float(np.corrcoef(a, b)[0, 1]) if len(first) >= 3 else 0.0, len(first))


def deviations(correlation: float, groups: int) -> float:
    """A correlation over so many groups in units of its standard deviation under independence."""
    return 0.0 if groups < 3 or math.isnan(correlation) else abs(correlation) * math.sqrt(groups - 1)
