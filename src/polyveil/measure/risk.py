"""Re-identification risk from class sizes: the three adversaries of El Emam & Dankar (2008).

- The prosecutor looks for one person known to be in the release: 1 / rows of that class.
- The journalist looks for anybody, with a register of the population: 1 / people of the population in that class.
- The marketer links every row with the register and counts how many are right on average.

Without a register the population is taken to be the release itself, which is the worst case: the journalist's and the
marketer's risk are then the prosecutor's greatest and mean risk. These figures say nothing of sensitive values that are
learned without finding a row.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from polyveil.arrays import BoolArray, IntArray
from polyveil.errors import InputError
from polyveil.measure.boxes import class_boxes
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import OrderedDomain

HIGH_RISK = 0.2
"""A row in a class of fewer than five is commonly held to be at high risk."""

_CELLS = 4_000_000


@dataclass(frozen=True)
class RiskOfRows:
    """The risk of the rows under one adversary: greatest, mean, and the share of rows above the limit."""

    highest: float
    average: float
    above_limit: float


@dataclass(frozen=True)
class Risk:
    """Re-identification risk of a release; `population` tells whether a register was given."""

    prosecutor: RiskOfRows
    journalist: RiskOfRows
    marketer: float
    limit: float
    population: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in results."""
        return asdict(self)


def measure_risk(sizes: IntArray, population: IntArray | None = None, *, limit: float = HIGH_RISK) -> Risk:
    """From the rows of each class, and the people of the population that would fall into it where they are known.

    A class cannot have more rows than people; a register that says so is incomplete, and the rows then count.
    """
    register = sizes if population is None else np.maximum(population, sizes)
    journalist = _risk_of_rows(sizes, register, limit)
    return Risk(
        prosecutor=_risk_of_rows(sizes, sizes, limit),
        journalist=journalist,
        marketer=journalist.average,
        limit=limit,
        population=population is not None,
    )


def _risk_of_rows(sizes: IntArray, crowd: IntArray, limit: float) -> RiskOfRows:
    if len(sizes) == 0:
        return RiskOfRows(0.0, 0.0, 0.0)
    risk, rows = 1.0 / crowd, float(sizes.sum())
    return RiskOfRows(
        highest=float(risk.max()),
        average=math.fsum(sizes * risk) / rows,
        above_limit=float(sizes[risk > limit].sum()) / rows,
    )


def population_sizes(table: CodedTable, class_of_row: IntArray, population: CodedTable) -> IntArray:
    """How many people of a population table each class's released cells fit; domains must be those of the table."""
    if [c.name for c in table.quasi] != [c.name for c in population.quasi] or any(
        ours.domain.size != theirs.domain.size for ours, theirs in zip(table.quasi, population.quasi, strict=True)
    ):
        raise InputError(
            "the population table is coded with other quasi-identifiers or domains than the release; "
            "encode both with the same policy and domains"
        )
    people = population.quasi_tuples
    boxes = class_boxes(table, class_of_row)
    fits = [
        _covered(column, boxes.low[:, a], boxes.high[:, a], class_of_row, boxes.classes)
        for a, column in enumerate(table.quasi)
    ]
    found = np.zeros(boxes.classes, dtype=np.int64)
    step = max(1, _CELLS // max(len(people.counts), 1))
    for first in range(0, boxes.classes, step):
        inside = np.ones((min(step, boxes.classes - first), len(people.counts)), dtype=bool)
        for a, covered in enumerate(fits):
            inside &= covered[first : first + step, people.codes[:, a]]
        found[first : first + step] = inside @ people.counts
    return found


def _covered(column: QuasiColumn, low: IntArray, high: IntArray, class_of_row: IntArray, classes: int) -> BoolArray:
    """classes x codes: which values the class's released cell stands for."""
    domain = column.domain
    codes = np.arange(domain.size)
    if isinstance(domain, OrderedDomain):
        inside = (codes >= low[:, None]) & (codes <= high[:, None])
        # A range that mixes values and "missing" is released as "anything".
        mixed = (high == domain.null_code) & (low != high) if domain.has_null else np.zeros(len(low), dtype=bool)
        return np.asarray(inside | mixed[:, None])
    if domain.as_set:
        kept = class_of_row >= 0
        inside = np.zeros((classes, domain.size), dtype=bool)
        inside[class_of_row[kept], column.codes[kept]] = True
        return inside
    node = domain.hierarchy.common_ancestor(low, high)
    return np.asarray((codes >= domain.hierarchy.start[node][:, None]) & (codes < domain.hierarchy.stop[node][:, None]))
