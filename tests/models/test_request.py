"""From a policy and coded columns to models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from model_examples import attribute
from polyveil.errors import PolicyError
from polyveil.models import (
    AlphaAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    LevelDiversity,
    Model,
    PSensitivity,
    RecursiveDiversity,
    TCloseness,
    attribute_of,
    models_for,
)
from polyveil.policy.hierarchy import flat, from_tree
from polyveil.policy.schema import Policy
from polyveil.table.coded import SensitiveColumn
from polyveil.table.domain import Domain, OrderedDomain, TreeDomain

ATTRIBUTES = {name: attribute([1, 1], name=name) for name in ("disease", "salary")}


def asked(privacy: dict[str, Any], **disease: Any) -> list[Model]:
    columns = {
        "age": {"role": "quasi"},
        "disease": {"role": "sensitive", **disease},
        "salary": {"role": "sensitive"},
        "ward": {"role": "insensitive"},
    }
    return list(models_for(Policy.model_validate({"columns": columns, "privacy": privacy}), ATTRIBUTES))


def summary(models: list[Model]) -> list[tuple[type[Model], str | None, float]]:
    return [(type(model), model.attribute, model.threshold) for model in models]


def test_what_is_not_asked_for_is_not_made() -> None:
    assert asked({}) == []


def test_every_sensitive_column_gets_every_model_of_the_policy() -> None:
    found = summary(asked({"k": 5, "l": 3, "t": 0.2, "p": 2, "alpha": 0.5, "beta": 1.5, "delta": 2.0}))
    expected = [(KAnonymity, None, 5)]
    for name in ("disease", "salary"):
        expected += [
            (FrequencyDiversity, name, 3),
            (TCloseness, name, 0.2),
            (PSensitivity, name, 2),
            (AlphaAnonymity, name, 0.5),
            (EnhancedBetaLikeness, name, 1.5),
            (DeltaDisclosure, name, 2.0),
        ]
    assert found == expected


def test_a_columns_own_value_wins() -> None:
    found = summary(asked({"t": 0.2, "l": 2, "beta": 1, "beta_kind": "basic"}, t=0.1, l=4, alpha=0.3, beta=3, delta=1))
    assert found == [
        (FrequencyDiversity, "disease", 4),
        (TCloseness, "disease", 0.1),
        (AlphaAnonymity, "disease", 0.3),
        (BasicBetaLikeness, "disease", 3),
        (DeltaDisclosure, "disease", 1),
        (FrequencyDiversity, "salary", 2),
        (TCloseness, "salary", 0.2),
        (BasicBetaLikeness, "salary", 1),
    ]


def test_a_threshold_of_zero_is_asked_for() -> None:
    assert summary(asked({"t": 0.5}, t=0.0))[0] == (TCloseness, "disease", 0.0)


@pytest.mark.parametrize(
    ("diversity", "kind", "threshold"),
    [
        ("frequency", FrequencyDiversity, 3),
        ("distinct", DistinctDiversity, 3),
        ("entropy", EntropyDiversity, 3),
        ("recursive", RecursiveDiversity, 4.5),
    ],
)
def test_what_l_means_is_the_policys_choice(diversity: str, kind: type[Model], threshold: float) -> None:
    model = asked({"l": 3, "diversity": diversity, "c": 4.5})[0]
    assert (type(model), model.threshold) == (kind, threshold)
    if isinstance(model, RecursiveDiversity):
        assert model.l == 3


def test_one_l_per_security_level() -> None:
    model = asked({"l": 2}, l={0: 1, 1: 2, 2: 3})[0]
    assert isinstance(model, LevelDiversity)
    assert model.per_level == {0: 1, 1: 2, 2: 3}


def column(domain: Domain, distance: Any, codes: list[int]) -> SensitiveColumn:
    return SensitiveColumn("x", domain, np.array(codes), distance, np.ones(domain.size, dtype=np.int64))


NUMBERS = OrderedDomain("numeric", np.array([1.0, 2.0, 10.0]), ("1", "2", "10"), has_null=True)
TREE = TreeDomain(from_tree({"g": ["a", "b"], "h": ["c"]}))


@pytest.mark.parametrize(
    ("domain", "distance", "ranges"),
    [
        (NUMBERS, "ordered", 3),  # two steps, and the way to "missing"
        (NUMBERS, "equal", 4),
        (NUMBERS, "kl", 0),
        (TREE, "hierarchical", 5),
        (TREE, "equal", 3),
        (TREE, "js", 0),
        (TreeDomain(flat(["a"])), "equal", 0),
    ],
)
def test_an_attribute_knows_its_distance_and_the_whole_table(domain: Domain, distance: Any, ranges: int) -> None:
    about = attribute_of(column(domain, distance, [0, *range(domain.size)]))
    assert (about.ground.distance, len(about.ground.start)) == (distance, ranges)
    assert about.whole.tolist() == [2] + [1] * (domain.size - 1)


def test_declared_values_that_no_row_has_do_not_stretch_the_line() -> None:
    stages = OrderedDomain("ordinal", np.arange(4.0), ("I", "II", "III", "IV"))
    about = attribute_of(column(stages, "ordered", [0, 3, 3]))
    assert about.ground.weight.tolist() == [1.0]


@pytest.mark.parametrize(("domain", "distance"), [(NUMBERS, "hierarchical"), (TREE, "ordered")])
def test_a_distance_that_does_not_fit_the_column_is_a_fault(domain: Domain, distance: Any) -> None:
    with pytest.raises(PolicyError, match=r"columns\.x\.distance"):
        attribute_of(column(domain, distance, [0]))
