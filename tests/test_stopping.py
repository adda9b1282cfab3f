"""Work in a thread of its own: its result and its errors arrive, and Ctrl-C is answered whatever it does."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from polyveil import stopping
from polyveil.progress import SILENT, Progress
from polyveil.stopping import answering_ctrl_c


class AlwaysKeeps(Progress):
    """Somebody who takes the best result so far."""

    def keeps_best(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def python_handles_ctrl_c() -> Iterator[None]:
    outside = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by jobs in the background
    yield
    signal.signal(signal.SIGINT, outside)


def test_the_result_and_what_is_told_arrive() -> None:
    told: list[str] = []

    class Listening(Progress):
        def stage(self, name: str) -> None:
            told.append(name)

        def advance(self, done: float, note: str = "") -> None:
            told.append(f"{done} {note}")

    def work(progress: Progress) -> int:
        progress.stage("adding")
        progress.advance(0.5, "half")
        return 1 + 1

    assert answering_ctrl_c(work, Listening()) == 2
    assert told == ["adding", "0.5 half"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_of_the_work_arrives(error: type[BaseException]) -> None:
    def work(progress: Progress) -> None:
        raise error("of the work")

    with pytest.raises(error, match="of the work"):
        answering_ctrl_c(work, SILENT)


def test_in_another_thread_the_work_is_done_there() -> None:
    where: list[threading.Thread] = []
    thread = threading.Thread(
        target=answering_ctrl_c, args=(lambda _: where.append(threading.current_thread()), SILENT)
    )
    thread.start()
    thread.join(10)
    assert where == [thread]


def test_work_that_looks_at_nothing_does_not_delay_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "PATIENCE", 0.2)
    went_on = threading.Event()

    def work(progress: Progress) -> None:
        time.sleep(0.2)
        signal.raise_signal(signal.SIGINT)
        time.sleep(2.0)  # a kernel that does not look at the clock
        try:
            progress.advance(0.5)
        except KeyboardInterrupt:
            went_on.set()

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        answering_ctrl_c(work, AlwaysKeeps())
    assert time.monotonic() - began < 1.5
    assert went_on.wait(10)  # once it tells anything it ends as well


def test_who_stops_a_method_that_searches_twice_stops_both_searches() -> None:
    def search(progress: Progress) -> bool:
        stopped = threading.Event()
        with progress.stoppable(stopped.set):
            return stopped.wait(10)

    def work(progress: Progress) -> list[bool]:
        threading.Timer(0.2, signal.raise_signal, args=(signal.SIGINT,)).start()
        began = time.monotonic()
        found = [search(progress), search(progress)]
        assert time.monotonic() - began < 5
        return found

    assert answering_ctrl_c(work, AlwaysKeeps()) == [True, True]
