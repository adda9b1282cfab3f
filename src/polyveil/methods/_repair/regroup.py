"""Groups of people mended and improved by people who change groups, judged by all their rows.

A method that sees one row per person leaves groups that break a guarantee once all rows count, and boxes that are wider
than it thought. Here every person is what they are: see `crowd` and `exchanges`. The amount of work per person follows
from the effort, so that the same seed gives the same groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from polyveil.arrays import Codes, IntArray
from polyveil.methods._kernels.boxes import code_matrix
from polyveil.methods._repair import by_model
from polyveil.methods._repair.crowd import Costs, Crowd, Groups, crowd_of, groups_of, space_of
from polyveil.methods._repair.crowd_judge import Judges, judges_of
from polyveil.methods._repair.exchanges import exchange_people
from polyveil.methods._repair.merging import Failing, merge_failing
from polyveil.methods._search.clock import Clock
from polyveil.methods._search.rounds import no_flag, seeded_order
from polyveil.methods._search.space import Flag, Space
from polyveil.methods.base import Task
from polyveil.models.people import People, numbered
from polyveil.partition import partition_of
from polyveil.table.coded import CodedTable

ORDERS, REACH = 5, 12.0
"""Orders in which neighbours are looked for, and how far a neighbour is, in places."""
HOT, COLD = 0.5, 0.01
"""First and last temperature, as shares of the mean loss of a row."""
CHEAP, DEAR, STRICT = 3.0, 300.0, 1e12
"""The price of a broken guarantee in the first and the last round of mending, in mean losses; and one that nothing
pays."""


FAST, BALANCED, THOROUGH = 10.0, 40.0, 160.0
"""Attempts per person in a round."""
MENDING, SETTLING = 6, 3
"""Rounds in which groups may break a guarantee at a price, and rounds in which they may not."""
MOST = 400_000
"""Attempts in a round of a fast search, unless that is less than one per person."""


@dataclass(frozen=True, eq=False)
class Regrouping:
    """The people of a table, ready to change groups."""

    costs: Costs
    table: CodedTable
    crowd: Crowd
    judges: Judges
    person: IntArray
    orders: Codes

    def round(
        self, groups: Groups, attempts: int, heat: tuple[float, float], price: float, seed: int, stop: Flag
    ) -> None:
        """One round of changes."""
        exchange_people(
            self.costs,
            self.crowd,
            self.judges,
            groups,
            self.orders,
            attempts,
            heat[0],
            heat[1],
            price,
            REACH,
            seed,
            stop,
        )

    def groups(self, labels: IntArray) -> Groups:
        """The groups of rows' labels."""
        of_person = np.empty(len(self.crowd.rows), dtype=np.int64)
        of_person[self.person] = labels
        return groups_of(self.costs, self.table, self.crowd, self.judges, self.person, of_person)

    def labels(self, groups: Groups) -> IntArray:
        """The labels of rows, numbered from 0 without gaps."""
        return partition_of(groups.of_person[self.person].astype(np.int64)).class_of_row


def regrouped(task: Task, people: People, labels: IntArray, failing: Failing, effort: str | float) -> IntArray:
    """Classes that hold, from classes of which some may not; negative rows (left out) stay so."""
    kept = np.flatnonzero(labels >= 0)
    ready = _ready(task, people, kept)
    labels = labels.copy()
    with Clock(math.inf if isinstance(effort, str) else effort) as clock, task.progress.stoppable(clock.end):
        groups = ready.groups(labels[kept])
        mean = _mean_loss(groups)
        heat = mean * HOT * (COLD / HOT) ** (np.arange(MENDING + 1) / MENDING)
        prices = mean * CHEAP * (DEAR / CHEAP) ** (np.arange(MENDING) / (MENDING - 1))
        for i in range(MENDING):
            seed = int(task.rng.integers(2**31 - 1))
            ready.round(groups, _attempts(effort, groups), (heat[i], heat[i + 1]), prices[i], seed, clock.stop)
            task.progress.advance((i + 1) / (MENDING + SETTLING), _lost(task, groups))
        labels[kept] = ready.labels(groups)
        labels = merge_failing(task.table, labels, failing)
        return _settled(task, ready, labels, kept, failing, effort, clock)


def settled(task: Task, people: People, labels: IntArray, failing: Failing, effort: str | float) -> IntArray:
    """Classes of no more loss, from classes that hold; negative rows (left out) stay so."""
    kept = np.flatnonzero(labels >= 0)
    with Clock(math.inf if isinstance(effort, str) else effort) as clock, task.progress.stoppable(clock.end):
        return _settled(task, _ready(task, people, kept), labels, kept, failing, effort, clock)


def _settled(
    task: Task,
    ready: Regrouping,
    labels: IntArray,
    kept: IntArray,
    failing: Failing,
    effort: str | float,
    clock: Clock,
) -> IntArray:
    """Loss only falls, and what a group keeps stays kept; what the search does not judge is judged in the end."""
    groups = ready.groups(labels[kept])
    done = 0
    while done < SETTLING or (clock.seconds < np.inf and not clock.is_over):
        seed = int(task.rng.integers(2**31 - 1))
        ready.round(groups, _attempts(effort, groups), (0.0, 0.0), STRICT, seed, clock.stop)
        done += 1
        task.progress.advance(min((MENDING + done) / (MENDING + SETTLING), 1.0), _lost(task, groups))
    found = labels.copy()
    found[kept] = ready.labels(groups)
    return labels if failing(kept, found[kept]).any() else found


def _attempts(effort: str | float, groups: Groups) -> int:
    people = len(groups.of_person)
    if effort == "balanced":
        return int(BALANCED * people)
    if effort == "thorough":
        return int(THOROUGH * people)
    return int(max(min(FAST * people, MOST), people))


def _lost(task: Task, groups: Groups) -> str:
    return task.lost_so_far(_mean_loss(groups))


def _mean_loss(groups: Groups) -> float:
    return float(groups.rows @ groups.loss) / max(int(groups.rows.sum()), 1)


def _ready(task: Task, people: People, kept: IntArray) -> Regrouping:
    """Everything that stays the same while people change groups. Models that no kernel judges are left out."""
    people = numbered(people.take(kept))
    models = tuple(model for model in task.models if not by_model.only_by_model(model, task))
    task = replace(task, table=task.table.take(kept), models=models)
    space, table = space_of(task)
    orders = np.stack([_order(space, table, people.person, task.rng) for _ in range(ORDERS)])
    judges = judges_of(task, people)
    costs = Costs(space.shape, space.cost, space.words)
    return Regrouping(costs, table, crowd_of(task.table, people, judges), judges, people.person, orders)


def _order(space: Space, table: CodedTable, person: IntArray, rng: np.random.Generator) -> Codes:
    """People in an order in which near ones are alike, judged by one row of each, drawn by chance."""
    by_chance = rng.permutation(table.rows)
    _, first = np.unique(person[by_chance], return_index=True)
    some = replace(table.take(by_chance[first]), person=None)
    return seeded_order(space, code_matrix(some), int(rng.integers(2**31 - 1)), no_flag())
