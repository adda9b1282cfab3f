"""A run of the workbench, in its own process, takes every step once."""

from __future__ import annotations

import json
import threading
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


def test_progress_never_goes_back_and_tells_the_time_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(worker.time, "time", lambda: now[0])
    progress, seen = worker.FileProgress(tmp_path / "progress.json"), []

    def read() -> dict[str, Any]:
        found: dict[str, Any] = json.loads((tmp_path / "progress.json").read_text())
        seen.append(found["share"])
        return found

    progress.stage("read")
    assert read()["left"] is None
    progress.stage("partition")
    read()
    progress.stage("searching")
    now[0] += 10.0
    progress.advance(0.25, "about 30 s left, 40.00 % lost so far")
    found = read()
    # Ten seconds for a quarter: thirty more, and a quarter of what has passed by then for the stages behind.
    assert found["left"] == pytest.approx(30 + 40 * 0.2 / 0.8)
    assert found["history"] == [[10.0, "about 30 s left, 40.00 % lost so far"]]
    progress.stage("compiling")
    read()
    progress.stage("views")
    progress.advance(1.0)
    assert read()["share"] == 1.0
    assert seen == sorted(seen)


def test_a_file_stops_the_search_and_only_the_search(tmp_path: Path) -> None:
    progress, stopped = worker.FileProgress(tmp_path / "progress.json"), threading.Event()
    progress.stage("searching")
    with progress.stoppable(stopped.set):
        progress.advance(0.1)
        assert json.loads((tmp_path / "progress.json").read_text())["stoppable"]
        assert not stopped.is_set()
        (tmp_path / worker.STOP).touch()
        assert stopped.wait(10)
    progress.stage("release")
    assert not json.loads((tmp_path / "progress.json").read_text())["stoppable"]
