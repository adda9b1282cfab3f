"""When a release gets a bound that nobody asked for."""

from __future__ import annotations

import polars as pl
import pytest

import polyveil
from polyveil import pipeline


@pytest.mark.parametrize(("sensitive", "computed"), [(20, True), (21, False)])
def test_many_sensitive_columns_get_a_bound_only_if_asked(
    sensitive: int, computed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BOUND_SECONDS", 0.0)
    monkeypatch.setattr(pipeline, "BOUND_ROWS", 1)
    asked: list[int] = []
    monkeypatch.setattr("polyveil.bounds.of_table.bound_of", lambda table, *_: asked.append(table.rows))
    names = [f"s{i}" for i in range(sensitive)]
    rows = pl.DataFrame({"age": range(12), **dict.fromkeys(names, ["x", "y"] * 6)})
    columns = {"age": {"role": "quasi"}, **{name: {"role": "sensitive"} for name in names}}
    policy = {"columns": columns, "privacy": {"k": 2}, "method": {"name": "mondrian"}}
    polyveil.anonymize(rows, policy)
    assert asked == ([12] if computed else [])
    polyveil.anonymize(rows, policy, bound=True)
    assert len(asked) == 1 + computed
