"""Options of methods that cannot be used: one fault per option, in words of our own."""

from __future__ import annotations

from typing import Any

import pytest

from polyveil.errors import PolicyError
from polyveil.methods import make_method
from polyveil.policy.schema import MethodChoice


@pytest.mark.parametrize(
    ("choice", "fault"),
    [
        ({"name": "sift", "x": 1}, ("method.x", "Unknown option 'x' of method sift", "Options: effort")),
        ({"name": "kaca", "x": 1}, ("method.x", "Unknown option 'x' of method kaca", "Options: as_printed")),
        (
            {"name": "sift", "effort": "quick"},
            (
                "method.effort",
                "effort must be 'fast', 'balanced' or 'thorough' or a valid number",
                "effort: how long to search: fast, balanced, thorough, or a number of seconds",
            ),
        ),
    ],
)
def test_an_option_that_cannot_be_used_is_one_fault(choice: dict[str, Any], fault: tuple[str, str, str]) -> None:
    with pytest.raises(PolicyError) as caught:
        make_method(MethodChoice(**choice))
    assert [(each.place, each.rule, each.remedy) for each in caught.value.faults] == [fault]


def test_every_faulty_option_is_named() -> None:
    with pytest.raises(PolicyError) as caught:
        make_method(MethodChoice(name="sift", x=1, effort="quick"))  # type: ignore[call-arg]
    assert [each.place for each in caught.value.faults] == ["method.effort", "method.x"]
