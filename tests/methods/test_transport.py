"""Exact transport: the sizes are kept, and no cheaper assignment exists (linear programming as the judge)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._strata.transport import transport


def cheapest(cost: np.ndarray, mass: np.ndarray, room: np.ndarray) -> float:
    from scipy.optimize import linprog

    bins, cells = cost.shape
    from_cells = np.kron(np.ones((1, bins)), np.eye(cells))
    into_bins = np.kron(np.eye(bins), np.ones((1, cells)))
    result = linprog(cost.ravel(), A_eq=np.vstack([from_cells, into_bins]), b_eq=np.concatenate([mass, room]))
    return float(result.fun)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 15))
def test_no_assignment_is_cheaper(seed: int, bins: int, cells: int) -> None:
    rng = np.random.default_rng(seed)
    mass = rng.integers(1, 40, cells)
    room = np.full(bins, mass.sum() // bins)
    room[: mass.sum() % bins] += 1
    cost = rng.random((bins, cells)) if seed % 2 else rng.integers(0, 4, (bins, cells)).astype(float)
    flow = transport(cost, mass, room)
    assert flow.min() >= 0
    assert np.array_equal(flow.sum(axis=0), mass)
    assert np.array_equal(flow.sum(axis=1), room)
    assert float((flow * cost).sum()) == pytest.approx(cheapest(cost, mass, room), abs=1e-6)


@pytest.mark.parametrize("noise", [1e-14, 1e-13, 1e-12, 1e-11, 1e-10])
def test_bins_alike_but_for_rounding_come_to_an_end(noise: float) -> None:
    # Three places with ten bins each: chains of moves between bins of one place cost nothing, give or take the noise.
    rng = np.random.default_rng(2)
    mass = rng.integers(1, 40, 60)
    room = np.full(30, mass.sum() // 30)
    room[: mass.sum() % 30] += 1
    places = (rng.random((3, 1)) - rng.random((1, 60))) ** 2
    cost = np.repeat(places, 10, axis=0) + rng.normal(0, noise, (30, 60))
    flow = transport(cost, mass, room)
    assert np.array_equal(flow.sum(axis=1), room)
    assert float((flow * cost).sum()) == pytest.approx(cheapest(cost, mass, room), abs=1e-6)


def test_a_cell_larger_than_a_bin_is_shared() -> None:
    flow = transport(np.array([[0.0, 1.0], [5.0, 0.0]]), np.array([7, 1]), np.array([4, 4]))
    assert flow.tolist() == [[4, 0], [3, 1]]


def test_different_sums_are_refused() -> None:
    with pytest.raises(ValueError, match="same number of rows"):
        transport(np.zeros((1, 1)), np.array([3]), np.array([2]))
