"""One run in a process of its own: `python -m polyveil.web.worker RUN_FOLDER`.

The server stays quick whatever happens here; the only words exchanged are files in the run's folder: progress.json
while it runs, outcome.json when it ends. A process that dies without an outcome has crashed.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polyveil.errors import PolyveilError, kind_and_place
from polyveil.progress import Progress
from polyveil.web.intake import LINKED_POLICY
from polyveil.web.store import write_json

EVERY = 0.2
STOP = "stop"
"""The file that asks a run to end its search with the best groups so far."""
SHARES = {
    "read": (0.0, 0.05),
    "encode": (0.05, 0.1),
    "partition": (0.1, 0.75),
    "compiling": (0.1, 0.15),
    "searching": (0.15, 0.8),
    "refine": (0.75, 0.85),
    "release": (0.85, 0.87),
    "measure": (0.87, 0.91),
    "write": (0.91, 0.93),
    "verify": (0.93, 0.97),
    "views": (0.97, 1.0),
}
"""Where each stage of a run usually begins and ends, as a share of its time. Attacks have one stage."""


class FileProgress(Progress):
    """Writes where the run stands, a few times a second; keeps the notes so that the loss can be seen falling.

    A file named `stop` in the run's folder ends work that can be stopped, with the best result so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = ""
        self.began = self.stage_began = time.time()
        self.next_write = 0.0
        self.share = 0.0
        self.stopping = False
        self.history: list[tuple[float, str]] = []

    def stage(self, name: str) -> None:
        self.name, self.stage_began = name, time.time()
        self._write(0.0, "")

    def advance(self, done: float, note: str = "") -> None:
        now = time.time()
        if now < self.next_write and done < 1.0:
            return
        self.next_write = now + EVERY
        if note:
            self.history = [*self.history, (round(now - self.began, 2), note)][-500:]
        self._write(done, note)

    @contextmanager
    def stoppable(self, stop: Callable[[], None]) -> Iterator[None]:
        over = threading.Event()

        def watch() -> None:
            while not over.wait(EVERY):
                if (self.path.parent / STOP).exists():
                    stop()
                    return

        self.stopping = True
        threading.Thread(target=watch, daemon=True).start()
        try:
            yield
        finally:
            over.set()
            self.stopping = False

    def _write(self, done: float, note: str) -> None:
        now = time.time()
        begin, end = SHARES.get(self.name, (0.0, 1.0))
        # A stage may come twice, and another may be skipped; the bar never goes back.
        self.share = max(self.share, begin + (end - begin) * min(max(done, 0.0), 1.0))
        about = {"stage": self.name, "done": done, "note": note, "history": self.history}
        about |= {"began": self.began, "share": self.share, "stoppable": self.stopping}
        write_json(self.path, about | {"at": now, "left": self._left(done, end, now)})

    def _left(self, done: float, end: float, now: float) -> float | None:
        """Seconds until the end, once the stage has come far enough to tell."""
        passed = now - self.stage_began
        if done < 0.03 or passed < 1.0:
            return None
        rest = passed * (1.0 - min(done, 1.0)) / done
        return rest + (now - self.began + rest) * (1.0 - end) / end


def run(folder: Path) -> dict[str, Any]:
    """Do the run and say how it ended."""
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    started = time.time()
    try:
        done = WORK[about["kind"]](folder, about, FileProgress(folder / "progress.json"))
    except PolyveilError as error:
        return {"state": "failed", "error": error.to_dict()}
    except MemoryError:
        return {"state": "failed", "error": {"message": "this machine does not have enough memory for this run"}}
    except Exception as error:
        message = f"an unexpected {kind_and_place(error)}. Please report it with this line"
        return {"state": "failed", "error": {"message": message}}
    return {"state": "done", **done, "took": time.time() - started}


def _anonymize(folder: Path, about: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Make the release, and the views on it."""
    from polyveil.pipeline import anonymize
    from polyveil.policy import from_text
    from polyveil.web.explore import write_views

    policy = from_text(
        (folder / "policy.yaml").read_text(encoding="utf-8"), folder=Path(about["hierarchies"]), files="beside"
    )
    source = Path(about["path"])
    release = anonymize(
        source,
        policy,
        out=folder / "release",
        seed=about["seed"],
        progress=progress,
        reading=about.get("reading"),
    )
    release.save_private(folder / "private")
    progress.stage("views")
    if release.original is not None and release.class_of_row is not None:
        write_views(
            folder / "private",
            release.manifest,
            release.frames,
            release.original,
            release.original.of_coded_rows(release.class_of_row),
        )
    return {"summary": release.to_dict()}


def _make_linked(bundle: Path, progress: Progress) -> None:
    """Put in the place of packed linked tables and their policy the release that is made of them."""
    from polyveil.errors import InputError
    from polyveil.pipeline import anonymize
    from polyveil.policy import Pairs, from_text

    tables = bundle.rename(bundle.with_name("tables"))
    policy = from_text((tables / LINKED_POLICY).read_text(encoding="utf-8"), folder=tables, files="beside")
    rules = [column.hierarchy for column in policy.columns.values()]
    named = [about.source or name for name, about in policy.tables.items()]
    named += [rule.pairs for rule in rules if isinstance(rule, Pairs)]
    if not policy.tables or any(Path(name).name != name for name in named):
        raise InputError(f"{LINKED_POLICY} must name several tables (tables:), and only files packed beside it")
    release = anonymize(tables, policy, out=bundle, progress=progress)
    release.save_private(bundle.with_name("private"))


def _open_bundle(folder: Path, about: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Verify a release that was brought back, and make the views on it; there is no original to compare with."""
    from polyveil.verification import verify
    from polyveil.verification.files import read_manifest, read_tables
    from polyveil.web.explore import write_views

    bundle = folder / "release"
    if (bundle / LINKED_POLICY).is_file():
        _make_linked(bundle, progress)
    progress.stage("verify")
    verification = verify(bundle)
    manifest = read_manifest(bundle)
    progress.stage("views")
    if verification.holds:
        write_views(folder / "private", manifest, read_tables(bundle, manifest)[0])
    keys = ("rows", "suppressed", "classes", "class_size", "method", "privacy", "loss")
    return {"summary": {key: manifest[key] for key in keys}, "verification": verification.to_dict()}


def _attack(folder: Path, about: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Let every adversary try the release of another run."""
    from polyveil.attacks import attack

    progress.stage("attack")
    report = attack(
        Path(about["release"]),
        Path(about["path"]),
        population=_population(about),
        reading=about.get("reading"),
        progress=progress,
    )
    return {"attacks": report.to_dict()}


def _population(about: Mapping[str, Any]) -> Path | None:
    """The table of the population that the attacked run was limited by, if there is one."""
    from polyveil.policy import from_text
    from polyveil.table.register import population_file

    policy = Path(about["release"]).parent / "policy.yaml"
    if not policy.is_file() or "hierarchies" not in about:
        return None
    found = from_text(policy.read_text(encoding="utf-8"), folder=Path(about["hierarchies"]), files="beside")
    return population_file(found)


def _analyze(folder: Path, about: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run analyses on the table and on the release of another run."""
    from polyveil.analyses import analyze

    progress.stage("analyses")
    found = analyze(Path(about["release"]), Path(about["path"]), about["asked"], reading=about.get("reading"))
    curves = [
        [[name, *(values.tolist() for values in points)] for name, *points in each.curves] for each in found.analyses
    ]
    return {"analyses": {**found.to_dict(), "answer": found.answer(), "curves": curves}, "asked": about["asked"]}


WORK = {"anonymize": _anonymize, "bundle": _open_bundle, "attack": _attack, "analyses": _analyze}


def main() -> None:
    """Run in the folder named on the command line."""
    os.nice(5)  # the page comes first
    logging.disable(logging.CRITICAL)
    folder = Path(sys.argv[1])
    write_json(folder / "outcome.json", run(folder))


if __name__ == "__main__":
    main()
