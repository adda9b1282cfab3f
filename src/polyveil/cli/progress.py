"""Progress on stderr: a live bar on a terminal, a line every few seconds elsewhere. Never any data."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from polyveil.progress import SILENT, Progress

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


class BarProgress(Progress):
    """A rich bar with the stage, how far it is, time passed and time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self.bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description:<10}"),
            BarColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.bar.add_task("", total=None, note="")

    def stage(self, name: str) -> None:
        self.bar.reset(self.task, description=name, total=None, note="")

    def advance(self, done: float, note: str = "") -> None:
        self.bar.update(self.task, completed=done, total=1.0, note=note)


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
        progress = BarProgress()
        with progress.bar:
            yield progress


def _announce_compiling() -> None:
    """The first compile of a kernel takes seconds; say so instead of standing still."""
    logger = logging.getLogger("polyveil")
    if not logger.handlers:
        logger.addHandler(logging.StreamHandler(sys.stderr))
        logger.setLevel(logging.INFO)
