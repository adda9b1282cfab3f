"""What a table supports: the strictest thresholds that a release of it could keep, and where one stops asking.

The whole table as one class is the most a method can join, so what it fails cannot be reached without leaving rows out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polyveil.advice.overlap import advise_t, sensitivity
from polyveil.arrays import FloatArray, IntArray
from polyveil.models import MODELS, Attribute, FormField, Model, TCloseness, attributes_of, from_classes, one_class
from polyveil.policy import from_dict
from polyveil.policy.guarantees import guarantee_keys
from polyveil.policy.schema import Column
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import Table

_VALUES = 1000
MOST_ADVISED = 12
"""Sensitive columns whose overlap is measured while a person waits: every pair counts, so that many take minutes."""


@dataclass(frozen=True)
class Bounds:
    """The ends of a slider, its step, and where it starts; `most` lets the number beside it go further."""

    low: float
    high: float
    step: float
    start: float
    most: float | None = None


@dataclass(frozen=True)
class Support:
    """One sensitive column. Each `l` is the largest the whole table keeps; `alpha` the smallest; `t` the distance of
    the farthest class there could be, beyond which a t has no effect."""

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
    attributes: Mapping[str, Attribute]
    advised_t: float | None = None
    """The t that the overlap of the sensitive columns suggests (roy2014); None for fewer than two, or for many."""
    advised_between: tuple[float, float] | None = None
    """The least and the greatest t of other ways to code and weigh the same values."""
    known: dict[type[Model], Bounds | None] = field(default_factory=dict, compare=False)
    """Bounds that were worked out already: with hundreds of columns they take seconds."""

    def most_l(self, diversity: str) -> int:
        """The largest l that all sensitive columns reach."""
        return min((column.most_l(diversity) for column in self.columns.values()), default=1)

    def bounds(self, kind: type[Model]) -> Bounds | None:
        """The slider of a guarantee: its form's, narrowed to what the table supports; None if nothing is left.

        The strict end is what the whole table as one group keeps, the other what the worst group there could be has.
        """
        if kind not in self.known:
            self.known[kind] = self._bounds(kind)
        return self.known[kind]

    def _bounds(self, kind: type[Model]) -> Bounds | None:
        form, probes = kind.form, kind.probes(self.attributes)
        if form is None or not probes:
            return None
        whole = one_class(self.attributes, self.rows)
        best = [float(model.measure_all(whole)[0]) for model in probes]
        if kind.direction == "at least":
            most = math.floor(min(best) / form.step + 1e-9) * form.step
            return None if most < form.low else _slider(form.low, min(form.high, most), form, most)
        low = max(form.low, _up(max(best), form.step))
        worst = [_worst(model, self.attributes[model.attribute]) for model in probes if model.attribute]
        return _slider(low, max(min(form.high, _up(max(worst), form.step)), low + form.step), form)


def reach(table: Table, draft: Mapping[str, Any], folder: Any) -> Reach:
    """Measure the table with the draft's columns; what the draft asks for does not matter. Raises PolicyError."""
    columns = {
        name: {key: value for key, value in column.items() if key not in guarantee_keys(Column)}
        for name, column in draft["columns"].items()
    }
    asked = {"columns": columns, "privacy": {"k": 2}, "missing": draft.get("missing")}
    coded = encode(bind(from_dict(asked, folder=folder, files="beside"), table))
    attributes = attributes_of(coded)
    few = len(coded.sensitive) <= MOST_ADVISED
    advice = advise_t(coded, draws=0) if few else None
    others = [t for _, t in sensitivity(coded)] if advice is not None else []
    found = Reach(
        coded.rows,
        {column.name: _support(attributes[column.name], column.distance) for column in coded.sensitive},
        attributes,
        None if advice is None else advice.t,
        (min(others), max(others)) if others else None,
    )
    for kind in MODELS.values():
        found.bounds(kind)
    return found


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


def _up(value: float, step: float) -> float:
    """The next multiple of the step; infinity stays what it is."""
    return round(math.ceil(value / step - 1e-9) * step, 6) if math.isfinite(value) else value


def _slider(low: float, high: float, form: FormField, most: float | None = None) -> Bounds:
    return Bounds(low, high, form.step, min(max(form.start, low), high), most)


def _farthest(about: Attribute, distance: str) -> float:
    """The greatest finite t that a group can have; a greater one has no effect."""
    values: IntArray = np.flatnonzero(about.whole > 0)
    if distance == "ordered":
        # The lowest and the highest value; "missing" comes after it, where there is any.
        values = np.unique(np.concatenate([values[:1], values[-2:]]))
    measured = _alone(TCloseness(0.0, about.name), about, values)
    return float(measured[np.isfinite(measured)].max(initial=0.0))


def _worst(model: Model, about: Attribute) -> float:
    """What the worst group that there could be has, which may be infinite."""
    return float(_alone(model, about, np.flatnonzero(about.whole > 0)).max(initial=0.0))


def _alone(model: Model, about: Attribute, values: IntArray) -> FloatArray:
    """What groups with a single value have, those of the rarest values if there are many: no group is worse."""
    if len(values) > _VALUES:
        values = values[np.argsort(about.whole[values], kind="stable")[:_VALUES]]
    classes = np.arange(len(values), dtype=np.int64)
    return model.measure_all(from_classes(classes, {about.name: values}, {about.name: about}))
