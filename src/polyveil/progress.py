"""Progress: how long work says where it stands. The base class is silent; the command line and workbench draw it."""

from __future__ import annotations


class Progress:
    """Listens to stages. `advance` may raise to stop the work (a user's cancel); methods let that pass through."""

    def stage(self, name: str) -> None:
        """A named stage of the pipeline begins."""

    def advance(self, done: float, note: str = "") -> None:
        """The stage is `done` (0 to 1) finished; `note` is a short figure such as the loss so far, never data."""


SILENT = Progress()
