"""The commands as people and scripts use them: exit codes, JSON keys, files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import children
from polyveil.cli import app
from polyveil.demo import write_example
from polyveil.pipeline import STAGES
from polyveil.policy import Policy


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def as_json(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == code, result.output
    assert result.stderr == ""
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hospital")
    write_example("hospital", folder, rows=500)
    return folder


def test_anonymize_prints_the_contracted_figures(hospital: Path, tmp_path: Path) -> None:
    found = as_json("anonymize", hospital / "hospital.csv", "--policy", hospital / "policy.yaml", "-o", tmp_path / "r")
    assert {"rows", "suppressed", "classes", "class_size", "method", "release", "privacy", "loss", "seconds"} <= set(
        found
    )
    assert set(found["class_size"]) == {"min", "mean", "max"}
    assert {"name", "parameters"} <= set(found["method"])
    assert {"k", "l", "t"} == set(found["privacy"])
    assert set(found["privacy"]["t"]) == {"disease", "salary", "religion"}
    wanted = {"information_loss", "normalized_loss", "discernibility", "precision", "average_class_size"}
    assert wanted <= set(found["loss"])
    stages = {"read", "encode", "partition", "refine", "release", "measure", "write", "verify", "total"}
    assert stages == set(found["seconds"])
    assert found["seconds"]["total"] == pytest.approx(sum(v for k, v in found["seconds"].items() if k != "total"))
    assert found["release"] == str(tmp_path / "r")


def test_the_manifest_tells_nothing_it_must_not(hospital: Path, tmp_path: Path) -> None:
    command = ["anonymize", hospital / "hospital.csv", "-p", hospital / "policy.yaml", "-o", tmp_path / "r"]
    assert run(*command, "--seed", "424242").exit_code == 0
    text = (tmp_path / "r" / "manifest.json").read_text()
    assert "424242" not in text
    assert str(hospital) not in text
    assert "hospital.csv" not in text
    identifiers = pl.read_csv(hospital / "hospital.csv", infer_schema=False).select(
        Policy.from_yaml(hospital / "policy.yaml").having("identifier")
    )
    assert identifiers.width > 0
    for column in identifiers:
        assert column.name not in text
        assert not any(f'"{value}"' in text for value in column.drop_nulls())


def test_verify_says_yes_and_no(hospital: Path, tmp_path: Path) -> None:
    run("anonymize", hospital / "hospital.csv", "-p", hospital / "policy.yaml", "-o", tmp_path / "r")
    assert as_json("verify", tmp_path / "r")["holds"] is True
    assert "All checks passed" in run("verify", tmp_path / "r").stdout
    (tmp_path / "r" / "extra.txt").write_text("x")
    found = as_json("verify", tmp_path / "r", code=1)
    assert found["holds"] is False
    assert [f["check"] for f in found["findings"] if f["outcome"] == "fails"] == ["extra file"]
    assert run("verify", tmp_path).exit_code == 2


def test_inspect_writes_a_policy_that_runs(hospital: Path, tmp_path: Path) -> None:
    found = as_json("inspect", hospital / "hospital.csv", "--out", tmp_path / "policy.yaml")
    assert found["rows"] == 500
    assert 0 < found["singled_out"] <= 500
    assert {column["role"] for column in found["columns"]} >= {"identifier", "quasi", "sensitive"}
    Policy.from_yaml(tmp_path / "policy.yaml")
    again = run("inspect", hospital / "hospital.csv", "--out", tmp_path / "policy.yaml")
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_check_answers_plainly(hospital: Path) -> None:
    command = ["check", hospital / "hospital.csv", "--quasi", "age,sex,zip", "--sensitive", "disease,salary"]
    found = as_json(*command, "--k", "5", code=1)
    assert found["holds"] is False
    assert found["answer"].startswith("No")
    assert {each["model"] for each in found["measurements"]} >= {"k-anonymity", "t-closeness", "entropy-l-diversity"}
    assert run("check", hospital / "hospital.csv").exit_code == 2
    assert "No: " in run(*command).stdout


def test_check_counts_missing_cells_as_values(tmp_path: Path) -> None:
    # pycanon drops the row with the missing cell and reports k = 3.
    (tmp_path / "t.csv").write_text("zip,illness\n1,a\n1,b\n1,a\n,b\n")
    found = as_json("check", tmp_path / "t.csv", "--quasi", "zip", "--sensitive", "illness")
    assert found["class_size"]["min"] == 1
    assert found["unique_rows"] == 1


def test_check_reads_someone_elses_release(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "age;zip;illness\n[20-29];475**;flu\n[20-29];475**;cold\n>=40;4****;flu\n>=40;4****;cold\n"
    )
    found = as_json("check", tmp_path / "t.csv", "--quasi", "age,zip", "--sensitive", "illness", "--k", "2", "--t", "0")
    assert found["holds"] is True


def test_demo_does_the_whole_job_and_repeats(tmp_path: Path) -> None:
    found = as_json("demo", "census", "--rows", "400", "--out", tmp_path / "d")
    assert as_json("verify", found["release"])["holds"] is True
    assert run("demo", "census", "--rows", "400", "--out", tmp_path / "d").exit_code == 2
    assert run("demo", "census", "--rows", "400", "--out", tmp_path / "d", "--overwrite").exit_code == 0


@pytest.mark.parametrize("command", ["methods", "models"])
def test_catalogues_tell_and_print_json(command: str) -> None:
    assert as_json(command)[command]
    assert run(command).stdout


def test_unknown_commands_options_and_methods_are_wrong_use() -> None:
    assert run("wish").exit_code == 2
    assert run("verify", "x", "--wish").exit_code == 2
    assert run("methods", "wish").exit_code == 2


def test_errors_are_json_where_json_is_asked_for(tmp_path: Path) -> None:
    found = as_json("anonymize", tmp_path / "no.csv", "-p", tmp_path / "no.yaml", "-o", tmp_path / "r", code=2)
    assert "no.yaml" in found["error"]["message"]


def test_a_terminal_shows_progress_on_stderr_and_results_on_stdout(hospital: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "polyveil", "anonymize", hospital / "hospital.csv"]
    command += ["-p", hospital / "policy.yaml", "-o", tmp_path / "r"]
    code, said, drawn = children.run_in_terminal(command)
    assert code == 0, drawn.decode()
    assert any(stage.encode() in drawn for stage in STAGES)
    assert "Published and verified" in said


@pytest.mark.parametrize(
    ("command", "replaced", "said"),
    [
        ("anonymize", "polyveil.pipeline.anonymize", "stopped; nothing was written"),
        ("compare", "polyveil.advice.compare.compare", "stopped; finished runs are kept"),
    ],
)
def test_stopping_says_what_it_leaves_behind(
    hospital: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, replaced: str, said: str
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(replaced, interrupted)
    found = run(command, hospital / "hospital.csv", "-p", hospital / "policy.yaml", "-o", tmp_path / "out")
    assert found.exit_code == 130
    assert said in found.stderr
