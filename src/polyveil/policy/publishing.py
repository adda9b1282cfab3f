"""How a sensitive number is published: rounded, or as the interval it lies in.

A number that nobody else has, such as a salary to the cent, points to a person by itself. It is made coarser before
anything else is computed, so that every guarantee, figure and check is about the numbers that readers see.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, field_validator, model_validator

from polyveil.policy.broken import BrokenRule
from polyveil.policy.rules import interval_label, rising_edges
from polyveil.policy.scalars import Number, number_label

Edge = Annotated[float, WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": ["-inf", "inf"]}]})]
"""JSON has no infinite numbers, so they are written as words."""


class Publish(BaseModel):
    """Either `round: 100`, to the nearest multiple, or `intervals: [0, 1000, 5000, inf]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    round: Number | None = Field(default=None, gt=0, description="publish the nearest multiple of this number")
    intervals: tuple[Edge, ...] | None = Field(default=None, description="publish the interval; a rising list of edges")

    @field_validator("round", mode="before")
    @classmethod
    def _positive(cls, value: Any) -> Any:
        if isinstance(value, int | float) and value <= 0:
            raise BrokenRule(f"round must be more than 0, not {value}", "Write publish: {round: 100}")
        return value

    @field_validator("intervals", mode="before")
    @classmethod
    def _rising(cls, value: Any) -> Any:
        return None if value is None else tuple(rising_edges(value))

    @model_validator(mode="after")
    def _one_of_them(self) -> Publish:
        if (self.round is None) == (self.intervals is None):
            raise BrokenRule(
                "publish needs either round or intervals",
                "Write publish: {round: 100} or publish: {intervals: [0, 1000, 5000, inf]}",
            )
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """The intervals in their order, as they are published."""
        return tuple(_label(self.intervals, at) for at in range(len(self.intervals) - 1)) if self.intervals else ()

    def of(self, value: float) -> str | None:
        """What is published of a number, as text; None if it lies outside the intervals."""
        if self.intervals is not None:
            if not self.intervals[0] <= value <= self.intervals[-1]:
                return None
            return _label(self.intervals, min(bisect_right(self.intervals, value), len(self.intervals) - 1) - 1)
        step = Fraction(repr(self.round))
        # Exact arithmetic on the decimals as written: multiples of 0.1 are what 0.1, 0.2, 0.3 are written as.
        multiple = float(round(Fraction(repr(value)) / step) * step)
        return number_label(multiple or 0.0)

    def is_published(self, label: str) -> bool:
        """Whether a value, as text, is one that this rule publishes."""
        if self.intervals is not None:
            return label in self.labels
        try:
            return self.of(float(label)) == label
        except (ValueError, OverflowError):
            return False


def _label(edges: Sequence[float], at: int) -> str:
    low, high = list(pairwise(edges))[at]
    return interval_label(low, high, at == len(edges) - 2)
