"""Compiling side by side: once per machine, with its progress, and for what the search then calls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from exact_tables import small_task
from polyveil.methods import Task, make_method
from polyveil.methods._exact import best_grouping
from polyveil.methods._exact.class_search import classes_below
from polyveil.methods._exact.covering import cover
from polyveil.methods._kernels.judge import compile_constraints
from polyveil.methods._search import compiling
from polyveil.methods._search.arrange import arrange
from polyveil.methods._search.rounds import move_rows, seeded_order
from polyveil.models import KAnonymity, Model, TCloseness, attributes_of
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.progress import SILENT, Progress
from tables import random_table


class Told(Progress):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.shares: list[float] = []

    def stage(self, name: str) -> None:
        self.stages.append(name)

    def advance(self, done: float, note: str = "") -> None:
        self.shares.append(done)


def test_kernels_are_compiled_by_processes_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    stamp = tmp_path / "stamp"
    monkeypatch.setattr(compiling, "_stamp", lambda kind: stamp)
    monkeypatch.setattr(compiling, "CORES", 2)
    monkeypatch.setattr(compiling, "UNITS", {"judge": compiling.UNITS["judge"]})
    _, judge = compiling.tiny("more")
    told = Told()
    compiling.compile_side_by_side(judge, told)
    assert stamp.exists()
    assert any(tmp_path.rglob("*whole_violation*.nbc"))
    assert told.stages == ["compiling"]
    assert told.shares == sorted(told.shares)
    assert 0.5 < max(told.shares) <= 0.99
    again = Told()
    compiling.compile_side_by_side(judge, again)
    assert again.stages == again.shares == []


def test_a_process_that_fails_leaves_compiling_to_the_search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiling, "_stamp", lambda kind: tmp_path / "stamp")
    monkeypatch.setattr(compiling, "CORES", 2)
    monkeypatch.setattr(compiling, "command", lambda *_: ["false"])
    compiling.compile_side_by_side(compiling.tiny("plain")[1], SILENT)
    assert not (tmp_path / "stamp").exists()


def test_what_is_compiled_ahead_is_what_a_search_calls() -> None:
    for unit in compiling.UNITS:
        compiling.compile_unit(unit, "plain")
    kernels = (arrange, move_rows, seeded_order)
    ahead = [list(kernel.signatures) for kernel in kernels]  # type: ignore[attr-defined]
    table = random_table(1, rows=200)
    models: tuple[Model, ...] = (KAnonymity(3), *(TCloseness(0.5, column.name) for column in table.sensitive))
    task = Task(table, models, attributes_of(table), Privacy(k=3), np.random.default_rng(1))
    assert not compiling.asks_more(compile_constraints(models, task.attributes, table))
    make_method(MethodChoice(name="sift", effort="fast")).partition(task)
    assert [list(kernel.signatures) for kernel in kernels] == ahead  # type: ignore[attr-defined]


def test_what_is_compiled_ahead_for_the_exact_grouping_is_what_it_calls() -> None:
    for unit in compiling.EXACT:
        compiling.compile_unit(unit, "exact")
    kernels = (classes_below, cover)
    ahead = [list(kernel.signatures) for kernel in kernels]  # type: ignore[attr-defined]
    task = small_task(1, 12)
    best_grouping(task.table, compile_constraints(task.models, task.attributes, task.table))
    assert [list(kernel.signatures) for kernel in kernels] == ahead  # type: ignore[attr-defined]


def test_a_thorough_search_of_few_rows_says_that_it_compiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    class Compiled:
        kernels = 0
        returncode = 0

        def __init__(self, unit: str, kind: str) -> None:
            asked.append((unit, kind))
            self.process = self

        def poll(self) -> int:
            return 0

        def end(self) -> None:
            pass

    monkeypatch.setattr(compiling, "_stamp", lambda kind: tmp_path / kind)
    monkeypatch.setattr(compiling, "CORES", 2)
    monkeypatch.setattr(compiling, "_Compiling", Compiled)
    told = Told()
    make_method(MethodChoice(name="sift", effort="thorough")).partition(replace(small_task(0, 12), progress=told))
    assert ("exact", "exact") in asked
    assert told.stages == ["compiling", "compiling", "searching"]
