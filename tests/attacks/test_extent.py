"""What every attack says of itself: its assumptions, how much was tried, both baselines, and nothing that reassures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from attack_tables import BRANCHES, ILLNESSES, by_age, people, policy_of, release_of
from polyveil.attacks import AttackReport, attack
from polyveil.cli import app

FIND_RECORDS = ("prosecutor linkage", "journalist linkage", "marketer linkage", "order of rows", "order within groups")


@pytest.fixture(scope="module")
def kept() -> AttackReport:
    frame = people(240)
    return attack(polyveil.anonymize(frame, policy_of(k=5)), frame, trials=100)


def test_every_attack_says_what_it_assumes_how_much_was_tried_and_which_risk_it_is(kept: AttackReport) -> None:
    for found in kept.to_dict()["attacks"]:
        assert found["assumes"]
        assert found["criterion"] in ("singling out", "linkability", "inference")
        if found["verdict"] == "not run":
            continue
        assert 0 < found["tried"] <= found["possible"], found["name"]
        assert (found["baseline_population"] is None) == (found["name"] in FIND_RECORDS), found["name"]
    criteria = {found.name: found.criterion for found in kept.attacks}
    assert criteria["prosecutor linkage"] == "singling out"
    assert criteria["marketer linkage"] == "linkability"
    assert criteria["homogeneity"] == "inference"


def test_who_knows_the_group_is_right_as_often_as_its_commonest_value() -> None:
    """By hand from the released table: the commonest value of each group, over all rows, where groups overlap."""
    frame = people(200)
    release = polyveil.anonymize(frame, {**policy_of(k=5), "method": {"name": "sift"}}, seed=1)
    counts = release.table.group_by("age", "place", "illness").len()
    by_hand = counts.group_by("age", "place").agg(pl.col("len").max())["len"].sum() / 200
    found = attack(release, frame, trials=100).named("homogeneity", "illness")
    assert found.success == pytest.approx(by_hand)
    assert (found.tried, found.possible) == (200, 200)


def test_the_report_and_the_attack_give_one_figure_for_one_adversary(tmp_path: Path) -> None:
    frame = people(200)
    release = polyveil.anonymize(frame, policy_of(k=5), out=tmp_path / "release")
    found = attack(release, frame, trials=100)
    page = (tmp_path / "release" / "report.html").read_text()
    for name, column in (("prosecutor linkage", None), ("homogeneity", "illness"), ("homogeneity", "faith")):
        assert f"{found.named(name, column).success * 100:.1f}" in page, name


def wide_table(columns: int, rows: int = 60) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Columns of two values that depend on nothing."""
    rng = np.random.default_rng(0)
    names = [f"s{number}" for number in range(columns)]
    frame = pl.DataFrame({"age": np.arange(rows), **{name: rng.choice(["x", "y"], rows) for name in names}})
    sensitive = {name: {"role": "sensitive", "type": "categorical"} for name in names}
    policy = {"columns": {"age": {"role": "quasi"}, **sensitive}, "privacy": {"k": 5}, "method": {"name": "mondrian"}}
    return frame, policy


def test_all_pairs_of_columns_are_tried_or_it_is_said_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, policy = wide_table(6)
    release = polyveil.anonymize(frame, policy)
    every = attack(release, frame, trials=40)
    assert len([found for found in every.attacks if found.name == "joint"]) == 30
    assert every.untried == ()
    assert every.outcome == "holds"
    monkeypatch.setattr(sys.modules["polyveil.attacks.joint"], "MOST_RECORDS", 12 * 60)
    some = attack(release, frame, trials=40)
    (untried,) = some.untried
    assert (untried.tried, untried.possible, untried.unit) == (12, 30, "pairs of columns")
    assert some.outcome == "not checked"
    assert "Not tried: 18 of 30 pairs of columns; the others were drawn at random." in some.sentences()
    assert "No guarantee was broken" not in some.answer()


def test_what_succeeds_outside_the_guarantees_is_said_first(tmp_path: Path) -> None:
    frame = people(200).sort("age").with_columns(illness=pl.Series(np.repeat(np.resize(ILLNESSES, 40), 5)))
    frame.write_csv(tmp_path / "people.csv")
    alike = release_of(frame, policy_of(k=5), by_age(frame, 5))
    report = attack(alike, frame, trials=100)
    assert report.unpromised[0].success == 1.0
    first, last = report.sentences()[0], report.sentences()[-1]
    assert "outside your guarantees, and this release makes them easier (up to 100.0 % right)" in first
    assert last.startswith("No guarantee was broken by the")
    polyveil.anonymize(frame, policy_of(k=5), out=tmp_path / "release")
    shown = CliRunner().invoke(
        app, ["attack", str(tmp_path / "release"), "--original", str(tmp_path / "people.csv"), "--trials", "50", "-q"]
    )
    assert shown.exit_code == 0, shown.output
    assert shown.output.index("outside your guarantees") < shown.output.index("No guarantee was broken")
    assert shown.output.index("No guarantee was broken") < shown.output.index("prosecutor linkage")


def test_a_part_that_was_drawn_is_named_where_nothing_was_broken(kept: AttackReport) -> None:
    assert "tried a random part (100 of 240 people)" in kept.sentences()[-1]


def test_learning_about_people_in_general_is_not_counted_as_disclosure_of_one() -> None:
    """Illness follows age, so the groups' ages tell it; so do other people's."""
    of_branch = np.concatenate([np.resize(BRANCHES[name][:1], 100) for name in BRANCHES])
    frame = people(300, age=np.arange(300), illness=of_branch)
    report = attack(release_of(frame, policy_of(k=5), by_age(frame, 5)), frame, trials=100)
    found = report.named("homogeneity", "illness")
    assert found.low > found.baseline
    assert found.baseline_population is not None
    assert found.baseline_population > 0.95
    random = report.named("homogeneity", "faith")
    assert random.baseline_population is not None
    assert random.baseline_population < 0.45
    assert random in report.unpromised  # five people of random faith: their own values are what the group tells


def test_withheld_values_are_a_group_of_their_own() -> None:
    """sloms as printed withholds what it cannot group: the commonest value, which is right for nearly all of them."""
    rng = np.random.default_rng(3)
    frame = people(300, faith=rng.choice(["a", "b", "c", "d"], 300, p=[0.85, 0.05, 0.05, 0.05]))
    asked = {
        **policy_of(k=3, l=3, suppression_limit=0.95),
        "method": {"name": "sloms", "withhold": "values"},
        "release": {"form": "sliced"},
    }
    release = polyveil.anonymize(frame, asked)
    report = attack(release, frame, trials=100)
    parts = {part["table"]: part for part in release.manifest["linked"]["slices"]}
    table = next(name for name, part in parts.items() if "faith" in part["attributes"])
    released = release.tables[table]["faith"].value_counts()
    kept = dict(zip(released["faith"], released["count"], strict=True))
    missing = 300 - sum(kept.values())
    assert missing > 100
    linked = report.named("prosecutor linkage")  # k is about rows that look alike, not about the groups of values
    assert (linked.attribute, linked.bound, linked.verdict) == (None, 1 / 3, "within bound")
    found = report.named("withheld", "faith")
    assert found.trials == missing
    assert found.success == pytest.approx(((frame["faith"] == "a").sum() - kept["a"]) / missing)
    assert found.success > 0.9
    assert found in report.unpromised or found.verdict == "broken"


def visits() -> tuple[pl.DataFrame, dict[str, Any]]:
    """Sixty people with one to four rows each."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    frame = pl.DataFrame(
        {
            "patient": [f"p{number}" for number in person],
            "age": rng.integers(20, 80, 60)[person],
            "illness": rng.choice(ILLNESSES, len(person)),
        }
    )
    columns = {
        "patient": {"role": "person"},
        "age": {"role": "quasi", "type": "numeric"},
        "illness": {"role": "sensitive", "type": "categorical"},
    }
    return frame, {"columns": columns, "privacy": {"k": 4}, "method": {"name": "mondrian"}}


def test_people_with_several_rows_are_attacked_as_people() -> None:
    frame, policy = visits()
    release = polyveil.anonymize(frame, policy)
    report = attack(release, frame, policy=policy)
    found = report.named("prosecutor linkage of all rows")
    assert (found.tried, found.possible, found.unit) == (60, 60, "people")
    assert found.verdict == "within bound"
    assert found.success <= 1 / 4
    combined = report.named("combining groups", "illness")
    assert (combined.tried, combined.possible, combined.unit) == (60, 60, "people")
    assert report.named("homogeneity", "illness").unit == "rows"
    unknown = attack(release, frame)
    assert unknown.outcome == "not checked"
    assert any("the role person" in line for line in unknown.sentences())


def test_a_group_that_fits_only_some_rows_of_a_person_is_ruled_out() -> None:
    """Every person has a row at 20 to 29 and one at 40 to 49 that give them away together, by decade alike."""
    from polyveil.attacks import set_scene

    rows = [(number, age) for number in range(8) for age in (20 + number, 40 + number)]
    frame = pl.DataFrame({"who": [a for a, _ in rows], "age": [b for _, b in rows], "illness": ["x", "y"] * 8})
    columns = {
        "who": {"role": "person"},
        "age": {"role": "quasi", "type": "numeric"},
        "illness": {"role": "sensitive", "type": "categorical"},
    }
    policy = {"columns": columns, "privacy": {"k": 2}}
    classes = np.array([number // 4 for number, _ in rows])  # all rows of people 0 to 3, then of 4 to 7
    release = release_of(frame, policy, classes)
    scene = set_scene(release, frame, policy=policy)
    (crowd,) = scene.crowds
    assert len(scene.targets) == 8
    # The boxes are 20 to 43 and 24 to 47: person 0 to 3 has a row below 24, person 4 to 7 one above 43.
    assert np.diff(crowd.weights.indptr).tolist() == [1] * 8
    in_rows = set_scene(release, frame)
    assert np.diff(in_rows.crowds[0].weights.indptr).max() == 2
