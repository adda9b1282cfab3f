"""The bound under whole policies: never above the best of all releases, as the pipeline judges and measures them."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest

import polyveil
from exact_policies import KINDS, least_release, tiny_case
from polyveil.errors import InputError

TABLES, SECONDS = 4, 0.5
WEAK = ("mean risk", "marketer's risk", "people, l")
"""Kinds of which the bound uses nothing, or only a part."""


@pytest.mark.parametrize("kind", KINDS)
def test_no_release_of_a_tiny_table_is_below_the_bound(kind: str) -> None:
    ratios = []
    for seed in range(KINDS.index(kind), TABLES * len(KINDS), len(KINDS)):
        case = tiny_case(seed)
        least, found = least_release(case), case.bound(SECONDS)
        assert found <= least + 1e-9, f"table {seed}: bound {found}, best release {least}"
        if np.isfinite(least) and least > 0:
            ratios.append(found / least)
    assert kind in WEAK or np.mean(ratios) > 0.4  # a bound of 0 would be valid, too


@pytest.mark.parametrize(("together", "expected"), [(1, 0.0), (2, 1.0)])
def test_k_in_any_columns_counts_blocks_of_columns(together: int, expected: float) -> None:
    # Each column alone has equal pairs; together, two rows are alike in one column at most and lose all of the other.
    rows = pl.DataFrame({"a": [0, 0, 4, 4], "b": [0, 4, 0, 4], "x": ["u", "v", "u", "v"]})
    columns = {"a": {"role": "quasi"}, "b": {"role": "quasi"}, "x": {"role": "sensitive"}}
    policy = {"columns": columns, "privacy": {"k": 2, "any": together}}
    found = polyveil.bound(rows, policy)
    release = polyveil.anonymize(rows, policy, bound=True, seed=1)
    assert release.bound is not None
    assert found.information_loss <= release.loss["information_loss"]
    assert found.information_loss == pytest.approx(expected, abs=1e-6)


def test_dates_that_chance_moves_have_no_bound_before_a_run() -> None:
    rows = pl.DataFrame({"born": [date(2000, 1, day) for day in (1, 2, 3, 4)], "x": ["u", "v", "u", "v"]})
    columns = {"born": {"role": "quasi", "type": "date", "shift": {"days": 30}}, "x": {"role": "sensitive"}}
    with pytest.raises(InputError, match="chance moves the dates"):
        polyveil.bound(rows, {"columns": columns, "privacy": {"k": 2}})
