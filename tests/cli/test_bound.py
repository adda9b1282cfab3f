"""`polyveil bound`, and the bound that `polyveil anonymize` shows."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from polyveil.cli import app

POLICY = "columns: {age: {role: quasi}, illness: {role: sensitive}}\nprivacy: {k: 2}\nmethod: {name: mondrian}\n"


@pytest.fixture
def table(tmp_path: Path) -> tuple[str, str]:
    ages = pl.DataFrame({"age": [20, 24, 36, 40, 80], "illness": ["flu", "cold", "flu", "cold", "flu"]})
    ages.write_csv(tmp_path / "ages.csv")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return str(tmp_path / "ages.csv"), str(tmp_path / "policy.yaml")


def test_bound_prints_one_sentence_or_one_object(table: tuple[str, str]) -> None:
    data, policy = table
    said = CliRunner().invoke(app, ["bound", data, "--policy", policy, "--quiet"])
    assert said.exit_code == 0
    assert said.stdout.startswith("No release with these guarantees can lose less than ")
    found = json.loads(CliRunner().invoke(app, ["bound", data, "--policy", policy, "--json"]).stdout)
    assert 56 / 60 / 5 <= found["information_loss"] <= 140 / 60 / 5
    assert found["least_rows"] == 2


def test_anonymize_shows_the_bound_beside_the_loss(table: tuple[str, str], tmp_path: Path) -> None:
    data, policy = table
    command = ["anonymize", data, "--policy", policy, "--bound"]
    said = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "one"), "--quiet"])
    assert "of the detail; no release with these guarantees can lose less than" in said.stdout
    found = json.loads(CliRunner().invoke(app, [*command, "--out", str(tmp_path / "two"), "--json"]).stdout)
    assert 0 < found["bound"]["information_loss"] <= found["loss"]["information_loss"]
    assert "bound" not in json.loads((tmp_path / "two" / "manifest.json").read_text())


def test_a_small_table_has_no_bound_unless_asked(table: tuple[str, str], tmp_path: Path) -> None:
    data, policy = table
    answer = CliRunner().invoke(app, ["anonymize", data, "--policy", policy, "--out", str(tmp_path / "r"), "--json"])
    assert "bound" not in json.loads(answer.stdout)
