"""sift: classes from the leaves of a tree upwards, then improved by moving, exchanging and rebuilding.

This package's own method.

1. The table is begun in several ways, and the one that loses least is kept: plain cuts top-down, which hold whenever
   they are stopped; a tree walked from the leaves up, each node taking the largest class that satisfies every model
   out of what its children left over; the whole table divided top-down; and, best where there are many
   quasi-identifiers, classes grown from seeds. Tables of more than 50,000 rows choose by some of their rows.
2. Rows left over are absorbed one by one by the class they enlarge least, or merged if they must be.
3. Classes are improved: rows move to other classes or change places, neighbouring classes are pooled and built anew, at
   first also where loss rises a little, then only where it falls. Every step keeps every model in every class. More
   effort first does what less effort does, and the best classes found are kept. Seconds stop every step at once.
4. Demands somewhat stricter than those asked for are searched too where they begin with hardly more loss (up to two in
   tables of up to 50,000 rows, up to six where few rows lose anything): asking for less then does not lose more by
   chance. The searches run side by side.

- Guarantee: every model asked for, in every class. Rows are suppressed only where the whole table as one class breaks a
  model, and no more than the policy allows.
- Cost: O(d n log n) for the tree, and for the improvement an amount of work per row that `effort` sets: it grows in
  proportion to the rows, with `fast` at first more slowly. About 2 microseconds times 20 to 100 (fast, the more rows
  the less), 400 (balanced) or 4000 (thorough) per row and search.
- Loss is what is minimized, times the quasi-identifiers' weights where they have any.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field

from polyveil.methods._kernels.judge import compile_constraints
from polyveil.methods._kernels.reachable import reachable_basis, with_suppressed
from polyveil.methods._search.clock import Clock
from polyveil.methods._search.compiling import compile_side_by_side
from polyveil.methods._search.rounds import CORES
from polyveil.methods._search.schedule import Effort, Tell, schedule_of, seconds_of
from polyveil.methods._search.start import SMALL
from polyveil.methods._search.stricter import begin, best_search
from polyveil.methods.base import Method, Options, Task
from polyveil.partition import Partition, partition_of

Seconds = Annotated[float, Field(gt=0, le=1_000_000)]
PER_WORK, USUAL_QUASI = 5.5e-6, 8
"""Seconds of one core for a unit of work on a row, about what a move takes with up to so many quasi-identifiers."""
SEARCHES = 2.0
"""Searches side by side, about, where stricter demands are searched as well."""
BEGINNING = 30.0
"""Units of work for each row to begin with."""
TRUSTED = 0.3
"""From this share of the work on, the time it took tells alone how long the rest takes."""


class SiftOptions(Options):
    """Options of `sift`."""

    effort: Effort | Seconds = Field(
        default="balanced",
        description="how long to search: fast, balanced, thorough, or a number of seconds",
    )


class Sift(Method[SiftOptions]):
    """Bottom-up extraction from a tree, then improvement by local search."""

    name = "sift"
    title = "sift: the default. Groups similar rows, then improves the groups. Least detail lost."
    paper = "this package"
    guarantee = "Every requirement is met in every group. Rows are left out only if the policy allows it and it helps."
    cost = "Time grows with rows, sensitive columns and effort; fast: about half a minute for a million rows."
    options_type = SiftOptions

    def partition(self, task: Task) -> Partition:
        effort = self.options.effort
        compile_side_by_side(compile_constraints(task.models, task.attributes, task.table), task.progress.advance)
        with Clock(seconds_of(effort)) as clock, task.progress.stoppable(clock.end):
            return self._partition(task, effort, clock)

    def _partition(self, task: Task, effort: Effort | float, clock: Clock) -> Partition:
        basis = reachable_basis(task)
        if not basis.table.quasi:
            return partition_of(with_suppressed(np.zeros(basis.table.rows, dtype=np.int64), basis, task.table.rows))
        secret, tell = int(task.rng.integers(2**62)), report_loss(task, effort, clock)
        first = begin(basis.table, basis.judge, secret, clock.stop)
        labels = best_search(basis.table, first, effort, secret, clock, tell)
        return partition_of(with_suppressed(labels.astype(np.int64), basis, task.table.rows))


def report_loss(task: Task, effort: Effort | float, clock: Clock) -> Tell:
    """Progress with the time left, and how much of the detail is lost so far."""
    whole = sum(column.weight for column in task.table.quasi) or 1.0

    def tell(done: float, loss: float) -> None:
        left = time_left(effort, task.table.rows, len(task.table.quasi), done, clock)
        task.progress.advance(done, f"about {in_words(left)} left, {100 * loss / whole:.2f} % lost so far")

    return tell


def seconds_for(effort: Effort | float, rows: int, quasi: int) -> float:
    """About how long a search of so many rows and quasi-identifiers takes on this machine's cores."""
    if isinstance(effort, (int, float)):
        return float(effort)
    work = BEGINNING + sum(plan.moves_per_row + 10.0 * plan.passes for plan in schedule_of(effort, rows))
    searches = SEARCHES if rows <= SMALL else 1.0
    return PER_WORK * rows * work * max(quasi / USUAL_QUASI, 1.0) * searches / CORES


def time_left(effort: Effort | float, rows: int, quasi: int, done: float, clock: Clock) -> float:
    """Seconds until the search ends, by the clock or by the guess and how far it is."""
    if clock.seconds < math.inf:
        return max(clock.seconds - clock.passed, 0.0)
    guessed = max(seconds_for(effort, rows, quasi) - clock.passed, 0.0)
    if done <= 0.0:
        return guessed
    trust = min(done / TRUSTED, 1.0)
    return trust * clock.passed * (1.0 - done) / done + (1.0 - trust) * guessed


def in_words(seconds: float) -> str:
    """A time as people say it: in seconds up to a minute and a half, then minutes, then hours."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(math.ceil(seconds), 1)} s"
