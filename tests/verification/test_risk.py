"""The verifier counts risk again by itself: tampered tables and claims are found without asking the models."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.policy import from_public
from polyveil.verification.risk import check_risk

SAMPLE = {"attacker": "journalist", "population": {"fraction": 0.2}}


def release(**risk: Any) -> Any:
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"age": rng.integers(20, 60, 60), "size": rng.integers(150, 200, 60)})
    columns = {name: {"role": "quasi", "type": "numeric"} for name in table.columns}
    asked = {"columns": columns, "privacy": {"risk": risk}, "method": {"name": "mondrian"}}
    return polyveil.anonymize(table, asked, seed=1)


def outcome(manifest: dict[str, Any], table: pl.DataFrame) -> list[str]:
    return [finding.outcome for finding in check_risk(manifest, from_public(manifest["policy"]), table)]


@pytest.mark.parametrize(
    "risk",
    [{"max": 0.2}, {"average": 0.2, "strict_k": 3}, {"max": 0.1, "average": 0.09, **SAMPLE}],
)
def test_a_release_keeps_its_limits_counted_again(risk: dict[str, Any]) -> None:
    made = release(**risk)
    assert outcome(made.manifest, made.table) == ["holds"]
    assert any(finding.check == "risk" and finding.outcome == "holds" for finding in made.verification.findings)


def test_a_group_that_became_too_small_is_found() -> None:
    made = release(max=0.2)
    assert outcome(made.manifest, made.table.sort("age", "size").slice(2)) == ["fails"]


def test_groups_that_became_too_many_are_found() -> None:
    made = release(average=0.2, strict_k=3)
    rows = made.table.with_row_index().with_columns(
        size=pl.when(pl.col("index") % 4 == 0).then(pl.lit("other")).otherwise(pl.col("size"))
    )
    assert "fails" in outcome(made.manifest, rows.drop("index"))


@pytest.mark.parametrize("key", ["average-risk", "strict-k"])
def test_a_claim_that_the_cells_do_not_give_is_found(key: str) -> None:
    made = release(average=0.2, strict_k=3)
    manifest = copy.deepcopy(made.manifest)
    for claim in manifest["claims"]:
        claim["measured"] += 0.001 if claim["model"] == key else 0
    assert outcome(manifest, made.table) == ["fails"]


def test_a_stricter_policy_than_the_table_keeps_is_found() -> None:
    made = release(max=0.2)
    manifest = copy.deepcopy(made.manifest)
    manifest["policy"]["privacy"]["risk"]["max"] = 0.01
    assert outcome(manifest, made.table) == ["fails"]
