"""Every label that a rule makes is known as one of its own, whatever the values."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from polyveil.policy.rules import DateParts, Intervals, Mask
from polyveil.policy.scalars import number_label
from polyveil.verification.nodes import are_nodes_of

INF = float("inf")
INTERVALS = (
    {"width": 5},
    {"width": 2.5, "origin": 0.5},
    {"width": 0.1, "levels": 4, "fanout": 3},
    [[-INF, -10, 0, 30, INF], [-INF, 0, INF]],
    [[-1000.5, 0.5, 3, 1000.5]],
    [[-1000, 0, 10, 1000], [-1000, 1000]],
)


@pytest.mark.parametrize("intervals", INTERVALS)
@pytest.mark.parametrize("digits", [0, 1, 3])
def test_intervals(intervals: object, digits: int) -> None:
    rule = Intervals(intervals=intervals)  # type: ignore[arg-type]
    rng = np.random.default_rng(digits)
    for _ in range(20):
        numbers = np.unique(np.round(rng.normal(0, 10.0 ** rng.integers(0, 3), 30), digits) + 0.0).tolist()
        tree = rule.build(numbers, [number_label(number) for number in numbers])
        assert are_nodes_of(rule, list(tree.labels))
    assert not are_nodes_of(rule, ["[0-5] Alice"])
    assert not are_nodes_of(rule, ["Alice"])


@pytest.mark.parametrize("side", ["left", "right"])
def test_masks(side: str) -> None:
    rule = Mask(mask=3, side=side)  # type: ignore[arg-type]
    rng = np.random.default_rng(1)
    for _ in range(50):
        values = sorted({"".join(rng.choice(list("ab1."), rng.integers(1, 7))) for _ in range(12)})
        assert are_nodes_of(rule, list(rule.build(values).labels))
    for wrong in ("a*b", "1****", "**1*"):
        assert not are_nodes_of(rule, [wrong])


def test_parts_of_dates() -> None:
    days = [dt.date(1 + 97 * i, 1 + i % 12, 1 + i % 28) for i in range(100)]
    rule = DateParts(date=["month", "quarter", "year", "decade"])
    assert are_nodes_of(rule, list(rule.build(days).labels))
    for wrong in ("1995s", "2026-Q5", "2026-13", "Alice", "1990s ", "26"):
        assert not are_nodes_of(rule, [wrong])
    assert not are_nodes_of(DateParts(date=["year"]), ["2026-01"])
