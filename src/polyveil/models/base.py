"""What a privacy model is: it judges class statistics and knows nothing of methods, files or engines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from polyveil.models.constraints import Constraint
from polyveil.models.statistics import Attribute, Block, ClassStatistics
from polyveil.policy.hierarchy import FloatArray

TOLERANCE = 1e-9
"""Slack for rounding in every comparison: a class exactly at its threshold holds."""

Outcome = Literal["holds", "fails", "not checked"]


@dataclass(frozen=True)
class Verdict:
    """One model's judgement of all classes; "not checked" is not a pass."""

    model: str
    attribute: str | None
    outcome: Outcome
    threshold: float
    value: float
    worst_class: int | None
    failing_classes: int
    statement: str
    reason: str = ""

    @property
    def holds(self) -> bool:
        return self.outcome == "holds"


class Model(ABC):
    """A guarantee with its threshold, about one sensitive attribute or (`attribute` None) about the classes alone.

    A policy with several sensitive attributes makes one model per attribute; all must hold (Definition 4 of wang2018).
    """

    key: ClassVar[str]
    title: ClassVar[str]
    helps_against: ClassVar[str]
    leaves_open: ClassVar[str]
    direction: ClassVar[Literal["at least", "at most"]]
    monotone: ClassVar[bool]
    """Merging two classes that hold gives a class that holds."""

    def __init__(self, threshold: float, attribute: str | None = None) -> None:
        self.threshold = threshold
        self.attribute = attribute

    @abstractmethod
    def measure(self, block: Block) -> FloatArray:
        """The measured value of each class of the block, comparable with the threshold."""

    @abstractmethod
    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        """The same demand in the primitive forms that fast kernels check."""

    @abstractmethod
    def statement(self) -> str:
        """The demand in plain words, for example "every class has at least 5 rows"."""

    def measure_all(self, statistics: ClassStatistics) -> FloatArray:
        """The measured value of every class."""
        if statistics.classes == 0:
            return np.zeros(0)
        return np.concatenate([self.measure(block) for block in statistics.blocks(self.attribute or "")])

    def passes(self, values: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which measured values keep the threshold."""
        if self.direction == "at least":
            return np.asarray(values >= self.threshold - TOLERANCE)
        return np.asarray(values <= self.threshold + TOLERANCE)

    def worst(self, values: FloatArray) -> int:
        """The class farthest on the wrong side."""
        return int(np.argmin(values) if self.direction == "at least" else np.argmax(values))

    def judge(self, statistics: ClassStatistics) -> Verdict:
        """Judge every class. A table without classes holds nothing: it is not checked."""
        values = self.measure_all(statistics)
        if len(values) == 0:
            return Verdict(
                self.key,
                self.attribute,
                "not checked",
                self.threshold,
                float("nan"),
                None,
                0,
                self.statement(),
                "there is no class to judge",
            )
        failing = int(np.count_nonzero(~self.passes(values)))
        worst = self.worst(values)
        outcome: Outcome = "holds" if failing == 0 else "fails"
        return Verdict(
            self.key, self.attribute, outcome, self.threshold, float(values[worst]), worst, failing, self.statement()
        )
