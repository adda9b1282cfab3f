"""The verifier against someone who edits an anatomized or sliced release: each edit has its own finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from paper_tables import policy_of
from polyveil.verification import Verification, verify_tables

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "sex": {"role": "quasi"},
    "illness": {"role": "sensitive"},
    "salary": {"role": "sensitive"},
}
Tables = dict[str, pl.DataFrame]


def people() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, 600),
            "sex": rng.choice(["f", "m"], 600),
            "illness": rng.choice(["flu", "cold", "ulcer", "asthma", "gout"], 600),
            "salary": rng.choice(["low", "middle", "high", "higher"], 600),
        }
    )


@pytest.fixture(scope="module")
def anatomized() -> polyveil.Release:
    policy = policy_of(
        COLUMNS, privacy={"k": 3, "l": 3}, method={"name": "mmdcf", "restarts": 20}, release={"generalize": "kaca"}
    )
    return polyveil.anonymize(people(), {**policy, "privacy": {"k": 3, "l": 3, "suppression_limit": 0.1}}, seed=1)


@pytest.fixture(scope="module")
def sliced() -> polyveil.Release:
    policy = policy_of(
        COLUMNS,
        privacy={"k": 3, "l": 3, "suppression_limit": 0.2},
        method={"name": "sloms", "slices": [["illness"], ["salary"]]},
    )
    return polyveil.anonymize(people(), policy, seed=1)


def edited(release: polyveil.Release, change: Callable[[Tables, dict[str, Any]], None]) -> Verification:
    tables = dict(release.tables)
    manifest = {**release.manifest, "linked": {**release.manifest["linked"]}, "loss": {**release.manifest["loss"]}}
    change(tables, manifest)
    return verify_tables(manifest, tables)


def checks(verification: Verification) -> set[str]:
    return {finding.check for finding in verification.failures}


def test_untouched_releases_hold(anatomized: polyveil.Release, sliced: polyveil.Release) -> None:
    for release in (anatomized, sliced):
        verification = release.verify()
        assert verification.holds, verification.failures
        assert {verdict.parameter for verdict in verification.verdicts} == {"k", "l"}


def test_a_tuple_id_is_a_leak(anatomized: polyveil.Release) -> None:
    def add_id(tables: Tables, _: dict[str, Any]) -> None:
        tables["sensitive_1"] = tables["sensitive_1"].with_row_index("id")

    assert "columns" in checks(edited(anatomized, add_id))


def test_a_table_more_is_a_leak(anatomized: polyveil.Release) -> None:
    def add_table(tables: Tables, _: dict[str, Any]) -> None:
        tables["extra"] = tables["quasi"]

    assert "table" in checks(edited(anatomized, add_table))


def test_rows_in_the_order_of_their_groups(anatomized: polyveil.Release) -> None:
    def sort(tables: Tables, _: dict[str, Any]) -> None:
        for name in ("quasi", "sensitive_1"):
            tables[name] = tables[name].sort("group")

    assert "row order" in checks(edited(anatomized, sort))


def test_one_table_sorted_by_group_is_enough(anatomized: polyveil.Release) -> None:
    def sort(tables: Tables, _: dict[str, Any]) -> None:
        tables["sensitive_1"] = tables["sensitive_1"].sort("group")

    assert "row order" in checks(edited(anatomized, sort))


def test_tables_in_one_common_order(anatomized: polyveil.Release) -> None:
    """As if both tables had kept the order of the input: the k-th row of a group is the same person in both."""

    def align(tables: Tables, _: dict[str, Any]) -> None:
        place = pl.int_range(pl.len()).over("group").alias("place")
        quasi = tables["quasi"].with_columns(place).with_row_index("order").select("group", "place", "order")
        sensitive = tables["sensitive_1"].with_columns(place).join(quasi, on=["group", "place"])
        tables["sensitive_1"] = sensitive.sort("order").drop("place", "order")

    assert "row order" in checks(edited(anatomized, align))


def test_a_row_moved_to_another_group(anatomized: polyveil.Release) -> None:
    def move(tables: Tables, _: dict[str, Any]) -> None:
        frame = tables["sensitive_1"]
        other = frame.filter(pl.col("group") != frame["group"][0])["group"][0]
        tables["sensitive_1"] = frame.with_columns(
            pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(other)).otherwise("group").alias("group")
        )

    assert "groups of sensitive_1" in checks(edited(anatomized, move))


def test_values_exchanged_between_groups_so_that_one_is_no_longer_diverse(anatomized: polyveil.Release) -> None:
    def exchange(tables: Tables, _: dict[str, Any]) -> None:
        frame = tables["sensitive_1"]
        first = frame["group"][0]
        mine = frame.with_row_index("i").filter(pl.col("group") == first)
        wanted = mine["illness"][0]
        giver = frame.with_row_index("i").filter((pl.col("group") != first) & (pl.col("illness") == wanted))["i"][0]
        taker = mine.filter(pl.col("illness") != wanted)["i"][0]
        illness = frame["illness"].to_list()
        illness[giver], illness[taker] = illness[taker], illness[giver]
        tables["sensitive_1"] = frame.with_columns(pl.Series("illness", illness))

    assert "frequency-l-diversity of illness" in checks(edited(anatomized, exchange))


def test_a_quasi_identifier_made_exact(anatomized: polyveil.Release) -> None:
    def sharpen(tables: Tables, _: dict[str, Any]) -> None:
        ages = ["99", *tables["quasi"]["age"].to_list()[1:]]
        tables["quasi"] = tables["quasi"].with_columns(pl.Series("age", ages))

    assert "k-anonymity" in checks(edited(anatomized, sharpen))


def test_rows_left_out_of_both_tables(sliced: polyveil.Release) -> None:
    def drop(tables: Tables, _: dict[str, Any]) -> None:
        tables["quasi"] = tables["quasi"].head(-1)

    found = checks(edited(sliced, drop))
    assert "rows" in found
    assert {"groups of sensitive_1", "groups of sensitive_2"} & found


def test_suppressed_values_the_manifest_does_not_admit(sliced: polyveil.Release) -> None:
    def hide(tables: Tables, _: dict[str, Any]) -> None:
        group = tables["sensitive_2"]["group_2"][0]
        tables["quasi"] = tables["quasi"].with_columns(pl.col("group_2").replace({group: "NA"}))
        tables["sensitive_2"] = tables["sensitive_2"].filter(pl.col("group_2") != group)

    assert "suppression" in checks(edited(sliced, hide))


def test_figures_of_the_manifest(anatomized: polyveil.Release) -> None:
    def boast(_: Tables, manifest: dict[str, Any]) -> None:
        manifest["loss"]["additional_information_loss"] = -0.5
        manifest["loss"]["suppression_ratio"] = 0.5

    assert {"loss of grouping", "suppression"} <= checks(edited(anatomized, boast))


def test_a_sensitive_column_that_no_slice_holds(sliced: polyveil.Release) -> None:
    def forget(_: Tables, manifest: dict[str, Any]) -> None:
        manifest["linked"]["slices"] = manifest["linked"]["slices"][:1]

    assert "slices" in checks(edited(sliced, forget))
