"""Knees, frontiers and the k a table supports."""

from __future__ import annotations

import pytest

from polyveil.advice.cases import Case, CaseOutcome
from polyveil.advice.evidence import Curve, knee, supported_k
from polyveil.advice.frontier import frontier, lower_steps


def outcome(
    method: str, loss: float, distance: float | None = None, *, k: int = 5, form: str = "generalized"
) -> CaseOutcome:
    privacy = {"k": k, "t": {} if distance is None else {"x": distance}}
    return CaseOutcome(Case(method, k=k), form, "done", 1.0, privacy=privacy, loss={"normalized_loss": loss})


def test_the_knee_is_farthest_below_the_line() -> None:
    assert knee([(0.0, 1.0), (0.1, 0.3), (0.5, 0.1), (1.0, 0.0)]) == 0.1
    assert knee([(0.1, 0.9), (0.2, 0.5), (0.3, 0.45), (0.4, 0.4)]) == 0.2


@pytest.mark.parametrize("points", [[], [(0, 1), (1, 0)], [(0, 1), (0.5, 0.5), (1, 0)], [(0, 1), (0.5, 1), (1, 1)]])
def test_a_straight_curve_has_no_knee(points: list[tuple[float, float]]) -> None:
    assert knee(points) is None


def test_the_frontier_holds_what_nothing_beats_in_loss_and_distance() -> None:
    near, far, worse, same = (
        outcome("a", 0.6, 0.1),
        outcome("b", 0.3, 0.2),
        outcome("c", 0.6, 0.2),
        outcome("d", 0.3, 0.2),
    )
    other_form = outcome("e", 0.9, 0.9, form="sliced")
    failed = CaseOutcome(Case("f"), "generalized", "out of time", 9.0)
    assert {case.method for case in frontier([near, far, worse, same, other_form, failed])} == {"a", "b", "d", "e"}


def test_without_distances_a_larger_k_protects_more() -> None:
    assert {case.k for case in frontier([outcome("a", 0.2, k=2), outcome("a", 0.3, k=5), outcome("a", 0.3, k=3)])} == {
        2,
        5,
    }


def test_steps_fall_from_left_to_right() -> None:
    assert lower_steps([(3, 1), (1, 3), (2, 3), (2, 2), (4, 1)]) == [(1, 3), (2, 2), (3, 1)]


def test_the_largest_bearable_k_is_supported() -> None:
    curve = Curve("m", (outcome("m", 0.1, k=2), outcome("m", 0.4, k=5), outcome("m", 0.7, k=10)), None)
    assert supported_k(curve) == 5
    assert supported_k(curve, bearable=0.05) is None
