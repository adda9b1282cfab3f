"""`polyveil advise` from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.policy import Policy

ROWS = 120
FRAME = pl.DataFrame(
    {
        "name": [f"person {i}" for i in range(ROWS)],
        "age": [20 + i % 41 for i in range(ROWS)],
        "ill": [("flu", "asthma", "ulcer")[i % 3] for i in range(ROWS)],
        "pay": [1000 + 10 * (i % 29) for i in range(ROWS)],
    }
)


def run(folder: Path, columns: dict[str, Any], *arguments: str) -> Any:
    FRAME.select(*columns).write_csv(folder / "t.csv")
    policy = Policy.from_dict({"columns": columns, "privacy": {"k": 3, "t": 0.3}})
    (folder / "p.yaml").write_text(policy.to_yaml())
    fast = ["--methods", "mondrian", "--draws", "20", "--limit", "300", "--jobs", "1"]
    return CliRunner().invoke(app, ["advise", str(folder / "t.csv"), "-p", str(folder / "p.yaml"), *fast, *arguments])


TWO = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi"},
    "ill": {"role": "sensitive"},
    "pay": {"role": "sensitive", "type": "numeric"},
}


def test_two_sensitive_columns_give_t_its_interval_and_the_evidence(tmp_path: Path) -> None:
    done = run(tmp_path, TWO, "--json", "--html", str(tmp_path / "advice.html"))
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    low, high = found["overlap"]["interval"]
    assert 0 <= low <= found["overlap"]["t"] + 0.05
    assert low <= high
    assert [each["t"] for each in found["least_class"]] == sorted(each["t"] for each in found["least_class"])
    assert [o["status"] for o in found["loss_by_t"][0]["outcomes"]] == ["done"] * 8
    assert [each["k"] for each in found["k"]] == [2, 3, 5, 10, 20]
    assert found["supported_k"] in (2, 3, 5, 10, 20)
    pairs = {tuple(each["columns"]): each["unique_rows"] for each in found["unique_combinations"]["combinations"]}
    assert pairs == {("age",): 0}  # no sensitive column points to people, and no identifier is published
    recommended = found["recommendation"]
    assert (recommended["method"], recommended["k"]) == ("sift", 3)
    assert 0 <= recommended["detail_lost"] <= 1
    page = (tmp_path / "advice.html").read_text()
    assert "person 1" not in page
    assert "<script" not in page


def test_one_sensitive_column_gets_the_rest_and_the_reason(tmp_path: Path) -> None:
    done = run(tmp_path, {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}, "--json")
    found = json.loads(done.stdout)
    assert found["overlap"] is None
    assert "two or more sensitive columns" in found["overlap_note"]
    assert found["loss_by_t"][0]["outcomes"]
    assert found["least_class"]


@pytest.mark.parametrize(
    "wrong", [["--classes", "pay"], ["--classes", "age=3"], ["--methods", "none"], ["--bandwidth", "0"]]
)
def test_wrong_options_are_bad_input(tmp_path: Path, wrong: list[str]) -> None:
    assert run(tmp_path, TWO, *wrong).exit_code == 2


def test_the_recommended_policy_finds_its_hierarchies_from_another_folder(tmp_path: Path) -> None:
    (tmp_path / "ills.csv").write_text("flu;lungs;*\nasthma;lungs;*\nulcer;stomach;*\n")
    (tmp_path / "later").mkdir()
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive", "hierarchy": "ills.csv"}}
    FRAME.select(*columns).write_csv(tmp_path / "t.csv")
    policy = Policy.from_dict(
        {"columns": columns, "privacy": {"k": 3}, "method": {"name": "mondrian"}}, folder=tmp_path
    )
    (tmp_path / "p.yaml").write_text(policy.to_yaml())
    written = tmp_path / "later" / "new.yaml"
    asked = ["advise", str(tmp_path / "t.csv"), "-p", str(tmp_path / "p.yaml"), "--methods", "", "-o", str(written)]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert "../ills.csv" in written.read_text()
    assert polyveil.anonymize(tmp_path / "t.csv", written).holds
