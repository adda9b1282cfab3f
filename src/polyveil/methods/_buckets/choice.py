"""Which rows to leave out so that as many as possible can be grouped: a linear program over the buckets.

In groups where value v makes up at most 1/need(v) of the rows, it makes up at most that of all grouped rows together.
Let x(b) rows of bucket b be grouped, N in all: then sum of x(b) over the buckets with v <= N / need(v), for every v of
every attribute. The greatest N under these conditions is a bound that no method passes, and the x that reaches it says
which rows stand in the way of the others. Taking rows greedily leaves that out: it spends the rows that many groups
need on groups that could have done without them (on Census-Income up to 1,600 of 10,000 rows more than the bound).

The x rows are diverse as one group, so the bound can always be reached, but for whole rows: what greed cannot group
even among them is united with as many of the groups as it takes (`unite`), where nothing else helps.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray, IntArray, Places

MOST_BUCKETS = 50_000
"""Above this many buckets the program takes longer than it is worth."""
_SPARE_WORTH = 1e-3
"""What a spare row is worth beside another: it is grouped where that costs no other row its place."""
_NEARLY = 1e-6


def most_groupable(values: Places, wanted: IntArray, spare: IntArray, need: FloatArray) -> tuple[IntArray, IntArray]:
    """How many of the wanted and of the spare rows of each bucket to group, in whole rows.

    `values[b]` are the places of bucket b's values in one numbering, `need` the l of each.
    """
    found = solution(values, wanted, spare, need)
    if found is None:
        return wanted, spare
    whole = np.floor(found + _NEARLY).astype(np.int64)
    return whole[: len(values)], whole[len(values) :]


def groupable_bound(values: Places, size: IntArray, need: FloatArray) -> int:
    """No method groups more rows than this."""
    found = solution(values, size, np.zeros_like(size), need)
    return int(size.sum()) if found is None else int(np.floor(found.sum() + _NEARLY))


def solution(values: Places, wanted: IntArray, spare: IntArray, need: FloatArray) -> FloatArray | None:
    """The program's rows of every bucket, the wanted ones and then the spare ones; None if it finds no solution."""
    from scipy import sparse
    from scipy.optimize import linprog

    buckets, attributes = values.shape
    entries = np.ones(values.size), (values.ravel(), np.repeat(np.arange(buckets), attributes))
    has = sparse.csr_array(entries, shape=(len(need), buckets))
    shares = sparse.hstack([has, has, sparse.csr_array(-1.0 / need[:, None])])
    total = np.concatenate([np.ones(2 * buckets), [-1.0]])
    worth = np.concatenate([np.ones(buckets), np.full(buckets, _SPARE_WORTH), [0.0]])
    most = np.concatenate([wanted, spare, [wanted.sum() + spare.sum()]])
    solved = linprog(
        -worth,
        A_ub=shares.tocsr(),
        b_ub=np.zeros(len(need)),
        A_eq=sparse.csr_array(total[None, :]),
        b_eq=[0.0],
        bounds=np.stack([np.zeros(len(most)), most], axis=1),
        method="highs",
    )
    return None if solved.x is None else np.asarray(solved.x[:-1])


def unite(of_row: IntArray, left: IntArray, values: Places, need: FloatArray, least: int) -> IntArray:
    """Make one group of the rows `left` and of the groups that dilute their values, if there are such.

    `values[r]` are the places of row r's values. Groups are numbered anew, without gaps. Rows of `left` whose values
    are too common even among all the groups stay without one, and all of them where all rows together are fewer than
    `least`.
    """
    found, left = of_row.copy(), _groupable_with_all(of_row, left, values, need)
    if int((of_row >= 0).sum()) + len(left) < least:
        return found
    while len(left):
        rows = np.append(np.flatnonzero(found == _UNITED), left)
        excess = _excess(rows, values, need)
        worst = int(excess.argmax())
        lacking = max(float(excess[worst]), float(least - len(rows)))
        if lacking <= _NEARLY:
            found[left] = _UNITED
            break
        found[np.isin(found, _diluting(found, worst, lacking, values, need))] = _UNITED
    grouped = found >= 0
    found[grouped] = np.unique(found[grouped], return_inverse=True)[1]
    return found


_UNITED = 2**62
"""Stands for the number of the united group, above all others."""


def _excess(rows: IntArray, values: Places, need: FloatArray) -> FloatArray:
    """By how many rows each value is too common in a group."""
    counts = np.bincount(values[rows].ravel(), minlength=len(need))
    return np.asarray(counts * need - len(rows))


def _groupable_with_all(of_row: IntArray, left: IntArray, values: Places, need: FloatArray) -> IntArray:
    """The rows of `left` that make, with all groups together, one group that holds."""
    grouped = np.flatnonzero(of_row >= 0)
    while len(left):
        excess = _excess(np.append(grouped, left), values, need)
        worst = int(excess.argmax())
        if excess[worst] <= _NEARLY:
            break
        guilty = np.flatnonzero((values[left] == worst).any(axis=1))
        most = max(int(excess[worst] / need[worst]), 1)
        left = np.delete(left, guilty[:most]) if len(guilty) else left[:0]
    return left


def _diluting(of_row: IntArray, value: int, lacking: float, values: Places, need: FloatArray) -> IntArray:
    """The groups to add so that a value is no longer too common: those with the least of it, as many as it takes.

    A group where the value has all it may have dilutes nothing, but is taken where nothing else is left.
    """
    open_rows = (of_row >= 0) & (of_row != _UNITED)
    groups, size = np.unique(of_row[open_rows], return_counts=True)
    having = np.searchsorted(groups, of_row[open_rows & (values == value).any(axis=1)])
    dilutes = size - need[value] * np.bincount(having, minlength=len(groups))
    order = np.argsort(-dilutes, kind="stable")
    wanted = int(np.searchsorted(np.cumsum(dilutes[order]), lacking - _NEARLY)) + 1
    return np.asarray(groups[order[:wanted]])
