"""Models that ask a class for several sensitive values: the kinds of l-diversity, and p-sensitivity."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.base import TOLERANCE, SensitiveModel
from polyveil.models.constraints import Constraint, MinDistinct, MinEntropy, Recursive, ShareCap
from polyveil.models.statistics import Attribute, Block

_SIMILAR = "the values may be different but close in meaning, and a class may still be far from the whole table"


class DistinctDiversity(SensitiveModel):
    """Every class has at least l different values."""

    key = "distinct-l-diversity"
    parameter = "l"
    title = "distinct l-diversity"
    source = "Machanavajjhala et al. 2006"
    helps_against = "classes in which everybody has the same sensitive value"
    leaves_open = "one value may still fill almost the whole class, so a guess is almost always right"
    direction = "at least"
    monotone = True

    def measure(self, block: Block) -> FloatArray:
        return block.distinct.astype(np.float64)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return (MinDistinct(self.attribute, int(self.threshold)),)

    def statement(self) -> str:
        return f"every class has at least {self.threshold:g} different values of {self.attribute}"


class PSensitivity(DistinctDiversity):
    """Every class has at least p different values; with k-anonymity this is p-sensitive k-anonymity."""

    key = "p-sensitivity"
    parameter = "p"
    title = "p-sensitive k-anonymity"
    source = "Truta & Vinay 2006"


class FrequencyDiversity(SensitiveModel):
    """c(v) / n <= 1/l for every value: the l-diversity of han2013 (Definition 2) and xiao2020 (Definition 7)."""

    key = "frequency-l-diversity"
    parameter = "l"
    title = "frequency l-diversity"
    source = "Xiao & Tao 2006; Yang et al. 2008"
    helps_against = "guessing a person's sensitive value: no guess is right with more than 1/l certainty"
    leaves_open = _SIMILAR
    direction = "at least"
    monotone = True

    def measure(self, block: Block) -> FloatArray:
        return block.sizes / block.greatest(block.count)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        size = attributes[self.attribute].size
        return (ShareCap(self.attribute, np.full(size, 1.0 / (self.threshold - TOLERANCE))),)

    def statement(self) -> str:
        return f"no value of {self.attribute} makes up more than 1/{self.threshold:g} of any class"


class EntropyDiversity(SensitiveModel):
    """exp(entropy) >= l: as uncertain as l equally likely values."""

    key = "entropy-l-diversity"
    parameter = "l"
    title = "entropy l-diversity"
    source = "Machanavajjhala et al. 2006"
    helps_against = "guessing a person's sensitive value, also for an adversary who can rule some values out"
    leaves_open = _SIMILAR + "; out of reach where one value is very common in the whole table"
    direction = "at least"
    monotone = True

    def measure(self, block: Block) -> FloatArray:
        return np.exp(-block.sum(block.share * np.log(block.share)))

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return (MinEntropy(self.attribute, float(np.log(self.threshold - TOLERANCE))),)

    def statement(self) -> str:
        return f"{self.attribute} is as uncertain in every class as {self.threshold:g} equally likely values"


class RecursiveDiversity(SensitiveModel):
    """r1 < c * (r_l + r_(l+1) + ...), the counts of a class in falling order; measured is r1 / (r_l + ...)."""

    key = "recursive-l-diversity"
    parameter = "l"
    title = "recursive (c,l)-diversity"
    source = "Machanavajjhala et al. 2006"
    helps_against = "guessing a person's sensitive value, also after l - 2 values have been ruled out"
    leaves_open = _SIMILAR
    direction = "below"
    monotone = True

    def __init__(self, c: float, attribute: str, l: int = 2) -> None:  # noqa: E741
        super().__init__(c, attribute)
        self.l = l

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
            f"in every class the most common value of {self.attribute} is rarer than {self.threshold:g} times "
            f"the values from the {_ordinal(self.l)} most common on"
        )


class LevelDiversity(SensitiveModel):
    """c(v) / n <= 1 / l(level of v): each value as hidden as its security level asks (Definition 10 of xiao2020).

    Measured is the least of n / (c(v) * l(level of v)), so 1 is just enough. A level without an l of its own takes that
    of the next higher level given, or of the highest: never less protection than was asked for.
    """

    key = "level-l-diversity"
    parameter = "l"
    title = "l-diversity by security level"
    source = "Xiao & Li 2020 (L_sl-diversity)"
    helps_against = "guessing a person's sensitive value, harder for the values that harm more"
    leaves_open = _SIMILAR + "; values of level 0 are hardly hidden at all"
    direction = "at least"
    monotone = True

    def __init__(self, per_level: Mapping[int, int], attribute: str) -> None:
        super().__init__(1.0, attribute)
        self.per_level = dict(sorted(per_level.items()))

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
        parts = ", ".join(f"1/{least} at level {level}" for level, least in self.per_level.items())
        return f"no value of {self.attribute} makes up more of any class than {parts}"


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"
