"""pca: classes of one row from each of g slices along the first principal component of the sensitive attributes.

Wang, Zhu, Chen, Chang (2018), Algorithm 2.

- Guarantee: every model asked for, in every class.
- Cost: O(c d^2) for the component over c distinct sensitive tuples, O(n log n) to sort, then one nearest-row query per
  row; times the number of g tried with `strata: auto`.
- Departures: `as_printed.DEPARTURES`, undone by `as_printed: true`. Ties on the component are broken at random (the
  paper leaves them to the sort). As in the paper, categories are coded one-hot for the projection only, k is adjusted,
  and the remainder goes to the central slices.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._strata.base import Build, Prepared, StrataOptions, StratifiedMethod, classes_from_strata
from polyveil.methods._strata.generate import SeedOrder
from polyveil.methods.base import Task
from polyveil.table.coded import CodedTable, SensitiveColumn
from polyveil.table.domain import OrderedDomain


class PcaOptions(StrataOptions):
    """Options of `pca`."""


class Pca(StratifiedMethod[PcaOptions]):
    """Algorithm 2 of wang2018."""

    name = "pca"
    title = "PCA: forms strata along the first principal component; each group takes one row from each"
    paper = "Wang et al. 2018, Algorithm 2"
    guarantee = "Every requirement is met in every group."
    cost = "One search for the nearest row per row, for each number of strata that is tried."
    options_type = PcaOptions

    def builder(self, ready: Prepared, task: Task) -> Build:
        along = projection(ready.table, standardized=self.options.as_printed)

        def build(g: int, order: SeedOrder, rng: np.random.Generator) -> IntArray:
            rows = len(along)
            sizes = slice_sizes(rows, adjusted(g, rows))
            shuffled = rng.permutation(rows)
            sort = shuffled[np.argsort(along[shuffled], kind="stable")]
            stratum_of_row = np.empty(rows, dtype=np.int64)
            stratum_of_row[sort] = np.repeat(np.arange(len(sizes)), sizes)
            classes = int(sizes.min())
            printed = self.options.as_printed
            return classes_from_strata(ready, stratum_of_row, sizes, classes, order, rng, printed=printed)

        return build


def adjusted(k: int, rows: int) -> int:
    """k + floor((rows mod k) / floor(rows / k)), so that the remainder fits (step 2)."""
    return k + (rows % k) // (rows // k)


def slice_sizes(rows: int, k: int) -> IntArray:
    """floor(rows / k) each; the remainder goes to the central slice, or is shared by the two central ones (step 5)."""
    sizes = np.full(k, rows // k, dtype=np.int64)
    left = rows % k
    if k % 2:
        sizes[k // 2] += left
    else:
        sizes[k // 2 - 1] += left - left // 2
        sizes[k // 2] += left // 2
    return sizes


def projection(table: CodedTable, *, standardized: bool = False) -> FloatArray:
    """Each row's value on the first principal component of the sensitive attributes (step 3).

    The component needs only how often two codes meet, so the one-hot rows are never built. `standardized`: every
    coordinate has variance 1, as in the tool that the paper names (Weka 3.6, whose default is the correlation matrix).
    """
    coded = [_centred(column, table.rows) for column in table.sensitive]
    if standardized:
        coded = [_to_variance_1(points, column) for points, column in zip(coded, table.sensitive, strict=True)]
    along = np.zeros(table.rows)
    if not coded:
        return along
    _, axes = np.linalg.eigh(covariance(table, coded))
    axis = axes[:, -1] * np.sign(axes[np.argmax(np.abs(axes[:, -1])), -1])
    begin = 0
    for column, points in zip(table.sensitive, coded, strict=True):
        along += (points @ axis[begin : begin + points.shape[1]])[column.codes]
        begin += points.shape[1]
    return along


def covariance(table: CodedTable, coded: list[FloatArray]) -> FloatArray:
    """Sums of products of all coordinates over the rows; `coded[s]` has one centred row per code of attribute s."""
    from scipy.sparse import coo_array

    tuples = table.sensitive_tuples
    blocks = [[np.zeros((0, 0))] * len(coded) for _ in coded]
    for s, one in enumerate(coded):
        for r, other in enumerate(coded):
            pairs = (tuples.codes[:, s], tuples.codes[:, r])
            met = coo_array((tuples.counts.astype(np.float64), pairs), shape=(len(one), len(other)))
            blocks[s][r] = one.T @ (met.tocsr() @ other)
    return np.block(blocks)


def _to_variance_1(points: FloatArray, column: SensitiveColumn) -> FloatArray:
    deviation = np.sqrt((column.counts @ points**2) / max(int(column.counts.sum()), 1))
    return points / np.where(deviation > 0, deviation, 1.0)


def _centred(column: SensitiveColumn, rows: int) -> FloatArray:
    """One row per code: the number itself scaled to 0..1 ("missing" at the mean), or one-hot; less the mean."""
    domain = column.domain
    if isinstance(domain, OrderedDomain):
        values = len(domain.labels)
        mean = float(column.counts[:values] @ domain.normalized) / max(int(column.counts[:values].sum()), 1)
        points = np.append(domain.normalized, [mean] * domain.has_null)[:, None]
    else:
        points = np.eye(domain.size)
    return np.asarray(points - (column.counts @ points) / max(rows, 1))
