"""Whether the order of rows tells more than the tables: rows of a group must be scattered, in each table on its own.

Each test here raises a false alarm on a shuffled table less than once in a thousand million.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from polyveil.arrays import FloatArray, IntArray
from polyveil.verification.findings import Finding, fails

SUSPICIOUS = 6.5
"""Standard deviations from what chance does above which an order is no longer called random (p < 1e-10)."""
MOST_COLUMNS = 200
MOST_ROWS = 200_000
"""Columns and rows whose order is tested: the first ones, and as many spread over the table."""


def agreement_findings(table: str, agreement: float) -> list[Finding]:
    """A finding if the groups' places in `quasi` and another table go together, in standard deviations."""
    if agreement <= SUSPICIOUS:
        return []
    message = f"the orders of rows in quasi and {table} go together ({agreement:.1f} standard deviations)"
    return [fails("row order", message)]


def neighbour_findings(
    table: str, together: int, pairs: float, rows: int, spread: float | None = None
) -> list[Finding]:
    """A finding where more neighbours share a group than chance makes likely.

    `pairs` is the sum of s (s - 1) over the groups' sizes; a shuffle of `rows` rows makes pairs / rows neighbours, with
    the standard deviation `spread` (by default that of rare events). Neighbours of a rare group come by twos, because
    the rows of the other move together too: the tail is that of rare events, which two more allow for.
    """
    expected = pairs / max(rows, 1)
    if together <= expected + SUSPICIOUS * ((math.sqrt(expected) if spread is None else spread) + 2.0):
        return []
    return [fails("row order", f"rows of one group are neighbours in {table} more often than in a shuffled table")]


def check_order(table: str, frame: pl.DataFrame, groups: IntArray) -> list[Finding]:
    """The rows of a table stand neither by its groups nor by any column."""
    together = stand_together(table, groups)
    return together or column_findings(table, frame)


def column_findings(table: str, frame: pl.DataFrame) -> list[Finding]:
    """A finding if rows are sorted or grouped by a column: its values rise or fall, or neighbours are alike."""
    for cells in frame.get_columns()[:MOST_COLUMNS]:
        spread, block = cells.gather_every(-(-len(cells) // MOST_ROWS) or 1), cells[:MOST_ROWS]
        ranks = _ranks(spread)
        trend = deviations(correlation(np.arange(len(ranks), dtype=np.float64), ranks), len(ranks))
        if max(trend, _serial(block)) > SUSPICIOUS or _alike(table, block):
            return [fails("row order", f"the rows of {table} are sorted or grouped by {cells.name}")]
    return []


def _serial(cells: pl.Series) -> float:
    """How far a row's rank goes with the next one's; a value that most rows have would make chance look like more."""
    ranks = _ranks(cells)
    commonest = int(cells.to_frame("cell").group_by("cell").len().get_column("len").max() or 0)  # type: ignore[arg-type]
    return 0.0 if 2 * commonest > len(cells) else deviations(correlation(ranks[1:], ranks[:-1]), len(ranks) - 1)


def _alike(table: str, cells: pl.Series) -> bool:
    return bool(stand_together(table, cells.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()))


def _ranks(cells: pl.Series) -> FloatArray:
    return cells.rank("average").fill_null(0).to_numpy()


def correlation(first: FloatArray, second: FloatArray) -> float:
    """Pearson's correlation, 0 if one of the two does not vary."""
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def stand_together(table: str, groups: IntArray) -> list[Finding]:
    """A finding if rows of a group stand together, by the mean and the deviation that shuffles have."""
    return neighbour_findings(table, neighbours(groups), pairs_of(groups), len(groups), spread_of(groups))


def spread_of(groups: IntArray) -> float:
    """The standard deviation of the number of neighbours in a shuffle: that of runs (Wald, Wolfowitz; Mood 1940)."""
    n = float(len(groups))
    if n < 2:
        return 0.0
    sizes = np.bincount(groups).astype(np.float64)
    squares, cubes = float((sizes**2).sum()), float((sizes**3).sum())
    variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3) / (n * n * (n - 1))
    return math.sqrt(max(variance, 0.0))


def neighbours(groups: IntArray) -> int:
    """Rows whose successor is of the same group."""
    return int(np.count_nonzero(groups[1:] == groups[:-1]))


def pairs_of(groups: IntArray) -> float:
    """The sum of s (s - 1) over the sizes s of the groups."""
    sizes = np.bincount(groups) if len(groups) else np.zeros(1, dtype=np.int64)
    return float((sizes * (sizes - 1.0)).sum())


def stand_alike(first: str, second: str, groups: IntArray, others: IntArray) -> list[Finding]:
    """A finding if rows at the same place of two tables are of one group more often than chance makes likely.

    The same place counts from the first row, from the last, and as a share of a table that has more rows.
    """
    if not len(groups) or not len(others):
        return []
    size = min(len(groups), len(others))
    spread = groups[(np.arange(len(others)) * len(groups)) // len(others)]
    pairs = ((groups[:size], others[:size]), (groups[:size], others[::-1][:size]), (spread, others))
    if not any(_agree(here, there) for here, there in pairs):
        return []
    return [fails("row order", f"rows at the same place of {first} and {second} are of one group too often")]


def _agree(groups: IntArray, others: IntArray) -> bool:
    """By the mean and the deviation of a sum over a random permutation (Hoeffding 1951)."""
    n = len(groups)
    if n < 2:
        return False
    most = int(max(groups.max(), others.max())) + 1
    a, b = (np.bincount(each, minlength=most).astype(np.float64) for each in (groups, others))
    both = float((a * b).sum())
    squares = both - float((a * b * (a + b)).sum()) / n + both * both / (n * n)
    deviation = math.sqrt(max(squares, 0.0) / (n - 1))
    return int(np.count_nonzero(groups == others)) > both / n + SUSPICIOUS * (deviation + 2.0)


def mean_places(group_of_row: IntArray, groups: int) -> FloatArray:
    """Where the rows of each group stand on average."""
    kept = np.flatnonzero(group_of_row >= 0)
    total = np.bincount(group_of_row[kept], weights=kept, minlength=groups)
    return np.asarray(total / np.maximum(np.bincount(group_of_row[kept], minlength=groups), 1))


def rank_agreement(first: FloatArray, second: FloatArray) -> float:
    """Spearman's rank correlation of two orders in units of its standard deviation under independence."""
    a, b = (np.argsort(np.argsort(values)).astype(np.float64) for values in (first, second))
    return deviations(correlation(a, b), len(first))


def deviations(correlation: float, groups: int) -> float:
    """A correlation over so many groups in units of its standard deviation under independence."""
    return 0.0 if groups < 3 or math.isnan(correlation) else abs(correlation) * math.sqrt(groups - 1)
