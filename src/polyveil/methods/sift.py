"""sift: classes from the leaves of a tree upwards, then improved by moving, exchanging and rebuilding.

This package's own method.

1. The table is begun with plain cuts top-down, which hold whenever they are stopped. Other ways are tried on some of
   the rows: a tree walked from the leaves up, each node taking the largest class that satisfies every model out of
   what its children left over; the rows divided top-down; and, best where there are many quasi-identifiers, classes
   grown from seeds. Those that lose least, and for which there is time, are used on all rows; the best is kept.
2. Rows left over are absorbed one by one by the class they enlarge least, or merged if they must be.
3. Classes are improved: rows move to other classes or change places, alone or all rows at one edge of a class at once,
   neighbouring classes are pooled and built anew, the smaller the more often. Half of the candidates are among the
   rows most like the row at hand, the others come from random orders. At first changes are made also where loss rises
   a little, then only where it falls. Every step keeps every model in every class. More effort first does what less
   effort does, and the best classes found are kept. Seconds count from the beginning and stop every step; the fewer
   moves there is time for, the cooler the search begins. Tables too small to be improved in parts are searched once on
   each core then.
4. In tables of up to 50,000 rows, a closeness that hardly binds is taken to be as close as the classes are anyway. And
   demands somewhat stricter than those asked for are searched too where they begin with hardly more loss (one in tables
   of up to 50,000 rows, with `fast` 20,000; up to six if few rows lose anything), and as long as they do not fall
   behind or, of the six, are the two best: asking for less then does not lose more by chance. The searches run side by
   side. Tables of up to 50 rows are searched from several beginnings. If four searches end alike, no other is tried.

5. A thorough search of a table of up to 40 rows, or one by the clock with at least ten seconds, finds the best classes
   there are and proves it (see `exact`), unless that takes too long. It ends then, however many seconds are left.
6. With `privacy.any`, columns are recoded one by one instead, and there are no classes to move rows between (see
   `_columns`): several recodings are tried, and the one of least loss is used.

- Guarantee: every model asked for, in every class. Rows are suppressed only where the whole table as one class breaks a
  model, and no more than the policy allows.
- Cost: O(d n log n) for the tree, and for the improvement an amount of work per row that `effort` sets: it grows in
  proportion to the rows, with `fast` at first more slowly. About 2 microseconds times 20 to 100 (fast, the more rows
  the less), 400 to 1,500 (balanced, the same) or 4,000 to 8,000 (thorough) per row and search.
- Loss is what is minimized, times the quasi-identifiers' weights where they have any.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np
from pydantic import Field

from polyveil.arrays import Codes
from polyveil.methods._columns import recode_columns
from polyveil.methods._kernels.judge import compile_constraints
from polyveil.methods._kernels.reachable import Basis, reachable_basis, with_suppressed
from polyveil.methods._search.clock import Clock
from polyveil.methods._search.compiling import compile_exact, compile_side_by_side
from polyveil.methods._search.estimate import in_words, seconds_for, time_left
from polyveil.methods._search.schedule import Effort, Tell, seconds_of
from polyveil.methods._search.stricter import begin, best_search, moved_once
from polyveil.methods.base import Method, Options, Task
from polyveil.methods.mondrian import Mondrian, MondrianOptions
from polyveil.models import AnyColumns
from polyveil.partition import Partition, partition_of

__all__ = ["Sift", "SiftOptions", "report_loss", "seconds_for"]

FEWEST, PROVING, PROOF = 40, 10.0, 0.3
"""Tables of up to so many rows are grouped exactly by a thorough search, if that can be proven; and by one that has at
least so many seconds, of which this share is for the proof."""
ONLY_BEGUN = 5000
"""In tables of more rows, a fast search that something else goes on with only begins."""
EVERY = 0.2
"""Seconds between two lines of progress while these are looked for."""
Seconds = Annotated[float, Field(gt=0, le=1_000_000)]


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
    recodes_columns = True

    def partition(self, task: Task) -> Partition:
        effort, secret = self.options.effort, _secret(task)
        asked = next((model for model in task.models if isinstance(model, AnyColumns)), None)
        if asked is not None:
            with Clock(seconds_of(effort)) as clock, task.progress.stoppable(clock.end):

                def search_whole(whole: Task) -> Partition:
                    return self._partition(whole, effort, clock, secret)

                longer = search_whole if isinstance(effort, str) else None
                return recode_columns(task, asked, effort, clock, self._groups, _cuts, longer)
        compile_side_by_side(compile_constraints(task.models, task.attributes, task.table), task.progress)
        if _may_prove(task.table.rows, effort):
            compile_exact(task.progress)
        task.progress.stage("searching")
        with Clock(seconds_of(effort)) as clock, task.progress.stoppable(clock.end):
            return self._partition(task, effort, clock, secret)

    def _groups(self, task: Task) -> Partition:
        """Groups for rows that columns alone do not hide; of so many seconds, a quarter."""
        effort = self.options.effort
        shorter: Effort | float = effort / 4 if isinstance(effort, int | float) else "fast"
        with Clock(seconds_of(shorter)) as clock, task.progress.stoppable(clock.end):
            return self._partition(task, shorter, clock, _secret(task))

    def _partition(self, task: Task, effort: Effort | float, clock: Clock, secret: int) -> Partition:
        basis = reachable_basis(task)
        if not basis.table.quasi:
            return partition_of(with_suppressed(np.zeros(basis.table.rows, dtype=np.int64), basis, task.table.rows))
        only_begins = task.goes_on and effort == "fast" and basis.table.rows > ONLY_BEGUN
        whole = effort in ("balanced", "thorough")
        first = begin(basis.table, basis.judge, secret, clock, tell=_tell_first(task), growing=only_begins, whole=whole)
        if only_begins:
            labels = moved_once(first, clock.stop)
        else:
            tell = report_loss(task, effort, clock, first.loss / basis.table.rows)
            best = _proven(basis, task, clock) if _may_prove(basis.table.rows, effort) else None
            labels = best_search(basis.table, first, effort, secret, clock, tell) if best is None else best
        return partition_of(with_suppressed(labels.astype(np.int64), basis, task.table.rows))


def _secret(task: Task) -> int:
    """What the random numbers of a search are drawn from."""
    return int(task.rng.integers(2**62))


def _may_prove(rows: int, effort: Effort | float) -> bool:
    """Whether the best classes are looked for: then a search ends as soon as nothing can be gained any more."""
    return rows <= FEWEST and (effort == "thorough" or PROVING <= seconds_of(effort) < math.inf)


def _proven(basis: Basis, task: Task, clock: Clock) -> Codes | None:
    """The best classes there are; None if that takes too many steps, or too large a share of the seconds."""
    from polyveil.methods._exact import TooHard, best_grouping  # compiled for few tables only

    told = -EVERY

    def look_up() -> None:
        nonlocal told
        if clock.is_over or clock.passed > PROOF * clock.seconds:
            raise TooHard
        if clock.passed - told >= EVERY:
            told = clock.passed
            task.progress.advance(0.0, "looking for the best grouping there is")

    try:
        found = best_grouping(basis.table, basis.judge, between=look_up)
    except TooHard:
        return None
    if found is not None:
        lost = task.lost_so_far(found.cost / basis.table.rows)
        task.progress.advance(1.0, f"{lost}: no grouping loses less")
    return None if found is None else found.labels.astype(np.int32)


def _cuts(task: Task) -> Partition:
    return Mondrian(MondrianOptions()).partition(task)


def report_loss(task: Task, effort: Effort | float, clock: Clock, least: float = math.inf) -> Tell:
    """Progress with the time left, and how much of the detail is lost so far: at most `least`, the first classes'."""
    table, begun = task.table, math.inf

    def tell(done: float, loss: float) -> None:
        nonlocal begun
        begun = min(begun, clock.passed)
        left = time_left(effort, table.rows, len(table.quasi), len(table.sensitive), done, begun, clock)
        task.progress.advance(done, f"about {in_words(left)} left, {task.lost_so_far(min(loss, least))}")

    return tell


def _tell_first(task: Task) -> Callable[[float], None]:
    """Progress with how much of the detail the first classes lose, before anything is known about the time left."""
    return lambda loss: task.progress.advance(0.0, task.lost_so_far(loss))
