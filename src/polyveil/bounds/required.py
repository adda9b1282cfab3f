"""What every class of a release must have, as far as a bound of the loss uses it: rows, values, and closeness.

Guarantees that are not used here can only raise the loss, so leaving them out keeps the bound valid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyveil.models import TOLERANCE, Attribute, Model
from polyveil.models.constraints import Closeness, Constraint, MinDistinct, MinEntropy, MinSize, Recursive, ShareCap

LARGEST = 2_000
"""Class sizes tried for closeness."""
MOST_RANGES = 5_000
"""Ranges, over all constraints, that are looked at for each of them."""


@dataclass(frozen=True, eq=False)
class Required:
    """`size` rows in every class - people, if rows are about people with several - and constraints, closeness apart."""

    size: int
    constraints: tuple[Constraint, ...]
    closeness: tuple[Closeness, ...]


def required_of(
    models: Sequence[Model], attributes: Mapping[str, Attribute], *, in_people: bool, left_out: float = 0.0
) -> Required:
    """What the models ask of every class, if at most a share `left_out` of the rows is left out."""
    asked = [constraint for model in models for constraint in model.constraints(attributes)]
    if left_out > 0.0:
        asked = [surely for each in asked if (surely := _against_the_rest(each, left_out)) is not None]
    close = tuple(each for each in asked if isinstance(each, Closeness))
    if in_people:  # other guarantees also count the rows of one person
        sizes = [each.rows for each in asked if isinstance(each, MinSize)]
    else:
        sizes = [*(_least_rows(each) for each in asked), _least_close(close)]
    return Required(max([1, *sizes]), tuple(asked), close)


def _against_the_rest(asked: Constraint, left_out: float) -> Constraint | None:
    """What is left of a constraint if the whole table is taken to be the rows released, whichever these are."""
    match asked:
        case Closeness(limit=limit):
            return replace(asked, limit=limit + left_out)
        case ShareCap(cap=cap):
            return replace(asked, cap=cap / max(1.0 - left_out, 1e-9))
        case MinSize() | MinDistinct() | MinEntropy() | Recursive():
            return asked
        case _:
            return None


def _least_rows(asked: Constraint) -> int:
    """No class that keeps the constraint has fewer rows."""
    match asked:
        case MinSize(rows=rows):
            return rows
        case MinDistinct(values=values):
            return values
        case MinEntropy(nats=nats):
            return math.ceil(math.exp(nats) - 1e-6)
        case Recursive(l=l):
            return l
        case ShareCap(cap=cap):
            return math.ceil(1.0 / max(float(np.max(cap, initial=0.0)), 1e-6) - 1e-6)
        case _:
            return 1


def _least_close(close: Sequence[Closeness]) -> int:
    """The least number of rows whose whole counts can be near enough: every range is rounded on its own."""
    upto = np.cumsum([len(each.weight) for each in close])
    few = [each for each, ranges in zip(close, upto, strict=True) if ranges <= MOST_RANGES]
    for rows in range(1, LARGEST + 1):
        if all(_rounded(each, rows) <= each.limit + TOLERANCE for each in few):
            return rows
    return LARGEST + 1


def _rounded(asked: Closeness, rows: int) -> float:
    upto = np.append(0.0, np.cumsum(asked.whole)) / max(int(asked.whole.sum()), 1)
    wanted = rows * (upto[asked.stop] - upto[asked.start])
    return float(asked.weight @ np.abs(np.rint(wanted) - wanted)) / rows
