"""Starting processes that run a module of polyveil: the one way in which work leaves this process.

A child runs `python -m polyveil...` and never the caller's own script, so that a script without a main guard is not
run again. Messages are pickled over the child's stdin and stdout. Each child has a thread that writes and reads them,
so that nobody waits for a process that hangs: whoever waits for the answers decides when its time is up.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import Queue, SimpleQueue
from threading import Thread
from typing import IO, Any, cast

STOP_SECONDS = 10.0
"""How long a killed process may take to go."""


def command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of polyveil with this interpreter."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """This process's environment; the child finds modules where this process does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folder or os.getcwd() for folder in sys.path)}  # noqa: PTH109


class Ended:
    """Answers for a process that ended before it could."""


class Child:
    """A process that answers messages one by one; each answer arrives in `answers` as (child, answer)."""

    def __init__(self, module: str, answers: Queue[tuple[Child, Any]]) -> None:
        self.process = subprocess.Popen(
            command(module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("POLYVEIL_DEBUG") else subprocess.DEVNULL,
            env=environment(),
        )
        self.stopped = False
        self._questions: SimpleQueue[Any] = SimpleQueue()
        Thread(target=self._talk, args=(answers,), daemon=True).start()

    def ask(self, message: Any) -> None:
        """Send a message; returns at once."""
        self._questions.put(message)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self.stopped = True
        self.process.kill()
        self._questions.put(Ended)
        with suppress(subprocess.TimeoutExpired):  # a process stuck in the kernel is left to the operating system
            self.process.wait(STOP_SECONDS)

    def _talk(self, answers: Queue[tuple[Child, Any]]) -> None:
        to, back = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        while (message := self._questions.get()) is not Ended:
            try:
                pickle.dump(message, to, protocol=pickle.HIGHEST_PROTOCOL)
                to.flush()
                answer = pickle.load(back)  # noqa: S301 - from the process this one started
            except (EOFError, OSError, pickle.UnpicklingError):
                answer = Ended
            if not self.stopped:
                answers.put((self, answer))
        for line in (to, back):
            with suppress(OSError):
                line.close()


def serve(answer: Callable[[Any], Any]) -> None:
    """What a child does: answer the messages on stdin until it closes. What else is printed cannot disturb that."""
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            message = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
            pickle.dump(answer(message), back, protocol=pickle.HIGHEST_PROTOCOL)
            back.flush()
