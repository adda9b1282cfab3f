"""Improving classes in rounds: the table is cut into parts of neighbouring classes, and all cores improve parts.

Every round cuts the table differently, so no border stays. A part is small enough for its data to stay near the
processor; time grows with the number of rows and nothing else, and memory by little. Random numbers are drawn from
seeds that the caller's generator gives to each part, so the outcome does not depend on the number of cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from polyveil.arrays import Codes, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._search.anneal import anneal
from polyveil.methods._search.arrange import REBUILD, arrange
from polyveil.methods._search.classes import classes_of, labels_of, total_loss
from polyveil.methods._search.losses import losses
from polyveil.methods._search.moves import Orders, best_moves, make_orders
from polyveil.methods._search.space import Flag, Rows, Space, copy_for_thread
from polyveil.methods._search.tree import random_order

PART_ROWS, PART_CLASSES = 8_192, 300
"""Rows of a part, about; more if classes are so large that it would have fewer than so many."""
ORDERS, FEW_ORDERS, FEW_MOVES = 8, 2, 5.0
"""Random orders for a round, and for one with no more than so many moves per row."""
ORDER_JITTER = 0.7
REACH, REACH_CLASSES = 300.0, 1.5
"""How far away candidates are looked for on average, in rows of an order and, if that is more, in mean classes."""
FEWEST_PARTS, SHARED_ROWS = 2, 4_000
"""Parts of a table of at least so many rows, however large its classes."""
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Round:
    """What one round does: attempts per row and per class, and the temperatures it starts and ends with."""

    moves_per_row: float
    rebuilds_per_class: float
    start: float = 0.0
    end: float = 0.0
    passes: int = 0
    most_rows: int = 200
    most_neighbours: int = 4
    scattered: bool = False


def no_flag() -> Flag:
    """A flag that nobody sets."""
    return np.zeros(1, dtype=np.uint8)


def improve(
    space: Space,
    rows: Rows,
    labels: Codes,
    plan: Round,
    rng: np.random.Generator,
    stop: Flag | None = None,
) -> tuple[Codes, float]:
    """One round over all rows: the new labels, numbered without gaps, and the total loss.

    Once `stop` is set, rows stay where they are.
    """
    stop = no_flag() if stop is None else stop
    parts = cut_into_parts(space, rows, labels, rng, plan.scattered, stop)
    seeds = rng.integers(0, 2**31 - 1, size=len(parts))

    def work(number: int) -> tuple[Codes, float]:
        members = parts[number]
        if stop[0]:
            return labels[members], np.nan
        here = Rows(rows.codes[members], rows.tuple_of[members])
        _, local = np.unique(labels[members], return_inverse=True)
        return improve_part(copy_for_thread(space), here, local.astype(np.int32), plan, int(seeds[number]), stop)

    results = on_all_cores(work, len(parts), stop)
    fresh = joined_labels(parts, [found for found, _ in results])
    loss = sum(loss for _, loss in results)
    return fresh, float(losses(space, rows, fresh).sum()) if np.isnan(loss) else loss


Found = TypeVar("Found")


def on_all_cores(work: Callable[[int], Found], number: int, stop: Flag) -> list[Found]:
    """What the work on each of so many parts gives. An error, such as a user's cancel, stops all of it."""
    with ThreadPoolExecutor(CORES) as pool:
        try:
            return list(pool.map(work, range(number)))
        except BaseException:
            stop[0] = 1
            raise


def joined_labels(parts: Sequence[IntArray], found: Sequence[Codes]) -> Codes:
    """The labels of all rows from those of the rows of each part, numbered without gaps."""
    fresh = np.empty(sum(len(part) for part in parts), dtype=np.int32)
    used = 0
    for members, labels in zip(parts, found, strict=True):
        _, numbered = np.unique(labels, return_inverse=True)
        fresh[members] = numbered + used
        used += int(numbered.max()) + 1
    return fresh


def cut_into_parts(
    space: Space, rows: Rows, labels: Codes, rng: np.random.Generator, scattered: bool = False, stop: Flag | None = None
) -> list[IntArray]:
    """The rows of neighbouring classes, part by part; classes stay whole, and a random tree says which are near.

    Scattered parts are made of classes drawn at random: each is like the whole table, with fewer rows.
    """
    n = len(labels)
    classes = int(labels.max()) + 1
    number = 2 * round(min(n / PART_ROWS, classes / PART_CLASSES) / 2)  # of three parts, one core would wait for one
    number = max(number, FEWEST_PARTS) if n >= SHARED_ROWS else number
    if number <= 1:
        return [np.arange(n)]
    size = np.bincount(labels, minlength=classes)
    line = rng.permutation(classes) if scattered else classes_in_order(space, rows, labels, classes, rng, stop)
    part_of_class = np.empty(classes, dtype=np.int64)
    part_of_class[line] = np.minimum((np.cumsum(size[line]) - size[line]) * number // n, number - 1)
    part_of_row = part_of_class[labels]
    by_part = np.argsort(part_of_row, kind="stable")
    bounds = np.searchsorted(part_of_row[by_part], np.arange(number + 1))
    found = [by_part[bounds[i] : bounds[i + 1]] for i in range(number)]
    return [part for part in found if len(part)]


def classes_in_order(
    space: Space, rows: Rows, labels: Codes, classes: int, rng: np.random.Generator, stop: Flag | None
) -> IntArray:
    """The classes in the order of the leaves of a random tree."""
    order = seeded_order(space, rows.codes, int(rng.integers(2**31 - 1)), no_flag() if stop is None else stop)
    first = np.full(classes, len(labels), dtype=np.int64)
    np.minimum.at(first, labels[order], np.arange(len(labels)))
    return np.argsort(first, kind="stable")


def improve_part(space: Space, rows: Rows, labels: Codes, plan: Round, seed: int, stop: Flag) -> tuple[Codes, float]:
    """Move rows, rebuild neighbourhoods and move rows again in one part: the new labels and the loss.

    Two kernels that are compiled side by side: one that moves, one that arranges anew.
    """
    wanted = ORDERS if plan.moves_per_row > FEW_MOVES else FEW_ORDERS
    wanted = 0 if stop[0] or plan.moves_per_row + plan.rebuilds_per_class == 0 else wanted
    moves, start, end = float(plan.moves_per_row), float(plan.start), float(plan.end)
    if plan.rebuilds_per_class == 0 or stop[0]:
        return move_rows(space, rows, labels, moves, wanted, start, end, plan.passes, seed, stop)[:2]
    labels, loss, orders = move_rows(space, rows, labels, moves, wanted, start, end, 0, seed, stop)
    limits = (plan.most_rows, plan.most_neighbours)
    labels, loss = rebuild_rows(space, rows, labels, orders, float(plan.rebuilds_per_class), end, *limits, stop)
    if plan.passes > 0:
        labels, loss, _ = move_rows(space, rows, labels, 0.0, 0, start, end, plan.passes, seed, stop)
    return labels, loss


def rebuild_rows(
    space: Space,
    rows: Rows,
    labels: Codes,
    orders: Orders,
    per_class: float,
    temperature: float,
    most_rows: int,
    most_neighbours: int,
    stop: Flag,
) -> tuple[Codes, float]:
    """Rebuild neighbourhoods of one part: the new labels and the loss."""
    used = int(labels.max()) + 1
    attempts, reach = int(per_class * used), max(REACH, REACH_CLASSES * len(labels) / used)
    return arrange(
        space, rows, labels, orders, REBUILD, attempts, temperature, reach, most_rows, most_neighbours, 0, 0, stop
    )


@njit
def seeded_order(space: Space, codes: Codes, seed: int, stop: Flag) -> Codes:
    np.random.seed(seed)  # noqa: NPY002 - kernels have no generators
    return random_order(space, codes, ORDER_JITTER, stop)


@njit
def set_seed(seed: int) -> None:
    """Seed the random numbers of kernels in the calling thread."""
    np.random.seed(seed)  # noqa: NPY002


@njit
def move_rows(
    space: Space,
    rows: Rows,
    labels: Codes,
    moves: float,
    orders_wanted: int,
    start: float,
    end: float,
    passes: int,
    seed: int,
    stop: Flag,
) -> tuple[Codes, float, Orders]:
    """Move rows between the classes of one part: the new labels, the loss, and the orders that were used."""
    np.random.seed(seed)  # noqa: NPY002
    used = 0
    for r in range(len(labels)):
        used = max(used, labels[r] + 1)
    classes = classes_of(space, rows, labels, used)
    orders = make_orders(space, rows, orders_wanted, ORDER_JITTER, moves > 0.0, stop)
    reach = max(REACH, REACH_CLASSES * len(labels) / used)
    anneal(space, rows, classes, orders, int(moves * len(labels)), start, end, reach, stop)
    for _ in range(passes):
        best_moves(space, rows, classes, stop)
    return labels_of(classes), total_loss(classes), orders
