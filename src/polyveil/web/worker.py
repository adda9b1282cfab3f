"""One run in a process of its own: `python -m polyveil.web.worker RUN_FOLDER`.

The server stays quick whatever happens here; the only words exchanged are files in the run's folder: progress.json
while it runs, outcome.json when it ends. A process that dies without an outcome has crashed.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from polyveil.errors import PolicyError, PolyveilError, Unsatisfiable
from polyveil.progress import Progress
from polyveil.web.store import write_json

EVERY = 0.2


class FileProgress(Progress):
    """Writes where the run stands, a few times a second; keeps the notes so that the loss can be seen falling."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = ""
        self.start = time.monotonic()
        self.next_write = 0.0
        self.history: list[tuple[float, str]] = []

    def stage(self, name: str) -> None:
        self.name = name
        self._write(0.0, "")

    def advance(self, done: float, note: str = "") -> None:
        now = time.monotonic()
        if now < self.next_write and done < 1.0:
            return
        self.next_write = now + EVERY
        if note:
            self.history = [*self.history, (round(now - self.start, 2), note)][-500:]
        self._write(done, note)

    def _write(self, done: float, note: str) -> None:
        write_json(self.path, {"stage": self.name, "done": done, "note": note, "history": self.history})


def run(folder: Path) -> dict[str, Any]:
    """Do the run and say how it ended."""
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    started = time.time()
    try:
        from polyveil.pipeline import anonymize
        from polyveil.policy import from_text

        policy = from_text((folder / "policy.yaml").read_text(encoding="utf-8"), folder=Path(about["hierarchies"]))
        release = anonymize(
            Path(about["path"]),
            policy,
            out=folder / "release",
            seed=about["seed"],
            progress=FileProgress(folder / "progress.json"),
        )
        release.save_private(folder / "private")
    except PolyveilError as error:
        return {"state": "failed", "error": error_of(error)}
    except MemoryError:
        return {"state": "failed", "error": {"message": "the machine has not enough memory for this run"}}
    except Exception as error:
        # The text of an unforeseen error may hold data: its kind and place are enough to report it.
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
        return {"state": "failed", "error": {"message": f"an unforeseen {place}. Please report it with this line"}}
    return {"state": "done", "summary": release.summary(), "took": time.time() - started}


def error_of(error: PolyveilError) -> dict[str, Any]:
    """An error as data: the message, and what a form needs to show it at the right place."""
    about: dict[str, Any] = {"message": str(error), "kind": type(error).__name__}
    if isinstance(error, PolicyError):
        about["faults"] = [{"place": f.place, "rule": f.rule, "remedy": f.remedy} for f in error.faults]
    if isinstance(error, Unsatisfiable):
        about |= {"constraint": error.constraint, "nearest": error.nearest}
    return about


def main() -> None:
    """Run in the folder named on the command line."""
    os.nice(5)  # the page comes first
    logging.disable(logging.CRITICAL)
    folder = Path(sys.argv[1])
    write_json(folder / "outcome.json", run(folder))


if __name__ == "__main__":
    main()
