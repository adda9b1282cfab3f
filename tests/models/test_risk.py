"""Risk as a guarantee: tables worked by hand, the formula against a plain sum, and what the policy refuses."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError
from polyveil.models import ClassStatistics, models_for
from polyveil.models.constraints import MinSize
from polyveil.models.risk import AverageRisk, JournalistRisk, MarketerRisk, ProsecutorRisk, chance, least_size
from polyveil.policy import Policy
from polyveil.verification.risk import expected_chance


def sizes(*rows: int) -> ClassStatistics:
    return ClassStatistics(np.array(rows, dtype=np.int64), {}, {})


def policy(**risk: object) -> Policy:
    return Policy.from_dict({"columns": {"a": {"role": "quasi"}}, "privacy": {"risk": risk}})


def test_the_prosecutors_risk_of_groups_of_2_4_and_10_rows() -> None:
    assert ProsecutorRisk(0.5).measure_all(sizes(2, 4, 10)).tolist() == [0.5, 0.25, 0.1]
    assert ProsecutorRisk(0.5).judge(sizes(2, 4, 10)).holds
    assert not ProsecutorRisk(0.49).judge(sizes(2, 4, 10)).holds


def test_the_average_risk_of_groups_of_2_4_and_10_rows_is_3_groups_by_16_rows() -> None:
    verdict = AverageRisk(3 / 16).judge(sizes(2, 4, 10))
    assert (verdict.value, verdict.outcome) == (3 / 16, "holds")
    assert AverageRisk(0.187).judge(sizes(2, 4, 10)).outcome == "fails"


def test_one_sampled_person_in_a_hundred_is_found_with_a_chance_of_4_65_percent() -> None:
    """p/(1-p) ln(1/p) for a group of one, p/(1-p) (1 - that) for a group of two: worked by hand for p = 0.01."""
    one = 0.01 / 0.99 * math.log(100)
    assert chance(np.array([1, 2]), 0.01) == pytest.approx([one, 0.01 / 0.99 * (1 - one)], rel=1e-12)
    assert one == pytest.approx(0.0465169, rel=1e-5)
    assert MarketerRisk(1.0, 0.01).measure_all(sizes(1, 2, 1))[0] == pytest.approx(
        (2 * one + 2 * 0.01 / 0.99 * (1 - one)) / 4
    )


@pytest.mark.parametrize("fraction", [0.0001, 0.01, 0.1, 0.3, 0.5, 0.51, 0.8, 0.999, 1.0])
def test_the_formula_is_the_mean_over_the_numbers_of_people_in_the_population(fraction: float) -> None:
    rows = np.array([1, 2, 3, 7, 22, 23, 24, 25, 60, 400, 3000])
    assert chance(rows, fraction) == pytest.approx([expected_chance(int(n), fraction) for n in rows], rel=1e-9)


@pytest.mark.parametrize("fraction", [0.05, 0.3])
def test_the_expected_chance_is_what_sampling_gives(fraction: float) -> None:
    """Group sizes N of a population are drawn with a prior of 1/N; over those with n in the sample, 1/N is averaged."""
    rng = np.random.default_rng(5)
    people = np.arange(1, 4000)
    drawn = rng.choice(people, size=4_000_000, p=(1 / people) / (1 / people).sum())
    sampled = rng.binomial(drawn, fraction)
    for n in (1, 2, 5):
        assert (1 / drawn[sampled == n]).mean() == pytest.approx(chance(np.array([n]), fraction)[0], rel=0.02)


@pytest.mark.parametrize(
    ("limit", "fraction", "least"), [(0.09, 1.0, 12), (0.2, 1.0, 5), (0.1, 1.0, 10), (1 / 3, 1.0, 3), (0.09, 0.01, 1)]
)
def test_the_least_group_within_a_limit(limit: float, fraction: float, least: int) -> None:
    assert least_size(limit, fraction) == least
    assert ProsecutorRisk(limit, fraction).constraints({}) == (MinSize(least),)
    assert chance(np.array([least]), fraction)[0] <= limit + 1e-9
    assert least == 1 or chance(np.array([least - 1]), fraction)[0] > limit


def test_a_policy_names_the_attacker() -> None:
    assert [type(model).key for model in models_for(policy(max=0.09), {})] == ["prosecutor-risk"]
    strict = models_for(policy(average=0.09, strict_k=3), {})
    assert [(type(model).key, model.threshold) for model in strict] == [("average-risk", 0.09), ("strict-k", 3)]
    both = models_for(policy(max=0.09, average=0.01, attacker="journalist", population={"fraction": 0.1}), {})
    assert [type(model) for model in both] == [JournalistRisk, MarketerRisk]
    marketer = models_for(policy(average=0.01, attacker="marketer", population={"fraction": 0.1}), {})
    assert [(type(model), model.threshold) for model in marketer] == [(MarketerRisk, 0.01)]


@pytest.mark.parametrize(
    ("risk", "words"),
    [
        ({"max": 0}, "max must be a number above 0 and at most 1"),
        ({"max": 1.2}, "max must be a number above 0 and at most 1"),
        ({"average": -0.1}, "average must be a number above 0 and at most 1"),
        ({}, "risk limits nothing"),
        ({"max": 0.1, "strict_k": 3}, "strict_k goes with average"),
        ({"average": 0.1, "strict_k": 0}, "strict_k must be a whole number of at least 1"),
        ({"max": 0.1, "attacker": "marketer", "population": {"fraction": 0.1}}, "the marketer's risk is a mean"),
        ({"max": 0.1, "attacker": "journalist"}, "none is given"),
        ({"unique_in_population": 0.01}, "no population is given"),
        ({"unique_in_population": 0, "population": {"fraction": 0.1}}, "unique_in_population must be a number above 0"),
        ({"max": 0.1, "population": {"fraction": 0.1}}, "population is not used"),
        ({"max": 0.1, "attacker": "journalist", "population": {"fraction": 0}}, "fraction must be a number above 0"),
        ({"max": 0.1, "attacker": "journalist", "population": {"fraction": 1.5}}, "fraction must be a number above 0"),
        ({"maximum": 0.1}, "Did you mean 'max'?"),
    ],
)
def test_what_a_policy_refuses_is_said_in_one_line(risk: dict[str, object], words: str) -> None:
    with pytest.raises(PolicyError) as found:
        policy(**risk)
    assert words in str(found.value)
    assert len(found.value.faults) == 1


@pytest.mark.parametrize("limit", [{"max": 0.05}, {"average": 0.05}, {"average": 0.5, "strict_k": 11}])
def test_a_limit_that_needs_more_people_than_the_table_has(limit: dict[str, float]) -> None:
    table = pl.DataFrame({"a": list(range(10))})
    with pytest.raises(PolicyError, match="the table has 10 rows"):
        polyveil.anonymize(table, policy(**limit))


def test_several_rows_of_a_person_count_once() -> None:
    """Two people with three rows each look alike: the prosecutor finds one of two, not one of six."""
    table = pl.DataFrame({"who": ["a"] * 3 + ["b"] * 3, "age": [30] * 6})
    asked = {"columns": {"who": {"role": "person"}, "age": {"role": "quasi"}}, "privacy": {"risk": {"max": 0.2}}}
    found = {each.model: each for each in polyveil.check(table, asked).measurements}
    assert (found["prosecutor-risk"].value, found["prosecutor-risk"].holds) == (0.5, False)
    assert found["average-risk"].value == 0.5


def test_check_measures_risk_that_nobody_asked_for() -> None:
    table = pl.DataFrame({"age": [30, 30, 52, 52, 52]})
    found = {each.model: each.value for each in polyveil.check(table, quasi="age").measurements}
    assert found["prosecutor-risk"] == 0.5
    assert found["average-risk"] == 2 / 5


@pytest.mark.parametrize("form", ["anatomized", "sliced"])
def test_forms_that_show_who_is_who_are_refused(form: str) -> None:
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    table = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]})
    asked = {"columns": columns, "privacy": {"risk": {"max": 0.5}, "l": 2}, "release": {"form": form}}
    with pytest.raises(PolicyError, match="risk is guaranteed by making rows alike"):
        polyveil.anonymize(table, asked)
