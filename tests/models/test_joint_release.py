"""Joint closeness end to end: asked for in a policy, kept by a method, checked by the verifier from tables alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from attack_tables import FAITHS, ILLNESSES, people, policy_of
from polyveil.errors import PolicyError
from polyveil.policy import Policy
from polyveil.releases import Release
from polyveil.verification import verify, verify_tables

NAME = "illness + faith"


def asked(joint: float = 0.3, **privacy: Any) -> dict[str, Any]:
    return policy_of(k=5, joint=[{"columns": ["illness", "faith"], "t": joint}], **privacy)


def dependent(rows: int = 600) -> pl.DataFrame:
    """The young have one illness with each faith, the old another: together they tell, one by one they do not."""
    rng = np.random.default_rng(0)
    age, faith = np.arange(rows), rng.integers(0, 4, rows)
    illness = (faith + np.where(age < rows // 2, 0, 2)) % 4
    return people(
        rows, age=age, faith=np.array(FAITHS)[faith], illness=np.array(ILLNESSES)[np.array([0, 3, 6, 1])[illness]]
    )


def test_separate_closeness_is_not_enough_and_joint_closeness_is_kept() -> None:
    frame = dependent()
    separate = polyveil.anonymize(frame, policy_of(k=5, t=0.3))
    together = polyveil.anonymize(frame, asked(0.3, t=0.3))
    judged = verify_tables({**separate.manifest, "policy": together.manifest["policy"]}, separate.tables)
    joint = [verdict for verdict in judged.verdicts if verdict.model == "joint-t-closeness"]
    assert [verdict.outcome for verdict in joint] == ["fails"]
    assert together.privacy["joint"][NAME] <= 0.3
    assert together.verify().holds
    assert together.loss["normalized_loss"] >= separate.loss["normalized_loss"]


@pytest.mark.parametrize("method", ["mondrian", "kaca", "fcm", "pca", "fragment", "swap"])
def test_any_method_can_be_asked_for_it(method: str) -> None:
    policy = {**asked(0.5), "method": {"name": method}}
    release = polyveil.anonymize(dependent(300), policy, seed=0)
    assert release.privacy["joint"][NAME] <= 0.5
    assert release.manifest["classes"] > 1


def test_an_anatomized_release_keeps_it_and_a_sliced_one_cannot_be_asked() -> None:
    release = polyveil.anonymize(dependent(), {**asked(), "release": {"form": "anatomized"}})
    assert release.verify().holds
    assert release.privacy["joint"][NAME] <= 0.3
    sliced = {**policy_of(l=2, joint=[{"columns": ["illness", "faith"], "t": 0.3}]), "method": {"name": "sloms"}}
    with pytest.raises(PolicyError, match=r"privacy\.joint"):
        polyveil.anonymize(dependent(), sliced)


def test_the_verifier_finds_an_exchange_that_no_single_column_shows(tmp_path: Path) -> None:
    """Faiths are exchanged within classes: every column keeps its distribution in every class."""
    frame = people(200, illness=np.resize(ILLNESSES[:4], 200), faith=np.repeat(FAITHS, 50))
    policy = policy_of(k=50, joint=[{"columns": ["illness", "faith"], "t": 0.5}])
    release = polyveil.anonymize(frame, policy)
    quasi = ["age", "place"]
    exchanged = release.table.with_columns(pl.col("faith").sort().over(quasi), pl.col("illness").sort().over(quasi))
    found = verify_tables(release.manifest, {"table": exchanged})
    assert not found.holds
    assert any("joint-t-closeness" in finding.message or "joint" in finding.check for finding in found.failures)
    release.save(tmp_path / "release")
    assert verify(tmp_path / "release").holds


def test_rows_left_out_are_not_part_of_the_comparison() -> None:
    frame = dependent().with_columns(age=pl.when(pl.int_range(pl.len()) < 3).then(10_000).otherwise(pl.col("age")))
    release = polyveil.anonymize(frame, {**asked(0.4), "privacy": {**asked(0.4)["privacy"], "suppression_limit": 0.05}})
    assert isinstance(release, Release)
    assert release.verify().holds
    assert "joint" not in {key for key in release.manifest if key not in ("privacy", "policy")}


@pytest.mark.parametrize(
    ("joint", "rule"),
    [
        ([{"columns": ["illness"], "t": 0.3}], "columns"),
        ([{"columns": ["illness", "illness"], "t": 0.3}], "twice"),
        ([{"columns": ["illness", "age"], "t": 0.3}], "sensitive"),
        ([{"columns": ["illness", "nothing"], "t": 0.3}], "sensitive"),
        ([{"columns": ["illness", "faith"]}], "t"),
        ([{"columns": ["illness", "faith"], "t": 2}], "1"),
        ([{"columns": ["illness", "faith"], "t": 0.3}, {"columns": ["faith", "illness"], "t": 0.2}], "twice"),
    ],
)
def test_a_joint_demand_that_cannot_be_meant_is_a_fault_with_its_place(joint: list[Any], rule: str) -> None:
    with pytest.raises(PolicyError) as error:
        Policy.from_dict(policy_of(k=2, joint=joint))
    assert all("joint" in fault.place for fault in error.value.faults)
    assert rule in str(error.value)


def test_a_policy_with_joint_demands_round_trips(tmp_path: Path) -> None:
    policy = Policy.from_dict(asked())
    (tmp_path / "policy.yaml").write_text(policy.to_yaml())
    assert Policy.from_yaml(tmp_path / "policy.yaml").privacy == policy.privacy


def test_three_columns_are_never_closer_than_two() -> None:
    rng = np.random.default_rng(2)
    frame = people(400).with_columns(salary=pl.Series(rng.integers(0, 30, 400)))
    policy = policy_of(k=20)
    policy["columns"]["salary"] = {"role": "sensitive", "type": "numeric"}
    policy["privacy"]["joint"] = [
        {"columns": ["illness", "faith"], "t": 0.9},
        {"columns": ["illness", "faith", "salary"], "t": 0.9},
    ]
    reached = polyveil.anonymize(frame, policy).privacy["joint"]
    assert reached["illness + faith"] <= reached["illness + faith + salary"] + 1e-6
