"""How strongly sensitive attributes depend on each other, and which of them to publish in one table.

han2013, section II.C: the mean-square contingency coefficient (eq. (1), numbers discretized first), and PAM (Kaufman &
Rousseeuw 1990) over the distances 1 - phi^2. Attributes are few, so PAM is written out here instead of adding a
dependency for thirty lines; BUILD and SWAP are deterministic, so the slices follow from the table alone.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.table.coded import SensitiveColumn
from polyveil.table.domain import OrderedDomain

LARGEST_SLICE = 3
"""MSB loses most rows beyond two or three attributes (han2013, section I), so `auto` makes no larger slices."""


def contingency(first: IntArray, second: IntArray) -> float:
    """phi^2 of eq. (1): 0 for independent attributes, 1 if the one with fewer values follows from the other."""
    rows = len(first)
    _, a = np.unique(first, return_inverse=True)
    _, b = np.unique(second, return_inverse=True)
    p, q = int(a.max(initial=-1)) + 1, int(b.max(initial=-1)) + 1
    if min(p, q) < 2:
        return 0.0
    cells, counts = np.unique(a.astype(np.int64) * q + b, return_counts=True)
    of_first, of_second = np.bincount(a), np.bincount(b)
    # sum (f_ij - f_i f_j)^2 / (f_i f_j) = sum f_ij^2 / (f_i f_j) - 1, which needs only the cells that occur.
    expected = of_first[cells // q] * of_second[cells % q].astype(np.float64)
    chi = float((counts.astype(np.float64) ** 2 / expected).sum()) - 1.0
    return float(np.clip(chi / (min(p, q) - 1), 0.0, 1.0)) if rows else 0.0


def discretized(column: SensitiveColumn, bins: int) -> IntArray:
    """Codes as categories: a column with an order and more than `bins` values is cut into bins of about equal rows."""
    if not isinstance(column.domain, OrderedDomain) or int(np.count_nonzero(column.counts)) <= bins:
        return column.codes
    upto = np.cumsum(column.counts) - column.counts
    bin_of_code = np.minimum(upto * bins // max(int(column.counts.sum()), 1), bins - 1)
    if column.domain.has_null:
        bin_of_code[column.domain.null_code] = bins  # "missing" is a category of its own
    return np.asarray(bin_of_code[column.codes], dtype=np.int64)


def attribute_distances(columns: tuple[SensitiveColumn, ...], bins: int) -> FloatArray:
    """1 - phi^2 between every two attributes."""
    codes = [discretized(column, bins) for column in columns]
    distances = np.zeros((len(codes), len(codes)))
    for i, j in combinations(range(len(codes)), 2):
        distances[i, j] = distances[j, i] = 1.0 - contingency(codes[i], codes[j])
    return distances


def medoids(distances: FloatArray, clusters: int, rng: np.random.Generator | None = None) -> tuple[int, ...]:
    """PAM: BUILD takes the best next medoid, SWAP exchanges a medoid and another point as long as the cost falls.

    With a generator it begins with random medoids instead, as han2013 prints it.
    """
    chosen: list[int] = [] if rng is None else rng.choice(len(distances), clusters, replace=False).tolist()
    for _ in range(clusters - len(chosen)):
        rest = [i for i in range(len(distances)) if i not in chosen]
        chosen.append(min(rest, key=lambda i: (_cost(distances, [*chosen, i]), i)))
    while True:
        swaps = [
            [other if m == medoid else m for m in chosen]
            for medoid in chosen
            for other in range(len(distances))
            if other not in chosen
        ]
        best = min(swaps, key=lambda swap: _cost(distances, swap), default=chosen)
        if _cost(distances, best) >= _cost(distances, chosen) - 1e-12:
            return tuple(sorted(chosen))
        chosen = best


def _cost(distances: FloatArray, chosen: list[int]) -> float:
    return float(distances[:, chosen].min(axis=1).sum())


def clusters_of(distances: FloatArray, clusters: int, rng: np.random.Generator | None = None) -> list[list[int]]:
    """The points of each cluster, in order of the first."""
    chosen = medoids(distances, clusters, rng)
    nearest = np.asarray(distances[:, list(chosen)]).argmin(axis=1)
    nearest[list(chosen)] = np.arange(len(chosen))  # a medoid stays with itself, also where another is as near
    return sorted([int(i) for i in np.flatnonzero(nearest == c)] for c in range(clusters))


def silhouette(distances: FloatArray, parts: list[list[int]]) -> float:
    """Mean silhouette width: how much nearer points are to their own cluster than to the next (alone counts 0)."""
    widths = []
    for part in parts:
        for i in part:
            others = [float(np.mean(distances[i, other])) for other in parts if other is not part]
            if len(part) == 1 or not others:
                widths.append(0.0)
                continue
            own = float(distances[i, part].sum()) / (len(part) - 1)
            widths.append((min(others) - own) / max(min(others), own, 1e-12))
    return float(np.mean(widths)) if widths else 0.0


def natural_slices(distances: FloatArray) -> list[list[int]]:
    """The clustering with the greatest silhouette width among those whose slices are small enough for MSB."""
    count = len(distances)
    if count <= 2:
        return [list(range(count))]
    candidates = [clusters_of(distances, m) for m in range(-(-count // LARGEST_SLICE), count)]
    fitting = [parts for parts in candidates if max(map(len, parts)) <= LARGEST_SLICE]
    return max(fitting, key=lambda parts: (round(silhouette(distances, parts), 9), -len(parts)))
