"""What every release promises, whichever engine made it: each test runs on this machine and on Spark."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

from engines.clinic import clinic, policy
from engines.conftest import Run
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.verify import verify_tables

DECOMPOSING = ["mondrian", "fcm", "pca", "fragment", "swap", "kaca", "mbf", "sift"]


def for_method(name: str) -> dict[str, Any]:
    """A policy that the method can serve: bucket methods know l, kaca k alone, the others t."""
    if name in ("mbf", "kaca"):
        plain = {"disease": {"role": "sensitive"}, "cost": {"role": "sensitive", "type": "numeric"}}
        asked = {"l": 2, "diversity": "frequency", "suppression_limit": 0.2} if name == "mbf" else {}
        return policy(name, columns=plain, privacy=asked)
    return policy(name, options={"effort": "fast"} if name == "sift" else {})


@pytest.mark.parametrize("method", DECOMPOSING)
def test_every_method_keeps_its_policy_in_blocks_and_in_one_piece(run: Run, method: str) -> None:
    result = run(clinic(), for_method(method), seed=1, block_rows=150)
    verification = verify_tables(result.release.manifest, {"table": result.table})
    assert verification.holds, verification.failures
    assert result.release.privacy["k"] >= 4


def test_every_row_is_released_once_with_its_own_values(run: Run) -> None:
    frame = clinic()
    result = run(frame, policy(), block_rows=150)
    for columns in (["disease", "cost"], ["disease", "ward"]):
        rows = lambda table: Counter(table.select(pl.col(c).cast(pl.String) for c in columns).rows())  # noqa: B023, E731
        expected = frame.with_columns(pl.col("cost").cast(pl.Int64))
        assert rows(result.table) == rows(expected)
    assert "name" not in result.table.columns


def test_a_seed_reproduces_the_release_up_to_row_order(run: Run) -> None:
    first, again = (run(clinic(), policy("fcm"), seed=7, block_rows=150) for _ in range(2))
    assert first.sorted.equals(again.sorted)
    assert not first.table.equals(again.table)


def test_missing_values_are_values(run: Run) -> None:
    frame = clinic().with_columns(pl.when(pl.col("ward") == 1).then(None).otherwise(pl.col("disease")).alias("disease"))
    result = run(frame, policy(), block_rows=150)
    assert result.table["disease"].null_count() == frame["disease"].null_count() > 0
    assert verify_tables(result.release.manifest, {"table": result.table}).holds


@pytest.mark.parametrize("numbers", ["midpoint", "mean"])
def test_numbers_stay_numbers_where_asked(run: Run, numbers: str) -> None:
    result = run(clinic(), policy(release={"form": "generalized", "numbers": numbers}))
    assert result.table.schema["age"] == pl.Float64
    assert result.table.schema["admitted"] == pl.String


def test_the_figures_agree_between_the_engines_for_the_same_classes(run: Run) -> None:
    # One class holds everything, so both engines publish the same rows and must say the same about them.
    result = run(clinic(60), policy(privacy={"k": 60}))
    cost = sum(result.release.loss["by_attribute"].values())
    assert result.release.manifest["classes"] == 1
    assert result.release.privacy["t"] == {"disease": 0.0, "cost": 0.0}
    assert result.release.loss["discernibility"] == 3600
    assert result.release.loss["entropy"] == pytest.approx(0.0, abs=1e-12)
    assert result.release.loss["information_loss"] == pytest.approx(cost)
    assert cost == pytest.approx(4.0)


def test_all_faults_are_named_at_once(run: Run) -> None:
    wrong = policy(columns={"height": {"role": "quasi"}, "cost": {"role": "sensitive", "type": "date"}})
    with pytest.raises(PolicyError) as error:
        run(clinic().drop("ward"), wrong)
    assert {fault.place for fault in error.value.faults} >= {"columns.height", "columns.ward"}
    assert not any("person" in str(fault) for fault in error.value.faults)


def test_a_k_beyond_the_table_is_refused(run: Run) -> None:
    with pytest.raises(PolicyError, match="60 rows"):
        run(clinic(60), policy(privacy={"k": 61}))


def test_an_unreachable_policy_names_the_binding_demand(run: Run) -> None:
    with pytest.raises(Unsatisfiable, match="disease"):
        run(clinic(), policy(privacy={"l": 9}))
