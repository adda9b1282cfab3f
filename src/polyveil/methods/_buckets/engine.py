"""The bucket engine: the buckets of a table, grouped and the rest placed, with any priority, levels and tie policy.

See `buckets` for the methods and the papers, `bucket_grouping` and `bucket_residual` for the two phases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from pydantic import Field

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.methods._buckets.choice import MOST_BUCKETS, most_groupable, unite
from polyveil.methods._buckets.demand import Demand
from polyveil.methods._buckets.grouping import MOST_TIED, Course, Groups, form_groups
from polyveil.methods._buckets.pool import (
    CLOSEST_QUASI,
    LARGEST_CAPACITY,
    MBF,
    MMDCF,
    MSDCF,
    RANDOM,
    RAREST_VALUE,
    SCARCEST,
    BucketForest,
    Pool,
    fill,
)
from polyveil.methods._buckets.residual import FIRST, LEAST_LOSS, empty_counts, place_residual
from polyveil.methods._kernels.boxes import code_matrix, quasi_spec
from polyveil.methods.as_printed import PaperOptions
from polyveil.progress import Progress
from polyveil.table.coded import CodedTable, SensitiveColumn, distinct

Priority = Literal["mbf", "msdcf", "mmdcf"]
Ties = Literal["random", "largest-capacity", "rarest-value", "closest-quasi"]

PRIORITIES: dict[Priority, int] = {"mbf": MBF, "msdcf": MSDCF, "mmdcf": MMDCF}
TIES: dict[str, int] = {
    "random": RANDOM,
    "largest-capacity": LARGEST_CAPACITY,
    "rarest-value": RAREST_VALUE,
    "closest-quasi": CLOSEST_QUASI,
}
GROUPS_PER_CALL = 20_000
MOST_COMMON = 60
"""Groups of a common multiple of all l are tried up to this many rows."""
HUGE = 4
"""A group this many times as large as asked for is worth trying other sizes."""


class BucketOptions(PaperOptions):
    """Options of the bucket methods."""

    ties: Ties = Field(
        default="random",
        description="which of several buckets of equal priority comes first: any, the one whose values are most common "
        "among the remaining rows, the one with the rarest value, or the one (and the row in it) nearest to the group "
        "in the quasi-identifiers",
    )
    residual: Literal["first", "least-loss"] = Field(
        default="least-loss",
        description="where left-over rows go: the first group they fit, or the one whose quasi-identifiers widen least",
    )
    leave_out: Literal["last", "fewest"] = Field(
        default="fewest",
        description="which rows to leave out: fewest (as few as possible, chosen by a linear program; some groups may "
        "then be large) or last (those that fit nowhere in the end, as printed)",
    )
    restarts: int = Field(
        default=1, ge=1, le=10_000, description="orders of ties to try; the one that leaves out the fewest rows is kept"
    )
    strict_paper: bool = Field(
        default=False, description="stop grouping at the first group that fails, and try residual rows once, as printed"
    )
    candidates: int = Field(
        default=64, ge=1, description="rows or groups to compare for `closest-quasi` and `least-loss`"
    )


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of each row (-1: suppressed), and what the engine did; `lost` rows are suppressed and not spare."""

    of_row: IntArray
    groups: int
    suppressed: int
    lost: int
    residual: int
    restarts: int

    @cached_property
    def sizes(self) -> IntArray:
        """The rows of each group."""
        return np.bincount(self.of_row[self.of_row >= 0])

    @property
    def largest(self) -> int:
        return int(self.sizes.max(initial=0))


def bucketize(
    table: CodedTable,
    columns: tuple[SensitiveColumn, ...],
    demand: Demand,
    priority: Priority,
    options: BucketOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
    *,
    spare: BoolArray | None = None,
    formed: IntArray | None = None,
    scan: bool = False,
) -> Grouping:
    """Group the rows by some sensitive columns; of `restarts` tries the one that leaves out the fewest rows is kept.

    `spare` marks rows to leave out rather than others with the same values; `formed` gives groups to begin with (a
    number per row, -1 for the rows that are still to be grouped), which must keep the demand already.
    """
    if options.as_printed:
        engine = Engine(table, columns, demand, priority, options, spare=spare, formed=formed)
        return engine.run(rng, 1, progress)
    secret, names = int(rng.integers(2**62)), [column.name for column in columns]
    sizes, found = group_sizes(demand.only(names), table.rows), []
    for united in (False, True):
        for least in sizes:
            engine = Engine(table, columns, Demand(demand.need, least), priority, options, spare=spare, formed=formed)
            engine.scan = scan
            draws = np.random.default_rng([secret, least, united])
            for each in engine.united(draws, progress) if united else engine.groupings(draws, progress):
                found.append(each)
                if engine.is_settled(each):
                    return min(found, key=by_loss)
    return min(found, key=by_loss)


def group_sizes(demand: Demand, rows: int) -> list[int]:
    """The least sizes of groups to try: from what is asked to the next multiple of the greatest l, and the next one of
    all l.

    A value may make up 1/l of a group in whole rows: a group of 4 rows may have it once at l = 3, and one of 6 rows
    twice. The larger group is then easier to fill. With l = 3 for some values and l = 4 for others, nothing is lost to
    rounding in groups of 12 rows.
    """
    levels = [math.ceil(level - 1e-9) for level in np.unique(np.concatenate(list(demand.need.values())))]
    greatest, least = max(levels), demand.least
    common = math.lcm(*levels)
    sizes = [least] if least <= greatest else list(range(least, _next_multiple(least, greatest) + 1))
    whole = _next_multiple(least, common)
    return [*sizes, *([whole] if sizes[-1] < whole <= min(MOST_COMMON, rows) and common > greatest else [])]


def _next_multiple(number: int, of: int) -> int:
    return -(-number // of) * of


def by_loss(found: Grouping) -> tuple[int, int, int]:
    """The better of two groupings comes first: rows lost, rows suppressed, then the smaller groups (by the sum of
    squares, so that one huge group weighs more than several large ones)."""
    return found.lost, found.suppressed, int((found.sizes**2).sum())


class Engine:
    """The buckets of a table, ready to be grouped any number of times."""

    def __init__(
        self,
        table: CodedTable,
        columns: tuple[SensitiveColumn, ...],
        demand: Demand,
        priority: Priority,
        options: BucketOptions,
        *,
        spare: BoolArray | None = None,
        formed: IntArray | None = None,
    ) -> None:
        self.rows, self.options, self.priority, self.scan = table.rows, options, PRIORITIES[priority], False
        self.least = demand.least
        self.spare = np.zeros(table.rows, dtype=bool) if spare is None else spare
        self.formed = np.full(table.rows, -1, dtype=np.int64) if formed is None else formed
        tuples = distinct([c.codes for c in columns], [c.domain.size for c in columns], table.rows)
        offset = np.concatenate([[0], np.cumsum([c.domain.size for c in columns])])
        self.values = np.ascontiguousarray(tuples.codes + offset[:-1], dtype=np.int32)
        self.size, self.bucket_of_row = tuples.counts, tuples.of_row
        self.need: FloatArray = np.concatenate([demand.need[c.name] for c in columns]).astype(np.float64)
        whole = np.concatenate([c.counts for c in columns])
        self.rarity = np.ascontiguousarray(whole[self.values].min(axis=1), dtype=np.int64)
        self.rank, self.size_of_rank = _ranks(self.need[self.values].max(axis=1), demand.least, table.rows)
        self.spec, self.quasi = quasi_spec(table), code_matrix(table)

    def groupings(self, rng: np.random.Generator, progress: Progress | None) -> Iterator[Grouping]:
        """The tries, one after the other: as printed, and with the rows of the linear program before the rest."""
        for first in (None, *((self._groupable,) if self._uses_program else ())):
            for attempt in range(self.options.restarts):
                yield self.run(rng, attempt + 1, progress, first)

    def united(self, rng: np.random.Generator, progress: Progress | None) -> Iterator[Grouping]:
        """With the rows of the linear program that fit nowhere united with groups, for every priority: one may need a
        far smaller united group than another."""
        if not self._uses_program:
            return
        own = self.priority
        for self.priority in (own, *(each for each in (*PRIORITIES.values(), SCARCEST) if each != own)):
            yield self.run(rng, 1, progress, self._groupable, united=True)
        self.priority = own

    @property
    def _uses_program(self) -> bool:
        return self.options.leave_out == "fewest" and len(self.size) <= MOST_BUCKETS

    def reaches_bound(self, found: Grouping) -> bool:
        """Whether no more rows can be grouped, or only as many as asked for."""
        if found.lost == 0 or not self._uses_program:
            return True
        return found.lost <= int(((self.formed < 0) & ~self.spare & ~self._groupable).sum())

    def is_settled(self, found: Grouping) -> bool:
        """Whether nothing more is to be had: every row that can be grouped is, and no group is huge."""
        if found.suppressed and (not self._uses_program or not self.reaches_bound(found)):
            return False
        return found.largest <= HUGE * max(int(self.size_of_rank.max()), self.least)

    @cached_property
    def _groupable(self) -> BoolArray:
        """The rows that the linear program would group, as many of each bucket as it says."""
        open_rows = self.formed < 0
        places = self.bucket_of_row * 2 + self.spare
        size = np.bincount(places[open_rows], minlength=2 * len(self.size))
        chosen = most_groupable(self.values, size[0::2], size[1::2], self.need)
        most = np.stack(chosen, axis=1).ravel()
        order = np.argsort(np.where(open_rows, places, 2 * len(self.size)), kind="stable")[: int(size.sum())]
        first = np.cumsum(size) - size
        found = np.zeros(self.rows, dtype=bool)
        found[order] = np.arange(len(order)) - first[places[order]] < most[places[order]]
        return found

    def run(
        self,
        rng: np.random.Generator,
        attempt: int,
        progress: Progress | None,
        first: BoolArray | None = None,
        *,
        united: bool = False,
    ) -> Grouping:
        """Grouping phase, then residual phase, with ties broken by the generator; the `first` rows before the rest."""
        formed = self.formed
        if first is not None:
            formed = self._run(rng, formed, first, progress)[0]
            over = np.flatnonzero((formed < 0) & first)
            if united and len(over):
                formed = unite(formed, over, self.values[self.bucket_of_row], self.need, self.least)
        of_row, groups, left = self._run(rng, formed, np.ones(self.rows, dtype=bool), progress)
        suppressed = int((of_row < 0).sum())
        lost = int(((of_row < 0) & ~self.spare).sum())
        return Grouping(of_row, groups, suppressed, lost, left - suppressed, attempt)

    def _run(
        self, rng: np.random.Generator, formed: IntArray, among: BoolArray, progress: Progress | None
    ) -> tuple[IntArray, int, int]:
        """Group the rows that have no group yet and are `among` those given: the groups, how many, the rows that were
        left for the residual phase."""
        pool, forest = self._pool(rng, (formed < 0) & among), self._forest()
        groups, course = self._groups(formed), self._course(formed)
        fill(pool, forest, course.state[0])
        while course.state[0] >= 0:
            form_groups(pool, forest, groups, course, self.spec, self.quasi, GROUPS_PER_CALL)
            if progress is not None:
                progress.advance(1 - int(pool.size.sum()) / self.rows, f"{course.state[1]} groups")
        left = int(pool.size.sum())
        if left and course.state[1]:
            self._place(pool, groups, int(course.state[1]))
        return groups.of_row, int(course.state[1]), left

    def _place(self, pool: Pool, groups: Groups, count: int) -> None:
        counts = empty_counts(self.rows * self.values.shape[1], len(self.need))
        rule = FIRST if self.options.residual == "first" else LEAST_LOSS
        places = self.values[self.bucket_of_row]
        place_residual(
            *(pool, groups, count, counts, self.need, self.spec, self.quasi, places),
            *(rule, self.options.candidates, self.options.strict_paper),
        )

    def _pool(self, rng: np.random.Generator, open_rows: BoolArray) -> Pool:
        shuffled = rng.permutation(np.flatnonzero(open_rows))
        size = np.bincount(self.bucket_of_row[shuffled], minlength=len(self.size)).astype(np.int64)
        # Rows are taken from the end of their bucket, so the spare ones stand at its beginning.
        place = self.bucket_of_row[shuffled] * 2 + ~self.spare[shuffled]
        rows = shuffled[np.argsort(place, kind="stable")].astype(np.int64)
        values = len(self.need)
        return Pool(
            values=self.values,
            size=size,
            begin=np.cumsum(size) - size,
            rows=rows,
            rank=self.rank,
            rarity=self.rarity,
            capacity=np.zeros(values, dtype=np.int64),
            limit=np.ones(values, dtype=np.int64),
            used=np.zeros(values, dtype=np.int64),
            need=self.need,
            salt=int(rng.integers(2**62)),
            priority=self.priority,
            ties=TIES[self.options.ties],
        )

    def _forest(self) -> BucketForest:
        """Heaps by the attributes whose values shield most, as long as there are far fewer heaps than buckets."""
        most = 4 * int(np.sqrt(len(self.size))) + 1
        shares = [np.bincount(column, weights=self.size) / self.rows for column in self.values.T]
        shield = [float((share**2).sum()) for share in shares]  # the chance that two rows share the value
        chosen: list[int] = []
        for j in np.argsort(shield)[::-1]:
            if len(np.unique(self.values[:, [*chosen, j]], axis=0)) <= most:
                chosen.append(int(j))
        roots, tree = np.unique(self.values[:, chosen], axis=0, return_inverse=True)
        order = np.argsort(tree, kind="stable").astype(np.int64)
        return BucketForest(
            key=np.empty(len(order), dtype=np.int64),
            tie=np.empty(len(order), dtype=np.int64),
            bucket=order,
            root=np.ascontiguousarray(roots, dtype=np.int32),
            begin=np.searchsorted(tree[order], np.arange(len(roots) + 1)).astype(np.int64),
            stack=np.empty(2 * len(order).bit_length() + 4, dtype=np.int64),
        )

    def _groups(self, formed: IntArray) -> Groups:
        rows = np.flatnonzero(formed >= 0)
        owner = formed[rows]
        most = int(owner.max(initial=-1)) + (self.rows - len(rows)) // int(self.size_of_rank.min()) + 2
        low = np.full((most, self.quasi.shape[1]), np.iinfo(np.int32).max, dtype=np.int32)
        high = np.zeros((most, self.quasi.shape[1]), dtype=np.int32)
        np.minimum.at(low, owner, self.quasi[rows])
        np.maximum.at(high, owner, self.quasi[rows])
        size = np.bincount(owner, minlength=most).astype(np.int64)
        return Groups(of_row=formed.copy(), size=size, low=low, high=high)

    def _course(self, formed: IntArray) -> Course:
        ranks = len(self.size_of_rank)
        return Course(
            need=self.need,
            size_of_rank=self.size_of_rank,
            state=np.array([ranks - 1, formed.max(initial=-1) + 1, -1], dtype=np.int64),
            taken=np.empty(int(self.size_of_rank.max(initial=1)), dtype=np.int64),
            tied=np.empty(MOST_TIED, dtype=np.int64),
            candidates=self.options.candidates,
            strict=self.options.strict_paper,
            scan=self.scan,
        )


def _ranks(need: FloatArray, least: int, rows: int) -> tuple[IntArray, IntArray]:
    """Buckets ordered by the l they need, and the rows of a group of each rank (rows + 1: never to be had)."""
    levels, rank = np.unique(need, return_inverse=True)
    sizes = np.maximum(np.minimum(np.ceil(levels - 1e-9), rows + 1).astype(np.int64), least)
    return rank.astype(np.int64), sizes
