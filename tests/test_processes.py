"""Processes that polyveil starts: they run its own modules only, and a process that hangs or dies holds nobody up."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from polyveil.processes import Child, Ended

GUARDLESS = """
import sys
from pathlib import Path

import polars as pl

from polyveil.advice.compare import compare

with Path(sys.argv[1]).open("a") as log:
    log.write("run\\n")
frame = pl.DataFrame({"age": [i % 7 for i in range(60)], "ill": ["flu", "ulcer", "gout"] * 20})
policy = {
    "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive", "t": 0.5}},
    "privacy": {"k": 2},
}
found = compare(frame, policy, methods=["mondrian"], k=[2, 3], limit=200, jobs=2)
print(sorted(outcome.status for outcome in found.outcomes))
"""


def test_a_script_without_a_main_guard_runs_once(tmp_path: Path) -> None:
    script, log = tmp_path / "script.py", tmp_path / "log.txt"
    script.write_text(GUARDLESS)
    ran = subprocess.run([sys.executable, script, log], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert ran.stdout == "['done', 'done']\n", ran.stderr
    assert log.read_text() == "run\n"


def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> tuple[Child, Queue[tuple[Child, Any]]]:
    """A child that answers with what `body` does; a module outside polyveil, found as this process finds it."""
    source = f"import os, time\nfrom polyveil.processes import serve\ndef answer(message):\n    {body}\nserve(answer)\n"
    (tmp_path / "child_of_a_test.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    answers: Queue[tuple[Child, Any]] = Queue()
    return Child("child_of_a_test", answers), answers


def test_what_a_child_prints_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child, answers = echo(tmp_path, monkeypatch, "print('x' * 100_000, flush=True); return message")
    child.ask([1, 2])
    assert answers.get(timeout=60) == (child, [1, 2])
    child.stop()


def test_a_child_that_reads_nothing_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child, answers = echo(tmp_path, monkeypatch, "time.sleep(600)")
    start = time.monotonic()
    child.ask("sleep")
    child.ask(b"x" * 10_000_000)
    child.stop()
    assert time.monotonic() - start < 10
    assert not child.alive
    assert answers.empty()


def test_a_child_that_dies_answers_that_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child, answers = echo(tmp_path, monkeypatch, "os._exit(3)")
    child.ask("anything")
    assert answers.get(timeout=60) == (child, Ended)
    child.stop()
