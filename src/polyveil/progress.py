"""Progress: how long work says where it stands. The base class is silent; bars draw it in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

EVERY = 0.1
"""Seconds between two pictures of a notebook's bar."""


class Progress:
    """Listens to stages. `advance` may raise to stop the work (a user's cancel); methods let that pass through."""

    def stage(self, name: str) -> None:
        """A named stage of the pipeline begins."""

    def advance(self, done: float, note: str = "") -> None:
        """The stage is `done` (0 to 1) finished; `note` is a short figure such as the loss so far, never data."""

    @contextmanager
    def stoppable(self, stop: Callable[[], None]) -> Iterator[None]:
        """Inside, work goes on that `stop` ends soon with the best result so far; a terminal offers that at Ctrl-C."""
        yield

    def keeps_best(self) -> bool:
        """Asked at Ctrl-C: True ends such work with the best result so far, False lets it go on.

        To end it without a result, raises KeyboardInterrupt, which is what happens where nobody can be asked.
        """
        raise KeyboardInterrupt


SILENT = Progress()


class BarProgress(Progress):
    """A rich bar on stderr with the stage, how far it is, time passed and time left."""

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


class NotebookProgress(Progress):
    """A bar in the output of a notebook's cell, redrawn in place; plain HTML, so that no widgets are needed."""

    def __init__(self, display: Any, html: Callable[[str], Any]) -> None:
        self.html, self.name, self.next_draw = html, "", 0.0
        self.handle = display(html(self._drawn(0.0, "")), display_id=True)

    def stage(self, name: str) -> None:
        self.name = name
        self._draw(0.0, "")

    def advance(self, done: float, note: str = "") -> None:
        if done >= 1.0 or time.monotonic() >= self.next_draw:
            self._draw(done, note)

    def close(self) -> None:
        """The work is over: leave nothing behind."""
        self.handle.update(self.html(""))

    def _draw(self, done: float, note: str) -> None:
        self.next_draw = time.monotonic() + EVERY
        self.handle.update(self.html(self._drawn(done, note)))

    def _drawn(self, done: float, note: str) -> str:
        label = escape(f"{self.name} {note}".strip())
        return f'<progress max="1" value="{done:.3f}" aria-label="{label}"></progress> <small>{label}</small>'


@contextmanager
def shown(progress: Progress | bool) -> Iterator[Progress]:
    """The progress itself; for True a bar that fits where the work runs, for False none."""
    if isinstance(progress, Progress):
        yield progress
    elif not progress:
        yield SILENT
    elif "ipykernel" in sys.modules:
        screen = import_module("IPython.display")
        notebook = NotebookProgress(screen.display, screen.HTML)
        try:
            yield notebook
        finally:
            notebook.close()
    else:
        bar = BarProgress()
        with bar.bar:
            yield bar
