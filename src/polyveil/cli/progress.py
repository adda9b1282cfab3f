"""Progress on stderr: a live bar on a terminal, a line every few seconds elsewhere. Never any data."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from polyveil.progress import SILENT, Progress, shown

QUIET_SECONDS = 2.0
LINE_EVERY = 5.0


class LineProgress(Progress):
    """For logs: one line per stage that takes longer than it should, then one every few seconds."""

    def __init__(self) -> None:
        self.name = ""
        self.next_line = time.monotonic() + QUIET_SECONDS

    def stage(self, name: str) -> None:
        self.name = name

    def advance(self, done: float, note: str = "") -> None:
        now = time.monotonic()
        if now >= self.next_line:
            self.next_line = now + LINE_EVERY
            sys.stderr.write(f"{self.name}: {done:.0%}{' ' + note if note else ''}\n")
            sys.stderr.flush()


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[Progress]:
    """The right progress for where stderr goes."""
    if quiet:
        yield SILENT
        return
    _announce_compiling()
    if not sys.stderr.isatty():
        yield LineProgress()
    else:
        with shown(True) as progress:
            yield progress


def _announce_compiling() -> None:
    """The first compile of a kernel takes seconds; say so instead of standing still."""
    logger = logging.getLogger("polyveil")
    if not logger.handlers:
        logger.addHandler(logging.StreamHandler(sys.stderr))
        logger.setLevel(logging.INFO)
