"""The runs behind the page of xiao2020: the six algorithms on samples of Adult, judged and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from paper_page import say
from real_tables import task_of, timed

from polyveil.arrays import FloatArray
from polyveil.measure import measure_loss
from polyveil.measure.additional_loss import additional_information_loss
from polyveil.methods import Task, make_method
from polyveil.methods._buckets.demand import reachable_rows
from polyveil.models.linked import from_groups
from polyveil.policy.schema import MethodChoice

QUASI = ("age", "sex", "native-country", "hours-per-week")
LEVELS: dict[str, dict[int, list[str]]] = {
    "occupation": {0: ["Other-service"], 2: ["Armed-Forces"]},
    "education": {},
    "marital-status": {2: ["Divorced", "Married-AF-spouse", "Married-spouse-absent", "Separated", "Widowed"]},
    "workclass": {0: ["Private", "Without-pay"], 2: ["Federal-gov", "Local-gov", "State-gov"]},
    "race": {0: ["Other", "White"], 2: ["Amer-Indian-Eskimo", "Asian-Pac-Islander"]},
}
"""Table 3, whose columns are scrambled in print; a value that is not named has level 1. Table 4 takes the first d."""
BY_LEVEL, PLAIN = {0: 1, 1: 2, 2: 3}, 3
PRIORITIES = ("mbf", "msdcf", "mmdcf")
METHODS = (*PRIORITIES, *(f"{priority}-mslf" for priority in PRIORITIES))
RUNS: dict[str, dict[str, Any]] = {"as printed": {"as_printed": True}, "ours": {}}
GREEDY = {"leave_out": "last"}
ROWS, ATTRIBUTES, FIXED_ROWS, FIXED_ATTRIBUTES = (1000, 2000, 4000, 6000, 8000, 10_000), (2, 3, 4, 5), 2000, 3
SAMPLES, SAMPLES_OF_D = 3, 10
MEASURES = ("additional information loss", "suppression ratio", "milliseconds of processor time")
ADDITIONAL, SUPPRESSED, TIME, WIDTH = range(4)


@dataclass(frozen=True)
class Cell:
    """Samples x the paper's three measures and the width of the groups' quasi-identifiers (0 to 1)."""

    samples: FloatArray

    @property
    def means(self) -> FloatArray:
        return np.asarray(self.samples.mean(axis=0))

    @property
    def spreads(self) -> FloatArray:
        return np.asarray(self.samples.std(axis=0))


Cells = Mapping[tuple[str, str, int], Cell]
"""By method, run and the number of rows or attributes."""


def policy_of(frame: pl.DataFrame, attributes: int, *, levels: bool) -> dict[str, Any]:
    """l = 1, 2, 3 by security level, or l = 3 for all; rows may be suppressed without limit."""
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in QUASI}
    for name, by_level in list(LEVELS.items())[:attributes]:
        present = set(frame[name].unique())
        known = {level: [v for v in values if v in present] for level, values in by_level.items()}
        columns[name] = {"role": "sensitive", "levels": {level: values for level, values in known.items() if values}}
        if not levels:
            columns[name].pop("levels")
    return {"columns": columns, "privacy": {"l": BY_LEVEL if levels else PLAIN, "suppression_limit": 1.0}}


def cell(
    frame: pl.DataFrame, rows: int, attributes: int, method: str, options: Mapping[str, Any], samples: int
) -> Cell:
    """One method on the first columns of Table 4, on samples of the rows; the sample's number is the seed as well."""
    found = []
    for seed in range(samples):
        part = frame.sample(min(rows, frame.height), seed=seed).select(*QUASI, *list(LEVELS)[:attributes])
        policy = policy_of(part, attributes, levels=method.endswith("-mslf"))
        found.append(measured(task_of(part, policy, seed), method, options))
    return Cell(np.array(found))


def measured(task: Task, method: str, options: Mapping[str, Any]) -> tuple[float, ...]:
    chosen = make_method(MethodChoice(name=method, **options))
    found, seconds = timed(lambda: chosen.partition(task))
    groups, names = found.class_of_row, tuple(column.name for column in task.table.sensitive)
    codes = {column.name: column.codes for column in task.table.sensitive}
    statistics = from_groups(None, [(names, groups)], codes, task.attributes)
    broken = [model for model in task.models if found.classes and not model.judge(statistics).holds]
    if broken:
        raise SystemExit(f"{method} broke {broken}")
    additional = additional_information_loss(statistics, task.models, [names]) or 0.0
    width = measure_loss(task.table, groups).normalized_loss
    return additional, found.suppressed / task.table.rows, 1000 * seconds, width


def grid(frame: pl.DataFrame, over: Sequence[tuple[int, int, int]], samples: int) -> Cells:
    """Every method and run over (place on the axis, rows, attributes)."""
    found = {}
    for place, rows, attributes in over:
        for method in METHODS:
            for name, options in RUNS.items():
                found[method, name, place] = cell(frame, rows, attributes, method, options, samples)
        say(f"{rows} rows, {attributes} attributes")
    return found


def forced(frame: pl.DataFrame, attributes: int) -> tuple[float, str]:
    """The least share of rows that one attribute alone makes every method suppress with l = 3, and which it is."""
    shares = []
    for name in list(LEVELS)[:attributes]:
        counts = frame[name].value_counts()["count"].to_numpy()
        shares.append((1 - reachable_rows(counts, np.full(len(counts), float(PLAIN))) / frame.height, name))
    return max(shares)
