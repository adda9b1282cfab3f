"""Long work that Ctrl-C stops at once: it runs in a thread of its own, and the main thread waits in short steps.

Python answers Ctrl-C in the main thread only, and only between two of its own instructions. While a compiled kernel
runs there it does not, nor while it waits for other threads once polars has been used, which lets waits go on.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from polyveil.progress import Progress

EVERY = 0.1
"""Seconds between two looks at the keyboard."""
PATIENCE = 3.0
"""Seconds that work has to end once it must. What still runs then is left alone, and its result is dropped."""

Result = TypeVar("Result")


class Terminated(KeyboardInterrupt):
    """The system asks the process to end, as schedulers do: nobody is asked whether to go on."""


def answering_ctrl_c(work: Callable[[Progress], Result], progress: Progress) -> Result:
    """The result of the work, which is given a progress to tell.

    At Ctrl-C `progress` decides whether the work goes on, ends with the best result so far, or ends without any.
    """
    if threading.current_thread() is not threading.main_thread():
        return work(progress)
    running = _Work(work, progress)
    while True:
        try:
            return running.result()
        except KeyboardInterrupt as pressed:
            if pressed is running.error:
                raise
            running.answer(pressed)


class _Work(Progress, Generic[Result]):
    """The work, in its thread, and what it tells."""

    def __init__(self, work: Callable[[Progress], Result], progress: Progress) -> None:
        self._work, self._progress = work, progress
        self._stops: list[Callable[[], None]] = []
        self._begun = self._must_stop = self._abandoned = False
        self._found: list[Result] = []
        self.error: BaseException | None = None
        self._over = threading.Event()

    def _run(self) -> None:
        try:
            self._found.append(self._work(self))
        except BaseException as error:
            self.error = error
        finally:
            self._over.set()

    def result(self) -> Result:
        """Begin, and wait for the result."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=contextvars.copy_context().run, args=(self._run,), daemon=True).start()
        while not self._over.wait(EVERY):
            pass
        if self.error is not None:
            raise self.error
        return self._found[0]

    def answer(self, pressed: KeyboardInterrupt) -> None:
        """Ctrl-C: ask, and go on, stop soon, or end without a result. The second time nothing is asked."""
        try:
            if self._must_stop or not self._stops or isinstance(pressed, Terminated):
                raise pressed
            if self._progress.keeps_best():
                self._stop()
        except BaseException:
            self._abandoned = True
            self._stop()
            self._over.wait(PATIENCE)
            raise

    def _stop(self) -> None:
        self._must_stop = True
        for stop in list(self._stops):
            stop()

    def stage(self, name: str) -> None:
        self._progress.stage(name)

    def advance(self, done: float, note: str = "") -> None:
        if self._abandoned:
            raise KeyboardInterrupt
        self._progress.advance(done, note)

    @contextmanager
    def stoppable(self, stop: Callable[[], None]) -> Iterator[None]:
        """Also stops what begins after the user has stopped the work: a method may search several times."""
        self._stops.append(stop)
        if self._must_stop:
            stop()
        try:
            with self._progress.stoppable(stop):
                yield
        finally:
            self._stops.remove(stop)
