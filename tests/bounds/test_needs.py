"""Which values a class must hold: less than any class that keeps its guarantee holds."""

from __future__ import annotations

import numpy as np
import pytest

from polyveil.bounds.needs import Need, count_of, need_of, needs_of
from polyveil.models import (
    AlphaAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    FrequencyDiversity,
    Model,
    RecursiveDiversity,
    TCloseness,
    attribute_of,
    from_classes,
)
from polyveil.models.constraints import Closeness
from polyveil.table.coded import SensitiveColumn
from polyveil.table.domain import as_codes
from tables import ILLNESSES, ordered, random_table, tree


def lack(need: Need, codes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    return float(need.mass @ need.far[:, np.unique(need.group[codes])].min(axis=1))


MODELS: list[Model] = [
    TCloseness(0.4, "s"),
    AlphaAnonymity(0.6, "s"),
    BasicBetaLikeness(1.5, "s"),
    EnhancedBetaLikeness(1.5, "s"),
    DeltaDisclosure(1.2, "s"),
    DistinctDiversity(3, "s"),
    EntropyDiversity(2.2, "s"),
    FrequencyDiversity(2.0, "s"),
    RecursiveDiversity(3.0, "s", 3),
]


@pytest.mark.parametrize("distance", ["hierarchical", "ordered", "equal", "hellinger", "kl", "js"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_class_that_keeps_its_guarantee_lacks_no_value_that_it_needs(model: Model, distance: str) -> None:
    rng = np.random.default_rng(1)
    domain = ordered(9, rng, null=False) if distance == "ordered" else tree(ILLNESSES, null=False)
    codes = as_codes(rng.integers(0, domain.size, 60), domain.size)
    about = attribute_of(SensitiveColumn("s", domain, codes, distance, np.ones(domain.size, dtype=np.int64)))  # type: ignore[arg-type]
    asked = model.constraints({"s": about})
    needs = [need for one in asked if (need := need_of(one) or count_of(one, domain.size)) is not None]
    assert needs
    held = broken = 0
    for _ in range(300):
        some = rng.choice(60, int(rng.integers(1, 14)), replace=False)
        statistics = from_classes(np.zeros(len(some), dtype=np.int64), {"s": codes[some]}, {"s": about})
        fine = all(lack(need, codes[some]) <= need.limit + 1e-9 for need in needs)
        keeps = bool(model.passes(model.measure_all(statistics))[0])
        assert fine or not keeps
        held, broken = held + keeps, broken + (not fine)
    assert broken  # else it would say nothing


def test_the_share_of_each_value_is_carried_to_the_nearest_one_held() -> None:
    # Four values in order, a quarter of the rows each; a class of the first alone is (1 + 2 + 3) / 4 steps of 1/3 away.
    start, stop = np.zeros(3, dtype=np.int64), np.arange(1, 4)
    need = need_of(Closeness("s", start, stop, np.full(3, 1 / 3), np.full(4, 5), limit=0.2))
    assert need is not None
    assert lack(need, np.array([0])) == pytest.approx(0.5)
    assert lack(need, np.array([0, 3])) == pytest.approx(2 / 4 / 3)


def test_many_ordered_values_are_taken_together_and_lack_no_more() -> None:
    size = 1000
    whole = np.random.default_rng(0).integers(1, 5, size)
    ranges = np.zeros(size - 1, dtype=np.int64), np.arange(1, size), np.full(size - 1, 1 / (size - 1))
    need = need_of(Closeness("s", *ranges, whole, limit=0.1))
    assert need is not None
    assert len(need.mass) <= 256
    share = whole / whole.sum()
    for held in ([0], [500], [10, 600, 900]):
        exact = float(share @ np.abs(np.arange(size)[:, None] - held).min(axis=1)) / (size - 1)
        assert 0.95 * exact - 0.01 <= lack(need, np.array(held)) <= exact + 1e-9


def test_ranges_that_cross_are_left_out() -> None:
    crossing = np.array([0, 1]), np.array([2, 3]), np.array([0.5, 0.5])
    assert need_of(Closeness("s", *crossing, np.full(4, 5), limit=0.1)) is None


def test_a_requirement_that_any_value_meets_is_no_need() -> None:
    table = random_table(0)
    column = table.sensitive[0]
    about = attribute_of(column)
    assert needs_of(table, TCloseness(1.0, column.name).constraints({column.name: about})) is None
    assert needs_of(table, TCloseness(0.3, column.name).constraints({column.name: about})) is not None
