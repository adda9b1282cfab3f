"""Sampling weights: published as means of groups, t and risk with them worked by hand, forged and bad ones refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError
from polyveil.models import ClassStatistics, attributes_of, codes_of, from_classes
from polyveil.models.risk import chance
from polyveil.models.weighted import WeightedCloseness, WeightedRisk
from polyveil.policy import load_policy
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read
from polyveil.table.weights import class_weights
from polyveil.verification.risk import expected_chance

COLUMNS = {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}, "weight": {"role": "weight"}}
BY_WEIGHTS = {"attacker": "journalist", "population": {"weights": True}}


def survey(rows: int = 400, seed: int = 1) -> pl.DataFrame:
    """Old people are ill more often and were drawn less often, so that weights change every distribution."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    ill = rng.random(rows) < np.where(age > 60, 0.5, 0.2)
    weight = np.exp(rng.normal(3, 0.5, rows)) * np.where(age > 60, 3, 1)
    household = rng.integers(0, rows // 2, rows)
    sex = rng.choice(["f", "m"], rows)
    return pl.DataFrame(
        {"age": age, "sex": sex, "disease": np.where(ill, "ill", "well"), "weight": weight, "household": household}
    )


def asked(privacy: dict[str, Any], method: str = "sift", **columns: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "columns": {**COLUMNS, "sex": {"role": "quasi"}, **columns},
        "privacy": privacy,
        "other_columns": "drop",
        "method": {"name": method, **({"effort": "fast"} if method == "sift" else {})},
    }
    return found


def two_groups() -> ClassStatistics:
    """Three ill of four people with the weight 1, one of four with the weight 3."""
    frame = pl.DataFrame({"age": [1] * 4 + [2] * 4, "disease": list("iiwiwwiw"), "weight": [1.0] * 4 + [3.0] * 4})
    coded = encode(bind(load_policy({"columns": COLUMNS, "privacy": {"k": 3}}), read(frame)))
    groups = np.repeat([0, 1], 4)
    assert coded.sampling is not None
    counted = from_classes(groups, codes_of(coded), attributes_of(coded))
    return replace(counted, sampling=class_weights(coded.sampling, groups))


def test_the_weighted_table_is_what_groups_are_compared_with() -> None:
    """Of 16 people 3 + 3 = 6 are ill: 0.375. The groups have 0.75 and 0.25, which is 0.375 and 0.125 away."""
    model = WeightedCloseness(0.2, "disease")
    assert model.measure_all(two_groups()).tolist() == pytest.approx([0.375, 0.125])
    assert model.judge(two_groups()).failing_classes == 1
    without = replace(two_groups(), sampling=None)
    assert model.judge(without).outcome == "not checked"


def test_the_risk_is_that_of_a_sample_as_large_as_the_weights_say() -> None:
    """Four rows with the weight 1 are all there are: 1/4. With the weight 3 they are a third of twelve people."""
    found = WeightedRisk(0.1).measure_all(two_groups())
    assert found.tolist() == pytest.approx([0.25, chance(np.array([4]), 1 / 3)[0]])
    assert 1 / 12 < found[1] < 1 / 4
    assert WeightedRisk(0.3).judge(replace(two_groups(), sampling=np.array([0.0, 0.5]))).value == 0.25


@pytest.mark.parametrize("size", [1, 2, 5, 30])
def test_the_chance_of_groups_with_their_own_shares_is_that_of_each(size: int) -> None:
    """Beside a plain sum, and beside p log(1/p) / (1-p), the individual risk of one row that sdcMicro documents."""
    shares = np.array([1.0, 0.9, 0.5, 0.3, 0.01, 1e-5])
    found = chance(np.full(len(shares), size), shares)
    assert found.tolist() == pytest.approx([expected_chance(size, share) for share in shares.tolist()], abs=1e-9)
    if size == 1:
        assert found[1:].tolist() == pytest.approx([p / (1 - p) * np.log(1 / p) for p in shares[1:].tolist()])


def test_merging_never_raises_the_risk() -> None:
    rng = np.random.default_rng(3)
    rows, weights = rng.integers(1, 40, (500, 2)), 1 + rng.exponential(20, (500, 2))
    apart = np.stack([chance(rows[:, i], 1 / weights[:, i]) for i in (0, 1)], axis=1)
    both = chance(rows.sum(axis=1), rows.sum(axis=1) / (rows * weights).sum(axis=1))
    assert (both <= apart.min(axis=1) + 1e-12).all()


@pytest.mark.parametrize("method", ["sift", "mondrian", "kaca", "fcm", "lattice"])
def test_t_holds_in_rows_and_with_weights_counted_from_the_released_table(method: str) -> None:
    release = polyveil.anonymize(survey(), asked({"k": 5, "t": 0.15}, method), seed=1)
    table, far = release.table, []
    for whole in (table.with_columns(count=pl.lit(1.0)), table.with_columns(count="weight")):
        share = whole.filter(pl.col("disease") == "ill")["count"].sum() / whole["count"].sum()
        within = whole.group_by("age", "sex").agg((pl.col("disease") == "ill").mean())["disease"]
        far.append(float((within - share).abs().max()))  # type: ignore[arg-type]
    assert max(far) <= 0.15 + 1e-9
    claims = {claim["model"]: claim["measured"] for claim in release.manifest["claims"]}
    assert claims["weighted-t-closeness"] == pytest.approx(far[1])
    assert (
        table.group_by("age", "sex").agg(pl.col("weight").n_unique())["weight"].to_list()
        == [1] * release.manifest["classes"]
    )
    assert table["weight"].sum() == pytest.approx(survey()["weight"].sum(), rel=2e-3)


def test_a_risk_by_weights_is_kept_in_every_group_and_costs_less_than_the_prosecutors() -> None:
    by_weights = polyveil.anonymize(survey(), asked({"k": 3, "risk": {"max": 0.02, **BY_WEIGHTS}}), seed=1)
    groups = by_weights.table.group_by("age", "sex").agg(pl.len(), pl.col("weight").first())
    assert max(expected_chance(n, 1 / max(w, 1)) for _, _, n, w in groups.iter_rows()) <= 0.02
    alone = polyveil.anonymize(survey(), asked({"risk": {"max": 0.02}}), seed=1)
    assert by_weights.loss["normalized_loss"] < alone.loss["normalized_loss"]


def test_households_are_units_as_persons_are() -> None:
    """The key of a household in the role person: no group has fewer households than k, and t holds in them too."""
    frame = survey()
    policy = asked({"k": 5, "t": 0.3}, household={"role": "person"})
    release = polyveil.anonymize(frame, policy, seed=1)
    assert release.class_of_row is not None
    members = pl.DataFrame({"group": release.class_of_row, "household": frame["household"]})
    assert members.group_by("group").agg(pl.col("household").n_unique())["household"].min() >= 5  # type: ignore[operator]
    assert members.group_by("household").agg(pl.col("group").n_unique())["group"].max() == 1
    people = release.manifest["people"]
    assert people["count"] == frame["household"].n_unique()
    assert {claim["model"]: claim["measured"] for claim in people["claims"]}["weighted-t-closeness"] <= 0.3


def test_rows_left_out_have_no_weight_to_tell() -> None:
    release = polyveil.anonymize(survey(), asked({"k": 5, "t": 0.2, "suppression_limit": 0.1}, "mondrian"), seed=1)
    assert release.outcome == "holds"


def test_the_loss_with_weights_is_that_of_the_people_the_rows_stand_for() -> None:
    """Sixteen rows of an exact age weigh 1, four of [50-70] weigh 4: half of the weight loses 20 of 50 years."""
    frame = pl.DataFrame(
        {"age": [20] * 16 + [50, 50, 70, 70], "disease": ["a", "b"] * 10, "weight": [1.0] * 16 + [4.0] * 4}
    )
    release = polyveil.anonymize(frame, {"columns": COLUMNS, "privacy": {"k": 4}}, seed=1)
    assert sorted(set(release.table["age"])) == ["20", "[50-70]"]
    assert release.loss["normalized_loss"] == pytest.approx(0.2 * 0.4)
    assert release.loss["weighted_loss"] == pytest.approx(0.5 * 0.4)


def released(folder: Path) -> polyveil.Release:
    del folder
    return polyveil.anonymize(survey(), asked({"k": 3, "t": 0.3, "risk": {"max": 0.05, **BY_WEIGHTS}}), seed=1)


@pytest.mark.parametrize(
    ("forged", "check"),
    [
        (lambda cells: cells.scatter(0, cells[0] + 10), "weights"),
        (lambda cells: cells * 1.00001, "weights"),
        (lambda cells: -cells, "weights"),
        (lambda cells: cells / 0, "weights"),
        (lambda cells: cells * 0, "weights"),
        (lambda cells: cells * 0 + 1.0, "risk"),
        (lambda cells: cells.cast(pl.String), "text of weight"),
    ],
)
def test_the_verifier_refuses_weights_that_were_changed(
    forged: Callable[[pl.Series], pl.Series], check: str, tmp_path: Path
) -> None:
    release = released(tmp_path)
    assert polyveil.verify(release).holds
    table = release.frames["table"]
    changed = replace(release, frames={"table": table.with_columns(forged(table["weight"]).alias("weight"))})
    found = polyveil.verify(changed)
    assert check in {finding.check for finding in found.failures}


def test_weights_as_a_linking_key_find_nobody_in_a_group_and_everybody_where_rows_keep_theirs(tmp_path: Path) -> None:
    release = released(tmp_path)
    found = polyveil.attack(release, survey()).named("linkage by weight")
    assert (found.verdict, found.worst) == ("within bound", pytest.approx(1 / 3))
    own = release.frames["table"].with_columns(weight=survey()["weight"])
    leaking = polyveil.attack(replace(release, frames={"table": own}), survey()).named("linkage by weight")
    assert (leaking.verdict, leaking.worst) == ("broken", 1.0)


@pytest.mark.parametrize(
    ("cells", "rule"),
    [
        ([1.0, -2.0, 3.0, -4.0], "columns.weight: the weight is negative in 2 rows, and it counts people"),
        ([1.0, None, 3.0, 4.0], "columns.weight: the weight is missing in 1 row"),
        (["1", "two", "3", "4"], "columns.weight: 1 of 4 cells are not a number"),
        ([1.0, float("inf"), 3.0, 4.0], "columns.weight: 1 of 4 cells are not a number"),
        ([0, 0, 0, 0], "columns.weight: all weights are 0"),
    ],
)
def test_bad_weights_are_refused_in_one_line(cells: list[Any], rule: str) -> None:
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "disease": list("abab"), "weight": cells})
    with pytest.raises(PolicyError) as found:
        polyveil.anonymize(frame, {"columns": COLUMNS, "privacy": {"k": 3}})
    assert len(found.value.faults) == 1
    assert rule in str(found.value)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"privacy": {"t": 0.2}}, "groups may have fewer than 3 rows"),
        ({"privacy": {"k": 5, "any": 1}}, "any makes no groups"),
        ({"columns": {**COLUMNS, "w2": {"role": "weight"}}}, "2 columns have the role weight: weight and w2"),
        ({"columns": {"age": {"role": "quasi"}}, "privacy": {"risk": {"max": 0.1, **BY_WEIGHTS}}}, "no column has the"),
        ({"release": {"form": "anatomized"}}, "which the anatomized form has not"),
        ({"privacy": {"risk": {"average": 0.1, **BY_WEIGHTS}}}, "a weight limits the greatest risk only"),
        (
            {"privacy": {"k": 3, "risk": {"max": 0.1, "attacker": "journalist", "population": {"weights": False}}}},
            "one of the three",
        ),
    ],
)
def test_what_weights_cannot_be_used_for(change: dict[str, Any], rule: str) -> None:
    policy: dict[str, Any] = {"columns": COLUMNS, "privacy": {"k": 3}, "other_columns": "drop", **change}
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "disease": list("abab"), "weight": [1] * 4, "w2": [1] * 4})
    with pytest.raises(PolicyError, match=rule) as found:
        polyveil.anonymize(frame, policy)
    assert len(found.value.faults) == 1


def test_check_measures_with_weights() -> None:
    found = polyveil.check(survey(), asked({"k": 3, "t": 0.2, "risk": {"max": 0.1, **BY_WEIGHTS}}))
    measured = {each.model: each.value for each in found.measurements}
    assert {"weighted-t-closeness", "weighted-journalist-risk"} <= set(measured)
    assert 0 < measured["weighted-journalist-risk"] < 1


def test_inspect_suggests_one_weight_and_no_body_weight() -> None:
    frame = pl.DataFrame({"final_weight": [1.5, 2.5, 3.5], "design_weight": [1.0, 1.0, 2.0], "weight": [60, 70, 80]})
    roles = {column.name: column.role for column in polyveil.profile(frame).columns}
    assert (roles["final_weight"], roles["design_weight"]) == ("weight", "drop")
    assert roles["weight"] != "weight"
    negative = polyveil.profile(frame.with_columns(final_weight=pl.Series([-1.0, 2.0, 3.0]))).columns[0]
    assert negative.role == "drop"


def test_analyses_of_a_release_with_weights_count_people() -> None:
    """Where nothing was generalized, the weighted shares differ by the rounding of the means of groups alone."""
    frame = pl.DataFrame(
        {"age": [30] * 40 + [60] * 40, "disease": (["ill"] * 10 + ["well"] * 30) * 2, "weight": [1.0] * 40 + [3.0] * 40}
    )
    release = polyveil.anonymize(frame, {"columns": COLUMNS, "privacy": {"k": 5}}, seed=1)
    found = polyveil.analyze(release, frame, [{"table": ["age", "disease"]}]).analyses[0]
    shares = {each.term: (each.original, each.released) for each in found.estimates}
    old = [pair for term, pair in shares.items() if "well" in term and pair[0] > 0.5]
    assert old == [pytest.approx((0.5625, 0.5625))]
