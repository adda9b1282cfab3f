"""Demands somewhat stricter than those asked for: their classes serve as well.

A search ends a little better or worse by chance. If a demand hardly binds, that chance alone could make a looser
demand lose more than a stricter one, which nobody would understand. So if a stricter demand on a fixed ladder begins
with hardly more loss, it is searched as well, as if it had been asked for, and the better classes are kept. An
attribute that may be less close than another, but hardly ever is, is taken to be as close as it is: thresholds that do
not matter then end in the same search, however loose they are. That is done for small tables, and if few rows have
any loss; the searches run side by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, replace
from operator import attrgetter
from threading import Lock

import numpy as np

from polyveil.arrays import Codes, Places
from polyveil.methods._kernels.judge import JudgeSpec, class_distances, sensitive_matrix
from polyveil.methods._search.clock import Clock
from polyveil.methods._search.losses import losses
from polyveil.methods._search.rounds import CORES, SHARED_ROWS, improve
from polyveil.methods._search.schedule import SETTLE, TINY, Effort, Step, Tell, search, share_of, steps_of
from polyveil.methods._search.space import Flag, Rows, Space, copy_for_thread, make_space
from polyveil.methods._search.start import PASS, SMALL, begin_by, best_start, other_ways, plain_cuts
from polyveil.table.coded import CodedTable

CLOSENESS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
SIZES = (2, 5, 10, 20, 50, 100)
HARDLY_MORE, MOST = 1.1, 1
"""A stricter demand is searched if the classes it starts from lose at most so many times those asked for; and how
many are searched at most."""
HARDLY_BINDING, SETTLING = 0.02, 2
"""A threshold hardly binds if a closer one breaks classes of so small a share of the rows; and the rounds in which
classes found with it use what the looser one allows."""
FEW, FEW_SHARE, HARDLY_MORE_OF_FEW, MOST_OF_FEW = 3000, 0.1, 1.5, 6
"""Up to so many rows with loss, and such a share of all, chance shows in tables of any size and is greater; a search is
cheap then."""
BEHIND = 1.03
"""A stricter demand that loses so many times as much after the first step of a search is not searched on."""
LEFT_OF_FEW, LEFT_OF_TINY = 3, 6
"""Searches that go on after the first step if few rows lose anything, and after the second in tables of few rows: the
demand itself and those of least loss."""
AGREEING = 4
"""If so many searches for the same demand, begun in different ways, end with the same loss, none is likely to end with
less, and no other is tried."""
FEW_ROWS = 20_000
"""A fast search looks at stricter demands in tables of up to so many rows."""
SURELY_MORE = 3.0
"""A stricter demand is not looked at if plain cuts alone lose so many times as much with it."""
CHEAP = 1000
"""In tables of so many rows every search is cheap."""


@dataclass(frozen=True, eq=False)
class Beginning:
    """What a search starts from."""

    judge: JudgeSpec
    space: Space
    rows: Rows
    labels: Codes
    by_cuts: float  # the loss of plain cuts alone
    loss: float
    affected: int  # rows that lose anything
    rng: np.random.Generator


def begin(
    table: CodedTable,
    judge: JudgeSpec,
    secret: int,
    clock: Clock | None = None,
    most_by_cuts: float = math.inf,
    tell: Callable[[float], None] = lambda loss: None,
    growing: bool = False,
    whole: bool = False,
) -> Beginning:
    """The first classes; equal demands and secrets give equal ones. Plain cuts alone if these lose more than said.

    `tell` is told the mean loss of plain cuts as soon as there are any. `growing` tries no other way than growth,
    `whole` tries the ways on all rows of a small table.
    """
    rng, clock = np.random.default_rng(secret), Clock() if clock is None else clock
    space, rows = make_space(table, judge)
    labels, loss = by_cuts = plain_cuts(space, rows, clock)
    tell(loss / table.rows)
    if loss <= most_by_cuts:
        labels = best_start(space, rows, rng, clock, by_cuts, growing, whole)
    by_row = losses(space, rows, labels)
    return Beginning(judge, space, rows, labels, loss, float(by_row.sum()), int((by_row > 0).sum()), rng)


def best_search(
    table: CodedTable, first: Beginning, effort: Effort | float, secret: int, clock: Clock, tell: Tell
) -> Codes:
    """The best classes for the demand of `first` or, if chance may show, for a stricter one."""
    if isinstance(effort, str) and (table.rows <= SMALL or few_affected(table, first)):
        whole = effort != "fast"
        start = as_close_as_it_is(table, first, secret, clock, whole)
        several = effort != "fast" or table.rows <= FEW_ROWS or few_affected(table, first)
        itself, closer = [start], list[Beginning]()
        if start.loss > 0.0:
            closer += nearly_free(table, start, secret, clock, whole) if several else ()
            itself += begun_otherwise(start, secret, clock.stop) if table.rows <= TINY else ()
    else:
        start, closer = first, []
        itself = [first, *(on_idle_cores(first, secret) if clock.seconds < math.inf else ())]
    with ThreadPoolExecutor(CORES) as pool, Together(tell, clock.end, len(itself) + len(closer)) as told:

        def ended(some: list[Beginning], step: Step | None = None) -> list[Beginning]:
            share = 1.0 if step is None or isinstance(effort, float | int) else share_of(step, effort, table.rows)
            running = [pool.submit(searched, one, effort, clock, told.one(share), step) for one in some]
            return [search.result() for search in running]

        if not isinstance(effort, str):
            found = ended(itself)
        elif table.rows <= TINY:
            found = ended_in_steps(effort, table.rows, [itself, closer], 2, LEFT_OF_TINY, ended, told)
        else:
            left = LEFT_OF_FEW if few_affected(table, first) else None
            found = ended_in_steps(effort, table.rows, [itself + closer], 1, left, ended, told)
    best = min([*found, first], key=attrgetter("loss"))
    return best.labels if start is first else settled(first, best.labels, best.loss, clock.stop)


def ended_in_steps(
    effort: Effort,
    rows: int,
    groups: list[list[Beginning]],
    together: int,
    left: int | None,
    ended: Callable[[list[Beginning], Step], list[Beginning]],
    told: Together,
) -> list[Beginning]:
    """What searches end with: group after group does the first steps, so many `together`, and the best do the others.

    As soon as searches of a group agree, no other step is done.
    """
    steps = steps_of(effort, rows)
    found: list[Beginning] = []
    for group in groups:
        for step in steps[:together]:
            group = ended(group, step)
            if agree(group):
                return group
        found += group
    best = not_behind(found, left)
    told.expected -= sum(share_of(step, effort, rows) for step in steps[together:]) * (len(found) - len(best))
    for step in steps[together:]:
        best = ended(best, step)
    return best


def agree(searches: list[Beginning]) -> bool:
    """Whether so many searches for one demand end with the same least loss that none is likely to end with less."""
    alike = [one.loss for one in searches if one.judge is searches[0].judge]
    return sum(math.isclose(loss, min(alike)) for loss in alike) >= AGREEING


def not_behind(searches: list[Beginning], left: int | None = None) -> list[Beginning]:
    """Those to search on: the demand itself, which comes first, and what does not lose clearly more than it by now.

    If few rows lose anything, a short search tells less about a long one: then the best are searched on, as many as
    are to be `left`.
    """
    itself, *others = searches
    if left is not None:
        return [itself, *sorted(others, key=attrgetter("loss"))[: left - 1]]
    return [itself, *(one for one in others if one.loss <= BEHIND * itself.loss)]


def as_close_as_it_is(
    table: CodedTable, first: Beginning, secret: int, clock: Clock | None = None, whole: bool = False
) -> Beginning:
    """The beginning of a demand in which no attribute is looser, beside the closest one, than the classes need it."""
    start, places = first, sensitive_matrix(table)
    while True:
        judge = _hardly_binding(start, places)
        if _key(judge) == _key(start.judge):
            return start
        other = begin(table, judge, secret, clock, whole=whole)
        if other.loss > HARDLY_MORE * start.loss:
            return start
        start = other


def _hardly_binding(start: Beginning, places: Places) -> JudgeSpec:
    """The demand of a beginning with looser attributes as close as nearly all its classes keep them."""
    judge, limits = start.judge, start.judge.close_limit
    if len(np.unique(limits)) < 2:
        return judge
    sizes = np.bincount(start.labels)
    distances = class_distances(judge, start.labels.astype(np.int64), places)
    for attribute in range(len(limits)):
        for limit in _rungs_between(limits[attribute], limits.min()):
            closer = np.where(np.arange(len(limits)) == attribute, limit, limits)
            if sizes[(distances > closer).any(axis=1)].sum() > HARDLY_BINDING * sizes.sum():
                break
            limits = closer
    return judge._replace(close_limit=limits)


def settled(first: Beginning, labels: Codes, loss: float, stop: Flag | None = None) -> Codes:
    """Classes found for a stricter demand, improved once more as far as that of `first` allows."""
    for _ in range(SETTLING):
        improved, less = improve(first.space, first.rows, labels, SETTLE, first.rng, stop)
        if less < loss:
            labels, loss = improved, less
    return labels


def moved_once(first: Beginning, stop: Flag) -> Codes:
    """The classes of a beginning after rows have moved once to where they cost least."""
    return improve(first.space, first.rows, first.labels, PASS, first.rng, stop)[0]


class Together:
    """The progress of searches side by side: the mean of their shares, and the least loss.

    Once left by an error, such as a user's cancel, it stops every search, through `end` at once.
    """

    def __init__(self, tell: Tell, end: Callable[[], None] = lambda: None, expected: int = 1) -> None:
        self._tell, self._end = tell, end
        self.expected = float(expected)
        self._stopped = False
        self._lock = Lock()
        self._shares: list[float] = []
        self._weights: list[float] = []
        self._shown, self._least = 0.0, math.inf

    def __enter__(self) -> Together:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stopped = kind is not None
        if self._stopped:
            self._end()

    def one(self, weight: float = 1.0) -> Tell:
        """What one more search tells, or the part of a search that is so large a share of it."""
        with self._lock:
            number = len(self._shares)
            self._shares.append(0.0)
            self._weights.append(weight)

        def tell(done: float, loss: float) -> None:
            with self._lock:
                if self._stopped:
                    raise CancelledError
                self._shares[number] = done
                done_by_all = sum(weight * share for weight, share in zip(self._weights, self._shares, strict=True))
                self._shown = max(self._shown, done_by_all / self.expected)
                self._least = min(self._least, loss)
                self._tell(self._shown, self._least)

        return tell


def few_affected(table: CodedTable, first: Beginning) -> bool:
    """Whether few rows lose anything, if only because there are few."""
    return table.rows <= CHEAP or first.affected <= min(FEW, FEW_SHARE * table.rows)


def allowed_stricter(table: CodedTable, first: Beginning) -> tuple[float, int]:
    """How many times the loss a stricter demand may begin with, and how many are searched at most."""
    return (HARDLY_MORE_OF_FEW, MOST_OF_FEW) if few_affected(table, first) else (HARDLY_MORE, MOST)


def searched(start: Beginning, effort: Effort | float, clock: Clock, tell: Tell, step: Step | None = None) -> Beginning:
    """What a search that goes on would start from: the classes found and their loss."""
    labels, loss = search(start.space, start.rows, start.labels, effort, start.rng, tell, clock=clock, step=step)
    return replace(start, labels=labels, loss=loss)


def nearly_free(
    table: CodedTable, first: Beginning, secret: int, clock: Clock | None = None, whole: bool = False
) -> Iterator[Beginning]:
    """Beginnings of stricter demands that lose hardly more, each a step from another."""
    hardly_more, most = allowed_stricter(table, first)
    waiting, seen, found = [first], {_key(first.judge)}, 0
    while waiting:
        from_here = waiting.pop()
        for judge in stricter(from_here.judge):
            if _key(judge) in seen or found >= most or (clock is not None and clock.is_over):
                continue
            seen.add(_key(judge))
            start = begin(table, judge, secret, clock, SURELY_MORE * from_here.by_cuts, whole=whole)
            if start.loss <= hardly_more * from_here.loss:
                found += 1
                waiting.append(start)
                yield start


def begun_otherwise(first: Beginning, secret: int, stop: Flag) -> Iterator[Beginning]:
    """The same demand begun in other ways: few rows often leave a search no path from one beginning to the best."""
    for number, way in enumerate(other_ways(first.space)):
        space, rng = copy_for_thread(first.space), np.random.default_rng([secret, number])
        labels, loss = begin_by(space, first.rows, way, int(rng.integers(2**31 - 1)), stop)
        if loss < math.inf:
            yield replace(first, space=space, labels=labels, loss=loss, rng=rng)


def on_idle_cores(first: Beginning, secret: int) -> Iterator[Beginning]:
    """The same search once more for each core that has nothing to do because the table is one part."""
    for number in range(1, CORES if len(first.labels) < SHARED_ROWS else 1):
        yield replace(first, space=copy_for_thread(first.space), rng=np.random.default_rng([secret, number]))


def stricter(judge: JudgeSpec) -> list[JudgeSpec]:
    """All attributes as close as the closest, each looser one a step closer, all a step closer, and one step larger."""
    limits = judge.close_limit
    steps = []
    if len(limits):
        least, closer = limits.min(), np.array([_rung_below(limit) for limit in limits])
        wanted = [np.full_like(limits, least)]
        wanted += [
            np.where(np.arange(len(limits)) == attribute, np.maximum(closer, least), limits)
            for attribute in np.flatnonzero(limits > least)
        ]
        wanted += [closer] if (closer > 0).all() else []
        steps = [judge._replace(close_limit=one) for one in wanted if (one < limits).any()]
    larger = next((size for size in SIZES if size > judge.min_size), None)
    if larger is not None:
        steps.append(judge._replace(min_size=larger))
    return steps


def _rung_below(limit: float) -> float:
    """The next closer threshold of the ladder, with the tolerance that the limit has (0: there is none)."""
    asked = round(limit, 6)
    below = [rung for rung in CLOSENESS if rung < asked - 1e-9]
    return below[-1] + round(limit - asked, 12) if below else 0.0


def _rungs_between(limit: float, least: float) -> Iterator[float]:
    """The closer thresholds down to the least, which is the last."""
    while limit > least:
        limit = max(_rung_below(limit), least)
        yield limit


def _key(judge: JudgeSpec) -> tuple[int, bytes]:
    return judge.min_size, np.round(judge.close_limit, 6).tobytes()
