"""The runs behind the page of han2013: a method on rows of Census-Income, judged and measured."""

# ruff: noqa: E741 - l is what the paper calls its diversity, and what a policy calls it

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from real_tables import CENSUS_QUASI, in_labour_force, policy_of, slices_of, task_of, timed

from polyveil.errors import Unsatisfiable
from polyveil.measure import measure_loss
from polyveil.measure.additional_loss import additional_information_loss
from polyveil.methods import Task, make_method
from polyveil.methods._buckets.demand import reachable_rows
from polyveil.methods.sloms import incomplete_rows
from polyveil.models.linked import from_groups
from polyveil.partition import Partition
from polyveil.policy.schema import MethodChoice

ALL, LABOUR = "all people", "labour force"
PLAIN = ("mbf", "msdcf", "mmdcf")
METHODS = {
    "sloms": "MSB-KACA, as printed",
    "mbf": "MBF, as printed",
    "msdcf": "MSDCF, as printed",
    "mmdcf": "MMDCF, as printed",
    "sloms ours": "MSB-KACA, ours",
    "mbf ours": "MBF, ours",
}
"""As printed: every slice on its own by MMDCF; ours: a linear program says which rows to leave out."""
PRINTED = ("sloms", *PLAIN)
K = 6


@dataclass(frozen=True)
class Grid:
    """The values of the four parameters; the last number of rows is the one held fixed."""

    ls: tuple[int, ...] = (3, 4, 6, 8)
    ds: tuple[int, ...] = (3, 4, 5, 6)
    ns: tuple[int, ...] = (2000, 6000, 10_000)
    qs: tuple[int, ...] = (2, 3, 4, 5)
    l: int = 6
    d: int = 4


QUICK = Grid(ls=(2, 3), ds=(3, 4), ns=(300, 600), qs=(2, 3), l=2)


@dataclass(frozen=True)
class Case:
    """One run; q is the number of quasi-identifiers."""

    people: str
    method: str
    n: int
    d: int
    l: int
    q: int = len(CENSUS_QUASI)
    sample: int = 1


@dataclass(frozen=True)
class Cell:
    """Share of rows with a suppressed value, additional information loss, distortion, processor time.

    `additional` has the m of eq. (8), the number of attributes, `by_slice` that of the slices. `distortion` is the sum
    of eq. (4), where a suppressed row counts as wholly generalized; `of_released` is that of a released row.
    """

    suppressed: float
    additional: float
    by_slice: float
    distortion: float
    of_released: float
    seconds: float


class Runs:
    """The cases run so far: several figures share some."""

    def __init__(self, frame: pl.DataFrame, rows: int) -> None:
        self.rows, self.people = rows, {ALL: frame, LABOUR: in_labour_force(frame)}
        self._cells: dict[Case, Cell] = {}

    def table(self, people: str, sample: int = 1) -> pl.DataFrame:
        whole = self.people[people]
        return whole.sample(min(self.rows, whole.height), seed=sample)

    def cell(self, case: Case) -> Cell:
        if case not in self._cells:
            self._cells[case] = self._run(case)
        return self._cells[case]

    def _run(self, case: Case) -> Cell:
        sensitive = [name for part in slices_of(case.d) for name in part]
        frame = self.table(case.people, case.sample).head(case.n).select(*CENSUS_QUASI[: case.q], *sensitive)
        name, *default = case.method.split()
        method: dict[str, Any] = {"name": name}
        if name == "sloms":
            method |= {"slices": slices_of(case.d), "withhold": "values"}
        if name != "kaca" and not default:
            method |= {"as_printed": True}
        policy = policy_of(case.d, case.l, None if name in PLAIN else K, method)
        for column in CENSUS_QUASI[case.q :]:
            policy["columns"].pop(column)
        task = task_of(frame, policy, case.sample)
        try:
            found, seconds = timed(lambda: make_method(MethodChoice(**method)).partition(task))
        except Unsatisfiable:
            return Cell(1.0, 0.0, 0.0, float(case.q * frame.height), 0.0, 0.0)
        return measured(task, found, seconds)


def measured(task: Task, found: Partition, seconds: float) -> Cell:
    """Judge the partition by the plain models, then measure it. A slice all of whose values are suppressed is void."""
    names = tuple(column.name for column in task.table.sensitive)
    slices = [(part.attributes, part.group_of_row) for part in found.slices] or [(names, found.class_of_row)]
    codes = {column.name: column.codes for column in task.table.sensitive}
    sizes = np.bincount(found.class_of_row[found.class_of_row >= 0])
    statistics = from_groups(sizes, slices, codes, task.attributes)
    void = {name for part, groups in slices if groups.max(initial=-1) < 0 for name in part}
    broken = [model for model in task.models if model.attribute not in void and not model.judge(statistics).holds]
    if broken:
        raise SystemExit(f"broke {broken}")
    kept = np.flatnonzero(found.class_of_row >= 0)
    missing = incomplete_rows(found.slices) if found.slices else found.class_of_row < 0
    return Cell(
        suppressed=float(missing.mean()),
        additional=additional_information_loss(statistics, task.models, [(name,) for name in names]) or 0.0,
        by_slice=additional_information_loss(statistics, task.models, [part for part, _ in slices]) or 0.0,
        distortion=measure_loss(task.table, found.class_of_row).distortion,
        of_released=measure_loss(task.table.take(kept), found.class_of_row[kept]).distortion / max(len(kept), 1),
        seconds=seconds,
    )


def forced(frame: pl.DataFrame, d: int, l: int) -> float:
    """The share of rows that one attribute alone makes any method suppress."""
    least = 0.0
    for name in (name for part in slices_of(d) for name in part):
        counts = frame[name].value_counts()["count"].to_numpy()
        least = max(least, 1 - reachable_rows(counts, np.full(len(counts), float(l))) / frame.height)
    return least
