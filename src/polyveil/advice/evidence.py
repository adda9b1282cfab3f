"""Evidence of our own beside the overlap: what each t and each k costs on this very table."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyveil.advice.cases import Case, CaseOutcome, can_hurry, form_of, hurried, policy_of
from polyveil.advice.worker import Job, run_case
from polyveil.advice.workers import Workers
from polyveil.policy import Policy
from polyveil.policy.guarantees import guarantee_keys
from polyveil.progress import SILENT, Progress
from polyveil.table.source import Table

T_GRID = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
K_GRID = (2, 3, 5, 10, 20)
SEED = 1
QUICK_SECONDS = 0.5
"""Search time of each run."""
CURVE_SECONDS, LEAST_POINTS = 8.0, 3
"""Processor seconds after which a curve gets no more points, if it has so many."""
BEARABLE = 0.5
"""The largest k that the data supports is the largest whose loss is at most this share of what can be lost."""


@dataclass(frozen=True)
class Curve:
    """Loss of one method along a parameter; points that came to nothing are left out."""

    method: str
    outcomes: tuple[CaseOutcome, ...]
    knee: float | None

    def points(self) -> list[tuple[float, float]]:
        return [(_asked(outcome), outcome.normalized_loss) for outcome in self.outcomes if outcome.done]

    def to_dict(self) -> dict[str, Any]:
        return {"method": self.method, "knee": self.knee, "outcomes": [outcome.to_dict() for outcome in self.outcomes]}


def _asked(outcome: CaseOutcome) -> float:
    return float(outcome.case.t if outcome.case.t is not None else outcome.case.k or 0)


def curves_over_t(
    workers: Workers,
    base: Policy,
    methods: Sequence[str],
    *,
    grid: Sequence[float] = T_GRID,
    limit: float,
    pace: float = 1.0,
    progress: Progress = SILENT,
) -> tuple[Curve, ...]:
    """The loss of each method at each t, all sensitive columns alike; k and the rest stay the policy's."""
    progress.stage("loss by t")
    cases = [Case(method, t=t) for t in sorted(grid, reverse=True) for method in methods]
    done = _run(cases, workers, base, limit, pace, progress)
    return tuple(_curve(m, [o for o in done if o.case.method == m], falling=True) for m in methods)


def curve_over_k(
    workers: Workers,
    base: Policy,
    method: str,
    *,
    grid: Sequence[int] = K_GRID,
    limit: float,
    pace: float = 1.0,
    progress: Progress = SILENT,
) -> Curve:
    """The loss at each k alone: other guarantees are dropped, so that the price is that of k."""
    progress.stage("loss by k")
    plain = {name: _without_demands(column) for name, column in base.columns.items()}
    privacy = type(base.privacy)(k=min(grid), suppression_limit=base.privacy.suppression_limit)
    alone = base.model_copy(update={"columns": plain, "privacy": privacy})
    cases = [Case(method, k=k) for k in grid if k <= workers.table.height]
    return _curve(method, _run(cases, workers, alone, limit, pace, progress), falling=False)


def _without_demands(column: Any) -> Any:
    return column.model_copy(update=dict.fromkeys(guarantee_keys(type(column))))


def _run(
    cases: Sequence[Case], workers: Workers, base: Policy, limit: float, pace: float, progress: Progress
) -> list[CaseOutcome]:
    """Outcomes of all cases. Only methods that cannot be given seconds need a process that can be stopped."""
    found: list[CaseOutcome] = []
    jobs = [(case, hurried(policy_of(case, base), min(QUICK_SECONDS * pace, limit))) for case in cases]
    here = all(can_hurry(case.method) for case in cases)
    for outcome in _run_here(jobs, workers.table) if here else workers.run(jobs, limit):
        found.append(outcome)
        progress.advance(len(found) / len(cases), f"{len(found)} of {len(cases)}")
    return found


def _run_here(jobs: Sequence[Job], table: Table) -> Iterator[CaseOutcome]:
    """Outcomes in this process; what does not begin within the time of a curve is not run."""
    until = time.process_time() + CURVE_SECONDS
    for number, job in enumerate(_spread(jobs)):
        if number >= LEAST_POINTS and time.process_time() > until:
            yield CaseOutcome(job[0], form_of(job[1]), "out of time", 0.0, "not run: the others took long enough")
        else:
            yield run_case(job, table, SEED, utility=False)


def _spread(jobs: Sequence[Job]) -> list[Job]:
    """The first, the last, then those halfway between: the fewer are run, the farther apart they lie."""
    order, step = [0, len(jobs) - 1] if jobs else [], len(jobs)
    while step > 1:
        step = (step + 1) // 2
        order += range(step, len(jobs), step)
    return [jobs[place] for place in dict.fromkeys(order)]


def _curve(method: str, outcomes: Sequence[CaseOutcome], *, falling: bool) -> Curve:
    ordered = tuple(sorted(outcomes, key=_asked))
    points = [(_asked(outcome), outcome.normalized_loss) for outcome in ordered if outcome.done]
    return Curve(method, ordered, knee(points) if falling else None)


def knee(points: Sequence[tuple[float, float]]) -> float | None:
    """Where a falling curve stops falling much: the point farthest below the line from its first to its last point.

    Both axes are scaled to 0..1 first. None for fewer than three points, or where no point lies below the line by more
    than a twentieth: such a curve has no knee, and every t is as good a bargain as its neighbours.
    """
    if len(points) < 3:
        return None
    x, y = np.array(points, dtype=np.float64).T
    if x[-1] == x[0] or y.max() == y.min():
        return None
    across, up = (x - x[0]) / (x[-1] - x[0]), (y - y.min()) / (y.max() - y.min())
    below = up[0] + across * (up[-1] - up[0]) - up
    best = int(np.argmax(below))
    return float(x[best]) if below[best] > 0.05 else None


def supported_k(curve: Curve, bearable: float = BEARABLE) -> int | None:
    """The largest k of the grid whose loss is bearable."""
    fitting = [int(k) for k, loss in curve.points() if loss <= bearable]
    return max(fitting) if fitting else None
