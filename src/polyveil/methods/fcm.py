"""fcm: classes of one row from each of g equal strata of similar sensitive tuples, merged until all models hold.

Wang, Zhu, Chen, Chang: Privacy-Preserving Algorithms for Multiple Sensitive Attributes Satisfying t-Closeness (2018),
Algorithm 1, with the size-constrained fuzzy c-means of Hoeppner & Klawonn (2008).

- Guarantee: every model asked for, in every class; k-anonymity because a class has a row of each of g >= k strata.
- Cost: clustering O(g^2 c + g c d) per step for c distinct sensitive tuples (at most about a thousand); then one
  nearest-row query per row and stratum tree; times the number of g tried with `strata: auto`.
- Departures: `as_printed.DEPARTURES`, undone by `as_printed: true`. In both, distinct sensitive tuples with counts are
  clustered, not rows, and fuzzy clusters are rounded to equal strata by solving the transport problem: the paper says
  "approximately the same size", and equal rows would otherwise all fall into one cluster.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._strata.base import (
    Build,
    Prepared,
    StrataOptions,
    StratifiedMethod,
    classes_from_strata,
    equal_sizes,
)
from polyveil.methods._strata.embedding import Cells, sensitive_cells
from polyveil.methods._strata.generate import SeedOrder
from polyveil.methods._strata.transport import transport
from polyveil.methods.base import Task

STEPS = 50
MOVED_LITTLE = 1e-5
NEVER_ZERO = 1e-6
"""Added to squared distances: a point on a centre would have infinite weight."""


class FcmOptions(StrataOptions):
    """Options of `fcm`."""

    polish: int = Field(default=5, ge=0, le=100, description="how many times the centres of the strata are recomputed")


class Fcm(StratifiedMethod[FcmOptions]):
    """Algorithm 1 of wang2018."""

    name = "fcm"
    title = "FCM: forms strata of equal size by fuzzy c-means; each group takes one row from each"
    paper = "Wang et al. 2018, Algorithm 1; Hoeppner & Klawonn 2008"
    guarantee = "Every requirement is met in every group."
    cost = "One search for the nearest row per row, for each number of strata that is tried."
    options_type = FcmOptions

    def builder(self, ready: Prepared, task: Task) -> Build:
        cells = sensitive_cells(ready.table)

        def build(g: int, order: SeedOrder, rng: np.random.Generator) -> IntArray:
            stratum_of_row, sizes = fcm_strata(cells, g, self.options.polish, rng)
            classes = max(ready.table.rows // g, 1)
            printed = self.options.as_printed
            return classes_from_strata(ready, stratum_of_row, sizes, classes, order, rng, printed=printed)

        return build


def fcm_strata(cells: Cells, g: int, polish: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """The stratum of each row, and the sizes of the g strata (equal up to one row)."""
    sizes = equal_sizes(int(cells.counts.sum()), g)
    centres = fuzzy_centres(cells.points, cells.counts, g)
    flow = transport(squared_distances(centres, cells.points), cells.counts, sizes)
    for _ in range(polish):
        centres = (flow @ cells.points) / np.maximum(sizes, 1)[:, None]
        again = transport(squared_distances(centres, cells.points), cells.counts, sizes)
        if np.array_equal(again, flow):
            break
        flow = again
    return spread_rows(cells.of_row, flow, rng), sizes


def spread_rows(cell_of_row: IntArray, flow: IntArray, rng: np.random.Generator) -> IntArray:
    """Give each stratum as many rows of each cell as the flow (strata x cells) says, chosen at random."""
    shuffled = rng.permutation(len(cell_of_row))
    by_cell = shuffled[np.argsort(cell_of_row[shuffled], kind="stable")]
    stratum_of_row = np.empty(len(cell_of_row), dtype=np.int64)
    stratum_of_row[by_cell] = np.repeat(np.tile(np.arange(len(flow)), flow.shape[1]), flow.T.ravel())
    return stratum_of_row


def squared_distances(centres: FloatArray, points: FloatArray) -> FloatArray:
    """Centres x points."""
    product = centres @ points.T
    return np.maximum((centres**2).sum(1)[:, None] - 2.0 * product + (points**2).sum(1), 0.0)


def fuzzy_centres(points: FloatArray, counts: IntArray, g: int) -> FloatArray:
    """Centres of the size-constrained fuzzy c-means with fuzzifier 2, started from slices along the main axis."""
    weight = counts.astype(np.float64)
    centres = slices_along(main_axis(points, weight), points, weight, g)
    for _ in range(STEPS):
        member = equal_memberships(squared_distances(centres, points) + NEVER_ZERO, weight)
        pull = member**2 * weight
        moved = (pull @ points) / np.maximum(pull.sum(1), 1e-300)[:, None]
        change = float(np.abs(moved - centres).max(initial=0.0))
        centres = moved
        if change < MOVED_LITTLE:
            break
    return centres


def equal_memberships(squared: FloatArray, weight: FloatArray) -> FloatArray:
    """Memberships u (clusters x points) that minimize sum w u^2 d^2 where each point's sum to 1 and each cluster's,
    weighted, to the same size.

    Lagrange multipliers a_i for clusters and b_j for points give u_ij = (a_i + b_j) / (2 d_ij^2); eliminating the b_j
    leaves one linear equation per cluster. Memberships the solution makes negative are set to 0.
    """
    inverse = 1.0 / squared
    share = weight / inverse.sum(0)
    size = weight.sum() / len(squared)
    matrix = np.diag((inverse * weight).sum(1)) - (inverse * share) @ inverse.T
    right = 2.0 * size - 2.0 * (inverse * share).sum(1)
    of_clusters = np.linalg.lstsq(matrix, right, rcond=None)[0]
    of_points = (2.0 - of_clusters @ inverse) / inverse.sum(0)
    return np.maximum(inverse * (of_clusters[:, None] + of_points) / 2.0, 0.0)


def main_axis(points: FloatArray, weight: FloatArray) -> FloatArray:
    """Where each point lies on the first principal component (the axis points to its greatest coefficient)."""
    if points.shape[1] == 0:
        return np.zeros(len(points))
    centred = points - (weight @ points) / weight.sum()
    _, _, axes = np.linalg.svd(centred * np.sqrt(weight)[:, None], full_matrices=False)
    axis = axes[0] * np.sign(axes[0][np.argmax(np.abs(axes[0]))])
    return np.asarray(centred @ axis)


def slices_along(along: FloatArray, points: FloatArray, weight: FloatArray, g: int) -> FloatArray:
    """Means of g slices of equal weight; a point wider than a slice lies in all the slices it covers."""
    order = np.argsort(along, kind="stable")
    end = np.cumsum(weight[order]) * g / weight.sum()
    begin = end - weight[order] * g / weight.sum()
    inside = np.minimum(end, np.arange(1, g + 1)[:, None]) - np.maximum(begin, np.arange(g)[:, None])
    inside = np.maximum(inside, 0.0)
    means = (inside @ points[order]) / inside.sum(1)[:, None]
    # Slices of one wide point would coincide for good: a small, fixed shift sets them apart.
    return means + 1e-3 * np.arange(g)[:, None] / g
