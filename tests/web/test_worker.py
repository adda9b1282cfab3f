"""A run of the workbench, in its own process, takes every step once."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from polyveil.web import worker


@pytest.mark.parametrize("form", ["generalized", "anatomized"])
def test_a_click_reads_binds_and_encodes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    import polyveil.engines.local as local

    calls: Counter[str] = Counter()

    def counted(name: str) -> Any:
        step = getattr(local, name)

        def count(*arguments: Any, **options: Any) -> Any:
            calls[name] += 1
            return step(*arguments, **options)

        return count

    for name in ("read", "bind", "encode"):
        monkeypatch.setattr(local, name, counted(name))
    monkeypatch.setattr("polyveil.table.source.read", lambda *_: pytest.fail("the table is read again"))
    monkeypatch.setattr("polyveil.table.bind.bind", lambda *_: pytest.fail("the policy is bound again"))
    monkeypatch.setattr("polyveil.table.encode.encode", lambda *_: pytest.fail("the table is encoded again"))
    pl.DataFrame({"age": range(60), "disease": ["flu", "cold", "ulcer"] * 20}).write_csv(tmp_path / "table.csv")
    columns = {"age": {"role": "quasi", "type": "numeric"}, "disease": {"role": "sensitive", "l": 2}}
    policy = {"version": 1, "columns": columns, "privacy": {"k": 3}, "method": {"name": "mondrian"}}
    (tmp_path / "policy.yaml").write_text(json.dumps({**policy, "release": {"form": form}}))
    about = {"kind": "anonymize", "path": str(tmp_path / "table.csv"), "hierarchies": str(tmp_path), "seed": 1}
    (tmp_path / "run.json").write_text(json.dumps(about))
    assert worker.run(tmp_path)["state"] == "done"
    assert calls == {"read": 1, "bind": 1, "encode": 1}
    original = pl.read_parquet(tmp_path / "private" / "original.parquet")
    assert original["row"].sort().to_list() == list(range(60))
