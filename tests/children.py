"""Processes that tests start: each with a limit, after which it ends together with everything it started."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LIMIT = 300.0
"""Seconds a child may take: several times what the slowest needs with cold kernels on two busy cores."""


@contextmanager
def started(command: Sequence[str | Path], *, limit: float = LIMIT, **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A process and its children, ended when the block ends, or earlier when the limit is reached.

    Reading from a process that was ended finds the end of its output, so a test cannot wait for it forever.
    """
    with subprocess.Popen([str(word) for word in command], start_new_session=True, **options) as process:
        clock = threading.Timer(limit, _end, [process])
        clock.daemon = True
        clock.start()
        try:
            yield process
        finally:
            clock.cancel()
            _end(process)


def run(command: Sequence[str | Path], *, limit: float = LIMIT, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run to the end and keep both outputs; a process that reaches the limit has the exit code -9."""
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    with started(command, limit=limit, **given) as process:
        said, complaints = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, said, complaints)


def run_in_terminal(command: Sequence[str | Path], *, limit: float = LIMIT) -> tuple[int, str, bytes]:
    """Run with stderr on a pseudo-terminal: the exit code, stdout, and what was drawn.

    The terminal is read while the child runs: its buffer is small, and a child that fills it waits for a reader.
    """
    leader, follower = pty.openpty()
    drawn: list[bytes] = []
    reader = threading.Thread(target=_read_all, args=(leader, drawn), daemon=True)
    reader.start()
    try:
        with started(command, limit=limit, stdout=subprocess.PIPE, stderr=follower, text=True) as process:
            os.close(follower)  # the child's end is the only one left: reading ends when the child does
            said, _ = process.communicate()
        reader.join(limit)
    finally:
        os.close(leader)
    return process.returncode, said, b"".join(drawn)


def _read_all(leader: int, drawn: list[bytes]) -> None:
    with suppress(OSError):  # a pseudo-terminal whose other end is closed ends with an error
        while piece := os.read(leader, 65_536):
            drawn.append(piece)


def _end(process: subprocess.Popen[Any]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
