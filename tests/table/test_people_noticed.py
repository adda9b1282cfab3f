"""A column that says whom a row is about is noticed where people have several rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.advice.starter import starter_policy
from polyveil.table.profiling.people import is_key_by_name

PEOPLE, EACH = 200, 3


def stays(key: str) -> pl.DataFrame:
    """Three rows of each person: sex and origin stay, age grows, the disease is by chance; every stay has a number."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(PEOPLE), EACH)
    return pl.DataFrame(
        {
            key: [f"p{number:04d}" for number in person],
            "encounter_id": rng.permutation(10_000)[: PEOPLE * EACH],
            "sex": rng.choice(["f", "m"], PEOPLE)[person],
            "origin": rng.choice(["a", "b", "c", "d"], PEOPLE)[person],
            "age": rng.integers(20, 80, PEOPLE)[person] + np.tile(np.arange(EACH), PEOPLE),
            "disease": rng.choice(["flu", "ulcer", "asthma"], PEOPLE * EACH),
        }
    )


def roles(frame: pl.DataFrame) -> dict[str, str]:
    return {column.name: column.role for column in polyveil.profile(frame).columns}


@pytest.mark.parametrize("name", ["patient_nbr", "patient_id", "person", "SSN", "PatientNr", "customer no"])
def test_names_of_a_persons_key(name: str) -> None:
    assert is_key_by_name(name)


@pytest.mark.parametrize("name", ["encounter_id", "encounter", "visit_nr", "age", "name", "zip", "order_id"])
def test_names_of_something_else(name: str) -> None:
    assert not is_key_by_name(name)


def test_a_repeated_key_is_suggested_as_person_with_its_evidence() -> None:
    found = {column.name: column for column in polyveil.profile(stays("patient_nbr")).columns}
    assert found["patient_nbr"].role == "person"
    assert "200 people in 600 rows" in found["patient_nbr"].reason
    assert found["encounter_id"].role == "identifier"


def test_a_key_without_a_telling_name_is_known_by_what_stays_the_same() -> None:
    found = next(column for column in polyveil.profile(stays("x7")).columns if column.name == "x7")
    assert found.role == "person"
    assert "same sex, origin" in found.reason


def test_a_household_is_no_person() -> None:
    sexes = pl.Series("sex", ["f", "m", "f"] * PEOPLE)
    assert roles(stays("x7").with_columns(sexes))["x7"] != "person"


def test_one_row_per_person_stays_an_identifier() -> None:
    assert roles(stays("patient_nbr").unique("patient_nbr"))["patient_nbr"] == "identifier"


def test_the_starter_policy_counts_people() -> None:
    frame = stays("patient_nbr")
    text = starter_policy(polyveil.profile(frame).columns)
    assert "every person looks like" in text
    import yaml

    policy = yaml.safe_load(text)
    assert policy["columns"]["patient_nbr"] == {"role": "person"}
    policy["method"] = {"name": "mondrian"}
    policy["privacy"] = {"k": 5}
    assert polyveil.anonymize(frame, policy).manifest["people"]["class_size"]["min"] >= 5


def test_a_repeated_identifier_is_warned_about_once_and_a_person_is_not() -> None:
    frame = stays("patient_id").select("patient_id", "age", "disease")
    columns = {"patient_id": {"role": "identifier"}, "age": {"role": "quasi"}, "disease": {"role": "sensitive"}}
    policy = {"columns": columns, "privacy": {"k": 5}, "method": {"name": "mondrian"}}
    assert polyveil.anonymize(frame, policy).notes == (
        "patient_id repeats: 200 people in 600 rows. Guarantees count rows. "
        "Give patient_id role: person to count people.",
    )
    columns["patient_id"] = {"role": "person"}
    assert polyveil.anonymize(frame, policy).notes == ()


def test_check_counts_people_as_well_as_rows(tmp_path: Path) -> None:
    # Six rows look alike, and they are about two people; Ann has flu in all of hers.
    frame = pl.DataFrame(
        {"who": list("aaaabb"), "age": [30] * 6, "disease": ["flu", "flu", "flu", "flu", "ulcer", "asthma"]}
    )
    found = polyveil.check(frame, quasi="age", sensitive="disease", person="who", privacy={"k": 3})
    assert found.outcome == "fails"
    assert found.measurements[0].value == 2
    assert polyveil.check(frame, quasi="age", sensitive="disease", privacy={"k": 3}).holds
    file = tmp_path / "visits.csv"
    frame.write_csv(file)
    command = ["check", str(file), "--quasi", "age", "--person", "who", "--k", "3", "--json"]
    ran = subprocess.run(
        [sys.executable, "-m", "polyveil", *command], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["people_per_class"]["min"] == 2


def test_a_person_in_several_groups_weighs_the_same_in_each() -> None:
    # Ann: flu at 30, ulcer at 50; Bob flu at 30, Cem ulcer at 50. People: flu 3/4 of those at 30, by halves of Ann.
    frame = pl.DataFrame(
        {"who": ["a", "a", "b", "c"], "age": [30, 50, 30, 50], "disease": ["flu", "ulcer", "flu", "ulcer"]}
    )
    found = polyveil.check(frame, quasi="age", sensitive="disease", person="who", privacy={"t": 0.5})
    assert found.holds  # everybody at 30 has flu, against half of all people
    assert not polyveil.check(frame, quasi="age", sensitive="disease", person="who", privacy={"t": 0.49}).holds
