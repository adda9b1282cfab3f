"""How much to search, and when to stop: rounds of falling temperature, by effort or by the clock.

Named efforts do a fixed amount of work per row, so the same seed gives the same classes on any machine; seconds do as
much as fits. Either way the best classes so far are kept, and every state in between holds: stopping early is safe.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from polyveil.arrays import Codes, FloatArray
from polyveil.methods._search.clock import Clock
from polyveil.methods._search.losses import greatest_loss, losses
from polyveil.methods._search.rounds import Round, improve
from polyveil.methods._search.space import Rows, Space
from polyveil.methods._search.start import LARGE, PASS, SMALL

Effort = Literal["fast", "balanced", "thorough"]
Step = Literal["short", "whole", "twice", "long"]
"""Parts of a search, done one after the other; the greater the effort, the more of them."""

HOT, COLD = 1.2, 0.1
"""First temperatures as shares of the mean loss of rows with loss: rows change classes freely but not blindly; and what
a search begins with that has no time to cool down."""
WARMEST = 2.0
"""The mean loss that temperatures are shares of is taken to be no greater: a row of many quasi-identifiers loses a lot,
but still changes class for what one or two of them cost. Heated by all it loses, a search forgets where it began and
does not find back."""
COOLED = 0.02
"""The last temperature as a share of the first."""
SETTLE = Round(moves_per_row=2.0, rebuilds_per_class=0.5, passes=2)
"""A round that only ever lowers the loss."""
FEW_MOVES, MOST_MOVES, ALL_MOVES, FEW_REBUILDS = 1.0, 30.0, 1_000_000, 0.05
"""Moves per row of a fast search: as many as make a million in all, within bounds - what takes seconds on a small table
takes minutes on a large one; and the fewest rebuilds per class in one of its rounds."""
TINY = 50
"""In tables of so few rows, an effort does a step more than elsewhere, from several beginnings: what chance loses there
is a large share of all that is lost, and a search takes little time."""
FEW_AFFECTED = 0.2
"""Rounds change rows that lose something. If these are a smaller share of all rows, there are as many attempts for each
of them as at this share."""
NEGLIGIBLE = 0.0002
"""A search by effort ends when so small a share of all detail is lost: there is nothing left to gain."""
HARDLY_GAINED = 1e-4
"""A round that only lowers the loss is left out if the one before it, of the same kind, gained a smaller share."""
LEAST_BALANCED, MOST_BALANCED, ALL_BALANCED = 36.0, 120.0, 4_000_000
"""Work per row in a round of a balanced search: as much as makes so much in all, within bounds."""
WORK_OF_REBUILD, WORK_OF_PASS, WORK_OF_ROUND = 3.0, 2.5, 0.5
"""What a rebuild for each class, a pass over all rows and the beginning of a round take, in attempts to move a row."""
REBUILT, FEW_REBUILT, MOST_REBUILT = 220.0, 1 / 12, 1.5
"""Rebuilds per class for each move per row: so many divided by the square of the rows of a class, within bounds. Small
classes are better built anew; what is built anew of large ones costs much and is rarely better."""
PROBED = 5.0
"""The work of the round that tells how fast the search is."""
WHOLE = 360.0
"""The work of the first whole search by the clock."""
SETTLING, ROUNDS, SMALL_ROUND, FEWEST_MOVES = 0.8, 12, 8.0, 2.0
"""The share of the seconds after which the search settles; how many rounds there are before at least, and the most and
least work of each."""

Tell = Callable[[float, float], None]
"""Told the share of the work done, and the mean loss so far."""


def cooling(work: Round, number: int, hot: float = HOT) -> tuple[Round, ...]:
    """Rounds of the same work while the temperature falls, as a share of the mean loss of rows with loss."""
    steps = [hot * COOLED ** (i / number) for i in range(number + 1)]
    return tuple(replace(work, start=steps[i], end=steps[i + 1]) for i in range(number))


def rebuilding_for(by_row: FloatArray, labels: Codes) -> float:
    """Rebuilds per class for each move per row, by the mean size of the classes that lose something."""
    affected = by_row > 0
    size = affected.sum() / max(len(np.unique(labels[affected])), 1)
    return float(min(max(REBUILT / max(size, 1.0) ** 2, FEW_REBUILT), MOST_REBUILT))


def of_work(work: float, rebuilding: float) -> Round:
    """A round of so much work per row, with so many rebuilds per class for each move per row."""
    moves = work / (1.0 + WORK_OF_REBUILD * rebuilding)
    return Round(moves_per_row=moves, rebuilds_per_class=rebuilding * moves)


def schedule_of(effort: Effort, rows: int) -> tuple[Round, ...]:
    """The rounds of an effort: first those of the lesser ones, so that more effort never ends with more loss."""
    return tuple(plan for step in steps_of(effort, rows) for plan in rounds_of(step, rows, FEW_REBUILT))


def steps_of(effort: Effort, rows: int) -> tuple[Step, ...]:
    """The steps of an effort."""
    steps: tuple[Step, ...] = ("short", "whole", "twice", "long") if rows <= TINY else ("short", "whole", "long")
    efforts: tuple[Effort, ...] = ("fast", "balanced", "thorough")
    return steps[: len(steps) - len(efforts) + efforts.index(effort) + 1]


def share_of(step: Step, effort: Effort, rows: int) -> float:
    """The share of a step in the work of an effort."""
    own, whole = (
        sum(work_of(plan) for plan in plans)
        for plans in (rounds_of(step, rows, FEW_REBUILT), schedule_of(effort, rows))
    )
    return own / whole


def rounds_of(step: Step, rows: int, rebuilding: float) -> tuple[Round, ...]:
    """The rounds of a step."""
    work = min(max(ALL_BALANCED / max(rows, 1), LEAST_BALANCED), MOST_BALANCED)
    if step == "whole":
        return (*cooling(of_work(work, rebuilding), 12), *([SETTLE] * 3))
    if step == "twice":
        return (*cooling(of_work(2.0 * work, rebuilding), 12), *([SETTLE] * 3))
    if step == "long":
        return (*cooling(of_work(2.0 * work, rebuilding), 40), *([SETTLE] * 6))
    moves = min(max(ALL_MOVES / max(rows, 1), FEW_MOVES), MOST_MOVES)
    if rows > LARGE:
        return (PASS, PASS, *cooling(Round(moves, FEW_REBUILDS), 1, COLD), PASS)
    first, second = cooling(of_work(moves / 2, rebuilding), 2, COLD)
    return (first, second, SETTLE, SETTLE) if rows <= SMALL else (PASS, first, PASS, second, PASS)


def search(
    space: Space,
    rows: Rows,
    labels: Codes,
    effort: Effort | float,
    rng: np.random.Generator,
    tell: Tell,
    heat: bool = True,
    clock: Clock | None = None,
    step: Step | None = None,
) -> tuple[Codes, float]:
    """Improve classes as much as the effort allows: the best labels found and their total loss.

    Without `heat` no step raises the loss, and what a method arranged is changed only if that pays at once.
    Seconds count from when the clock was made, or from now. With `step`, only that step of the effort is done.
    """
    with Clock(seconds_of(effort)) if clock is None else nullcontext(clock) as running:
        return _search(space, rows, labels, effort, rng, tell, heat, running, step)


def _search(
    space: Space,
    rows: Rows,
    labels: Codes,
    effort: Effort | float,
    rng: np.random.Generator,
    tell: Tell,
    heat: bool,
    clock: Clock,
    step: Step | None,
) -> tuple[Codes, float]:
    n = len(labels)
    by_row = losses(space, rows, labels)
    best, least = labels, float(by_row.sum())
    tell(0.0, least / n)
    negligible = NEGLIGIBLE * n * greatest_loss(space) if isinstance(effort, str) else 0.0
    settled = False

    def now() -> State:
        return state_of(losses(space, rows, best), best, heat)

    for done, plan in rounds(effort, clock, now, n, float((by_row > 0).mean()), step):
        if least <= 0.0 and not isinstance(effort, str):  # nothing to gain: the seconds left are not waited for
            break
        if least <= negligible or (settled and plan.start == 0.0 and isinstance(effort, str)):
            tell(done, least / n)
            continue
        labels, loss = improve(space, rows, labels, plan, rng, clock.stop)
        settled = plan.start == 0.0 and loss > (1.0 - HARDLY_GAINED) * least
        if loss < least:
            best, least = labels, loss
        elif plan.start == 0.0:
            labels = best
        tell(done, least / n)
        if clock.is_over:
            break
    return best, least


def seconds_of(effort: Effort | float) -> float:
    """How long a search may take."""
    return effort if isinstance(effort, (int, float)) else math.inf


class State(NamedTuple):
    """What rounds depend on: the mean loss that temperatures are shares of, and rebuilds per class for each move."""

    mean: float
    rebuilding: float


def state_of(by_row: FloatArray, labels: Codes, heat: bool = True) -> State:
    """What the rounds that go on from these classes depend on; `by_row` is the loss of every row."""
    positive = by_row[by_row > 0]
    mean = min(float(positive.mean()), WARMEST) if heat and len(positive) else 0.0
    return State(mean, rebuilding_for(by_row, labels))


def rounds(
    effort: Effort | float,
    clock: Clock,
    now: Callable[[], State],
    rows: int,
    affected: float,
    only: Step | None = None,
) -> Iterator[tuple[float, Round]]:
    """The rounds to do, each with the share of the work done after it; `affected` is the share of rows with loss.

    Every step is heated and rebuilds as fits the best classes found by then.
    """
    if isinstance(effort, (int, float)):
        yield from timed_rounds(clock, now)
        return
    steps = steps_of(effort, rows) if only is None else (only,)
    plans = tuple(plan for step in steps for plan in rounds_of(step, rows, FEW_REBUILT))
    work = np.cumsum([work_of(plan, affected) for plan in shortened(plans, affected)])
    done = iter(work / work[-1])
    for step in steps:
        mean, rebuilding = now()
        for plan in shortened(rounds_of(step, rows, rebuilding), affected):
            yield float(next(done)), replace(plan, start=mean * plan.start, end=mean * plan.end)


def shortened(plans: tuple[Round, ...], affected: float) -> tuple[Round, ...]:
    """The rounds with attempts in proportion to the share of rows that lose something, if these are few."""
    share = min(affected / FEW_AFFECTED, 1.0)
    return tuple(
        replace(plan, moves_per_row=share * plan.moves_per_row, rebuilds_per_class=share * plan.rebuilds_per_class)
        for plan in plans
    )


def work_of(plan: Round, affected: float = 1.0) -> float:
    """About how long a round takes, in attempts to move a row; a pass looks at the rows that lose something."""
    rebuilt = WORK_OF_REBUILD * plan.rebuilds_per_class
    return plan.moves_per_row + rebuilt + WORK_OF_PASS * affected * plan.passes + WORK_OF_ROUND


def timed_rounds(clock: Clock, now: Callable[[], State]) -> Iterator[tuple[float, Round]]:
    """Small rounds whose temperature follows the clock; the last fifth of the time settles.

    Two rounds that only lower the loss come first. They tell how much work there is time for, and so how hot to begin.
    If there is time for much, whole searches come before, which do not depend on the clock.
    """
    yield _share(clock), PASS
    before = clock.passed
    yield _share(clock), of_work(PROBED, now().rebuilding)
    last, per_work = SETTLING * clock.seconds, max(clock.passed - before, 1e-9) / PROBED
    if now().mean > 0.0:
        yield from whole_searches(clock, now, last, per_work)
    first, (mean, rebuilding) = clock.passed, now()
    work = max(last - first, 0.0) / per_work
    hot = heat_for(work)
    small = of_work(min(max(work / ROUNDS, FEWEST_MOVES), SMALL_ROUND), rebuilding)
    while clock.passed < clock.seconds:
        if hot == 0.0 or clock.passed >= last:
            yield _share(clock), SETTLE
        else:
            warmth = mean * hot * COOLED ** ((clock.passed - first) / (last - first))
            yield _share(clock), replace(small, start=warmth, end=warmth)


def whole_searches(
    clock: Clock, now: Callable[[], State], last: float, per_work: float
) -> Iterator[tuple[float, Round]]:
    """Whole searches, each of twice the work of the one before, as long as they take at most half of the time left.

    More seconds then begin with what fewer seconds do, instead of one slower search that may end worse by chance.
    """
    work = WHOLE
    while work * per_work <= (last - clock.passed) / 2.0:
        begun, (mean, rebuilding) = clock.passed, now()
        for plan in (*cooling(of_work(work / ROUNDS, rebuilding), ROUNDS), SETTLE, SETTLE):
            yield _share(clock), replace(plan, start=mean * plan.start, end=mean * plan.end)
        per_work, work = max((clock.passed - begun) / work, 1e-9), 2.0 * work


def heat_for(work: float) -> float:
    """The first temperature, as a share of the mean loss, of a search that has time for so much work per row.

    What serves fast and whole searches, and between; none at all if the loss would not fall again.
    """
    if work < FEWEST_MOVES:
        return 0.0
    rise = math.log(HOT / COLD) / math.log(WHOLE / MOST_MOVES)
    return min(COLD * (work / MOST_MOVES) ** rise, HOT)


def _share(clock: Clock) -> float:
    return min(clock.passed / clock.seconds, 1.0)
