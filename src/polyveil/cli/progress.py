"""Progress on stderr: a live bar on a terminal, a line every few seconds elsewhere. Never any data."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from polyveil.progress import SILENT, BarProgress, Progress
from polyveil.results import percent

QUIET_SECONDS = 2.0
LINE_EVERY = 5.0
QUESTION = "Finish now with the best result so far? [y: finish, n: go on, Ctrl-C: stop without a release] "
NOTHING_YET = "There is no result yet. If you finish now, all rows may be in one group, with all detail lost."


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
            sys.stderr.write(f"{self.name}: {percent(done, 0)}{' ' + note if note else ''}\n")
            sys.stderr.flush()


class TerminalProgress(BarProgress):
    """The bar; Ctrl-C asks whether to finish with the best result so far, a second Ctrl-C ends the run."""

    def keeps_best(self) -> bool:
        if not sys.stdin.isatty():
            raise KeyboardInterrupt
        so_far = self.bar.tasks[self.task].fields["note"] or NOTHING_YET
        self.bar.stop()
        sys.stderr.write(f"\n{so_far}\n{QUESTION}")
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer:
            raise KeyboardInterrupt
        self.bar.start()
        return answer.strip().lower() in ("y", "yes")


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
        progress = TerminalProgress()
        with progress.bar:
            yield progress


def _announce_compiling() -> None:
    """The first compile of a kernel takes seconds; say so instead of standing still."""
    logger = logging.getLogger("polyveil")
    if not logger.handlers:
        logger.addHandler(logging.StreamHandler(sys.stderr))
        logger.setLevel(logging.INFO)
