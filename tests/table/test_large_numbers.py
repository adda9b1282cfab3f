"""Whole numbers beyond 2^53 are never changed silently: kept where a float keeps them, refused otherwise."""

from __future__ import annotations

import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError

COLUMNS = {"age": {"role": "quasi"}, "account": {"role": "sensitive", "type": "numeric"}}
POLICY = {"columns": COLUMNS, "privacy": {"k": 2}}


def table(values: list[object]) -> pl.DataFrame:
    return pl.DataFrame({"age": [30, 31, 52, 53], "account": values})


@pytest.mark.parametrize("as_text", [False, True])
def test_a_number_that_a_float_would_change_is_refused(as_text: bool) -> None:
    values = [2**53 + 1, 2**60 + 1, 5, 6]
    with pytest.raises(PolicyError, match="2 of 4 cells") as found:
        polyveil.anonymize(table([str(v) for v in values] if as_text else values), POLICY)
    assert str(2**53 + 1) not in str(found.value)


def test_it_survives_as_a_category() -> None:
    values = [2**53 + 1, 2**53 + 3] * 2
    policy = {"columns": {**COLUMNS, "account": {"role": "sensitive", "type": "categorical"}}, "privacy": {"k": 2}}
    release = polyveil.anonymize(table(values), policy)
    assert sorted(release.table["account"]) == sorted(str(value) for value in values)


def test_a_large_number_that_a_float_keeps_stays() -> None:
    release = polyveil.anonymize(table([2**60, 2**54, 5, 6]), POLICY)
    assert sorted(release.table["account"]) == [5, 6, 2**54, 2**60]


def test_zero_has_no_sign() -> None:
    release = polyveil.anonymize(table([-0.0, 0.0, 1.5, -0.0]), POLICY)
    assert "-" not in release.table.write_csv().replace("[30-31]", "").replace("[52-53]", "")
