"""Sensitive numbers that nobody else has are noticed by inspect, check and attack, until they are published coarser."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.table.profiling.precise import nice_step, share_alone

ROWS = 200


def people(cents: bool = True) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    salary = rng.integers(200_000, 900_000, ROWS) / 100
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, ROWS),
            "salary": salary if cents else np.round(salary / 1000) * 1000,
            "disease": rng.choice(["flu", "asthma", "ulcer"], ROWS),
        }
    )


def policy(**salary: Any) -> dict[str, Any]:
    return {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "salary": {"role": "sensitive", "type": "numeric", **salary},
            "disease": {"role": "sensitive"},
        },
        "privacy": {"k": 5},
        "method": {"name": "mondrian"},
    }


def test_inspect_notices_a_salary_to_the_cent_and_suggests_a_step() -> None:
    (column,) = [each for each in polyveil.profile(people()).columns if each.name == "salary"]
    assert column.role == "sensitive"
    (words,) = [each for each in column.evidence if "nobody else has" in each]
    step = float(words.split("round: ")[1].split("}")[0])
    counts = (people()["salary"] / step).round().value_counts()["count"].to_numpy()
    assert share_alone(counts.astype(np.int64)) <= 0.02
    (coarse,) = [each for each in polyveil.profile(people(cents=False)).columns if each.name == "salary"]
    assert not any("nobody else has" in each for each in coarse.evidence)


def test_check_notices_it() -> None:
    (notice,) = polyveil.check(people(), policy()).notices
    assert "salary that nobody else has" in notice
    assert polyveil.check(people(), policy()).to_dict()["notices"] == [notice]
    assert polyveil.check(people(cents=False), policy()).notices == ()


@pytest.mark.parametrize(("publish", "noticed"), [({}, True), ({"publish": {"round": 500}}, False)])
def test_attack_notices_it_unless_the_release_is_coarser(publish: dict[str, Any], noticed: bool) -> None:
    release = polyveil.anonymize(people(), policy(**publish), seed=1)
    report = polyveil.attack(release, people(), trials=20, seed=1)
    assert bool(report.notices) == noticed
    assert report.to_dict()["notices"] == list(report.notices)


def test_the_commands_say_it(tmp_path) -> None:
    people().write_csv(tmp_path / "people.csv")
    run = CliRunner().invoke(app, ["check", str(tmp_path / "people.csv"), "--quasi", "age", "--sensitive", "salary"])
    assert "nobody else has" in " ".join(run.stdout.split())


def test_a_few_rows_and_one_value_say_nothing() -> None:
    assert share_alone(np.ones(10, dtype=np.int64)) == 0.0
    assert nice_step(np.array([3.0]), np.array([50])) is None
