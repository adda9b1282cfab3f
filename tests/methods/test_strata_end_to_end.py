"""The stratifying methods from the command line: releases that verify, and bad input refused with nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from polyveil.cli import app

STRATIFYING = ("fcm", "pca", "swap", "fragment")
TREE = "flu;lung;*\ncold;lung;*\nulcer;stomach;*\nreflux;stomach;*\n"


def table(rows: int = 60, *, illness: str | None = None, salary: str | None = None) -> str:
    rng = np.random.default_rng(4)
    names = ["flu", "cold", "ulcer", "reflux"]
    lines = ["age,town,illness,salary"]
    for row in range(rows):
        values = [
            str(rng.integers(20, 60)),
            "abc"[rng.integers(3)],
            illness or names[rng.integers(4)],
            str(1000 * rng.integers(1, 9)),
        ]
        if salary is not None and row == 5:
            values[3] = salary
        lines.append(",".join(values))
    return "\n".join(lines) + "\n"


def policy(method: str = "{name: fcm}", k: object = 3, t: object = 0.4) -> str:
    return f"""
version: 1
columns:
  age: {{role: quasi, type: numeric, weight: 2}}
  town: {{role: quasi}}
  illness: {{role: sensitive, hierarchy: tree.csv, t: {t}}}
  salary: {{role: sensitive, type: numeric, t: 0.5}}
privacy: {{k: {k}}}
method: {method}
"""


def run(folder: Path, data: str, rules: str, *more: str) -> Result:
    (folder / "table.csv").write_text(data)
    (folder / "policy.yaml").write_text(rules)
    (folder / "tree.csv").write_text(TREE)
    out = str(folder / "release")
    command = ["anonymize", str(folder / "table.csv"), "--policy", str(folder / "policy.yaml"), "--out", out, *more]
    return CliRunner().invoke(app, command)


@pytest.mark.parametrize("name", STRATIFYING)
def test_a_release_holds_k_and_every_t_and_verifies(tmp_path: Path, name: str) -> None:
    result = run(tmp_path, table(), policy(f"{{name: {name}}}"), "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["rows"] == 60
    assert found["suppressed"] == 0
    assert found["privacy"]["k"] >= 3
    assert found["privacy"]["t"]["illness"] <= 0.4 + 1e-9
    assert found["privacy"]["t"]["salary"] <= 0.5 + 1e-9
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "release")]).exit_code == 0


@pytest.mark.parametrize("name", STRATIFYING)
def test_one_sensitive_value_is_trivially_close_and_said_to_be(tmp_path: Path, name: str) -> None:
    result = run(tmp_path, table(illness="flu"), policy(f"{{name: {name}}}", t=0), "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["privacy"]["t"]["illness"] == 0
    assert "trivially_close" in json.dumps(found)


@pytest.mark.parametrize(
    ("data", "rules", "words"),
    [
        (table(), policy(t=-0.1), ["columns.illness.t"]),
        (table(), policy(t=1.5), ["columns.illness.t"]),
        (table(), policy(t=".nan"), ["columns.illness.t"]),
        (table(), policy(k=1), ["privacy.k"]),
        (table(), policy(k=61), ["privacy.k", "60 rows"]),
        (table(illness="rash"), policy(), ["columns.illness.hierarchy", "missing from it"]),
        (table(), policy("{name: fcm, strata: 61}"), ["method.strata", "60 rows"]),
        (table(), policy("{name: pca, strata: 2}"), ["method.strata", "k = 3"]),
        (table(), policy("{name: swap, candidates: -1}"), ["method.candidates"]),
        (table(), policy("{name: fragment, bound: loose}"), ["method.bound"]),
        (table(), policy("{name: fragment, edges: {illness: [1]}}"), ["method.edges.illness"]),
        (table(), policy("{name: fcm, seed_order: nearest}"), ["method.seed_order"]),
        (table(salary="NaN"), policy(), ["salary"]),
        (table(salary="inf"), policy(), ["salary"]),
    ],
    ids=[
        "t-below-0", "t-above-1", "t-nan", "k-1", "k-above-rows", "not-in-hierarchy", "strata-above-rows",
        "strata-below-k", "candidates", "bound", "edges", "seed-order", "nan", "infinite",
    ],
)  # fmt: skip
def test_bad_input_is_refused_and_nothing_is_written(tmp_path: Path, data: str, rules: str, words: list[str]) -> None:
    result = run(tmp_path, data, rules)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.stderr
    assert {entry.name for entry in tmp_path.iterdir()} == {"table.csv", "policy.yaml", "tree.csv"}
