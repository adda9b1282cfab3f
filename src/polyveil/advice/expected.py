"""What a release of the whole table will lose, foreseen from searches of small samples.

The fewer rows there are, the larger the groups must be, so a sample loses more than its table. Over a range of
sizes the loss falls as a power of the rows: two sizes give the power, and the whole table lies farther along the same
line. A sample is searched about as long for each of its rows as the whole table will be.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from polyveil.advice.cases import Case, CaseOutcome, hurried
from polyveil.advice.worker import run_case
from polyveil.methods.sift import seconds_for
from polyveil.policy import Policy
from polyveil.progress import SILENT, Progress
from polyveil.table.source import Table

SMALL, LARGE = 700, 4_000
"""Rows of the samples. A table with no more than the larger number is searched itself."""
DRAWS = 3
"""Small samples, whose losses differ more by chance."""
LEAST_SECONDS, MOST_SECONDS = 0.5, 6.0
"""Search time of one sample."""
WARM_ROWS = 60
SLOWEST = 5.0
"""Seconds are made no more than this many times longer."""
STEEPEST = 0.6
"""No power of the rows above this was seen; chance in small samples may look steeper."""
BEND = 0.65
"""With closeness the line becomes flatter: how far groups differ from the whole table by chance falls with more rows,
but not how far they differ because columns go together. From 4,000 to 48,842 rows of Adult the power was 0.44,
0.68 and 1.0 of the one between the sample sizes (first policy at t = 0.1, wang2018 and first policy at t = 0.2)."""


@dataclass(frozen=True)
class Expected:
    """The loss of the whole table, the rows it was foreseen from, and what was measured on them."""

    loss: float | None
    rows: int
    on_sample: float | None


def expected_loss(table: Table, policy: Policy, *, pace: float = 1.0, progress: Progress = SILENT) -> Expected:
    """The share of detail that a release with this policy will lose; None if the samples have no release."""
    runs = [(LARGE, 1)] if table.height <= LARGE else [(LARGE, 1), *((SMALL, 1 + draw) for draw in range(DRAWS))]
    losses: dict[int, list[float]] = {SMALL: [], LARGE: []}
    for done, (rows, seed) in enumerate(runs, start=1):
        outcome = _searched(table, policy, rows, seed, pace)
        if outcome.done:
            losses[rows].append(outcome.normalized_loss)
        progress.advance(done / len(runs), f"{done} of {len(runs)} samples")
    sampled = min(LARGE, table.height)
    if not losses[LARGE]:
        return Expected(None, sampled, None)
    measured = losses[LARGE][0]
    if sampled == table.height or not losses[SMALL]:
        return Expected(measured, sampled, measured)
    close = policy.privacy.t is not None or any(column.t is not None for column in policy.columns.values())
    foreseen = extended(float(np.mean(losses[SMALL])), measured, table.height, BEND if close else 1.0)
    return Expected(foreseen, sampled, measured)


def warm_up(table: Table, policy: Policy) -> float:
    """Load what later searches would otherwise spend their seconds on; how much slower the clock makes a busy machine.

    Seconds of a search are seconds of the clock. On a machine that does other work too, fewer of them are spent on the
    search, so they are lengthened in that proportion.
    """
    began, used = time.perf_counter(), time.process_time()
    run_case((Case(policy.method.name), hurried(policy, "fast")), sample(table, policy, WARM_ROWS), 1, utility=False)
    return float(np.clip((time.perf_counter() - began) / max(time.process_time() - used, 1e-3), 1.0, SLOWEST))


def extended(small: float, large: float, rows: int, bend: float = 1.0) -> float:
    """The loss of so many rows on the line through the losses of both sample sizes, which `bend` makes flatter."""
    if large <= 0.0:
        return 0.0
    steepness = float(np.clip(np.log(small / large) / np.log(LARGE / SMALL), 0.0, STEEPEST)) if small > 0 else 0.0
    return float(large * (rows / LARGE) ** (-bend * steepness))


def _searched(table: Table, policy: Policy, rows: int, seed: int, pace: float) -> CaseOutcome:
    some = sample(table, policy, rows, seed)
    asked = hurried(policy, pace * _share_of_effort(policy, some.height, table.height))
    return run_case((Case(policy.method.name), asked), some, 1, utility=False)


def _share_of_effort(policy: Policy, rows: int, of: int) -> float:
    """Seconds for a sample, in proportion to what all rows get."""
    effort: float | Literal["fast", "balanced", "thorough"] = policy.method.model_dump().get("effort") or "balanced"
    if rows == of and isinstance(effort, str):
        # Small tables are searched many times, so that chance does not decide; the smallest need the least time.
        return min(max(MOST_SECONDS * rows / SMALL, LEAST_SECONDS), MOST_SECONDS)
    quasi = len(policy.having("quasi"))
    wanted = effort * rows / of if isinstance(effort, int | float) else seconds_for(effort, rows, quasi)
    return min(max(wanted, LEAST_SECONDS), MOST_SECONDS)


def sample(table: Table, policy: Policy, most: int, seed: int = 1) -> Table:
    """Rows drawn at random, always the same ones, if the table is larger; all rows of a person or none of them."""
    if table.height <= most:
        return table
    rng, person = np.random.default_rng(seed), policy.having("person")
    if not person:
        return replace(table, frame=table.frame[np.sort(rng.choice(table.height, most, replace=False))])
    people = table.frame[person[0]].rank("dense").fill_null(0).to_numpy().astype(np.int64)
    sizes = np.bincount(people)
    drawn = rng.permutation(np.flatnonzero(sizes))
    few = drawn[: max(int(np.searchsorted(np.cumsum(sizes[drawn]), most, side="right")), 1)]
    return replace(table, frame=table.frame.filter(pl.Series(np.isin(people, few))))
