"""What a privacy model is: it judges class statistics and knows nothing of methods, files or engines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from polyveil.arrays import BoolArray, FloatArray
from polyveil.models.constraints import Constraint, OnlyByModel
from polyveil.models.statistics import Attribute, Block, ClassStatistics
from polyveil.models.units import Unit
from polyveil.policy.guarantees import PolicyField
from polyveil.policy.schema import Column, Policy, Privacy
from polyveil.results import Outcome

TOLERANCE = 1e-9
"""Slack for rounding in every comparison: a class exactly at its threshold holds."""

Direction = Literal["at least", "at most", "below"]


@dataclass(frozen=True)
class Verdict:
    """One model's judgement of all classes; "not checked" is not a pass.

    `model` is the model's key, `parameter` the policy key that asked for it (k, l, t ...); `value` is the measured
    value of the worst class, comparable with `threshold`.
    """

    model: str
    attribute: str | None
    outcome: Outcome
    threshold: float
    value: float
    worst_class: int | None
    failing_classes: int
    statement: str
    reason: str = ""
    parameter: str = ""

    @property
    def holds(self) -> bool:
        return self.outcome == "holds"


@dataclass(frozen=True)
class FormField:
    """The control of a guarantee in a form: its heading, the ends of its slider, the step and the first value.

    What a table supports narrows the ends.
    """

    heading: str
    low: float
    high: float
    step: float
    start: float


class Model(ABC):
    """A guarantee with its threshold, about one sensitive attribute or (`attribute` None) about the classes alone.

    A policy with several sensitive attributes makes one model per attribute; all must hold (Definition 4 of wang2018).
    """

    key: ClassVar[str]
    parameter: ClassVar[str]
    """The policy key that asks for this model."""
    field: ClassVar[PolicyField | None] = None
    """That key's field, if the policy does not have it by itself: a model from outside the package brings its own."""
    form: ClassVar[FormField | None] = None
    """Its control in the workbench; None: it has a place of its own there, or none."""
    summary: ClassVar[str | None] = None
    """The part of the manifest's `privacy` that shows the measured value of each attribute."""
    title: ClassVar[str]
    source: ClassVar[str]
    """The publication that defines it."""
    helps_against: ClassVar[str]
    leaves_open: ClassVar[str]
    direction: ClassVar[Direction]
    monotone: ClassVar[bool]
    """Merging two classes that hold gives a class that holds."""
    per_group: ClassVar[bool] = True
    """Whether every class is judged by itself; False: all together, and the measured value is the same in each."""
    weighted: ClassVar[bool] = False
    """Whether it is about sampling weights, which only rows that are released have."""
    unit: ClassVar[Unit] = "sharing"
    """How people with several rows count."""

    def __init__(self, threshold: float, attribute: str | None = None) -> None:
        self.threshold = threshold
        self.attribute = attribute

    @abstractmethod
    def measure(self, block: Block) -> FloatArray:
        """The measured value of each class, comparable with the threshold."""

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        """The same demand in the primitive forms that fast kernels check, the tolerance already granted.

        A model that has no such form leaves this out: methods that need one then refuse it by name.
        """
        return (OnlyByModel(self.title),)

    @abstractmethod
    def statement(self) -> str:
        """The demand in plain words, for example "every group has at least 5 rows"."""

    def statement_in_people(self) -> str:
        """The same where people are counted, who may have several rows."""
        return self.statement()

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        """The models that a policy asks for once for the whole table."""
        return ()

    @classmethod
    def for_column(cls, name: str, column: Column, privacy: Privacy) -> Model | None:
        """The model that a policy asks for of one sensitive column, if it does."""
        return None

    @classmethod
    def probes(cls, attributes: Mapping[str, Attribute]) -> Sequence[Model]:
        """What `check` measures where nothing is asked for; the thresholds do not matter."""
        return ()

    def measure_all(self, statistics: ClassStatistics) -> FloatArray:
        """The measured value of every class: the worst of all ways of counting."""
        found = [self.measure(block) for block in statistics.blocks(self.attribute, self.unit)]
        return self.worse(found)

    def worse(self, found: Sequence[FloatArray]) -> FloatArray:
        """Class by class, the value farthest on the wrong side."""
        if len(found) == 1:
            return found[0]
        combined: FloatArray = (np.minimum if self.direction == "at least" else np.maximum).reduce(found)
        return combined

    def passes(self, values: FloatArray) -> BoolArray:
        """Which measured values keep the threshold. "below" is strict: there the tie is a breach, not rounding."""
        if self.direction == "at least":
            return np.asarray(values >= self.threshold - TOLERANCE)
        if self.direction == "below":
            return np.asarray(values < self.threshold)
        return np.asarray(values <= self.threshold + TOLERANCE)

    def worst(self, values: FloatArray) -> int:
        """The class farthest on the wrong side."""
        return int(np.argmin(values) if self.direction == "at least" else np.argmax(values))

    def judge(self, statistics: ClassStatistics) -> Verdict:
        """Judge every class. A table without classes holds nothing: it is not checked."""
        values = self.measure_all(statistics)
        statement = self.statement_in_people() if statistics.in_people else self.statement()
        if len(values) == 0:
            return self._verdict(statement, "not checked", float("nan"), None, 0, "there is no group to judge")
        failing = int(np.count_nonzero(~self.passes(values)))
        worst = self.worst(values)
        outcome: Outcome = "fails" if failing else "holds"
        if not self.per_group:
            return self._verdict(statement, outcome, float(values[worst]), None, 0)
        return self._verdict(statement, outcome, float(values[worst]), worst, failing)

    def _verdict(
        self, statement: str, outcome: Outcome, value: float, worst: int | None, failing: int, reason: str = ""
    ) -> Verdict:
        return Verdict(
            model=self.key,
            attribute=self.attribute,
            outcome=outcome,
            threshold=self.threshold,
            value=value,
            worst_class=worst,
            failing_classes=failing,
            statement=statement,
            reason=reason,
            parameter=self.parameter,
        )

    @property
    def place(self) -> str:
        """Where a policy asks for it."""
        return f"columns.{self.attribute}.{self.parameter}" if self.attribute else f"privacy.{self.parameter}"

    def __repr__(self) -> str:
        about = f", {self.attribute!r}" if self.attribute else ""
        return f"{type(self).__name__}({self.threshold:g}{about})"


class SensitiveModel(Model):
    """A model about the values of one sensitive attribute."""

    attribute: str

    def __init__(self, threshold: float, attribute: str) -> None:
        super().__init__(threshold, attribute)

    @classmethod
    def for_column(cls, name: str, column: Column, privacy: Privacy) -> Model | None:
        threshold = asked_value(cls.parameter, column, privacy)
        return None if threshold is None else cls(threshold, name)

    @classmethod
    def probe(cls, about: Attribute) -> Self | None:
        """What `check` measures of one attribute."""
        return cls(cls.form.start if cls.form else 1.0, about.name)

    @classmethod
    def probes(cls, attributes: Mapping[str, Attribute]) -> Sequence[Model]:
        found = [cls.probe(about) for about in attributes.values() if type(about) is Attribute]
        return [model for model in found if model is not None]


def asked_value(key: str, column: Column, privacy: Privacy) -> Any:
    """What a policy asks of one column: the column's own value, or that of `privacy`."""
    own = getattr(column, key, None)
    return getattr(privacy, key, None) if own is None else own
