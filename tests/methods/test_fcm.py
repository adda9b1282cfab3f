"""fcm: strata are exactly equal, memberships keep both constraints of Hoeppner & Klawonn, centres find clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._strata.embedding import Cells, sensitive_cells
from polyveil.methods.fcm import equal_memberships, fcm_strata, fuzzy_centres, squared_distances
from tables import random_table


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 30), st.integers(0, 3))
def test_strata_are_equal_up_to_one_row_and_hold_every_row(seed: int, g: int, polish: int) -> None:
    table = random_table(seed, 97)
    stratum_of_row, sizes = fcm_strata(sensitive_cells(table), g, polish, np.random.default_rng(seed))
    assert np.array_equal(np.bincount(stratum_of_row, minlength=g), sizes)
    assert sizes.max() - sizes.min() <= 1
    assert sizes.sum() == 97


def test_memberships_sum_to_one_and_to_equal_sizes() -> None:
    rng = np.random.default_rng(3)
    # Points between the centres keep all memberships positive, so no clipping disturbs the sums.
    squared, weight = rng.uniform(0.8, 1.2, (4, 30)), rng.integers(1, 9, 30).astype(float)
    member = equal_memberships(squared, weight)
    assert member.min() > 0
    assert member.sum(axis=0) == pytest.approx(np.ones(30))
    assert member @ weight == pytest.approx(np.full(4, weight.sum() / 4))


def test_memberships_minimize_the_constrained_objective() -> None:
    """Any small step along the constraints makes sum w u^2 d^2 greater."""
    rng = np.random.default_rng(5)
    squared, weight = rng.uniform(0.8, 1.2, (3, 12)), np.ones(12)
    member = equal_memberships(squared, weight)
    least = float((weight * member**2 * squared).sum())
    for _ in range(50):
        step = rng.normal(size=member.shape)
        step -= step.mean(axis=0)
        step -= step.mean(axis=1)[:, None]  # keeps both sums
        step -= step.mean(axis=0)
        assert float((weight * (member + 0.01 * step) ** 2 * squared).sum()) > least


def test_two_plain_clusters_are_found() -> None:
    points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    counts = np.array([10, 10, 10, 10, 10, 10])
    centres = np.sort(fuzzy_centres(points, counts, 2)[:, 0])
    assert centres == pytest.approx([0.1, 5.1], abs=0.05)
    cells = Cells(points, counts, np.repeat(np.arange(6), 10))
    stratum, _ = fcm_strata(cells, 2, 0, np.random.default_rng(0))
    assert len(set(stratum[:30])) == len(set(stratum[30:])) == 1


def test_polish_never_makes_strata_looser() -> None:
    table = random_table(12, 300)
    cells = sensitive_cells(table)

    def spread(polish: int) -> float:
        stratum, sizes = fcm_strata(cells, 8, polish, np.random.default_rng(1))
        points = cells.points[cells.of_row]
        centres = np.stack([points[stratum == i].mean(axis=0) for i in range(8)])
        return float(((points - centres[stratum]) ** 2).sum() / sizes.sum())

    assert spread(10) <= spread(1) + 1e-12 <= spread(0) + 2e-12


def test_squared_distances_are_what_they_say() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.random((3, 4)), rng.random((5, 4))
    assert squared_distances(one, other) == pytest.approx(((one[:, None] - other) ** 2).sum(axis=2))
