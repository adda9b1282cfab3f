"""Which rows to leave out so that as many as possible can be grouped: a linear program over the buckets.

In groups where value v makes up at most 1/need(v) of the rows, it makes up at most that of all grouped rows together.
Let x(b) rows of bucket b be grouped, N in all: then sum of x(b) over the buckets with v <= N / need(v), for every v of
every attribute. The greatest N under these conditions is a bound that no method passes, and the x that reaches it says
which rows stand in the way of the others. Taking rows greedily leaves that out: it spends the rows that many groups
need on groups that could have done without them (on Census-Income up to 1,600 of 10,000 rows more than the bound).
"""

from __future__ import annotations

import numpy as np

from polyveil.methods.bucket_pool import Places
from polyveil.policy.hierarchy import FloatArray, IntArray

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
    """The program's rows of every bucket, the wanted ones and then the spare ones; None where it finds no solution."""
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
