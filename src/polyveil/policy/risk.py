"""Re-identification risk as a requirement: how likely an attacker may find a person, at most or on average.

The attackers are those of El Emam & Dankar (2008). The prosecutor knows that a person is in the release, and finds one
of its n rows with a chance of 1/n. The journalist and the marketer do not know who is in it: they look for people of a
population of which the release is a part, the journalist for anybody, the marketer for everybody.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from polyveil.policy.broken import BrokenRule
from polyveil.policy.scalars import Number, Text, Whole

Attacker = Literal["prosecutor", "journalist", "marketer"]
_ROUNDING = 1e-9
PUBLISHED_TABLE = "population"
"""What a release says instead of the name of the population's file."""


class Population(BaseModel):
    """The population that a table is a sample of."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fraction: Number | None = Field(
        default=None, gt=0, le=1, description="share of the population that the table has, drawn by chance"
    )
    table: Text | None = Field(
        default=None, description="file with one row per person of the population, who are counted"
    )

    weights: bool | None = Field(
        default=None, description="true: the column with the role weight says how many people a row stands for"
    )

    @model_validator(mode="after")
    def _one_of_three(self) -> Population:
        if [self.fraction is None, self.table is None, not self.weights].count(False) != 1:
            rule = "a population is a fraction, a table or given by weights, one of the three"
            remedy = "Write population: {fraction: 0.01}, population: {table: FILE} or population: {weights: true}"
            raise BrokenRule(rule, remedy)
        return self


class Risk(BaseModel):
    """How likely an attacker may find a person: at most (`max`) and on average over the rows (`average`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max: Number | None = Field(default=None, gt=0, le=1, description="greatest chance of finding any one person")
    average: Number | None = Field(
        default=None, gt=0, le=1, description="greatest mean chance of finding the person of a row"
    )
    strict_k: Whole | None = Field(
        default=None, ge=1, description="least number of people of every group, if only the mean is limited"
    )
    unique_in_population: Number | None = Field(
        default=None, gt=0, le=1, description="greatest estimated share of the population that is unique"
    )
    attacker: Attacker = Field(
        default="prosecutor",
        description="prosecutor: knows who is in the table; journalist, marketer: know the population only",
    )
    population: Population | None = Field(
        default=None,
        description="{fraction: 0.01}: the table is a random sample of this share; {table: FILE}: all people; "
        "{weights: true}: by sampling weights",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Risk:
        for rule, remedy in self._faults():
            raise BrokenRule(rule, remedy)
        return self

    def _faults(self) -> Iterator[tuple[str, str]]:
        if self.max is None and self.average is None and self.unique_in_population is None:
            yield "risk limits nothing", "Write risk: {max: 0.09} or risk: {average: 0.09, strict_k: 3}"
        if self.strict_k is not None and self.average is None:
            yield "strict_k goes with average", "Add average, or write privacy: {k: ...} instead"
        if self.unique_in_population is not None and self.population is None:
            rule = "who is unique in a population depends on its size, and no population is given"
            yield rule, "Add population: {fraction: ...}"
        if (self.by_table or self.by_weights) and (self.average is not None or self.unique_in_population is not None):
            rule = f"{'a table of the population' if self.by_table else 'a weight'} limits the greatest risk only"
            yield rule, "Use max, or population: {fraction: ...}"
        if self.attacker == "marketer" and self.average is None:
            yield "the marketer's risk is a mean", "Write average instead of max, or use attacker: journalist"
        if self.attacker == "marketer" and self.max is not None:
            yield "the marketer has no greatest risk", "Remove max, or use attacker: journalist"
        if self.attacker != "prosecutor" and self.population is None:
            rule = f"the {self.attacker} looks for people of a population, and none is given"
            yield rule, "Add population: {fraction: ...}, or use attacker: prosecutor"
        unused = self.attacker == "prosecutor" and self.unique_in_population is None
        if unused and self.population is not None:
            rule = "population is not used: the prosecutor knows who is in the table"
            yield rule, "Remove population, or use attacker: journalist"

    @property
    def fraction(self) -> float | None:
        """The share of the population that the table has, where it is given."""
        return None if self.population is None else self.population.fraction

    @property
    def by_table(self) -> bool:
        """Whether people are counted in a table of the population."""
        return self.population is not None and self.population.table is not None

    @property
    def by_weights(self) -> bool:
        """Whether sampling weights say how many people of the population a row stands for."""
        return self.population is not None and bool(self.population.weights)

    @property
    def least_group(self) -> int:
        """The least number of people of a group that these limits need, as far as the prosecutor is concerned."""
        by_max = least_for(self.max) if self.max is not None and self.attacker == "prosecutor" else 1
        return max(by_max, self.strict_k or 1)


def least_for(chance: float) -> int:
    """The least number of people among whom one is found with at most this chance."""
    return math.ceil(1.0 / chance - _ROUNDING)
