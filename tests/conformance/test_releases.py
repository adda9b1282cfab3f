"""What every release promises, whichever engine made it: each test runs on this machine and on Spark.

What an engine does not do it must refuse, in words that say what to use instead; `REFUSED` is the list.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

from conformance.engines import Engine
from engines.clinic import clinic, policy
from polyveil.errors import PolicyError, Unsatisfiable

PLAIN = {"disease": {"role": "sensitive"}, "cost": {"role": "sensitive", "type": "numeric"}}
LEVELS = {**PLAIN, "disease": {"role": "sensitive", "levels": {"2": ["cancer"], "0": ["cold"]}}}
DIVERSE = {"l": 2, "diversity": "frequency", "suppression_limit": 0.2}
BY_LEVEL = {**DIVERSE, "l": {0: 1, 1: 2, 2: 3}}

LINKED = {
    "anatomized": policy("mbf", columns=PLAIN, privacy=DIVERSE, release={"form": "anatomized"}),
    "anatomized, generalized to ranges": policy(
        "fcm", release={"form": "anatomized", "generalize": "range", "counts": True}
    ),
    "anatomized by security level, quasi-identifiers by kaca": policy(
        "mmdcf-mslf", columns=LEVELS, privacy=BY_LEVEL, release={"form": "anatomized", "generalize": "kaca"}
    ),
    "one slice per column": policy("msdcf", columns=PLAIN, privacy=DIVERSE, release={"form": "sliced", "counts": True}),
    "slices of its own": policy("sloms", columns=PLAIN, privacy=DIVERSE, release={"form": "sliced"}),
}
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "privacy.joint": ({"privacy": {"joint": [{"columns": ["disease", "cost"], "t": 0.8}]}}, "spark", "--engine spark"),
    "method.effort": ({"method": "sift", "options": {"effort": 0.5}}, "spark", "--engine spark"),
    "method.refine": ({"options": {"refine": 0.5}}, "spark", "--engine spark"),
    "release.format": ({"release": {"form": "generalized", "format": "csv"}}, "spark", "parquet"),
}


def values_of(table: pl.DataFrame, columns: list[str]) -> Counter[tuple[str | None, ...]]:
    return Counter(table.select(pl.col(c).cast(pl.String) for c in columns).rows())


def test_every_row_is_released_once_with_its_own_values_and_a_seed_reproduces_all_but_the_order(engine: Engine) -> None:
    frame = clinic()
    first, again = (
        engine.anonymize(rows, policy("fcm"), seed=7, block_rows=150)
        for rows in (frame, frame.sample(fraction=1.0, shuffle=True, seed=1) if engine.name == "spark" else frame)
    )
    for columns in (["disease", "cost"], ["disease", "ward"]):
        assert values_of(first.table, columns) == values_of(frame.with_columns(pl.col("cost").cast(pl.Int64)), columns)
    assert "name" not in first.table.columns
    assert first.sorted.equals(again.sorted)
    assert not first.table.equals(again.table)
    assert first.verification.holds


@pytest.mark.parametrize("kind", LINKED)
def test_linked_tables_keep_their_policy_and_share_nothing_but_groups(engine: Engine, kind: str) -> None:
    frame = clinic()
    result = engine.anonymize(frame, LINKED[kind], seed=1, block_rows=150)
    assert result.verification.holds, result.verification.failures
    slices = result.release.manifest["linked"]["slices"]
    assert set(result.tables) == {"quasi", *(about["table"] for about in slices)}
    own = {"age", "zip", "town", "admitted", "ward"}
    for about in slices:
        sensitive = result.tables[about["table"]]
        ids = set(sensitive[about["group"]])
        assert set(result.tables["quasi"][about["group"]]) - {"NA"} == ids
        assert not {name for name in sensitive.columns if name in own}
        assert len(ids) == about["groups"]
    assert result.table.height + result.release.manifest["suppressed"] == frame.height


def test_missing_values_are_values(engine: Engine) -> None:
    frame = clinic().with_columns(pl.when(pl.col("ward") == 1).then(None).otherwise(pl.col("disease")).alias("disease"))
    result = engine.anonymize(frame, policy(), block_rows=150)
    assert result.table["disease"].null_count() == frame["disease"].null_count() > 0
    assert result.verification.holds


@pytest.mark.parametrize("numbers", ["midpoint", "mean"])
def test_numbers_stay_numbers_where_asked(engine: Engine, numbers: str) -> None:
    result = engine.anonymize(clinic(), policy(release={"form": "generalized", "numbers": numbers}))
    assert result.table.schema["age"] == pl.Float64
    assert result.table.schema["admitted"] == pl.String


def test_the_figures_agree_between_the_engines_for_the_same_classes(engine: Engine) -> None:
    # One class holds everything, so both engines publish the same rows and must say the same about them.
    result = engine.anonymize(clinic(60), policy(privacy={"k": 60}))
    cost = sum(result.release.loss["by_attribute"].values())
    assert result.release.manifest["classes"] == 1
    assert result.release.privacy["t"] == {"disease": 0.0, "cost": 0.0}
    assert result.release.loss["discernibility"] == 3600
    assert result.release.loss["entropy"] == pytest.approx(0.0, abs=1e-12)
    assert result.release.loss["information_loss"] == pytest.approx(cost)
    assert cost == pytest.approx(4.0)


@pytest.mark.parametrize("place", REFUSED)
def test_what_an_engine_does_not_do_it_refuses_with_what_to_use(engine: Engine, place: str) -> None:
    changes, refusing, remedy = REFUSED[place]
    if engine.name != refusing:
        assert engine.anonymize(clinic(50), policy(**changes)).verification.holds
        return
    with pytest.raises(PolicyError) as error:
        engine.anonymize(clinic(50), policy(**changes))
    assert [fault.place for fault in error.value.faults] == [place]
    assert remedy in error.value.faults[0].remedy


def test_all_faults_are_named_at_once(engine: Engine) -> None:
    wrong = policy(columns={"height": {"role": "quasi"}, "cost": {"role": "sensitive", "type": "date"}})
    with pytest.raises(PolicyError) as error:
        engine.anonymize(clinic().drop("ward"), wrong)
    assert {fault.place for fault in error.value.faults} >= {"columns.height", "columns.ward"}
    assert not any("person" in str(fault) for fault in error.value.faults)


def test_a_k_beyond_the_table_is_refused(engine: Engine) -> None:
    with pytest.raises(PolicyError, match="60 rows"):
        engine.anonymize(clinic(60), policy(privacy={"k": 61}))


def test_an_unreachable_policy_names_the_binding_demand(engine: Engine) -> None:
    with pytest.raises(Unsatisfiable, match="disease"):
        engine.anonymize(clinic(), policy(privacy={"l": 9}))
