"""Everything that helps a steward choose: t from overlap, what each t and k costs, which columns point to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from polyveil.advice.evidence import K_GRID, T_GRID, Curve, curve_over_k, curves_over_t, supported_k
from polyveil.advice.least_class import LeastClass, least_class
from polyveil.advice.niches import Coding
from polyveil.advice.overlap import BANDWIDTH, MISMATCH, Estimator, OverlapAdvice, advise_t, sensitivity
from polyveil.advice.uniqueness import Uniqueness, unique_combinations
from polyveil.methods import method_class
from polyveil.models import attributes_of
from polyveil.policy import Policy
from polyveil.progress import SILENT, Progress
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import Table, read

FAST = ("mondrian", "pca")
MOST_ROWS = 50_000
"""Larger tables are sampled for the runs; everything else uses all rows."""
NO_OVERLAP = (
    "The overlap method needs two or more sensitive columns: it looks at what they have in common. For one column, "
    "choose t from what each t costs and from the smallest class it allows."
)


@dataclass(frozen=True)
class KFact:
    """One k: rows that are in smaller classes as the table stands, and the loss of hiding them."""

    k: int
    rows_below: int
    loss: float | None


@dataclass(frozen=True, eq=False)
class Advice:
    """What was found; `overlap` is None where the method does not apply."""

    rows: int
    sampled: int | None
    overlap: OverlapAdvice | None
    sensitivity: tuple[tuple[str, float], ...]
    curves: tuple[Curve, ...]
    least: tuple[LeastClass, ...]
    uniqueness: Uniqueness
    ks: tuple[KFact, ...]
    supported_k: int | None
    k_method: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "sampled_rows": self.sampled,
            "overlap": self.overlap.to_dict() if self.overlap else None,
            "overlap_note": None if self.overlap else NO_OVERLAP,
            "sensitivity": [{"choice": words, "t": t} for words, t in self.sensitivity],
            "loss_by_t": [curve.to_dict() for curve in self.curves],
            "least_class": [asdict(each) for each in self.least],
            "unique_combinations": {
                "complete": self.uniqueness.complete,
                "combinations": [asdict(each) for each in self.uniqueness.combinations[:50]],
            },
            "k": [asdict(each) for each in self.ks],
            "supported_k": self.supported_k,
        }


def advise(
    source: Any,
    policy: Policy | Mapping[str, Any] | Path | str,
    *,
    classes: Mapping[str, str] | None = None,
    estimator: Estimator = "kernel",
    coding: Coding = "order",
    bandwidth: float = BANDWIDTH,
    ratio: float = MISMATCH,
    draws: int = 200,
    methods: Sequence[str] = FAST,
    t_grid: Sequence[float] = T_GRID,
    k_grid: Sequence[int] = K_GRID,
    width: int = 3,
    limit: float = 15.0,
    jobs: int = 2,
    progress: Progress = SILENT,
    reading: Mapping[str, Any] | None = None,
) -> Advice:
    """Advice for one table. The policy says which columns are sensitive; its thresholds need not be final."""
    from polyveil.pipeline import load_policy

    base = load_policy(policy)
    for name in methods:
        method_class(name)
    progress.stage("read")
    table = read(source, **(reading or {}))
    coded = encode(bind(base, table))
    progress.stage("overlap")
    overlap = advise_t(
        coded, classes=classes, estimator=estimator, coding=coding, bandwidth=bandwidth, ratio=ratio, draws=draws
    )
    progress.stage("combinations")
    columns = [name for name in base.columns if base.columns[name].role != "identifier"]
    unique = unique_combinations(table.frame, columns, width=width, limit=limit)
    attributes = attributes_of(replace(coded, together=()))
    sample = _sample(table)
    curves = (
        curves_over_t(sample, base, methods, grid=t_grid, limit=limit, jobs=jobs, progress=progress)
        if base.having("sensitive") and methods
        else ()
    )
    k_curve = curve_over_k(sample, base, "mondrian", grid=k_grid, limit=limit, jobs=jobs, progress=progress)
    return Advice(
        rows=table.height,
        sampled=sample.height if sample is not table else None,
        overlap=overlap,
        sensitivity=tuple(sensitivity(coded, classes)),
        curves=curves,
        least=tuple(least_class(attributes, t) for t in _ts(t_grid, overlap)) if attributes else (),
        uniqueness=unique,
        ks=_k_facts(coded, k_curve, k_grid),
        supported_k=supported_k(k_curve),
        k_method=k_curve.method,
    )


def _ts(grid: Sequence[float], overlap: OverlapAdvice | None) -> list[float]:
    """The grid, and the t that the overlap gave."""
    return sorted({*map(float, grid), *([round(overlap.t, 3)] if overlap else [])})


def _sample(table: Table) -> Table:
    """Rows drawn at random, always the same ones, where the table is large."""
    if table.height <= MOST_ROWS:
        return table
    rows = np.sort(np.random.default_rng(1).choice(table.height, MOST_ROWS, replace=False))
    return replace(table, frame=table.frame[rows])


def _k_facts(coded: CodedTable, curve: Curve, grid: Sequence[int]) -> tuple[KFact, ...]:
    sizes = coded.quasi_tuples.counts
    loss = dict(curve.points())
    return tuple(KFact(k, int(sizes[sizes < k].sum()), loss.get(float(k))) for k in grid)
