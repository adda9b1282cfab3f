"""Whenever `verify` says that a release holds, a reader with plain Python and the files alone finds no group beyond it.

    POLYVEIL_READER_TABLES=500 pytest -s tests/verification/test_brute_force_reader.py

reads more random tables and prints what came out.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from attack_tables import by_age, people, policy_of, release_of
from brute_force_reader import Reader
from polyveil.errors import Unsatisfiable
from polyveil.methods import METHODS
from polyveil.releases.bundle import write_bundle

SPREADING = [name for name in METHODS if name.startswith(("mbf", "msdcf", "mmdcf", "sloms"))]
"""Methods that do not give t-closeness and say so."""
FORMS = ("generalized", "anatomized", "sliced")
SOME = int(os.environ.get("POLYVEIL_READER_TABLES", "45"))


def random_case(seed: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A small table and a policy for it: methods and forms in turn, everything else by chance."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(24, 70))
    skew = rng.dirichlet(np.full(int(rng.integers(3, 7)), rng.choice([0.6, 2.0, 8.0])))
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 20 + int(rng.integers(3, 60)), rows),
            "town": rng.choice(["n", "e", "s", "w"], rows),
            "illness": [f"i{code}" for code in rng.choice(len(skew), rows, p=skew)],
            "pay": rng.integers(1, int(rng.integers(4, 9)), rows),
        }
    )
    if rng.random() < 0.3:
        hidden = rng.random(rows) < 0.1
        frame = frame.with_columns(illness=pl.when(pl.Series(hidden)).then(None).otherwise(pl.col("illness")))
    methods = sorted(METHODS)
    name = methods[seed % len(methods)]
    form = "sliced" if name == "sloms" else FORMS[seed // len(methods) % len(FORMS)]
    privacy: dict[str, Any] = {"suppression_limit": float(rng.choice([0.0, 0.1, 0.3, 0.6]))}
    if rng.random() < 0.6:
        privacy["k"] = int(rng.integers(2, 5))
    if rng.random() < 0.6 or "k" not in privacy:
        privacy["l"] = int(rng.integers(2, 4))
    if rng.random() < 0.4 and name not in SPREADING:
        privacy["t"] = float(rng.choice([0.25, 0.4, 0.6]))
    columns = {
        "age": {"role": "quasi", "type": "numeric"},
        "town": {"role": "quasi", "recode": "set"},
        "illness": {"role": "sensitive", "type": "categorical"},
        "pay": {"role": "sensitive", "type": "numeric"},
    }
    release = {"form": form, "format": str(rng.choice(["csv", "parquet"]))}
    return frame, {"columns": columns, "privacy": privacy, "method": {"name": name}, "release": release}


def read_one(seed: int, folder: Path) -> str:
    """What became of one random table; fails where `verify` holds and the reader finds more than was promised."""
    frame, policy = random_case(seed)
    place = folder / f"release{seed}"
    try:
        polyveil.anonymize(frame, policy, out=place, seed=seed)
    except Unsatisfiable:
        return "cannot be reached"
    if not polyveil.verify(place).holds:
        return "does not hold"
    reader = Reader(place)
    assert reader.beyond() == [], f"table {seed}: {policy['method']} {policy['release']}"
    if any(reader.rest(name) for name in reader.sensitive):
        return "holds, and the values left out can be told"
    return "holds, with rows left out" if reader.manifest["suppressed"] else "holds"


def test_no_group_goes_beyond_the_promise_where_verify_says_that_it_holds(tmp_path: Path) -> None:
    outcomes = Counter(read_one(seed, tmp_path) for seed in range(SOME))
    print(dict(outcomes))
    held = [outcome for outcome in outcomes.elements() if outcome.startswith("holds")]
    assert len(held) > SOME / 2, outcomes
    assert len([outcome for outcome in held if "left out" in outcome]) > 2, outcomes
    assert outcomes["does not hold"] == 0, outcomes


def test_every_method_and_every_form_is_read() -> None:
    cases = [random_case(seed)[1] for seed in range(45)]
    assert {case["method"]["name"] for case in cases} == set(METHODS)
    assert {case["release"]["form"] for case in cases} == set(FORMS)


@pytest.mark.parametrize("k_l", [{"k": 5}, {"l": 3}], ids=str)
def test_the_reader_finds_a_careless_group_and_verify_does_too(tmp_path: Path, k_l: dict[str, int]) -> None:
    frame = people(60)
    careless = release_of(frame, policy_of(**k_l), by_age(frame, 2))
    write_bundle(tmp_path / "careless", careless.tables, careless.manifest)
    assert any("group of illness" in line for line in Reader(tmp_path / "careless").beyond())
    assert not polyveil.verify(tmp_path / "careless").holds


def test_the_reader_finds_careless_rows_left_out_and_verify_does_too(tmp_path: Path) -> None:
    """All six rows left out have the same illness, which the manifest's counts give away."""
    illness = np.resize(["flu", "asthma", "cold", "fear"], 60)
    illness[:6] = "cancer"
    frame = people(60, age=np.arange(60), illness=illness)
    classes = np.concatenate([np.full(6, -1), np.arange(54) // 9])
    asked = policy_of(k=3, l=2, suppression_limit=0.2)
    careless = release_of(frame, asked, classes)
    write_bundle(tmp_path / "careless", careless.tables, careless.manifest)
    assert any(
        "left out or withheld of illness: a share of 1.0" in line for line in Reader(tmp_path / "careless").beyond()
    )
    assert not polyveil.verify(tmp_path / "careless").holds
