"""k for any few quasi-identifiers: tables worked by hand, random releases counted by brute force, and refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyveil
from polyveil.errors import PolicyError
from polyveil.models import AnyColumns, from_classes
from polyveil.models.any_columns import least_alike
from polyveil.policy import Policy
from polyveil.verification.any_columns import fewest_alike
from polyveil.verification.classes import class_of_row

BY_HAND = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "f", "m", "m", "m", "m"],
        "age": ["20-29", "20-29", "30-39", "30-39", "20-29", "20-29", "30-39", "30-39"],
        "town": ["x", "y", "x", "y", "x", "y", "x", "y"],
    }
)
"""Everybody is alone with all three columns, any two are shared by 2 people, any one by 4."""


def fewest(frame: pl.DataFrame, columns: int) -> int:
    """The fewest rows that share the cells of any so many columns, by counting every combination."""
    rows = frame.rows()
    chosen = combinations(range(frame.width), min(columns, frame.width))
    return min(min(Counter(tuple(row[i] for i in some) for row in rows).values()) for some in chosen)


def wide(rows: int, seed: int, quasi: int = 20) -> pl.DataFrame:
    """Related columns: every other one of numbers, the rest of categories, common and rare ones."""
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=(rows, 4))
    found: dict[str, Any] = {}
    for number in range(quasi):
        value = cause @ rng.normal(size=4) * 0.5 + rng.normal(size=rows)
        shares = np.cumsum(np.sort(rng.dirichlet(np.ones(3 + number % 8))))[:-1]
        categories = [f"v{code}" for code in np.searchsorted(np.quantile(value, shares), value)]
        found[f"q{number}"] = np.round(value * 15 + 50) if number % 2 else categories
    return pl.DataFrame(found)


def asked(names: Sequence[str], k: int, columns: int, **more: Any) -> dict[str, Any]:
    method = {"name": "sift", "effort": "fast"}
    privacy = {"k": k, "any": columns}
    return {"columns": {name: {"role": "quasi"} for name in names}, "privacy": privacy, "method": method, **more}


@pytest.mark.parametrize(("columns", "shared"), [(1, 4), (2, 2), (3, 1), (9, 1)])
def test_a_table_worked_by_hand(columns: int, shared: int) -> None:
    classes = class_of_row(BY_HAND, BY_HAND.columns)
    cells = [class_of_row(BY_HAND, [name]) for name in BY_HAND.columns]
    assert least_alike(classes, cells, columns).tolist() == [shared] * 8
    assert fewest_alike(BY_HAND, BY_HAND.columns, columns, classes).tolist() == [shared] * 8
    assert polyveil.check(BY_HAND, quasi=BY_HAND.columns, privacy={"k": shared + 1, "any": columns}).outcome == "fails"


def test_rows_that_merely_fit_hide_nobody() -> None:
    """Nine rows with * fit a person of sex f, but only one row says f: it is not hidden among them."""
    frame = pl.DataFrame({"sex": ["f", *["*"] * 9]})
    assert fewest_alike(frame, ["sex"], 1, class_of_row(frame, ["sex"])).min() == 1


def test_a_class_that_was_not_counted_is_taken_to_share_its_own_rows_only() -> None:
    statistics = from_classes(np.array([0, 0, 0, 1, 1]), {}, {})
    assert AnyColumns(3, 2).measure_all(statistics).tolist() == [3.0, 2.0]


@settings(max_examples=15, deadline=None)
@given(
    rows=st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=6, max_size=40),
    k=st.integers(2, 5),
    columns=st.integers(1, 4),
)
def test_releases_of_random_tables_hold_by_brute_force(rows: list[tuple[int, ...]], k: int, columns: int) -> None:
    values = [[None if cell == 3 and i == 0 else cell for i, cell in enumerate(row)] for row in rows]
    table = pl.DataFrame(values, schema=["a", "b", "c", "d"], orient="row").with_columns(pl.col("c", "d").cast(str))
    policy = asked(table.columns, k, columns)
    policy["columns"]["d"] = {"role": "quasi", "hierarchy": {"low": ["0", "1"], "high": ["2", "3"]}}
    release = polyveil.anonymize(table, policy, seed=1)
    assert fewest(release.table, columns) >= k
    assert release.manifest["claims"][0]["measured"] == fewest(release.table, columns)
    assert release.table.height == table.height


@pytest.mark.parametrize("columns", [2, 3])
def test_twenty_quasi_identifiers_hold_in_every_combination_and_keep_more_detail(columns: int) -> None:
    table = wide(320, seed=columns)
    release = polyveil.anonymize(table, asked(table.columns, 5, columns), seed=1)
    together = asked(table.columns, 5, columns)
    del together["privacy"]["any"]
    whole = polyveil.anonymize(table, together, seed=1)
    assert fewest(release.table, columns) >= 5
    assert release.loss["normalized_loss"] <= {2: 0.75, 3: 1.0}[columns] * whole.loss["normalized_loss"]


def test_verify_attack_and_check_agree_with_the_claim() -> None:
    table = wide(600, seed=4, quasi=6)
    release = polyveil.anonymize(table, asked(table.columns, 4, 2), seed=1)
    verified = polyveil.verify(release)
    promise = next(finding for finding in verified.findings if finding.check == "any-columns")
    assert (verified.outcome, promise.outcome) == ("holds", "holds")
    found = next(each for each in polyveil.attack(release, table, seed=1).records() if "any 2" in str(each["name"]))
    assert found["verdict"] == "within bound"
    assert found["worst"] == 1 / fewest(release.table, 2)
    checked = polyveil.check(release.table, quasi=table.columns, privacy={"k": 4, "any": 2})
    assert checked.outcome == "holds"
    assert checked.answer().startswith("Yes")


def test_a_stricter_policy_than_the_release_keeps_is_found() -> None:
    table = wide(300, seed=4, quasi=12)
    release = polyveil.anonymize(table, asked(table.columns, 4, 2), seed=1)
    for k, columns in ((40, 2), (4, 12)):
        found = polyveil.verify(release, policy=asked(table.columns, k, columns))
        assert [finding.check for finding in found.failures] == ["asked: any-columns"]


def test_a_cell_that_became_rare_is_found() -> None:
    table = wide(600, seed=4, quasi=6)
    release = polyveil.anonymize(table, asked(table.columns, 4, 2), seed=1)
    first = release.table["q1"].value_counts().sort("count").row(0)[0]
    one = int(np.flatnonzero((release.table["q1"] != first).to_numpy())[0])
    cells = release.table["q1"].to_list()
    cells[one] = cells[one].replace("[", "").split("-")[0].strip("]") if "[" in cells[one] else "[0-1]"
    forged = release.table.with_columns(pl.Series("q1", cells))
    broken = type(release)({"table": forged}, release.manifest)
    assert any(finding.check == "any-columns" for finding in polyveil.verify(broken).failures)


def test_all_columns_together_is_plain_k() -> None:
    table = wide(300, seed=5, quasi=3)
    release = polyveil.anonymize(table, asked(table.columns, 3, 3), seed=1)
    assert release.table.group_by(pl.all()).len()["len"].min() >= 3


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"privacy": {"any": 2}}, "no k is given"),
        ({"privacy": {"k": 3, "any": 0}}, "at least 1"),
        ({"privacy": {"k": 3, "any": 2, "risk": {"max": 0.1}}}, "risk is about groups"),
        ({"method": {"name": "mondrian"}}, "method mondrian makes groups"),
        ({"method": {"name": "sift", "refine": "fast"}}, "any makes none"),
        ({"release": {"numbers": "mean"}}, "counted by the cells"),
        ({"columns": {"q0": {"role": "quasi", "recode": "set"}, "q1": {"role": "quasi"}}}, "recode: set"),
        ({"columns": {"q0": {"role": "person"}, "q1": {"role": "quasi"}}}, "a person may have several"),
        ({"columns": {"q0": {"role": "sensitive", "t": 0.2}, "q1": {"role": "quasi"}}}, "t of q0 is about groups"),
        ({"columns": {"q0": {"role": "sensitive"}, "q1": {"role": "quasi"}}, "release": {"form": "anatomized"}}, "any"),
    ],
)
def test_what_any_does_not_go_with_is_refused_in_words(change: dict[str, Any], rule: str) -> None:
    table = wide(60, seed=1, quasi=2)
    with pytest.raises(PolicyError, match=rule):
        polyveil.anonymize(table, {**asked(table.columns, 3, 2), **change})


def test_a_policy_with_any_survives_yaml() -> None:
    policy = Policy.from_dict(asked(["a", "b"], 3, 2))
    assert "any: 2" in policy.to_yaml()
