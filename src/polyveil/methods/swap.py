"""swap: classes of near rows first, then swaps against unclustered rows until the models hold, merging as last resort.

The contrast algorithm of wang2018: the k-anonymity-first microaggregation of Soria-Comas, Domingo-Ferrer, Sanchez,
Martinez: t-Closeness through Microaggregation (TKDE 2015, Algorithm 2), with all models of the policy as its test
(Definition 4 of wang2018 where closeness is asked).

- Guarantee: every model asked for, in every class.
- Cost: for each class a query for its nearest rows and, as long as it fails, up to g swaps tried for each of
  `candidates` unclustered rows: O(n * candidates * cost of a judgement). The slowest of the methods here.
- Departures: `as_printed.DEPARTURES`, undone by `as_printed: true`. In both, the first row of every second class is the
  unclustered one farthest from the centre of the whole table, not of the unclustered rows; the next one is farthest
  from it.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._fragment.axes import limits
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.judge import JudgeSpec, compile_constraints, violation
from polyveil.methods._kernels.row_index import RowForest, farthest, left_over, nearest_few, plant, put_back, take
from polyveil.methods._strata.base import Build, Prepared, StrataOptions, StratifiedMethod
from polyveil.methods._strata.generate import SeedOrder, seed_sequence
from polyveil.methods.base import Task
from polyveil.models import TCloseness

NEARLY_0 = 1e-9
"""A t that every class exceeds, so that the violation is the distance itself."""


class SwapOptions(StrataOptions):
    """Options of `swap`."""

    candidates: int = Field(
        default=64,
        ge=0,
        description="how many of the nearest free rows are tried for each group; 0: all of them, as in the paper",
    )


class Swap(StratifiedMethod[SwapOptions]):
    """The contrast algorithm of wang2018."""

    name = "swap"
    title = "Swap: groups the nearest rows, then swaps rows until the requirements are met"
    paper = "Soria-Comas et al. 2015, Algorithm 2; Wang et al. 2018 (contrast algorithm)"
    guarantee = "Every requirement is met in every group."
    cost = "Time grows with rows and candidates, for each group size that is tried; minutes for a million rows."
    options_type = SwapOptions
    search_rows = 10_000
    merging = "again"

    def builder(self, ready: Prepared, task: Task) -> Build:
        rows = ready.table.rows

        def build(g: int, order: SeedOrder, rng: np.random.Generator) -> IntArray:
            of_row = ready.table.quasi_tuples.of_row
            everyone = np.zeros(rows, dtype=np.int64)
            forest = plant(ready.codes, of_row, ready.place, everyone, 1, ready.metric)
            seeds = seed_sequence(ready.table, order, rng)
            labels = np.full(rows, -1, dtype=np.int64)
            candidates = self.options.candidates or rows
            judges, limit = self._measure(ready, task)
            _microaggregate(forest, ready.sensitive, judges, limit, g, min(candidates, rows), seeds, labels)
            return labels

        return build

    def _measure(self, ready: Prepared, task: Task) -> tuple[tuple[JudgeSpec, ...], FloatArray]:
        """What a swap must lower: the greatest of some violations less their limits.

        By default one violation, the sum over all models; as printed the distance of each attribute (Definition 4).
        """
        t_of = limits(task.models, task.attributes) if self.options.as_printed else {}
        if not t_of:
            return (ready.judge,), np.zeros(1)
        alone = [(TCloseness(NEARLY_0, name),) for name in t_of]
        judges = tuple(compile_constraints(model, task.attributes, ready.table) for model in alone)
        return judges, np.array(list(t_of.values())) - NEARLY_0


@njit
def _broken(judges: tuple[JudgeSpec, ...], limit: FloatArray, counts: IntArray, n: int) -> float:
    """How far a class is from holding; 0 or less where it holds."""
    greatest = -np.inf
    for j in range(len(judges)):
        greatest = max(greatest, violation(judges[j], counts, n) - limit[j])
    return greatest


@njit
def _microaggregate(
    forest: RowForest,
    sensitive: Codes,
    judges: tuple[JudgeSpec, ...],
    limit: FloatArray,
    g: int,
    candidates: int,
    seeds: IntArray,
    labels: IntArray,
) -> None:
    """Classes of g rows until fewer than 2 g rows are left; these are the last class."""
    members = np.empty(g, dtype=np.int64)
    number, pointer, from_far = 0, 0, False
    point = forest.codes[0].copy()
    while left_over(forest, 0) >= 2 * g:
        if from_far:
            item = farthest(forest, 0, point)
        else:
            while forest.unused[forest.item_of_row[seeds[pointer]]] == 0:
                pointer += 1
            item = forest.item_of_row[seeds[pointer]]
        from_far = not from_far
        point = forest.codes[item].copy()
        _cluster(forest, sensitive, judges, limit, point, members, candidates)
        for row in members:
            labels[row] = number
        number += 1
    for item in range(len(forest.unused)):
        while forest.unused[item] > 0:
            labels[take(forest, item)] = number


@njit
def _cluster(
    forest: RowForest,
    sensitive: Codes,
    judges: tuple[JudgeSpec, ...],
    limit: FloatArray,
    point: Codes,
    members: IntArray,
    candidates: int,
) -> None:
    """GenerateCluster: the rows nearest to the point, then swaps with the next nearest while that lowers the violation.

    Rows that do not end up in the class are put back into the tree.
    """
    g = len(members)
    counts = np.zeros(judges[0].width, dtype=np.int64)
    queue = _nearest_rows(forest, point, g)
    for i in range(g):
        members[i] = queue[i]
        _add(sensitive, queue[i], counts, 1)
    broken = _broken(judges, limit, counts, g)
    tried, batch = 0, g
    aside = np.empty(min(candidates, left_over(forest, 0)), dtype=np.int64)
    while broken > 0.0 and tried < candidates and left_over(forest, 0) > 0:
        batch = min(2 * batch, candidates - tried, left_over(forest, 0))
        queue = _nearest_rows(forest, point, batch)
        for y in queue:
            out = y
            if broken > 0.0:
                place, after = _best_swap(sensitive, judges, limit, members, y, counts, broken)
                if place >= 0:
                    out = members[place]
                    _add(sensitive, out, counts, -1)
                    _add(sensitive, y, counts, 1)
                    members[place] = y
                    broken = after
            aside[tried] = out
            tried += 1
    for i in range(tried - 1, -1, -1):
        put_back(forest, aside[i])


@njit
def _best_swap(
    sensitive: Codes,
    judges: tuple[JudgeSpec, ...],
    limit: FloatArray,
    members: IntArray,
    y: int,
    counts: IntArray,
    broken: float,
) -> tuple[int, float]:
    """The member whose exchange for row y lowers the violation most (-1: none does), and the violation then."""
    best, least = -1, broken
    _add(sensitive, y, counts, 1)
    for i in range(len(members)):
        _add(sensitive, members[i], counts, -1)
        after = _broken(judges, limit, counts, len(members))
        _add(sensitive, members[i], counts, 1)
        if after < least:
            best, least = i, after
    _add(sensitive, y, counts, -1)
    return best, least


@njit
def _add(sensitive: Codes, row: int, counts: IntArray, sign: int) -> None:
    for s in range(sensitive.shape[1]):
        counts[sensitive[row, s]] += sign


@njit
def _nearest_rows(forest: RowForest, point: Codes, wanted: int) -> IntArray:
    """Take the rows nearest to the point out of the tree, nearest first."""
    rows = np.empty(wanted, dtype=np.int64)
    found = 0
    while found < wanted:
        few = min(wanted - found, 64)
        items, distances = np.empty(few, dtype=np.int64), np.empty(few)
        for i in range(nearest_few(forest, 0, point, items, distances)):
            while forest.unused[items[i]] > 0 and found < wanted:
                rows[found] = take(forest, items[i])
                found += 1
    return rows
