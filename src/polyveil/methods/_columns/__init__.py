"""Columns recoded one by one, for guarantees about any few quasi-identifiers.

Most rows share one recoding of each column. Rows with rare combinations of values are set aside and hidden in groups
that share all quasi-identifiers, which share any few of them. How many rows to set aside, and in which order to divide
columns, decides how much detail is lost: several plans are tried, and the best is used. Groups for all rows are tried
too, so that k for any few quasi-identifiers never loses more than k for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from polyveil.arrays import IntArray
from polyveil.measure import class_boxes, loss_of_boxes
from polyveil.methods._columns.recoding import Plan, Recoding
from polyveil.methods._search.clock import Clock
from polyveil.methods.base import Task
from polyveil.models import AnyColumns, KAnonymity
from polyveil.partition import Partition, partition_of
from polyveil.table.coded import CodedTable, distinct

TRIES = {"fast": 8, "balanced": 24, "thorough": 80}
"""Plans tried. A search by seconds tries as many as there is time for."""
PRICES, SPARE = (0.6, 0.3, np.inf, 0.15, 1.0), 2
"""The detail, in shares of a whole row, for which a row is set aside: those of the first tries, then any between."""
EVENNESS, SPREAD = (0.4, 1.1), 0.15
"""How much even parts are preferred, and how far the weights of columns differ between tries."""
HARDLY_MORE = 1.1
"""Groups for all rows are searched for as if k were asked for all columns together, if a short search finds some that
lose no more than so many times what columns recoded one by one lose."""
Groups = Callable[[Task], Partition]
"""Groups of some rows that share all quasi-identifiers: found by a search, or quickly."""


def recode_columns(
    task: Task,
    asked: AnyColumns,
    effort: str | float,
    clock: Clock,
    search: Groups,
    quick: Groups,
    longer: Groups | None = None,
) -> Partition:
    """The cells of every column, so that any m of them hide every row among k.

    If groups for all rows lose hardly more, `longer` looks for them with the whole effort.
    """
    table, k = task.table, int(asked.threshold)
    everybody = np.arange(table.rows)
    if not table.quasi:
        return partition_of(np.zeros(table.rows, dtype=np.int64))
    best, least = None, np.inf
    tries = TRIES.get(str(effort), 1 << 30)
    for number in range(tries):
        if number and (clock.is_over or clock.passed > clock.seconds / 2):
            break
        found = Recoding(table.quasi, k, asked.columns, _plan(task, number))
        for _ in found.divide():
            if clock.is_over:
                break
        found.close()
        aside = np.flatnonzero(~found.inside)
        loss = found.loss() + (_loss(table, aside, quick(_all_columns(task, aside, k))) if len(aside) else 0.0)
        if loss < least:
            best, least = found, loss
        lost = 100 * least / (table.rows * sum(column.weight for column in table.quasi))
        task.progress.advance(min(number / min(tries, 1000), 0.5), f"{lost:.2f} % lost so far")
    together = search(_all_columns(task, everybody, k))
    if best is None or not best.inside.any():
        return together
    aside = np.flatnonzero(~best.inside)
    groups = search(_all_columns(task, aside, k)) if len(aside) else partition_of(aside)
    loss = best.loss() + (_loss(table, aside, groups) if len(aside) else 0.0)
    if longer is not None and _loss(table, everybody, together) <= HARDLY_MORE * loss:
        both = together, longer(_all_columns(task, everybody, k))
        together = min(both, key=lambda found: _loss(table, everybody, found))
    return together if _loss(table, everybody, together) <= loss else _joined(table, best, aside, groups)


def _plan(task: Task, number: int) -> Plan:
    """The first tries are fixed, the others by chance."""
    columns = len(task.table.quasi)
    if number < len(PRICES):
        price = PRICES[number]
        return Plan(np.ones(columns), price=price * columns, spare=SPARE if price < np.inf else 0)
    weights = np.exp(task.rng.normal(0.0, SPREAD, columns))
    price = float(np.exp(task.rng.uniform(np.log(0.1), np.log(2.0))))
    return Plan(weights, float(task.rng.uniform(*EVENNESS)), price * columns, int(task.rng.integers(0, SPARE + 2)))


def _all_columns(task: Task, rows: IntArray, k: int) -> Task:
    """The task to hide some rows in groups that share all quasi-identifiers."""
    part = replace(task.table.take(rows), sensitive=(), together=())
    privacy = task.privacy.model_copy(update={"any": None, "suppression_limit": 0.0})
    return replace(task, table=part, models=(KAnonymity(k),), attributes={}, privacy=privacy)


def _loss(table: CodedTable, rows: IntArray, groups: Partition) -> float:
    """The detail that some rows lose in groups, summed over rows and columns, with the columns' weights."""
    found = loss_of_boxes(table.take(rows), class_boxes(table.take(rows), groups.class_of_row)).by_attribute
    return len(rows) * sum(found[column.name] * column.weight for column in table.quasi)


def _joined(table: CodedTable, recoding: Recoding, aside: IntArray, groups: Partition) -> Partition:
    """One numbering of parts for the rows of the recoding and those aside, whose groups are parts of every column."""
    cells = []
    for part in recoding.parts:
        cells.append(part.copy())
        cells[-1][aside] = part.max(initial=0) + 1 + groups.class_of_row
    numbered = tuple(partition_of(parts).class_of_row for parts in cells)
    return Partition(distinct(list(numbered), [int(n.max()) + 1 for n in numbered], table.rows).of_row, cells=numbered)
