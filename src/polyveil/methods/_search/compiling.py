"""Compiling what a search needs before it begins: on all cores side by side, once per machine.

Each process compiles one of the kernels that Python calls, with all kernels below it, and leaves it in numba's cache on
disk, where the search finds it. A file beside them says that this was done for these sources. Whatever goes wrong here,
the search then compiles by itself.
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import IO, cast

import numba
import numpy as np

from polyveil.methods._kernels.compiled import SHARED, compiles, on_compiled
from polyveil.methods._kernels.judge import (
    JudgeSpec,
    asks_more,
    compile_constraints,
    sensitive_matrix,
    violation_classes,
)
from polyveil.methods._kernels.only_compiling import leave, only_compile
from polyveil.methods._kernels.reachable import whole_violation
from polyveil.methods._search.arrange import SIFT, arrange
from polyveil.methods._search.cut import cut
from polyveil.methods._search.grow import grow
from polyveil.methods._search.losses import losses
from polyveil.methods._search.moves import Orders
from polyveil.methods._search.rounds import CORES, move_rows, no_flag, seeded_order
from polyveil.methods._search.space import make_space
from polyveil.models import DistinctDiversity, KAnonymity, Model, TCloseness, attributes_of
from polyveil.policy.hierarchy import flat
from polyveil.processes import command, environment
from polyveil.progress import Progress
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import Domain, OrderedDomain, TreeDomain

UNITS, EXACT = {"arrange": 148, "move": 141, "judge": 37}, {"exact": 113}
"""What is compiled at a time for a search, the longest first, and for the exact grouping of a small table; and about
how many kernels that is."""
EVERY = 0.1
"""Seconds between two looks at how far the processes are."""


def compile_side_by_side(judge: JudgeSpec, progress: Progress) -> None:
    """Have the kernels of a search under such a judge compiled unless they are: a stage of its own."""
    kind = _kind(judge)
    _compile({unit: number for unit, number in UNITS.items() if unit != "judge" or kind == "more"}, kind, progress)


def compile_exact(progress: Progress) -> None:
    """Have the kernels of the exact grouping compiled unless they are: a stage of its own."""
    _compile(EXACT, "exact", progress)


def _compile(units: dict[str, int], kind: str, progress: Progress) -> None:
    stamp = _stamp(kind)
    if CORES < 2 or stamp is None or stamp.exists():
        return
    progress.stage("compiling")
    compiles.announce()
    try:
        running = [_Compiling(unit, kind) for unit in units]
    except OSError:
        return
    try:
        while any(unit.process.poll() is None for unit in running):
            progress.advance(min(sum(unit.kernels for unit in running) / sum(units.values()), 0.99))
            time.sleep(EVERY)
    finally:
        for unit in running:
            unit.end()
    if all(unit.process.returncode == 0 for unit in running):
        stamp.touch()


class _Compiling:
    """A process that compiles a unit, and how many kernels it has compiled so far."""

    def __init__(self, unit: str, kind: str) -> None:
        self.kernels = 0
        self.process = subprocess.Popen(
            command(__name__, unit, kind), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
        )
        self._counting = Thread(target=self._count, args=(cast("IO[bytes]", self.process.stdout),), daemon=True)
        self._counting.start()

    def end(self) -> None:
        """Stop the process if it still runs, and wait for its end."""
        self.process.kill()
        self.process.wait()
        self._counting.join()

    def _count(self, lines: IO[bytes]) -> None:
        with lines:
            for _ in lines:
                self.kernels += 1


def _kind(judge: JudgeSpec) -> str:
    """Those of a search are compiled once without and once with constraints other than size, caps and closeness."""
    return "more" if asks_more(judge) else "plain"


def _stamp(kind: str) -> Path | None:
    """The file that says that these sources were compiled on this kind of machine; None if there is no cache."""
    folder = Path(arrange.stats.cache_path)  # type: ignore[attr-defined]
    known = hashlib.sha256(f"{numba.__version__} {platform.python_version()} {platform.machine()} {SHARED}".encode())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder / f"sift-{kind}-{known.hexdigest()[:16]}.compiled"


def tiny(kind: str) -> tuple[CodedTable, JudgeSpec]:
    """A table with every kind of column and a judge of a kind: what is compiled for it serves every table."""
    codes = np.arange(12) % 3
    ages = OrderedDomain("numeric", np.arange(3.0), ("0", "1", "2"), False)
    towns = [TreeDomain(flat(["a", "b", "c"]), False, as_set) for as_set in (False, True)]
    domains: list[Domain] = [ages, *towns]
    quasi = tuple(QuasiColumn(str(a), domain, codes) for a, domain in enumerate(domains))
    table = CodedTable(12, quasi, (SensitiveColumn("secret", towns[0], codes, "equal", np.ones(3, dtype=np.int64)),))
    models: list[Model] = [KAnonymity(2), TCloseness(0.9, "secret")]
    models += [DistinctDiversity(2, "secret")] if kind == "more" else []
    return table, compile_constraints(models, attributes_of(table), table)


def compile_unit(unit: str, kind: str) -> None:
    """Compile one unit by using it."""
    from polyveil.methods._exact import best_grouping  # slow to load, and rarely needed

    table, judge = tiny(kind)
    space, rows = make_space(table, judge)
    labels, stop = np.zeros(table.rows, dtype=np.int32), no_flag()
    if unit == "arrange":
        empty = np.zeros((0, table.rows), dtype=np.int32)
        orders = Orders(empty, empty, empty, np.zeros(2, dtype=np.int64), empty)
        arrange(space, rows, labels, orders, SIFT, 0, 0.0, 0.0, 0, 0, space.least, 1, stop)
    elif unit == "exact":
        best_grouping(table, judge)
    elif unit == "move":
        orders = move_rows(space, rows, labels, 1.0, 1, 0.0, 0.0, 1, 1, stop)[2]
        grow(space, rows, orders, space.least, 1, stop)
        cut(space, rows, space.least, True, stop)
        losses(space, rows, labels)
        seeded_order(space, rows.codes, 1, stop)
    else:
        places = sensitive_matrix(table)
        whole_violation(judge, places.astype(np.int64), np.ones(table.rows, dtype=np.int64))
        violation_classes(judge, labels.astype(np.int64), places)


def _say_one_more() -> None:
    sys.stdout.write("\n")
    sys.stdout.flush()


def main() -> None:
    """What a process does: compile one unit, a line for every kernel."""
    only_compile()
    on_compiled(_say_one_more)
    compile_unit(*sys.argv[1:3])
    leave()


if __name__ == "__main__":
    main()
