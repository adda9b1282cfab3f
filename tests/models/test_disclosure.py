"""beta-likeness and delta-disclosure: answers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from model_examples import attribute, classes, measured
from polyveil.models import BasicBetaLikeness, DeltaDisclosure, EnhancedBetaLikeness

RARE = attribute([90, 10])


def test_basic_beta_is_the_greatest_relative_gain() -> None:
    """10 % become 30 %: gain 2. Values that become rarer do not count."""
    assert measured(BasicBetaLikeness(1.0, "x"), [[7, 3], [9, 1], [10, 0]], RARE) == [
        pytest.approx(2.0),
        pytest.approx(0.0, abs=1e-15),
        pytest.approx(1 / 9),
    ]


def test_enhanced_beta_keeps_common_values_from_becoming_certain() -> None:
    """-ln 0.9 = 0.105 < 1/9: a class of the common value alone passes no beta; the rare value may gain 2.303."""
    found = measured(EnhancedBetaLikeness(5.0, "x"), [[10, 0], [7, 3], [6, 4]], RARE)
    assert found == [np.inf, pytest.approx(2.0), np.inf]
    assert EnhancedBetaLikeness(2.0, "x").judge(classes([[7, 3]], RARE)).holds


def test_delta_is_the_greatest_change_either_way() -> None:
    found = measured(DeltaDisclosure(1.0, "x"), [[7, 3], [95, 5]], RARE)
    assert found == [pytest.approx(np.log(3)), pytest.approx(np.log(2))]


def test_delta_needs_every_value_of_the_table_in_every_class() -> None:
    assert measured(DeltaDisclosure(1.0, "x"), [[10, 0]], RARE) == [np.inf]
    unused = attribute([90, 10, 0])
    assert measured(DeltaDisclosure(1.0, "x"), [[9, 1, 0]], unused) == [pytest.approx(0.0, abs=1e-15)]


@pytest.mark.parametrize("model", [BasicBetaLikeness, EnhancedBetaLikeness, DeltaDisclosure])
def test_a_value_the_reference_lacks_is_infinitely_likelier(model: type[BasicBetaLikeness]) -> None:
    assert measured(model(1.0, "x"), [[1, 1]], attribute([5, 0])) == [np.inf]


@pytest.mark.parametrize("model", [BasicBetaLikeness, EnhancedBetaLikeness, DeltaDisclosure])
def test_a_single_value_tells_nothing(model: type[BasicBetaLikeness]) -> None:
    assert measured(model(1.0, "x"), [[3]], attribute([10])) == [0.0]
