"""How well a release answers COUNT queries: the error of expected counts against true ones.

A query asks for the rows within ranges of some quasi-identifiers and sets of values of some sensitive attributes. A
reader of the release takes every value that a cell stands for as equally likely, and every row of a group as equally
likely to have each of the group's values:

    expected = sum over rows of  P(quasi-identifiers match | cells) * product over slices of share(group matches)

In a generalized release a class is the group. Where a value is suppressed (group `NA`), its slice's published values
are the best guess. A suppressed row is counted nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.measure.boxes import Boxes, released_boxes
from polyveil.partition import Partition, Slice
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import OrderedDomain


@dataclass(frozen=True, eq=False)
class Query:
    """Per attribute, which codes match; attributes that are not named match always."""

    quasi: Mapping[str, BoolArray]
    sensitive: Mapping[str, BoolArray]


@dataclass(frozen=True)
class QueryError:
    """Relative errors of many queries; `floor` is the least true count that errors are measured against."""

    queries: int
    median: float
    mean: float
    floor: float


def random_queries(
    table: CodedTable,
    rng: np.random.Generator,
    count: int,
    *,
    quasi: int = 2,
    sensitive: int = 1,
    selectivity: float = 0.3,
) -> list[Query]:
    """Queries over random attributes; each condition covers about `selectivity` of the attribute's codes."""
    queries = []
    for _ in range(count):
        chosen = rng.choice(len(table.quasi), size=min(quasi, len(table.quasi)), replace=False)
        asked = rng.choice(len(table.sensitive), size=min(sensitive, len(table.sensitive)), replace=False)
        queries.append(
            Query(
                {table.quasi[a].name: _stretch(table.quasi[a].domain.size, selectivity, rng) for a in chosen},
                {table.sensitive[a].name: _some(table.sensitive[a].domain.size, selectivity, rng) for a in asked},
            )
        )
    return queries


def _stretch(size: int, selectivity: float, rng: np.random.Generator) -> BoolArray:
    """Consecutive codes: a range of numbers, or neighbours in a hierarchy."""
    width = max(round(size * selectivity), 1)
    first = int(rng.integers(size - width + 1))
    matches = np.zeros(size, dtype=bool)
    matches[first : first + width] = True
    return matches


def _some(size: int, selectivity: float, rng: np.random.Generator) -> BoolArray:
    matches = np.zeros(size, dtype=bool)
    matches[rng.choice(size, size=max(round(size * selectivity), 1), replace=False)] = True
    return matches


def true_count(table: CodedTable, query: Query) -> int:
    """The rows that match in the original table."""
    matches = np.ones(table.rows, dtype=bool)
    for quasi in table.quasi:
        if quasi.name in query.quasi:
            matches &= query.quasi[quasi.name][quasi.codes]
    for sensitive in table.sensitive:
        if sensitive.name in query.sensitive:
            matches &= query.sensitive[sensitive.name][sensitive.codes]
    return int(np.count_nonzero(matches))


def expected_count(table: CodedTable, partition: Partition, query: Query, boxes: Boxes | None = None) -> float:
    """The rows a reader of the release expects to match; `partition` is as the form publishes it."""
    kept = np.flatnonzero(partition.class_of_row >= 0)
    owner = partition.class_of_row[kept]
    boxes = released_boxes(table, partition) if boxes is None else boxes
    chance = np.ones(boxes.classes)
    for a, column in enumerate(table.quasi):
        if column.name in query.quasi:
            low, high = boxes.low[:, a], boxes.high[:, a]
            chance *= _cell_chance(column, query.quasi[column.name], low, high, partition.class_of_row)
    expected = chance[owner]
    names = tuple(column.name for column in table.sensitive)
    for part in partition.slices or (Slice(names, partition.class_of_row),):
        if any(name in query.sensitive for name in part.attributes):
            expected = expected * _group_share(table, part, query)[kept]
    return float(expected.sum())


def _cell_chance(
    column: QuasiColumn, wanted: BoolArray, low: IntArray, high: IntArray, class_of_row: IntArray
) -> FloatArray:
    """The share of the values each class's cell stands for that match."""
    domain = column.domain
    if not isinstance(domain, OrderedDomain) and domain.as_set:
        kept = class_of_row >= 0
        pairs = np.unique(class_of_row[kept].astype(np.int64) * domain.size + column.codes[kept])
        owner, code = pairs // domain.size, pairs % domain.size
        found: FloatArray = np.bincount(owner, weights=wanted[code]) / np.bincount(owner)
        return found
    if isinstance(domain, OrderedDomain):
        mixed = (high == domain.null_code) & (low != high)  # released as "anything"
        start, stop = np.where(mixed, 0, low), high + 1
    else:
        node = domain.hierarchy.common_ancestor(low, high)
        start, stop = domain.hierarchy.start[node], domain.hierarchy.stop[node]
    upto = np.append(0, np.cumsum(wanted))
    return np.asarray((upto[stop] - upto[start]) / (stop - start))


def _group_share(table: CodedTable, part: Slice, query: Query) -> FloatArray:
    """Per row, the share of its group's rows whose values match."""
    matches = np.ones(table.rows, dtype=bool)
    for column in table.sensitive:
        if column.name in part.attributes and column.name in query.sensitive:
            matches &= query.sensitive[column.name][column.codes]
    known = part.group_of_row >= 0
    groups = int(part.group_of_row.max(initial=-1)) + 1
    sizes = np.bincount(part.group_of_row[known], minlength=groups)
    share = np.bincount(part.group_of_row[known], weights=matches[known], minlength=groups) / np.maximum(sizes, 1)
    overall = float(matches[known].mean()) if known.any() else 0.0
    return np.append(share, overall)[part.group_of_row]  # -1 takes the last: the slice's published values


def query_error(
    table: CodedTable, partition: Partition, queries: Sequence[Query], *, floor: float | None = None
) -> QueryError:
    """|expected - true| / max(true, floor) over the queries; the floor is 0.1 % of the rows where none is given."""
    least = max(table.rows * 0.001, 1.0) if floor is None else floor
    boxes = released_boxes(table, partition)
    errors = []
    for query in queries:
        truth = true_count(table, query)
        errors.append(abs(expected_count(table, partition, query, boxes) - truth) / max(truth, least))
    found = np.array(errors) if errors else np.zeros(1)
    return QueryError(len(errors), float(np.median(found)), float(found.mean()), least)
