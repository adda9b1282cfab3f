"""Comparing methods: every combination, a time limit each, results that outlive a stopped run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from polyveil.advice.cases import Case, CaseOutcome, cases_of, key_of, policy_of
from polyveil.advice.compare import compare
from polyveil.cli import app
from polyveil.errors import InputError, PolicyError
from polyveil.policy import Policy

FRAME = pl.DataFrame(
    {
        "age": [i % 37 for i in range(240)],
        "sex": ["f", "m"] * 120,
        "ill": [("flu", "asthma", "ulcer")[i % 3] for i in range(240)],
    }
)
POLICY: dict[str, Any] = {
    "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ill": {"role": "sensitive", "t": 0.4}},
    "privacy": {"k": 3},
}


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One comparison for the module: processes take a while to start."""
    folder = tmp_path_factory.mktemp("compared") / "out"
    found = compare(
        FRAME, POLICY, methods=["mondrian", "kaca", "mbf"], k=[2, 4], t=[0.3], limit=300, jobs=1, out=folder
    )
    assert len(found.outcomes) == 6
    return folder


def outcomes(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "comparison.json").read_text())["outcomes"]
    return found


def test_every_combination_has_an_outcome_and_releases_come_first_by_loss(compared: Path) -> None:
    found = outcomes(compared)
    done = [each for each in found if each["status"] == "done"]
    assert [(each["case"]["method"], each["case"]["k"]) for each in found if each["status"] != "done"] == [
        ("mbf", 2),
        ("mbf", 4),
    ]
    losses = [each["loss"]["normalized_loss"] for each in done]
    assert losses == sorted(losses)
    assert all(each["privacy"]["k"] >= each["case"]["k"] for each in done)
    assert all(each["privacy"]["t"]["ill"] <= 0.3 + 1e-9 for each in done)
    assert any(each["frontier"] for each in done)


def test_a_method_that_does_not_fit_says_why_without_a_cell(compared: Path) -> None:
    refused = next(each for each in outcomes(compared) if each["case"]["method"] == "mbf")
    assert refused["status"] == "not possible"
    assert "ill" in refused["message"]
    assert not any(value in refused["message"] for value in ("flu", "asthma", "ulcer"))


def test_the_page_is_one_file_that_loads_nothing(compared: Path) -> None:
    page = (compared / "comparison.html").read_text()
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "mondrian" in page


def test_a_stopped_comparison_goes_on_where_it_was(compared: Path) -> None:
    """One result is gone: only that one is run again."""
    files = sorted((compared / "results").iterdir())
    stamps = {file.name: file.stat().st_mtime_ns for file in files}
    files[0].unlink()
    options: dict[str, Any] = {"k": [2, 4], "t": [0.3], "limit": 300, "jobs": 1, "out": compared}
    with pytest.raises(InputError, match="--resume"):
        compare(FRAME, POLICY, methods=["mondrian", "kaca", "mbf"], **options)
    found = compare(FRAME, POLICY, methods=["mondrian", "kaca", "mbf"], resume=True, **options)
    assert found.reused == 5
    again = {file.name: file.stat().st_mtime_ns for file in (compared / "results").iterdir()}
    assert set(again) == set(stamps)
    assert [name for name in stamps if again[name] != stamps[name]] == [files[0].name]


def test_a_damaged_result_is_run_again_not_believed(compared: Path) -> None:
    victim = min((compared / "results").iterdir())
    victim.write_text("{")
    found = compare(
        *(FRAME, POLICY),
        methods=["mondrian", "kaca", "mbf"],
        k=[2, 4],
        t=[0.3],
        limit=300,
        jobs=1,
        out=compared,
        resume=True,
    )
    assert found.reused == 5
    assert json.loads(victim.read_text())["case"]


def test_a_run_is_stopped_at_its_limit_and_run_again_with_a_longer_one(tmp_path: Path) -> None:
    """The first run of a fresh process loads its kernels, which takes far longer than the limit."""
    options: dict[str, Any] = {"methods": ["fcm"], "jobs": 1, "out": tmp_path / "c"}
    (stopped,) = compare(FRAME, POLICY, limit=0.01, **options).outcomes
    assert (stopped.status, stopped.loss) == ("out of time", {})
    same = compare(FRAME, POLICY, limit=0.01, resume=True, **options)
    assert same.reused == 1
    (done,) = compare(FRAME, POLICY, limit=300, resume=True, **options).outcomes
    assert done.status == "done"


def test_the_key_changes_with_data_policy_and_seed_and_with_nothing_else() -> None:
    policy = Policy.from_dict(POLICY)
    key = key_of(policy, "data", 1)
    assert key == key_of(Policy.from_dict(POLICY), "data", 1)
    others = [
        key_of(policy, "other", 1),
        key_of(policy, "data", 2),
        key_of(policy_of(Case("mondrian", k=9), policy), "data", 1),
    ]
    assert len({key, *others}) == 4


def test_a_case_replaces_method_k_and_every_columns_t() -> None:
    policy = policy_of(Case("kaca", k=7, t=0.1), Policy.from_dict(POLICY))
    assert (policy.method.name, policy.privacy.k, policy.privacy.t, policy.columns["ill"].t) == ("kaca", 7, 0.1, None)
    kept = policy_of(Case("mondrian"), Policy.from_dict(POLICY))
    assert (kept.privacy.k, kept.columns["ill"].t) == (3, 0.4)


def test_an_outcome_survives_json() -> None:
    outcome = CaseOutcome(
        Case("a", 2, 0.1), "generalized", "done", 1.5, privacy={"k": 2}, loss={"normalized_loss": 0.5}
    )
    assert CaseOutcome.from_dict(json.loads(json.dumps(outcome.to_dict()))) == outcome


def test_unknown_methods_are_refused_before_anything_runs() -> None:
    with pytest.raises(PolicyError, match="nonsense"):
        cases_of(["mondrian", "nonsense"], [2], [])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--k", "x"],
        ["--k", "1"],
        ["--k", "2.5"],
        ["--t", "1.5"],
        ["--t", "-1"],
        ["--methods", "none"],
        ["--limit", "0"],
    ],
)
def test_wrong_options_are_bad_input(arguments: list[str], tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "t.csv")
    (tmp_path / "p.yaml").write_text(Policy.from_dict(POLICY).to_yaml())
    call = ["compare", str(tmp_path / "t.csv"), "--policy", str(tmp_path / "p.yaml"), "--out", str(tmp_path / "c")]
    done = CliRunner().invoke(app, [*call, *arguments])
    assert done.exit_code == 2
    assert not (tmp_path / "c").exists()


def test_a_folder_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("dear diary")
    with pytest.raises(InputError, match="not a comparison"):
        compare(FRAME, POLICY, methods=["mondrian"], out=tmp_path, resume=True)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
