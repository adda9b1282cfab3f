"""When a release gets a bound that nobody asked for."""

from __future__ import annotations

import polars as pl
import pytest

import polyveil
from polyveil import pipeline


@pytest.mark.parametrize(("least_rows", "computed"), [(12, True), (13, False)])
def test_small_tables_get_a_bound_only_if_asked(
    least_rows: int, computed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BOUND_SECONDS", 0.0)
    monkeypatch.setattr(pipeline, "BOUND_ROWS", least_rows)
    asked: list[int] = []
    monkeypatch.setattr("polyveil.bounds.of_table.bound_of", lambda table, *_: asked.append(table.rows))
    names = [f"s{i}" for i in range(30)]
    rows = pl.DataFrame({"age": range(12), **dict.fromkeys(names, ["x", "y"] * 6)})
    columns = {"age": {"role": "quasi"}, **{name: {"role": "sensitive"} for name in names}}
    policy = {"columns": columns, "privacy": {"k": 2}, "method": {"name": "mondrian"}}
    polyveil.anonymize(rows, policy)
    assert asked == ([12] if computed else [])
    polyveil.anonymize(rows, policy, bound=True)
    assert len(asked) == 1 + computed
