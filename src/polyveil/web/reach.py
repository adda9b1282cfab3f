"""What a table supports: the strictest thresholds that a release of it could keep, and where one stops asking.

The whole table as one class is the most a method can join, so what it fails cannot be reached without leaving rows out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyveil.advice.overlap import advise_t
from polyveil.arrays import IntArray
from polyveil.models import Attribute, TCloseness, attributes_of, from_classes
from polyveil.policy import from_dict
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import Table

_GUARANTEES = ("t", "l", "alpha", "beta", "delta")
_VALUES = 1000
_DRAWS = 50


@dataclass(frozen=True)
class Support:
    """One sensitive column. Each `l` is the largest the whole table keeps; `alpha` the smallest; `t` the distance of
    the farthest class there could be, beyond which a t asks for nothing."""

    values: int
    distance: str
    frequency_l: int
    distinct_l: int
    entropy_l: int
    alpha: float
    t: float

    def most_l(self, diversity: str) -> int:
        """The largest l of a kind that is within reach."""
        return {"distinct": self.distinct_l, "entropy": self.entropy_l, "recursive": self.distinct_l}.get(
            diversity, self.frequency_l
        )


@dataclass(frozen=True)
class Reach:
    """What the table supports, column by column."""

    rows: int
    columns: Mapping[str, Support]
    advised_t: float | None = None
    """The t that the overlap of the sensitive columns suggests (roy2014); None for fewer than two."""
    advised_between: tuple[float, float] | None = None

    def most_l(self, diversity: str) -> int:
        """The largest l that all sensitive columns reach."""
        return min((column.most_l(diversity) for column in self.columns.values()), default=1)


def reach(table: Table, draft: Mapping[str, Any], folder: Any) -> Reach:
    """Measure the table with the draft's columns; what the draft asks for does not matter. Raises PolicyError."""
    columns = {
        name: {key: value for key, value in column.items() if key not in _GUARANTEES}
        for name, column in draft["columns"].items()
    }
    asked = {"columns": columns, "privacy": {"k": 2}, "missing": draft.get("missing")}
    coded = encode(bind(from_dict(asked, folder=folder), table))
    attributes = attributes_of(coded)
    advice = advise_t(coded, draws=_DRAWS)
    return Reach(
        coded.rows,
        {column.name: _support(attributes[column.name], column.distance) for column in coded.sensitive},
        None if advice is None else advice.t,
        None if advice is None else advice.interval,
    )


def _support(about: Attribute, distance: str) -> Support:
    counts = about.whole[about.whole > 0]
    share = counts / counts.sum()
    return Support(
        values=len(counts),
        distance=distance,
        frequency_l=int(counts.sum() // counts.max()),
        distinct_l=len(counts),
        entropy_l=math.floor(math.exp(float(-(share * np.log(share)).sum())) + 1e-9),
        alpha=float(share.max()),
        t=_farthest(about, distance),
    )


def _farthest(about: Attribute, distance: str) -> float:
    """A class of one value is as far as a class can be."""
    values: IntArray = np.flatnonzero(about.whole > 0)
    if distance == "ordered":
        # The lowest and the highest value; "missing" comes after it, where there is any.
        values = np.unique(np.concatenate([values[:1], values[-2:]]))
    elif len(values) > _VALUES:
        values = values[np.argsort(about.whole[values], kind="stable")[:_VALUES]]
    classes = np.arange(len(values), dtype=np.int64)
    statistics = from_classes(classes, {about.name: values}, {about.name: about})
    measured = TCloseness(0.0, about.name).measure_all(statistics)
    return float(measured[np.isfinite(measured)].max(initial=0.0))
