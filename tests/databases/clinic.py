"""A small table of patients, its policy, and the command line, for tests of the whole path."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app

POLICY: dict[str, Any] = {
    "version": 1,
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "type": "numeric"},
        "zip": {"role": "quasi", "hierarchy": {"mask": 5}},
        "admitted": {"role": "quasi", "type": "date"},
        "disease": {"role": "sensitive", "t": 0.4},
        "salary": {"role": "sensitive", "type": "numeric", "t": 0.4},
        "ward": {"role": "insensitive"},
        "insured": {"role": "insensitive"},
    },
    "privacy": {"k": 5},
    "method": {"name": "mondrian"},
    "release": {"form": "generalized", "format": "parquet"},
}


def patients(rows: int = 200, seed: int = 7) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(rows)],
            "age": rng.integers(0, 99, rows),
            "zip": [f"0{number}" for number in rng.integers(1000, 1050, rows)],
            "admitted": pl.Series(rng.integers(19000, 19400, rows).astype(np.int32)).cast(pl.Date),
            "disease": rng.choice(["flu", "asthma", "ulcer"], rows),
            "salary": rng.integers(20, 60, rows) * 1000.0,
            "ward": [None if w == "C" else w for w in rng.choice(["A", "B", "C"], rows)],
            "insured": rng.random(rows) < 0.5,
        }
    )


@cache
def made() -> polyveil.Release:
    """The table's release, made once for all tests that only want to publish something."""
    return polyveil.anonymize(patients(), POLICY, seed=1)


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and its exit code."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    @property
    def line(self) -> str:
        """The one line of an error: no traceback, nothing else."""
        assert self.code == 2, self
        assert self.stdout == ""
        assert self.stderr.startswith("polyveil: ")
        assert self.stderr.count("\n") == 1
        assert "Traceback" not in self.stderr
        return self.stderr.removeprefix("polyveil: ").rstrip()


def polyveil_command(*arguments: str) -> Outcome:
    result = CliRunner().invoke(app, list(arguments))
    return Outcome(result.exit_code, result.stdout, result.stderr)
