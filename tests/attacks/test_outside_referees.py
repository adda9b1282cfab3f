"""anonymeter's three attacks on our releases, with values drawn from their cells: they help far less than the table.

anonymeter demands older versions of NumPy and pyarrow than polyveil: `pip install --no-deps anonymeter`.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.analyses.drawing import pair_of
from polyveil.table.source import read

pytest.importorskip("anonymeter", reason="anonymeter is not installed: pip install --no-deps anonymeter")
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "outside_referees.py"


def referees() -> Any:
    spec = importlib.util.spec_from_file_location("outside_referees", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["outside_referees"] = module
    spec.loader.exec_module(module)
    return module


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    return pl.DataFrame(
        {
            "age": age,
            "size": rng.normal(170, 9, rows).round(),
            "town": rng.choice(["x", "y", "z", "u", "v", "w"], rows),
            "occupation": rng.choice(["a", "b", "c", "d", "e"], rows),
        }
    )


def test_a_release_helps_anonymeters_attacks_far_less_than_the_table() -> None:
    table, others = people(800, 1), people(800, 2)
    columns = {name: {"role": "quasi"} for name in ("age", "size", "town")}
    policy = {"columns": {**columns, "occupation": {"role": "sensitive"}}, "privacy": {"k": 5, "t": 0.3}}
    release = polyveil.anonymize(table, {**policy, "method": {"name": "mondrian"}}, seed=1)
    module, control = referees(), others.to_pandas()
    drawn = module.drawn(release, table)
    plain = table.to_pandas()
    raw = module.referees(plain, plain.sample(frac=1.0, random_state=1), control, 150)
    ours = module.referees(plain, drawn, control, 150)
    for attack in ("singling out", "linkability", "inference"):
        assert ours[attack].value < 0.25, attack
        assert ours[attack].value < raw[attack].value / 2, attack


def test_drawn_values_lie_within_their_cells() -> None:
    table = people(200, 3)
    columns = {name: {"role": "quasi"} for name in table.columns}
    release = polyveil.anonymize(table, {"columns": columns, "privacy": {"k": 5}, "method": {"name": "mondrian"}})
    drawn = pair_of(release, read(table)).draw(np.random.default_rng(0))
    for cell, value in zip(release.table["age"], drawn["age"], strict=True):
        low, high = (cell.strip("[]").split("-") * 2)[:2]
        assert float(low) <= value <= float(high)
