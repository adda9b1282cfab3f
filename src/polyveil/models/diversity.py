"""Models that ask a class for several sensitive values: the kinds of l-diversity, and p-sensitivity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.base import TOLERANCE, Direction, FormField, Model, SensitiveModel, asked_value
from polyveil.models.constraints import Constraint, MinDistinct, MinEntropy, Recursive, ShareCap
from polyveil.models.statistics import Attribute, Block
from polyveil.models.units import Unit
from polyveil.policy.schema import Column, Privacy

_SIMILAR = "the values may differ but be similar in meaning; a group may still be very different from the whole table"
_HEADING = "Several values in every group (l)"


class Diversity(SensitiveModel):
    """A meaning of `l`; `privacy.diversity` chooses one of them by its `kind`."""

    parameter = "l"
    summary: ClassVar[str | None] = "l"
    direction: ClassVar[Direction] = "at least"
    monotone = True
    unit: ClassVar[Unit] = "having"
    kind: ClassVar[str]
    form = FormField(_HEADING, low=2, high=100, step=1, start=2)

    @classmethod
    def for_column(cls, name: str, column: Column, privacy: Privacy) -> Model | None:
        asked = asked_value("l", column, privacy)
        chosen = asked is not None and not isinstance(asked, dict) and privacy.diversity == cls.kind
        return cls.of_privacy(asked, name, privacy) if chosen else None

    @classmethod
    def of_privacy(cls, l: int, name: str, privacy: Privacy) -> Self:  # noqa: E741
        """With this l and the other settings of the policy."""
        return cls(l, name)


class DistinctDiversity(Diversity):
    """Every class has at least l different values."""

    key = "distinct-l-diversity"
    kind = "distinct"
    title = "distinct l-diversity"
    source = "Machanavajjhala et al. 2006"
    helps_against = "groups in which everybody has the same sensitive value"
    leaves_open = "almost all rows of a group may have the same value, so that guessing it is almost always right"

    def measure(self, block: Block) -> FloatArray:
        return block.distinct.astype(np.float64)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return (MinDistinct(self.attribute, int(self.threshold)),)

    def statement(self) -> str:
        return f"every group has at least {self.threshold:g} different values of {self.attribute}"


class PSensitivity(DistinctDiversity):
    """Every class has at least p different values; with k-anonymity this is p-sensitive k-anonymity."""

    key = "p-sensitivity"
    parameter = "p"
    summary = None
    title = "p-sensitive k-anonymity"
    source = "Truta & Vinay 2006"
    form = FormField("Several different values (p)", low=2, high=100, step=1, start=2)

    @classmethod
    def for_column(cls, name: str, column: Column, privacy: Privacy) -> Model | None:
        return None if privacy.p is None else cls(privacy.p, name)


class FrequencyDiversity(Diversity):
    """c(v) / n <= 1/l for every value: the l-diversity of han2013 (Definition 2) and xiao2020 (Definition 7)."""

    key = "frequency-l-diversity"
    kind = "frequency"
    title = "frequency l-diversity"
    source = "Xiao & Tao 2006; Yang et al. 2008"
    helps_against = "guessing a person's sensitive value: no guess is right with more than 1/l certainty"
    leaves_open = _SIMILAR

    def measure(self, block: Block) -> FloatArray:
        return block.sizes / block.greatest(block.count)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        size = attributes[self.attribute].size
        return (ShareCap(self.attribute, np.full(size, 1.0 / (self.threshold - TOLERANCE))),)

    def statement(self) -> str:
        return f"no value of {self.attribute} makes up more than 1/{self.threshold:g} of any group"


class EntropyDiversity(Diversity):
    """exp(entropy) >= l: as uncertain as l equally likely values."""

    key = "entropy-l-diversity"
    unit = "sharing"
    kind = "entropy"
    title = "entropy l-diversity"
    source = "Machanavajjhala et al. 2006"
    helps_against = "guessing a person's sensitive value, also by someone who can rule out some values"
    leaves_open = _SIMILAR + "; cannot be reached if one value is very common in the whole table"

    def measure(self, block: Block) -> FloatArray:
        return np.exp(-block.sum(block.share * np.log(block.share)))

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return (MinEntropy(self.attribute, float(np.log(self.threshold - TOLERANCE))),)

    def statement(self) -> str:
        return f"in every group, {self.attribute} is at least as uncertain as {self.threshold:g} equally likely values"


class RecursiveDiversity(Diversity):
    """r1 < c * (r_l + r_(l+1) + ...), the counts of a class in falling order; measured is r1 / (r_l + ...)."""

    key = "recursive-l-diversity"
    kind = "recursive"
    title = "recursive (c,l)-diversity"
    source = "Machanavajjhala et al. 2006"
    helps_against = "guessing a person's sensitive value, also after l - 2 values have been ruled out"
    leaves_open = _SIMILAR
    direction = "below"

    def __init__(self, c: float, attribute: str, l: int = 2) -> None:  # noqa: E741
        super().__init__(c, attribute)
        self.l = l

    @classmethod
    def of_privacy(cls, l: int, name: str, privacy: Privacy) -> Self:  # noqa: E741
        return cls(privacy.c, name, l)

    @classmethod
    def probe(cls, about: Attribute) -> Self | None:
        """Measured at l = 2."""
        return cls(2.0, about.name, 2)

    def measure(self, block: Block) -> FloatArray:
        order = np.lexsort((-block.count, block.owner))
        count = block.count[order].astype(np.float64)
        rank = np.arange(len(count)) - block.begin[block.owner]
        tail = block.sum(np.where(rank >= self.l - 1, count, 0.0))
        enough = tail > 0
        return np.where(enough, block.greatest(block.count) / np.where(enough, tail, 1.0), np.inf)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return (Recursive(self.attribute, self.threshold, self.l),)

    def statement(self) -> str:
        return (
            f"in every group, the most common value of {self.attribute} has fewer than {self.threshold:g} times the "
            f"rows of the {ordinal(self.l)} most common and all rarer values together"
        )


class LevelDiversity(Diversity):
    """c(v) / n <= 1 / l(level of v): each value as hidden as its security level asks (Definition 10 of xiao2020).

    Measured is the least of n / (c(v) * l(level of v)), so 1 is just enough. A level without an l of its own takes that
    of the next higher level given, or of the highest: never less protection than was asked for.
    """

    key = "level-l-diversity"
    kind = "by level"
    title = "l-diversity by security level"
    source = "Xiao & Li 2020 (L_sl-diversity)"
    helps_against = "guessing a person's sensitive value; values of a higher security level are harder to guess"
    leaves_open = _SIMILAR + "; values of level 0 are hardly protected"

    def __init__(self, per_level: Mapping[int, int], attribute: str) -> None:
        super().__init__(1.0, attribute)
        self.per_level = dict(sorted(per_level.items()))

    @classmethod
    def for_column(cls, name: str, column: Column, privacy: Privacy) -> Model | None:
        asked = asked_value("l", column, privacy)
        return cls(asked, name) if isinstance(asked, dict) else None

    @classmethod
    def probe(cls, about: Attribute) -> Self | None:
        """Only where values have different security levels."""
        levels = {int(level): 1 for level in np.unique(about.levels)}
        return cls(levels, about.name) if set(levels) != {1} else None

    def asked(self, levels: IntArray) -> FloatArray:
        """The l each value needs."""
        given = np.array(list(self.per_level), dtype=np.int64)
        wanted = np.array(list(self.per_level.values()), dtype=np.float64)
        return np.asarray(wanted[np.minimum(np.searchsorted(given, levels), len(given) - 1)])

    def measure(self, block: Block) -> FloatArray:
        return block.sizes / block.greatest(block.count * self.asked(block.attribute.levels)[block.code])

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        asked = self.asked(attributes[self.attribute].levels)
        return (ShareCap(self.attribute, 1.0 / (asked * (self.threshold - TOLERANCE))),)

    def statement(self) -> str:
        parts = ", ".join(f"1/{least} at security level {level}" for level, least in self.per_level.items())
        return f"no value of {self.attribute} makes up more of any group than {parts}"


def ordinal(number: int) -> str:
    """`2nd`, `3rd` and so on."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"
