"""Ctrl-C in a terminal: the first asks whether to finish with the best result so far, the second ends the run."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import children
from polyveil.cli.progress import NOTHING_YET, QUESTION, TerminalProgress
from polyveil.progress import Progress
from polyveil.stopping import answering_ctrl_c


class Keyboard:
    """A terminal on which the given answers are typed, each when it is asked for."""

    def __init__(self, *answers: str | Callable[[], str]) -> None:
        self.answers = list(answers)

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        answer = self.answers.pop(0)
        return answer if isinstance(answer, str) else answer()


def ctrl_c() -> str:
    signal.raise_signal(signal.SIGINT)
    return "never read"


class Terminal(TerminalProgress):
    """Knows how many questions were answered."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = threading.Semaphore(0)

    def keeps_best(self) -> bool:
        found = super().keeps_best()
        self.answered.release()
        return found


class Work:
    """Presses Ctrl-C some times, each once the last was answered, and then waits to be stopped or ended."""

    def __init__(self, presses: int, note: str = "", heeds_stop: bool = True) -> None:
        self.terminal, self.presses, self.note, self.heeds_stop = Terminal(), presses, note, heeds_stop

    def result(self) -> str:
        return answering_ctrl_c(self, self.terminal)

    def __call__(self, progress: Progress) -> str:
        stopped = threading.Event()
        with progress.stoppable(stopped.set):
            for press in range(self.presses):
                progress.advance(0.3, self.note)
                assert press == 0 or self.terminal.answered.acquire(timeout=30)
                time.sleep(0.3)  # until it is waited for again
                ctrl_c()
            for _ in range(600):
                if stopped.wait(0.05) and self.heeds_stop:
                    return "the best so far"
                time.sleep(0.05)
                progress.advance(0.3, self.note)
        return "never stopped"


@pytest.fixture(autouse=True)
def same_handler_after() -> Iterator[None]:
    outside = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by jobs in the background
    yield
    assert signal.signal(signal.SIGINT, outside) is signal.default_int_handler


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Keyboard]:
    """A keyboard on which some answers are typed."""

    def connect(*answers: str | Callable[[], str]) -> Keyboard:
        keyboard = Keyboard(*answers)
        monkeypatch.setattr("sys.stdin", keyboard)
        return keyboard

    return connect


def test_yes_finishes_with_the_best_so_far(typed: Callable[..., Keyboard], capsys: pytest.CaptureFixture[str]) -> None:
    typed("y\n")
    assert Work(1, "about 40 s left, 18.00 % lost so far").result() == "the best so far"
    asked = capsys.readouterr().err
    assert f"18.00 % lost so far\n{QUESTION}" in asked
    assert NOTHING_YET not in asked


def test_before_there_is_a_result_the_question_says_so(
    typed: Callable[..., Keyboard], capsys: pytest.CaptureFixture[str]
) -> None:
    typed("y\n")
    Work(1).result()
    assert f"{NOTHING_YET}\n{QUESTION}" in capsys.readouterr().err


def test_no_goes_on_and_asks_again_the_next_time(typed: Callable[..., Keyboard]) -> None:
    keyboard = typed("n\n", "\n", "YES\n")
    assert Work(3).result() == "the best so far"
    assert keyboard.answers == []


@pytest.mark.parametrize(
    ("answers", "presses"),
    [((ctrl_c,), 1), (("y\n",), 2), (("",), 1)],
    ids=["while asked", "after yes", "no input"],
)
def test_a_second_ctrl_c_ends_the_run(
    typed: Callable[..., Keyboard], answers: tuple[str | Callable[[], str], ...], presses: int
) -> None:
    typed(*answers)
    with pytest.raises(KeyboardInterrupt):
        Work(presses, heeds_stop=False).result()


def test_without_a_keyboard_ctrl_c_ends_the_run(
    typed: Callable[..., Keyboard], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed(), "isatty", lambda: False)
    with pytest.raises(KeyboardInterrupt):
        Work(1, heeds_stop=False).result()


POLICY = """
version: 1
columns:
  "q*": {role: quasi}
  "s*": {role: sensitive, type: categorical}
privacy: {k: 5, t: 0.3}
method: {name: sift, effort: thorough}
"""


def wait_until(happened: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently")
def test_a_run_that_has_just_begun_answers_within_seconds(tmp_path: Path) -> None:
    rng, rows = np.random.default_rng(5), 60_000
    quasi = {f"q{i}": rng.integers(0, 200, rows) for i in range(5)}
    sensitive = {f"s{i}": rng.integers(0, 8, rows) for i in range(10)}
    pl.DataFrame({**quasi, **sensitive}).write_parquet(tmp_path / "table.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    said = tmp_path / "said.txt"
    command = f"{sys.executable} -m polyveil anonymize table.parquet --policy policy.yaml --out out".split()
    with said.open("w") as stream, children.started(command, cwd=tmp_path, stderr=stream) as child:
        wait_until(lambda: "% lost so far" in said.read_text(), 240)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=20) == 130
    assert said.read_text().endswith("polyveil: stopped; nothing was written\n")
    assert not (tmp_path / "out").exists()
