"""The tests of row order: no shuffle of any shape is called an order, and orders that hide in skewed columns are seen.

    POLYVEIL_SHUFFLES=100000 pytest -s tests/verification/test_orders.py

makes more shuffles per shape and prints how far from what is expected they came.
"""

from __future__ import annotations

import os

import numpy as np
import polars as pl
import pytest

from polyveil.verification.orders import (
    SUSPICIOUS,
    check_order,
    column_findings,
    pairs_of,
    rank_agreement,
    spread_of,
    stand_alike,
)

SHUFFLES = int(os.environ.get("POLYVEIL_SHUFFLES", "2000"))
SHAPES = {
    "two halves": lambda n: np.arange(n) % 2,
    "three values": lambda n: np.arange(n) % 3,
    "thirty groups": lambda n: np.arange(n) % 30,
    "groups of three": lambda n: np.arange(n) // 3,
    "one in ten": lambda n: (np.arange(n) % 10 == 0).astype(np.int64),
    "one row": lambda n: (np.arange(n) == 0).astype(np.int64),
    "half alike, half unique": lambda n: np.where(np.arange(n) < n / 2, 0, np.arange(n)),
    "falling sizes": lambda n: np.floor(np.log2(np.arange(n) + 1)).astype(np.int64),
    "all unique": lambda n: np.arange(n),
}
ROWS = (6, 12, 30, 46, 100, 250)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_shuffle_comes_near_what_is_called_an_order(shape: str, rows: int) -> None:
    """Neighbours, trend and serial correlation, each in the units its limit is given in."""
    rng = np.random.default_rng(rows)
    codes = np.unique(SHAPES[shape](rows), return_inverse=True)[1]
    expected, spread = pairs_of(codes) / rows, spread_of(codes)
    ranks = pl.Series(codes).rank("average").to_numpy()
    scores = (ranks - ranks.mean()) / (ranks.std() or 1.0)
    skewed = 2 * np.bincount(codes).max() > rows
    worst, seen = np.zeros(3), 0
    together: list[float] = []
    while seen < SHUFFLES:
        some = min(SHUFFLES - seen, max(1, 2_000_000 // rows))
        order = rng.permuted(np.tile(np.arange(rows), (some, 1)), axis=1)
        shuffled, places = codes[order], scores[order]
        found = (shuffled[:, 1:] == shuffled[:, :-1]).sum(axis=1)
        together += found.tolist()
        line = np.arange(rows) - (rows - 1) / 2
        trend = np.abs(places @ line) / (line.std() * rows) * np.sqrt(rows - 1)
        first, last = places[:, 1:], places[:, :-1]
        first, last = (part - part.mean(axis=1, keepdims=True) for part in (first, last))
        scale = np.sqrt((first**2).sum(axis=1) * (last**2).sum(axis=1))
        serial = np.abs((first * last).sum(axis=1)) / np.where(scale > 0, scale, np.inf) * np.sqrt(rows - 2)
        deviations = (found - expected) / (spread + 2.0)
        worst = np.maximum(worst, [deviations.max(), trend.max(), 0.0 if skewed else serial.max()])
        seen += some
    print(f"{shape}, {rows} rows: neighbours {worst[0]:.2f}, trend {worst[1]:.2f}, serial {worst[2]:.2f}")
    assert (worst < SUSPICIOUS - 0.5).all()
    assert np.isclose(np.mean(together), expected, atol=5 * spread / np.sqrt(SHUFFLES) + 1e-9)
    assert np.isclose(np.std(together), spread, rtol=0.15, atol=0.1)


@pytest.mark.parametrize("groups", [3, 5, 8, 12, 30, 60])
def test_orders_of_few_groups_agree_by_chance(groups: int) -> None:
    rng = np.random.default_rng(groups)
    worst = max(
        rank_agreement(rng.random(groups), rng.integers(0, 4, groups).astype(float)) for _ in range(SHUFFLES // 4)
    )
    assert worst < SUSPICIOUS - 0.5


@pytest.mark.parametrize("share", [0.5, 0.2, 0.1, 0.05])
def test_a_block_of_a_rare_value_in_the_middle_is_seen(share: float) -> None:
    """Neither sorted nor alike in most rows: only how often the rare value stands beside itself tells."""
    rows, rare = 1000, int(1000 * share)
    cells = np.zeros(rows, dtype=np.int64)
    cells[(rows - rare) // 2 : (rows + rare) // 2] = 1
    assert column_findings("table", pl.DataFrame({"value": cells}))
    shuffled = np.random.default_rng(1).permutation(cells)
    assert not check_order("table", pl.DataFrame({"value": shuffled}), shuffled)


def test_two_shuffles_are_never_called_alike_and_two_equal_orders_are() -> None:
    rng = np.random.default_rng(5)
    for _ in range(SHUFFLES):
        rows, groups = int(rng.integers(2, 300)), int(rng.integers(1, 60))
        here, there = rng.integers(0, groups, rows), rng.integers(0, groups, int(rng.integers(rows, 3 * rows)))
        assert not stand_alike("a", "b", here, there)
    order = rng.integers(0, 4, 60)
    for other in (order, order[::-1], np.append(order, order[:30]), np.repeat(order, 2)):
        assert stand_alike("a", "b", order, other)
