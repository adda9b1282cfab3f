"""Ctrl-C in a terminal: the first asks whether to finish with the best result so far, the second ends the run."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest

from polyveil.cli.progress import QUESTION, TerminalProgress


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


@pytest.fixture(autouse=True)
def same_handler_after() -> Iterator[None]:
    outside = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by jobs in the background
    yield
    assert signal.signal(signal.SIGINT, outside) is signal.default_int_handler


def progress_with(monkeypatch: pytest.MonkeyPatch, *answers: str | Callable[[], str]) -> TerminalProgress:
    monkeypatch.setattr("sys.stdin", Keyboard(*answers))
    return TerminalProgress()


def test_yes_finishes_with_the_best_so_far(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stopped: list[bool] = []
    progress = progress_with(monkeypatch, "y\n")
    with progress.stoppable(lambda: stopped.append(True)):
        progress.advance(0.3, "about 40 s left, 18.00 % lost so far")
        ctrl_c()
    assert stopped == [True]
    asked = capsys.readouterr().err
    assert QUESTION in asked
    assert "18.00 % lost so far" in asked


def test_no_goes_on_and_asks_again_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[bool] = []
    progress = progress_with(monkeypatch, "n\n", "\n", "YES\n")
    with progress.stoppable(lambda: stopped.append(True)):
        for expected in ([], [], [True]):
            ctrl_c()
            assert stopped == expected


@pytest.mark.parametrize("answers", [(ctrl_c,), ("y\n", ctrl_c), ("",)], ids=["while asked", "after yes", "no input"])
def test_a_second_ctrl_c_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[str | Callable[[], str], ...]
) -> None:
    progress = progress_with(monkeypatch, *answers)
    twice = lambda: (ctrl_c(), ctrl_c())  # noqa: E731
    with pytest.raises(KeyboardInterrupt), progress.stoppable(lambda: None):
        twice()


def test_without_a_keyboard_ctrl_c_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = progress_with(monkeypatch)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    with pytest.raises(KeyboardInterrupt), progress.stoppable(lambda: None):
        ctrl_c()
