"""Risk by a table of the population (k-map): counted by hand and by brute force, verified from files, bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.cli import app
from polyveil.errors import InputError, PolicyError, Unsatisfiable
from polyveil.models import ClassStatistics
from polyveil.models.risk import RegisterRisk

PEOPLE = pl.DataFrame(
    {"age": [30, 30, 31, 32, 33, 40, 41, 42, 43, 43], "sex": ["f", "f", "f", "m", "f", "m", "m", "f", "m", "m"]}
)
TABLE = pl.DataFrame({"age": [30, 33, 40, 43], "sex": ["f", "f", "m", "m"]})


def asked(file: Path | str, limit: float, **more: Any) -> dict[str, Any]:
    return {
        "columns": {"age": {"role": "quasi", "type": "numeric"}, "sex": {"role": "quasi", "type": "categorical"}},
        "privacy": {"risk": {"max": limit, "attacker": "journalist", "population": {"table": str(file)}}},
        "method": {"name": "mondrian"},
        **more,
    }


def saved(folder: Path, people: pl.DataFrame = PEOPLE) -> Path:
    file = folder / "population.csv"
    people.write_csv(file)
    return file


def fitting(row: dict[str, str], people: pl.DataFrame) -> int:
    """How many people of the population fit the cells of a row, by reading every one."""
    low, high = (
        (float(end) for end in row["age"].strip("[]").split("-")) if "[" in row["age"] else (float(row["age"]),) * 2
    )
    return sum(low <= age <= high and row["sex"] in ("*", sex) for age, sex in people.rows())


def test_groups_that_fit_4_and_5_people() -> None:
    """Women of 30 to 33 are 4 people of the population (30, 30, 31, 33), men of 40 to 43 are 4 (40, 41, 43, 43)."""
    statistics = ClassStatistics(np.array([2, 2]), {}, {}, population=np.array([4, 5]))
    assert RegisterRisk(0.25).measure_all(statistics).tolist() == [0.25, 0.2]
    assert RegisterRisk(0.25).judge(statistics).holds
    assert RegisterRisk(0.2).judge(statistics).failing_classes == 1
    assert RegisterRisk(0.25).judge(ClassStatistics(np.array([2, 2]), {}, {})).outcome == "not checked"


def test_a_release_counts_the_population_and_not_the_table(tmp_path: Path) -> None:
    """Both groups of two rows fit four people each: a risk of 25 %, where the prosecutor's is 50 %."""
    release = polyveil.anonymize(TABLE, asked(saved(tmp_path), 0.25), seed=1)
    assert sorted(release.table.rows()) == [("[30-33]", "f")] * 2 + [("[40-43]", "m")] * 2
    assert [fitting(row, PEOPLE) for row in release.table.to_dicts()] == [4, 4, 4, 4]
    assert release.verification is not None
    assert release.verification.outcome == "holds"


@pytest.mark.parametrize("method", ["mondrian", "sift", "kaca", "lattice", "fcm"])
@pytest.mark.parametrize("seed", [1, 2])
def test_releases_hold_by_brute_force(method: str, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    people = pl.DataFrame(
        {"age": rng.integers(18, 90, 400), "sex": rng.choice(["f", "m", "x"], 400, p=[0.6, 0.37, 0.03])}
    )
    table = people.sample(60, seed=seed)
    policy = asked(saved(tmp_path, people), 0.05, method={"name": method})
    if method in ("sift",):
        policy["method"]["effort"] = "fast"
    release = polyveil.anonymize(table, policy, seed=1)
    assert min(fitting(row, people) for row in release.table.to_dicts()) >= 20
    assert release.table.unique().height > 1


def test_the_verifier_counts_again_with_the_table_and_says_what_it_lacks_without(tmp_path: Path) -> None:
    file = saved(tmp_path)
    polyveil.anonymize(TABLE, asked(file, 0.25), out=tmp_path / "release", seed=1)
    without = polyveil.verify(tmp_path / "release")
    assert without.outcome == "not checked"
    assert next(finding for finding in without.findings if finding.check == "k-map").outcome == "not checked"
    assert polyveil.verify(tmp_path / "release", population=file).outcome == "holds"
    smaller = polyveil.verify(tmp_path / "release", population=PEOPLE.filter(pl.col("age") != 31))
    assert [finding.check for finding in smaller.failures] == ["k-map"]


def test_the_release_does_not_tell_where_the_population_is(tmp_path: Path) -> None:
    polyveil.anonymize(TABLE, asked(saved(tmp_path), 0.25), out=tmp_path / "release", seed=1)
    assert str(tmp_path) not in (tmp_path / "release" / "manifest.json").read_text(encoding="utf-8")


def test_check_counts_the_population_of_any_table(tmp_path: Path) -> None:
    """One woman of 30 fits two people, of 33 one: a risk of 1."""
    found = polyveil.check(TABLE, asked(saved(tmp_path), 0.5))
    measured = next(each for each in found.measurements if each.model == "k-map")
    assert (measured.value, measured.holds, measured.failing_classes) == (1.0, False, 2)


def test_the_command_takes_the_population(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    file = saved(tmp_path)
    polyveil.anonymize(TABLE, asked(file, 0.25), out=tmp_path / "release", seed=1)
    without = CliRunner().invoke(app, ["verify", str(tmp_path / "release")])
    assert (without.exit_code, "FAILS" in without.output) == (1, False)
    assert "Nothing failed, but not every guarantee could be checked" in without.output
    assert "report.html is what this release makes of itself" in without.output
    assert "<html" in polyveil.report(tmp_path / "release")
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "release"), "--population", str(file)]).exit_code == 0


def test_a_population_that_cannot_be_right_is_refused_in_one_line(tmp_path: Path) -> None:
    for people, rule in (
        (PEOPLE.head(3), "has 3 rows, fewer than the 4"),
        (PEOPLE.drop("sex"), "lacks sex. Give all quasi-identifiers"),
    ):
        with pytest.raises(InputError, match=rule) as found:
            polyveil.anonymize(TABLE, asked(saved(tmp_path, people), 0.25))
        assert "\n" not in str(found.value)
    with pytest.raises(InputError):
        polyveil.anonymize(TABLE, asked(tmp_path / "none.csv", 0.25))


def test_a_population_that_lacks_people_of_the_table_is_refused_in_one_line(tmp_path: Path) -> None:
    """Nobody of the population is a man of 40, although one is in the table."""
    lacking = PEOPLE.with_columns(age=pl.when(pl.col("age") == 40).then(39).otherwise("age"))
    policy = asked(saved(tmp_path, lacking), 0.25)
    for run in (polyveil.anonymize, polyveil.check):
        with pytest.raises(
            InputError, match=r"1 of the 4 rows fit nobody in the population table population\.csv"
        ) as found:
            run(TABLE, policy)
        assert "\n" not in str(found.value)


def test_the_journalist_attacks_with_the_population_and_not_with_the_table(tmp_path: Path) -> None:
    """Each group fits 4 people of the population and 2 of the table: the guarantee of 25 % is met, and tested."""
    file, out = saved(tmp_path), tmp_path / "release"
    polyveil.anonymize(TABLE, asked(file, 0.25), out=out, seed=1)
    without = polyveil.attack(out, TABLE)
    assert without.named("journalist linkage").verdict == "not run"
    assert "--population" in without.named("journalist linkage").note
    for given in ({"population": file}, {"population": PEOPLE}, {"policy": asked(file, 0.25)}):
        report = polyveil.attack(out, TABLE, **given)  # type: ignore[arg-type]
        for name in ("journalist linkage", "marketer linkage"):
            found = report.named(name)
            assert (found.verdict, found.success, found.bound) == ("within bound", 0.25, 0.25)
    smaller = polyveil.attack(out, TABLE, population=PEOPLE.filter(pl.col("age") != 31)).named("journalist linkage")
    assert (smaller.verdict, smaller.success) == ("broken", pytest.approx(1 / 3))


def test_the_attack_command_takes_the_population(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    file, out = saved(tmp_path), tmp_path / "release"
    TABLE.write_csv(tmp_path / "table.csv")
    polyveil.anonymize(tmp_path / "table.csv", asked(file, 0.25), out=out, seed=1)
    command = ["attack", str(out), "--original", str(tmp_path / "table.csv"), "--quiet"]
    assert "--population" in CliRunner().invoke(app, command).output.replace("\n", "")
    assert CliRunner().invoke(app, [*command, "--population", str(file)]).exit_code == 0


def test_values_that_the_hierarchy_does_not_have_are_refused(tmp_path: Path) -> None:
    policy = asked(saved(tmp_path, PEOPLE.with_columns(sex=pl.lit("d"))), 0.25)
    policy["columns"]["sex"]["hierarchy"] = {"all": ["f", "m"]}
    with pytest.raises(PolicyError, match="population"):
        polyveil.anonymize(TABLE, policy)


def test_more_people_than_the_population_has_cannot_be_reached(tmp_path: Path) -> None:
    with pytest.raises(Unsatisfiable, match="even the whole table"):
        polyveil.anonymize(TABLE, asked(saved(tmp_path), 0.05))


@pytest.mark.parametrize(
    ("risk", "rule"),
    [
        ({"max": 0.1, "attacker": "journalist", "population": {}}, "one of the three"),
        (
            {"max": 0.1, "attacker": "journalist", "population": {"table": "x", "fraction": 0.1}},
            "one of the three",
        ),
        ({"average": 0.1, "attacker": "marketer", "population": {"table": "x"}}, "limits the greatest risk only"),
    ],
)
def test_what_a_table_cannot_be_used_for(risk: dict[str, Any], rule: str) -> None:
    with pytest.raises(PolicyError, match=rule):
        polyveil.anonymize(TABLE, {**asked("x", 0.1), "privacy": {"risk": risk}})
