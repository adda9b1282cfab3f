"""`polyveil attack`: exit codes, one JSON object, and never a value of the table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner, Result

import polyveil
from attack_tables import FAITHS, ILLNESSES, by_age, people, policy_of, release_of
from polyveil.attacks import attack
from polyveil.cli import app
from polyveil.errors import InputError
from polyveil.releases.bundle import write_bundle


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, a release that keeps its promise, one that does not, and a stricter policy."""
    folder = tmp_path_factory.mktemp("attack")
    frame = people(300)
    frame.write_csv(folder / "people.csv")
    polyveil.anonymize(frame, policy_of(k=5), out=folder / "kept")
    careless = release_of(frame, policy_of(k=5), by_age(frame, 2))
    write_bundle(folder / "careless", careless.tables, careless.manifest)
    polyveil.Policy.from_dict(policy_of(k=200))
    (folder / "strict.yaml").write_text(polyveil.Policy.from_dict(policy_of(k=200)).to_yaml())
    return folder


def run(place: Path, *arguments: str) -> Result:
    found = [str(place / word) if word in ("kept", "careless", "strict.yaml") else word for word in arguments]
    return CliRunner().invoke(app, ["attack", *found, "--original", str(place / "people.csv"), "--trials", "200"])


def test_a_release_that_keeps_its_promise_exits_with_0(place: Path) -> None:
    result = run(place, "kept", "--quiet")
    assert result.exit_code == 0, result.output
    assert "No guarantee was broken" in result.output
    assert "prosecutor linkage" in result.output


def test_a_broken_promise_exits_with_1_and_names_the_adversary(place: Path) -> None:
    result = run(place, "careless", "--quiet")
    assert result.exit_code == 1
    assert "broke a guarantee of this release" in result.output
    assert "every group has at least 5 rows" in result.output


def test_other_promises_can_be_held_against_a_release(place: Path) -> None:
    assert run(place, "kept", "--policy", "strict.yaml", "--quiet").exit_code == 1


def test_json_is_one_object_with_every_figure(place: Path) -> None:
    result = run(place, "kept", "--json", "--second", "kept")
    found = json.loads(result.stdout)
    assert found["holds"] is (result.exit_code == 0)
    names = {each["name"] for each in found["attacks"]}
    assert {"prosecutor linkage", "homogeneity", "skewness", "similarity", "joint", "intersection"} <= names
    for each in found["attacks"]:
        if each["verdict"] != "not run":
            assert 0 <= each["low"] <= each["success"] <= each["high"] <= 1
            assert each["trials"] > 0


def test_no_value_of_the_table_is_printed(place: Path) -> None:
    for arguments in (("kept", "--json"), ("kept", "--quiet"), ("careless", "--quiet")):
        printed = run(place, *arguments).output
        assert not [value for value in (*ILLNESSES, *FAITHS) if f" {value} " in printed or f'"{value}"' in printed]


def test_another_table_is_refused_without_naming_its_values(place: Path) -> None:
    other = people(300).with_columns(faith=pl.lit("zeus"))
    with pytest.raises(InputError, match="faith") as error:
        attack(str(place / "kept"), other)
    assert "zeus" not in str(error.value)
    with pytest.raises(InputError, match="lacks the released column place"):
        attack(str(place / "kept"), people(300).drop("place"))


def test_a_seed_attacks_the_same_people(place: Path) -> None:
    frame = people(300)
    release = polyveil.anonymize(frame, policy_of(k=5), seed=1)
    first, again = (attack(release, frame, trials=50, seed=3).attacks for _ in range(2))
    assert [a.success for a in first] == pytest.approx([a.success for a in again], nan_ok=True)
    other = attack(release, frame, trials=50, seed=4).attacks
    assert [a.success for a in first] != pytest.approx([a.success for a in other], nan_ok=True)


@pytest.mark.parametrize("numbers", ["midpoint", "mean"])
def test_numbers_that_hide_their_range_are_linked_by_nearness(numbers: str) -> None:
    frame = people(300)
    asked = {**policy_of(k=5), "release": {"numbers": numbers}}
    found = attack(polyveil.anonymize(frame, asked), frame).named("prosecutor linkage")
    assert 0 < found.success <= 0.2 + 1e-9
    assert found.trials == 300


def test_missing_values_and_sets_are_linked_like_any_other() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "age": pl.Series(rng.integers(20, 60, 400)).scatter(np.arange(40), None),
            "town": pl.Series(rng.choice(["p, q", "r", 's"t', "{u}"], 400)).scatter(np.arange(20, 60), None),
            "born": pl.Series(rng.integers(0, 900, 400)).cast(pl.Int32).cast(pl.Date),
            "illness": rng.choice(["x", "y", "z"], 400),
        }
    )
    policy = {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "town": {"role": "quasi", "recode": "set"},
            "born": {"role": "quasi", "type": "date"},
            "illness": {"role": "sensitive"},
        },
        "privacy": {"k": 5},
    }
    report = attack(polyveil.anonymize(frame, policy), frame)
    found = report.named("prosecutor linkage")
    assert found.trials == 400  # everybody fits some class
    assert found.verdict == "within bound"
    assert report.holds
