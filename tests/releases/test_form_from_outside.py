"""A release form that an installed package adds: its own file, and one line each for the forms and for the verifier."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

THE_FORM = '''
from polyveil.releases.linked import Linked


class Paired(Linked):
    """Sensitive columns two by two, in the policy's order."""

    name = "paired"

    def slices(self, policy):
        names = policy.having("sensitive")
        return tuple(names[i : i + 2] for i in range(0, len(names), 2))
'''
ENTRY_POINTS = """
[polyveil.forms]
paired = paired_form:Paired

[polyveil.form_checks]
paired = polyveil.verification.linked:verify_linked
"""
SCRIPT = """
import json, sys
import polars as pl
import polyveil
from polyveil.methods import method_class
from polyveil.verification import verify

rows = range(240)
frame = pl.DataFrame({
    "age": [20 + i % 40 for i in rows],
    **{name: [f"{name}{(i // step) % 4}" for i in rows] for name, step in (("a", 1), ("b", 3), ("c", 5))},
})
columns = {"age": {"role": "quasi", "type": "numeric"}, **{name: {"role": "sensitive"} for name in "abc"}}
policy = {"version": 1, "columns": columns, "privacy": {"k": 4, "l": 2}, "method": {"name": "mondrian"},
          "release": {"form": "paired", "generalize": "range"}}
release = polyveil.anonymize(frame, policy, out=sys.argv[1], seed=1)
print(json.dumps({
    "tables": {name: table.columns for name, table in release.tables.items()},
    "outcome": verify(sys.argv[1]).holds,
    "forms": method_class("mondrian").forms,
    "report": "paired" in (__import__("pathlib").Path(sys.argv[1]) / "report.html").read_text(),
}))
"""


def run(script: str, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(path)} if path else dict(os.environ)
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A release of the form, made in a process that has the package."""
    folder = tmp_path_factory.mktemp("outside")
    package = folder / "site"
    (package / "paired_form-1.0.dist-info").mkdir(parents=True)
    (package / "paired_form.py").write_text(THE_FORM)
    (package / "paired_form-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: paired-form\n")
    (package / "paired_form-1.0.dist-info" / "entry_points.txt").write_text(ENTRY_POINTS)
    done = run(SCRIPT, str(folder / "release"), path=package)
    assert done.returncode == 0, done.stderr
    return folder / "release", json.loads(done.stdout)


def test_a_form_from_outside_is_written_described_and_verified(made: tuple[Path, dict[str, Any]]) -> None:
    _, seen = made
    assert seen["tables"] == {
        "quasi": ["age", "group_1", "group_2"],
        "sensitive_1": ["group_1", "a", "b"],
        "sensitive_2": ["group_2", "c"],
    }
    assert seen["outcome"] is True
    assert seen["forms"] == ["generalized", "anatomized", "sliced", "paired"]
    assert seen["report"] is True


def test_a_verifier_that_does_not_know_the_form_refuses_it(made: tuple[Path, dict[str, Any]]) -> None:
    place, _ = made
    done = run("import sys; from polyveil.verification import verify; verify(sys.argv[1])", str(place))
    assert done.returncode != 0
    assert "DamagedRelease" in done.stderr
    assert "not what a manifest has" in done.stderr
