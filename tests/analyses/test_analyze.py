"""Analyses on the original and on a release: what is kept is found again, what is lost is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.errors import InputError

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi"},
    "arm": {"role": "quasi", "recode": "set"},
    "months": {"role": "sensitive", "type": "numeric"},
    "died": {"role": "sensitive"},
}
ASKED: list[dict[str, Any]] = [
    {"linear": "months", "on": ["age", "arm"]},
    {"logistic": "died", "value": "yes", "on": ["age"]},
    {"table": ["arm", "died"]},
    {"survival": "months", "event": "died", "value": "yes", "by": "arm"},
]


def clinic(rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    age, arm = rng.integers(30, 80, rows), rng.choice(["drug", "placebo"], rows)
    months = np.ceil(rng.exponential(14 + 10 * (arm == "drug") - 0.1 * (age - 50)))
    died = np.where(rng.random(rows) < 1 / (1 + np.exp(-(age - 50) / 10)), "yes", "no")
    return pl.DataFrame({"age": age, "arm": arm, "months": months, "died": died})


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return clinic()


@pytest.fixture(scope="module")
def release(table: pl.DataFrame) -> polyveil.Release:
    return polyveil.anonymize(table, {"columns": COLUMNS, "privacy": {"k": 5}}, seed=1)


def test_a_release_that_changes_nothing_changes_no_result() -> None:
    table = clinic().with_columns(age=pl.col("age") // 10 * 10)
    kept = polyveil.anonymize(table, {"columns": COLUMNS, "privacy": {"k": 2}}, seed=1)
    assert kept.loss["normalized_loss"] == 0
    found = polyveil.analyze(kept, table, ASKED, draws=2)
    assert found.mean_overlap == pytest.approx(1)
    assert found.k_marginal == 1000
    assert max(row["relative_error"] or 0.0 for row in found.records()) < 1e-9
    assert found.answer().startswith(f"{len(found.estimates)} of {len(found.estimates)} figures lead to the same")


def test_the_originals_figures_are_those_of_scipy(release: polyveil.Release, table: pl.DataFrame) -> None:
    found = polyveil.analyze(release, table, [{"linear": "months", "on": ["age"]}], draws=5)
    told = stats.linregress(table["age"].to_numpy(), table["months"].to_numpy())
    _, slope = found.analyses[0].estimates
    assert (slope.original, slope.term) == (pytest.approx(told.slope), "age")
    assert slope.high - slope.original == pytest.approx(stats.t.ppf(0.975, 398) * told.stderr)
    assert slope.released == pytest.approx(slope.original, abs=2 * told.stderr)


def test_what_a_release_keeps_is_found_again(release: polyveil.Release, table: pl.DataFrame) -> None:
    found = polyveil.analyze(release, table, ASKED)
    assert found.mean_overlap > 0.8
    kinds = [each.kind for each in found.analyses]
    assert kinds == ["linear", "logistic", "table", "survival"]
    cells = found.analyses[2].estimates
    assert sum(cell.original for cell in cells) == pytest.approx(1)
    assert sum(cell.released for cell in cells) == pytest.approx(1)
    assert len(found.analyses[3].curves) == 2
    again = polyveil.analyze(release, table, ASKED)
    assert again.to_dict() == found.to_dict()
    assert json.loads(json.dumps(found.to_dict()))["draws"] == 10


def test_an_effect_is_lost_where_its_column_is(table: pl.DataFrame) -> None:
    """All rows in one group: age and arm say nothing any more, and their effects with them."""
    columns = {**COLUMNS, "age": {"role": "quasi"}}
    coarse = polyveil.anonymize(table, {"columns": columns, "privacy": {"k": 400}}, seed=1)
    found = polyveil.analyze(coarse, table, [{"logistic": "died", "value": "yes", "on": ["age"]}])
    slope = found.analyses[0].estimates[1]
    assert slope.low > 0 > slope.released_low
    assert not slope.same_conclusion
    assert slope.overlap < 0.1


def test_linked_tables_are_drawn_within_their_groups(table: pl.DataFrame) -> None:
    table = table.with_columns(months=pl.col("months") % 9)
    columns = {**COLUMNS, "died": {"role": "insensitive"}}
    linked = polyveil.anonymize(table, {"columns": columns, "privacy": {"l": 2}, "method": {"name": "mbf"}}, seed=1)
    found = polyveil.analyze(linked, table, [{"table": ["arm", "died"]}, {"table": ["arm", "months"]}])
    assert found.analyses[0].rows_released == linked.manifest["rows"] - linked.manifest["suppressed"]
    assert all(figure.overlap > 0.9 for figure in found.analyses[0].estimates)
    # Every value of a group goes to one of its rows, so the column alone is as published.
    shares = found.analyses[1].estimates
    for level in ("months < ", "months ≥ "):
        here = [figure for figure in shares if level in figure.term]
        assert len(here) == 2
        assert sum(f.released for f in here) == pytest.approx(sum(f.original for f in here), abs=0.03)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ([], "list with at least one entry"),
        ([{"linear": "age"}], r"analysis 1 \(linear\) needs on"),
        ([{"linear": "age", "on": ["arm"], "x": 1}], "unknown key 'x'. Keys of linear: linear, on"),
        ([{"cubic": "age"}], "must have one of linear, logistic, table, survival"),
        ([{"table": ["arm"]}], "table takes two columns"),
        ([{"table": ["arm", "name"]}], "the release has no column 'name'"),
        ([{"linear": "died", "on": ["age"]}], "died has no numbers"),
        ([{"logistic": "died", "value": "maybe", "on": ["age"]}], "all rows, or none"),
        ([{"survival": "died", "event": "died", "value": "yes"}], "died has no numbers"),
        ([{"linear": "months", "on": ["age", "age"]}], "each once"),
    ],
)
def test_what_cannot_be_analysed_is_said(
    asked: list[dict[str, Any]], words: str, release: polyveil.Release, table: pl.DataFrame
) -> None:
    with pytest.raises(InputError, match=words):
        polyveil.analyze(release, table, asked)


def test_the_command_and_the_stewards_report_say_the_same(tmp_path: Path, table: pl.DataFrame) -> None:
    table.write_csv(tmp_path / "clinic.csv")
    folder = tmp_path / "release"
    polyveil.anonymize(tmp_path / "clinic.csv", {"columns": COLUMNS, "privacy": {"k": 5}}, out=folder, seed=1)
    (tmp_path / "asked.yaml").write_text("- {linear: months, on: [age]}\n- {table: [arm, died]}\n")
    given = ["--original", str(tmp_path / "clinic.csv"), "--analyses", str(tmp_path / "asked.yaml")]
    answer = CliRunner().invoke(app, ["analyze", str(folder), *given, "--json"])
    assert answer.exit_code == 0, answer.output
    told = json.loads(answer.output)
    page = polyveil.report(folder, original=tmp_path / "clinic.csv", analyses=tmp_path / "asked.yaml")
    assert "Does an analysis survive?" in page
    assert f"{100 * told['mean_overlap']:.0f} % on average" in page
    assert f"{told['k_marginal']:.0f} of 1,000 points" in page
    assert "Does an analysis survive?" not in polyveil.report(folder)
    assert "Does an analysis survive?" not in (folder / "report.html").read_text()
    plain = CliRunner().invoke(app, ["analyze", str(folder), *given])
    assert "same conclusion" in plain.output
    with pytest.raises(InputError, match="--analyses needs the original"):
        polyveil.report(folder, analyses=tmp_path / "asked.yaml")
    (tmp_path / "bad.yaml").write_text("{")
    wrong = CliRunner().invoke(app, ["analyze", str(folder), *given[:2], "--analyses", str(tmp_path / "bad.yaml")])
    assert wrong.exit_code == 2
