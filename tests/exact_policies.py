"""Tiny tables with whole policies - risk, people, weights, any - and the least that any release of them can lose.

Every grouping is tried, the cheapest first, and judged and measured by the same step as a release of the pipeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.bounds.of_table import bound_of
from polyveil.engines.base import Job
from polyveil.engines.local import Classes, LocalEngine
from polyveil.measure import loss_of_boxes, released_boxes
from polyveil.measure.boxes import class_boxes
from polyveil.measure.loss import width
from polyveil.methods import Task, make_method
from polyveil.models import models_for
from polyveil.partition import partition_of
from polyveil.policy import Policy
from polyveil.progress import SILENT
from polyveil.releases import form_of, resolve_form
from polyveil.releases.domains import with_released_domains
from polyveil.releases.release import Original

UNITS = 6
"""People of a table, or rows where these are not about people with several."""
KINDS = (
    "greatest risk",
    "journalist's risk",
    "mean risk",
    "marketer's risk",
    "unique in the population",
    "people, k",
    "people, t",
    "people, l",
    "people, risk",
    "weights, t",
    "weights, risk",
    "columns that matter more",
    "any",
)


def kind_of(seed: int) -> str:
    """What a table is about: every kind in turn."""
    return KINDS[seed % len(KINDS)]


def tiny_frame(seed: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A table of at most eight rows and its policy: numbers, hierarchies and sets, with and without missing values."""
    rng, kind = np.random.default_rng(seed), kind_of(seed)
    of_people = kind.startswith("people")
    who = np.append(np.arange(UNITS), rng.integers(0, UNITS, 2)) if of_people else np.arange(UNITS)
    rows = len(who)
    missing = seed // len(KINDS) % 2 == 1
    values: dict[str, list[Any]] = {
        "age": [int(each) for each in rng.integers(20, 60, rows)],
        "region": [str(each) for each in rng.choice(list("abcdef"), rows)],
        "town": [str(each) for each in rng.choice(list("pqrs"), rows)],
        "height": [int(each) for each in rng.integers(150, 155, rows)],
    }
    about: dict[str, dict[str, Any]] = {
        "age": {"type": "numeric"},
        "region": {"hierarchy": {"North": ["a", "b", "c"], "South": {"West": ["d", "e"], "East": ["f"]}}},
        "town": {} if kind == "any" else {"recode": "set"},
        "height": {"type": "numeric"},
    }
    chosen = sorted(rng.permutation(list(values))[: int(rng.integers(1, 4))])
    frame: dict[str, list[Any]] = {name: values[name] for name in chosen}
    if missing:
        frame[chosen[0]] = [None, *frame[chosen[0]][1:]]
    columns = {name: {"role": "quasi", **about[name]} for name in chosen}
    if kind == "columns that matter more":
        columns[chosen[0]]["weight"] = float(rng.uniform(2.0, 5.0))
    frame["illness"] = [str(each) for each in rng.choice(["flu", "cold", "ulcer"], rows)]
    columns["illness"] = {"role": "sensitive", "type": "categorical", "distance": "equal"}
    if kind.startswith("weights"):
        frame["stands for"] = [float(each) for each in rng.integers(1, 40, rows)]
        columns["stands for"] = {"role": "weight"}
    if of_people:
        frame["who"] = [f"person {each}" for each in who]
        columns["who"] = {"role": "person"}
    left_out = int(rng.integers(0, 3)) / rows
    privacy = {**_required(kind, rng), "suppression_limit": left_out}
    policy = {"columns": columns, "privacy": privacy, "release": {"form": "generalized"}}
    return pl.DataFrame(frame).sample(fraction=1.0, shuffle=True, seed=seed), policy


def _required(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    k, greatest, t = int(rng.integers(2, 4)), float(rng.choice([0.34, 0.5])), float(rng.uniform(0.3, 0.8))
    fraction = {"fraction": float(rng.choice([0.3, 0.9]))}
    mean = float(rng.uniform(0.3, 0.6))
    return {
        "greatest risk": {"risk": {"max": greatest}},
        "journalist's risk": {"risk": {"max": greatest, "attacker": "journalist", "population": fraction}},
        "mean risk": {"risk": {"average": mean, "strict_k": k - 1}},
        "marketer's risk": {"risk": {"average": mean, "attacker": "marketer", "population": fraction}},
        "unique in the population": {"k": 2, "risk": {"unique_in_population": 0.3, "population": fraction}},
        "people, k": {"k": k},
        "people, t": {"k": 2, "t": t},
        "people, l": {"l": 2, "diversity": str(rng.choice(["frequency", "distinct", "entropy"]))},
        "people, risk": {"risk": {"max": greatest}, "alpha": 0.8},
        "weights, t": {"k": 3, "t": t},
        "weights, risk": {
            "k": 3,
            "risk": {"max": greatest / 20, "attacker": "journalist", "population": {"weights": True}},
        },
        "columns that matter more": {"k": k},
        "any": {"k": k, "any": int(rng.integers(1, 3))},
    }[kind]


@dataclass(frozen=True, eq=False)
class Case:
    """A table that is bound to its policy, and what the steps of the pipeline know of it."""

    engine: LocalEngine
    original: Original
    job: Job

    @property
    def most_left_out(self) -> int:
        """How many rows may be left out."""
        return int(self.job.policy.privacy.suppression_limit * self.original.coded.rows + 1e-9)

    def bound(self, seconds: float) -> float:
        """No release loses less."""
        job = self.job
        return bound_of(self.original.coded, job.models, job.attributes, job.policy.privacy, seconds).information_loss

    def loss(self, labels: IntArray) -> float:
        """What the manifest of these groups says is lost."""
        shown = with_released_domains(self.original.coded, labels, self.job.policy)
        return loss_of_boxes(shown, released_boxes(shown, partition_of(labels))).information_loss

    def holds(self, labels: IntArray) -> bool:
        """Whether every guarantee holds of these groups."""
        job, table = self.job, self.original.coded
        task = Task(table, job.models, job.attributes, job.policy.privacy, np.random.default_rng(0))
        figures = self.engine.measure(job, self.original, Classes(task, partition_of(labels)))
        return all(verdict.outcome == "holds" for verdict in figures.verdicts)


def tiny_case(seed: int) -> Case:
    """The table of a seed, bound."""
    frame, asked = tiny_frame(seed)
    policy = Policy.from_dict(asked)
    method = make_method(policy.method)
    policy, engine = resolve_form(policy, method), LocalEngine()
    original = engine.bind(engine.read(frame), policy)
    attributes = engine.attributes(original)
    models = models_for(policy, attributes)
    return Case(engine, original, Job(policy, method, form_of(policy), attributes, models, None, SILENT))


@lru_cache
def groupings(units: int) -> tuple[tuple[int, ...], ...]:
    """Every way to put so many units into groups, as a group per unit."""
    if units == 0:
        return ((),)
    return tuple((*known, g) for known in groupings(units - 1) for g in range(max(known, default=-1) + 2))


def without_some(units: IntArray, most: int) -> Iterator[IntArray]:
    """Every choice of units (one per row) that leaves out at most so many rows."""
    present = np.unique(units)
    for out in chain.from_iterable(combinations(present, number) for number in range(len(present))):
        if np.isin(units, out).sum() <= most:
            yield np.setdiff1d(present, out)


def least_release(case: Case) -> float:
    """The information loss of the best release, infinite if there is none."""
    table = case.original.coded
    units = np.arange(table.rows) if table.person is None else np.unique(table.person, return_inverse=True)[1]
    if case.job.policy.privacy.any is not None:
        return _least_by_columns(case)
    best = np.inf
    least = case.job.policy.privacy.least_group
    for kept in without_some(units, case.most_left_out):
        tried = []
        for groups in groupings(len(kept)):
            if np.bincount(groups).min() >= least:  # k and risk are about people as well as rows
                labels = np.full(table.rows, -1)
                for unit, group in zip(kept, groups, strict=True):
                    labels[units == unit] = group
                tried.append(labels)
        losses = np.array([case.loss(labels) for labels in tried])
        for i in np.argsort(losses):
            if losses[i] >= best:
                break
            if case.holds(tried[i]):
                best = float(losses[i])
    return best


def _least_by_columns(case: Case) -> float:
    """With `any`, every column has groups of its own, and those of every few columns together must be large enough."""
    table, privacy = case.original.coded, case.job.policy.privacy
    columns, most = len(table.quasi), case.most_left_out
    best = np.inf
    for kept in without_some(np.arange(table.rows), most):
        ways = [np.array(groups) for groups in groupings(len(kept)) if np.bincount(groups).min() >= privacy.k]
        costs = np.array([_cost_by_column(case, kept, groups) for groups in ways]).reshape(len(ways), columns)
        fits = np.array([[_least_shared((one, two)) >= privacy.k for two in ways] for one in ways], dtype=bool)
        lost = (table.rows - len(kept)) * columns
        best = min(best, (_cheapest(costs, fits, min(privacy.any, columns), ways, privacy.k) + lost) / table.rows)
    return best


def _cost_by_column(case: Case, kept: IntArray, groups: IntArray) -> list[float]:
    table = case.original.coded.take(kept)
    boxes = class_boxes(table, groups)
    return [
        float(boxes.sizes @ width(column.domain, boxes.low[:, a], boxes.high[:, a], boxes.distinct[:, a]))
        for a, column in enumerate(table.quasi)
    ]


def _least_shared(groups: Sequence[IntArray]) -> int:
    return int(np.unique(np.stack(groups), axis=1, return_counts=True)[1].min())


def _cheapest(costs: Any, fits: Any, together: int, ways: Sequence[IntArray], k: int) -> float:
    """The least sum over the columns of a way each, where those of every `together` columns fit."""
    if len(ways) == 0:
        return np.inf
    columns = costs.shape[1]
    if together == 1 or columns == 1:
        return float(costs.min(axis=0).sum())
    if columns == 2:
        return float(np.where(fits, costs[:, None, 0] + costs[None, :, 1], np.inf).min())
    two = costs[:, None, None, 0] + costs[None, :, None, 1] + costs[None, None, :, 2]
    allowed = fits[:, :, None] & fits[:, None, :] & fits[None, :, :]
    return float(np.where(allowed, two, np.inf).min())
