"""The runs behind the page of wang2018: its three algorithms as printed, with our defaults, and `sift`, on Adult."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from paper_page import say
from real_tables import close_partition, timed

from polyveil.arrays import IntArray
from polyveil.measure import measure_loss
from polyveil.methods import Task, make_method
from polyveil.methods._kernels.judge import compile_constraints, sensitive_matrix, violation_classes
from polyveil.models import KAnonymity, TCloseness, attributes_of
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.coded import CodedTable

SENSITIVE = ("occupation", "education-num")
KS, TS = (2, 5, 10, 15, 20), (0.1, 0.2, 0.3, 0.4, 0.5)
ALGORITHMS = {"fcm": "Algorithm 1", "pca": "Algorithm 2", "swap": "Contrast algorithm"}
AS_PRINTED, OURS = "as printed", "ours"
RUNS = (AS_PRINTED, OURS)
SMALL_K = 10
"""Below it the contrast algorithm as printed tries nearly all rows for nearly every class, and gets a smaller table."""
PRINTED = {
    "fcm": """
        8/14/12  8/10/9   8/10/9   6/10/8   6/8/7
        10/25/18 10/20/16 10/20/13 5/15/10  5/15/8
        10/30/25 10/20/18 10/20/14 10/20/12 10/20/12
        15/15/15 15/15/15 15/15/15 15/15/15 15/15/15
        20/20/20 20/20/20 20/20/20 20/20/20 20/20/20""",
    "pca": """
        8/12/10  8/10/9   6/8/7    6/8/7    6/8/6
        10/20/15 10/16/14 5/10/8   5/11/6   5/10/6
        10/30/28 10/30/20 10/20/16 10/20/12 10/20/12
        15/30/18 15/30/18 15/15/15 15/15/15 15/15/15
        20/40/22 20/40/22 20/20/20 20/20/20 20/20/20""",
    "swap": """
        8/10/9   8/10/9   6/10/8   6/8/7    6/8/7
        10/20/14 10/20/12 5/10/8   5/10/8   5/10/6
        10/30/25 10/20/15 10/20/14 10/20/12 10/10/10
        15/30/23 15/30/21 15/15/15 15/15/15 15/15/15
        20/40/27 20/40/24 20/20/20 20/20/20 20/20/20""",
}
"""Tables 6, 7 and 8: least, greatest and mean class size; a line for each of KS, a column for each of TS."""


def printed_cell(method: str, k: int, t: float) -> str:
    return PRINTED[method].strip().splitlines()[KS.index(k)].split()[TS.index(t)]


def printed_mean(method: str, k: int, t: float) -> float:
    return float(printed_cell(method, k, t).split("/")[2])


@dataclass(frozen=True)
class Cell:
    """Samples of one run: rows, least, greatest and mean class size, share of classes that fail, loss, seconds."""

    rows: int
    sizes: Sequence[tuple[int, int, float]]
    failing: float
    loss: float
    seconds: float

    @property
    def means(self) -> list[float]:
        return [mean for _, _, mean in self.sizes]

    @property
    def mean(self) -> float:
        return float(np.mean(self.means))

    @property
    def greatest(self) -> int:
        return max(most for _, most, _ in self.sizes)

    @property
    def text(self) -> str:
        spread = f" ± {np.std(self.means):.1f}" if len(self.sizes) > 1 else ""
        return f"{min(least for least, _, _ in self.sizes)}/{self.greatest:,}/{self.mean:,.1f}{spread}"


Cells = Mapping[tuple[str, str, int, float], Cell]
"""By method, run, k and t."""


def close_task(table: CodedTable, k: int, t: float, seed: int = 1) -> Task:
    models = (KAnonymity(k), *(TCloseness(t, column.name) for column in table.sensitive))
    return Task(table, models, attributes_of(table), Privacy(k=k, t=t), np.random.default_rng(seed))


def failing_share(task: Task, classes: IntArray) -> float:
    judge = compile_constraints(task.models, task.attributes, task.table)
    return float((violation_classes(judge, classes, sensitive_matrix(task.table)) > 0).mean())


def printed_classes(task: Task, method: str) -> IntArray:
    """The classes of an algorithm exactly as printed, whether or not they are t-close."""
    chosen: Any = make_method(MethodChoice(name=method, as_printed=True))
    found: IntArray = chosen.printed_classes(task)
    return found


def as_printed(tables: Sequence[CodedTable], method: str, k: int, t: float) -> Cell:
    sizes, failing, losses, times = [], [], [], []
    for seed, table in enumerate(tables):
        task = close_task(table, k, t, seed)
        classes, seconds = timed(partial(printed_classes, task, method))
        counts = np.bincount(classes[classes >= 0])
        sizes.append((int(counts.min()), int(counts.max()), float(counts.mean())))
        failing.append(failing_share(task, classes))
        losses.append(measure_loss(table, classes).information_loss)
        times.append(seconds)
    return Cell(tables[0].rows, sizes, float(np.mean(failing)), float(np.mean(losses)), float(np.mean(times)))


def by_default(table: CodedTable, method: str, k: int, t: float, **options: Any) -> Cell:
    """A run whose classes are all t-close: `close_partition` judges them by the plain models."""
    found, seconds = timed(lambda: close_partition(table, method, k, t, **options))
    counts = np.bincount(found.class_of_row)
    loss = measure_loss(table, found.class_of_row).information_loss
    return Cell(table.rows, [(int(counts.min()), int(counts.max()), float(counts.mean()))], 0.0, loss, seconds)


def all_cells(
    tables: Sequence[CodedTable],
    small: CodedTable,
    ks: Sequence[int],
    ts: Sequence[float],
    searched: Container[tuple[int, float]],
) -> dict[tuple[str, str, int, float], Cell]:
    """Every cell as printed; those that are `searched` with our defaults and `sift` as well."""
    found = {}
    for k in ks:
        for t in ts:
            for method in ALGORITHMS:
                rows = [small] if method == "swap" and k < SMALL_K else tables
                found[method, AS_PRINTED, k, t] = as_printed(rows, method, k, t)
                if (k, t) in searched:
                    found[method, OURS, k, t] = by_default(tables[0], method, k, t)
            if (k, t) in searched:
                found["sift", OURS, k, t] = by_default(tables[0], "sift", k, t, effort="fast")
            say(f"k = {k}, t = {t}: {', '.join(found[m, AS_PRINTED, k, t].text for m in ALGORITHMS)}")
    return found


def samples_of(table: CodedTable, rows: int, samples: int) -> list[CodedTable]:
    size = min(rows, table.rows)
    return [
        table.take(np.sort(np.random.default_rng(seed).choice(table.rows, size, replace=False)))
        for seed in range(1, samples + 1)
    ]
