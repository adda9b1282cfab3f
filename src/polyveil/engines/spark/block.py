"""What happens to one block: the local method against the whole table's distribution, then the cells to publish.

A pure function of the block's rows (sorted by content), the block's number and the seed: a retried or speculative task
gives the same result, whichever order the rows arrive in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.engines.spark.tree import Bound, bounds_of, within
from polyveil.engines.spark.values import Values
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.measure.boxes import class_boxes
from polyveil.measure.loss import CellCost, height, mean_costs, weighted_height, width
from polyveil.methods import Method, Task, partition, refined
from polyveil.models import Attribute, Model, codes_of, from_classes, one_class
from polyveil.models.people import from_people, people_of
from polyveil.models.reach import check_reached
from polyveil.partition import Partition, partition_of
from polyveil.releases.form import Form, Slices
from polyveil.releases.generalized import quasi_columns
from polyveil.releases.linked import NOT_AVAILABLE, rows_with_suppressed_values
from polyveil.table.coded import CodedTable

COSTS: Mapping[str, CellCost] = {"width": width, "height": height, "weighted_height": weighted_height}
ROOM = 0.85
"""A block farther from the whole table than this share of t is not tried: its classes would be nearly the block itself,
after a long search. Its rows go up to a coarser block, which is nearer to the whole."""
ROOT = 0
"""The block that holds everything is tried in any case; there is no coarser one."""


@dataclass(frozen=True, eq=False)
class Plan:
    """All a worker needs to anonymize a block. `secret` orders the released rows and is the operating system's."""

    values: Values
    method: Method[Any]
    form: Form
    models: tuple[Model, ...]
    attributes: Mapping[str, Attribute]
    published: tuple[pl.Series, ...]
    """What is published for each code of a sensitive column."""
    seed: int
    secret: bytes
    as_they_are: tuple[pl.Series, ...] = ()
    """What is published for each code of a quasi-identifier, if these are not generalized."""
    slices: Slices = ()
    """The sensitive columns of each table of a linked release; none if there is one table."""
    files: int = 1
    """The files of a table."""
    shards: int = 1
    """The workers that judge all classes."""

    @property
    def packed(self) -> bool:
        """Whether rows leave a block packed for the file that they go to, because no other step takes them apart."""
        return not self.slices and self.values.everybody is None

    @property
    def bounds(self) -> list[Bound]:
        """How far a block may be from the whole table."""
        whole = one_class(self.attributes, self.values.rows)
        return [bound for bound in bounds_of(self.models, whole, ROOM) if bound[0].direction != "at least"]


@dataclass(frozen=True, eq=False)
class BlockResult:
    """Rows that have a class (`kept`, positions in the block), their cells, and the block's figures for the driver.

    `classes` and `codes` are what the release's claims are counted from: a number that rows with equal released
    quasi-identifiers share, over all blocks, and the codes of the sensitive columns. `groups` are the group ids in each
    sensitive table of a linked release; `orders` holds a number per row for the first table and for each of these.
    """

    kept: IntArray
    columns: tuple[pl.Series, ...]
    classes: IntArray
    codes: tuple[IntArray, ...]
    groups: tuple[pl.Series, ...]
    orders: tuple[IntArray, ...]
    summary: dict[str, Any]
    person: IntArray | None = None


def canonical_order(quasi: list[IntArray], sensitive: list[IntArray], hashed: IntArray, *person: IntArray) -> IntArray:
    """Rows by content: codes first, then the hash of all published cells, and whom they are about.

    Rows that are equal in all of this are interchangeable.
    """
    return np.lexsort([*person, hashed, *reversed(sensitive), *reversed(quasi)]).astype(np.int64)


def anonymize_block(
    plan: Plan, quasi: list[IntArray], sensitive: list[IntArray], block: int, person: IntArray | None = None
) -> BlockResult:
    """Classes and cells for rows that are in canonical order."""
    rows = len((quasi or sensitive)[0])
    numbered = None if person is None else np.unique(person, return_inverse=True)[1]
    table = plan.values.coded(quasi, sensitive, rows, numbered)
    found, why = _partition(plan, table, block)
    kept = np.flatnonzero(found.class_of_row >= 0)
    summary: dict[str, Any] = {
        "block": block,
        "rows": rows,
        "left": rows_with_suppressed_values(found),
        "suppressed": rows - len(kept),
        "costs": {},
        "groups": [int(part.group_of_row.max(initial=-1)) + 1 for part in found.slices],
        **why,
    }
    if not len(kept):
        return BlockResult(kept, (), kept, (), (), (), summary)
    summary["costs"] = _costs(table.take(kept), found.class_of_row[kept])
    cells = _quasi_cells(plan, table, found, kept)
    return BlockResult(
        kept,
        (*cells, *_gathered(plan.published, sensitive, kept)),
        _class_numbers(cells, found.class_of_row[kept]),
        tuple(codes[kept] for codes in sensitive),
        tuple(
            _group_ids(plan.secret, number, block, part.group_of_row)[kept]
            for number, part in enumerate(found.slices, start=1)
        ),
        tuple(_secret_numbers(plan.secret, f"order {t}", block, rows)[kept] for t in range(len(found.slices) + 1)),
        summary,
        None if person is None else person[kept],
    )


def _partition(plan: Plan, table: CodedTable, block: int) -> tuple[Partition, dict[str, Any]]:
    """The rows' classes; without any, what stood against them, in the words of the method."""
    nobody = Partition(np.full(table.rows, -1, dtype=np.int64))
    policy = plan.values.policy
    rng = np.random.default_rng([plan.seed, block])
    everybody = plan.values.everybody
    task = Task(table, plan.models, plan.attributes, policy.privacy, rng, slices=plan.slices, everybody=everybody)
    if task.k > table.people:
        unit = "rows" if everybody is None else "people"
        return nobody, {"why": [f"a block of {table.people} {unit} has no group of {task.k}", None]}
    if block != ROOT:
        as_one = from_classes(np.zeros(table.rows, dtype=np.int64), codes_of(table), plan.attributes)
        if not within(plan.bounds, as_one):
            return nobody, {"why": ["a block is too far from the whole table", None]}
    try:
        found = refined(task, partition(plan.method, task), policy.method.refine)
        return (_linked if plan.slices else _holding)(plan, table, found, rng), {}
    except Unsatisfiable as error:
        return nobody, {"why": [error.constraint, error.nearest]}
    except PolicyError as error:
        return nobody, {"faults": [[fault.place, fault.rule, fault.remedy] for fault in error.faults]}


def _holding(plan: Plan, table: CodedTable, found: Partition, rng: np.random.Generator) -> Partition:
    """The classes that keep every model; rows of others are left over."""
    class_of_row = found.class_of_row
    statistics = plan.form.statistics(plan.values.policy, found, codes_of(table), plan.attributes)
    if table.person is not None:
        people = people_of(table.person, codes_of(table), plan.attributes, plan.values.everybody)
        statistics = from_people(class_of_row, codes_of(table), plan.attributes, people)
    good = np.ones(statistics.classes, dtype=bool)
    for model in plan.models:
        if statistics.classes:
            good &= model.passes(model.measure_all(statistics))
    held = np.where(class_of_row >= 0, np.append(good, False)[class_of_row], False)
    return partition_of(np.where(held, class_of_row, -1))


def _linked(plan: Plan, table: CodedTable, found: Partition, rng: np.random.Generator) -> Partition:
    """Groups for the sensitive tables and classes for the quasi-identifiers; raises Unsatisfiable if some fail."""
    partition = plan.form.arrange(plan.values.bound, table, found, rng)
    statistics = plan.form.statistics(plan.values.policy, partition, codes_of(table), plan.attributes)
    check_reached([model.judge(statistics) for model in plan.models], statistics.classes)
    return partition


def _quasi_cells(plan: Plan, table: CodedTable, found: Partition, kept: IntArray) -> list[pl.Series]:
    if plan.as_they_are:
        return _gathered(plan.as_they_are, [column.codes for column in table.quasi], kept)
    return quasi_columns(plan.values.bound, table, found)


def _gathered(cells: tuple[pl.Series, ...], codes: list[IntArray], kept: IntArray) -> list[pl.Series]:
    return [
        texts.gather(pl.Series(numbers[kept], dtype=pl.UInt32)) for texts, numbers in zip(cells, codes, strict=True)
    ]


def _costs(table: CodedTable, class_of_row: IntArray) -> dict[str, dict[str, float]]:
    """Sums over the rows that have a class, per quasi-identifier; the driver adds up blocks and divides."""
    boxes = class_boxes(table, class_of_row)
    return {
        name: {column: mean * table.rows for column, mean in mean_costs(table, boxes, cost).items()}
        for name, cost in COSTS.items()
    }


def _class_numbers(cells: list[pl.Series], class_of_row: IntArray) -> IntArray:
    """One number for rows with equal cells, in whichever block they are: 64 bits of a hash of the cells.

    Two classes that hash alike by chance (once in 100,000 releases of ten million classes) would be counted as one,
    and the release refused, because its files say otherwise.
    """
    _, first, owner = np.unique(class_of_row, return_index=True, return_inverse=True)
    texts = zip(*(series.gather(pl.Series(first, dtype=pl.UInt32)).to_list() for series in cells), strict=True)
    digests = [hashlib.blake2b(repr(text).encode(), digest_size=8).digest() for text in texts]
    numbers = np.frombuffer(b"".join(digests), dtype=np.int64) if cells else np.zeros(len(first), dtype=np.int64)
    return numbers[owner]


def _secret_numbers(secret: bytes, purpose: str, block: int, count: int) -> IntArray:
    """Random numbers for one block and purpose: the order of rows in a table, the ids of groups.

    The secret comes from the operating system, so no seed anyone could learn gives them back; they follow from it and
    the block alone, so a task that runs twice writes the same. Each table has a stream of its own.
    """
    seed = secret + purpose.encode() + b"\0" + block.to_bytes(8, "little")
    stream = hashlib.shake_256(seed).digest(8 * count)
    return (np.frombuffer(stream, dtype=np.uint64) >> np.uint64(1)).astype(np.int64)


def _group_ids(secret: bytes, number: int, block: int, group_of_row: IntArray) -> pl.Series:
    """A random number of 63 bits for each row's group, which tells neither its block nor an order.

    Two groups may draw the same number (one chance in twenty for a thousand million groups): to every reader they are
    one group then, in both tables, and it keeps what both keep, because all models are convex.
    """
    groups = int(group_of_row.max(initial=-1)) + 1
    numbers = _secret_numbers(secret, f"groups {number}", block, groups)
    texts = pl.Series([*(str(one) for one in numbers.tolist()), NOT_AVAILABLE], dtype=pl.String)
    return texts.gather(pl.Series(np.where(group_of_row < 0, groups, group_of_row), dtype=pl.UInt32))


def slim(values: Values) -> Values:
    """Without what only the encoding pass needs, so that tasks stay small."""
    nothing = np.zeros(0, dtype=np.int64)

    def bare(columns: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            replace(c, bound=replace(c.bound, cells=c.bound.cells.head(0)), raw=c.raw[:0], codes=nothing)
            for c in columns
        )

    return replace(values, quasi=bare(values.quasi), sensitive=bare(values.sensitive))
