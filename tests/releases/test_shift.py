"""Dates shifted by one random number of days per person."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest

import polyveil
from polyveil.errors import InputError, PolicyError
from polyveil.policy import load_policy
from polyveil.table.shifting import shifted

PEOPLE = 40
START = dt.date(2020, 1, 1)


def visits() -> pl.DataFrame:
    """Two visits of each person, a fixed number of days apart that only this person has."""
    days = [START + dt.timedelta(days=7 * (i // 2) + (i % 2) * (i // 2 + 1)) for i in range(2 * PEOPLE)]
    return pl.DataFrame(
        {
            "id": [i // 2 for i in range(2 * PEOPLE)],
            "age": [20 + i // 8 for i in range(2 * PEOPLE)],
            "visit": [day.strftime("%d.%m.%Y") for day in days],
            "seen": days,
            "disease": [["flu", "asthma", "ulcer"][i % 3] for i in range(2 * PEOPLE)],
        }
    )


def policy(**changes: Any) -> dict[str, Any]:
    date = {"type": "date", "shift": {"days": 30}}
    return {
        "columns": {
            "id": {"role": "person"},
            "age": {"role": "quasi", "type": "numeric"},
            "visit": {"role": "insensitive", "date_format": "%d.%m.%Y", **date},
            "seen": {"role": "insensitive", **date},
            "disease": {"role": "sensitive"},
            **changes,
        },
        "privacy": {"k": 2},
        "method": {"name": "mondrian"},
    }


def moves(days: int = 30) -> pl.DataFrame:
    changed = {name: {**policy()["columns"][name], "shift": {"days": days}} for name in ("visit", "seen")}
    table = polyveil.read(visits())
    found = shifted(load_policy(policy(**changed)), table).frame
    return found.select(
        "id",
        (pl.col("seen") - table.frame["seen"]).dt.total_days().alias("seen"),
        (pl.col("visit") - table.frame["seen"]).dt.total_days().alias("visit"),
    )


def test_all_dates_of_a_person_move_by_the_same_days_and_no_more_than_asked() -> None:
    found = moves()
    assert (found["seen"] == found["visit"]).all()
    assert found.group_by("id").agg(pl.col("seen").n_unique())["seen"].max() == 1
    assert found["seen"].abs().max() <= 30
    assert found["seen"].n_unique() > 10
    assert set(moves(1)["seen"]) == {-1, 0, 1}


def test_without_a_person_column_every_row_moves_on_its_own() -> None:
    columns = {name: column for name, column in policy()["columns"].items() if name != "id"}
    table = polyveil.read(visits().drop("id"))
    found = shifted(load_policy({**policy(), "columns": columns}), table).frame
    assert ((found["seen"] - table.frame["seen"]).dt.total_days()).n_unique() > 15


def test_a_release_of_shifted_dates_is_verified_as_published() -> None:
    release = polyveil.anonymize(visits(), policy(), seed=1)
    assert sorted(release.table["seen"]) != sorted(visits()["seen"])
    assert release.verify().holds
    assert "shifted dates" in {each.check for each in release.verify().findings if each.outcome == "not checked"}
    assert any("The time between them stays" in note for note in release.notes)
    assert release.manifest["policy"]["columns"]["seen"]["shift"] == {"days": 30}
    for changed in ({"shift": {"days": 60}}, {"shift": None}):
        asked = policy(**{name: {**policy()["columns"][name], **changed} for name in ("visit", "seen")})
        checks = {each.check for each in polyveil.verify(release, policy=asked).failures}
        assert ("asked: shift of seen" in checks) == (changed["shift"] is not None)


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_shifted_dates_are_judged_as_published(role: str) -> None:
    asked = policy(seen={"role": role, "type": "date", "shift": {"days": 30}})
    release = polyveil.anonymize(visits(), asked, seed=1)
    assert release.verify().holds
    if role == "sensitive":
        values = release.manifest["sensitive"]["seen"]["values"]
        assert values == sorted({day.isoformat() for day in release.table["seen"]})
        with pytest.raises(InputError, match="shifted dates of seen"):
            polyveil.attack(release, visits(), policy=asked, trials=10)
    else:
        assert polyveil.attack(release, visits(), policy=asked, trials=10, seed=1) is not None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"age": {"role": "quasi", "type": "numeric", "shift": {"days": 3}}}, "shift is for dates"),
        ({"seen": {"role": "insensitive", "shift": {"days": 3}}}, "another number of days"),
        ({"disease": {"role": "sensitive", "shift": {"days": 30}}}, "this column has none"),
        ({"id": {"role": "person", "shift": {"days": 30}}}, "shift is for quasi, sensitive and insensitive columns"),
        ({"seen": {"role": "insensitive", "shift": {"days": 0}}}, "days"),
    ],
)
def test_faults(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        polyveil.anonymize(visits(), policy(**changes))
