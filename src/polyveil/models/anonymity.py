"""Models of hiding in a crowd: k-anonymity, and (alpha,k)-anonymity's cap on any one value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polyveil.arrays import FloatArray
from polyveil.models.base import TOLERANCE, Model, SensitiveModel
from polyveil.models.constraints import Constraint, MinSize, ShareCap
from polyveil.models.statistics import Attribute, Block


class KAnonymity(Model):
    """Every class has at least k rows."""

    key = "k-anonymity"
    parameter = "k"
    title = "k-anonymity"
    source = "Sweeney 2002; Samarati 2001"
    helps_against = "finding a known person's row by linking quasi-identifiers with another table"
    leaves_open = "a class whose rows share a sensitive value tells that value without telling the row"
    direction = "at least"
    monotone = True

    def __init__(self, k: int) -> None:
        super().__init__(k)

    def measure(self, block: Block) -> FloatArray:
        return block.sizes.astype(np.float64)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return (MinSize(int(self.threshold)),)

    def statement(self) -> str:
        return f"every class has at least {self.threshold:g} rows"


class LinkedAnonymity(KAnonymity):
    """k where sensitive values stand in tables of their own: k rows of the quasi-identifier table look alike."""

    leaves_open = "rows that look alike may be in different groups, and a group tells which values its rows have"

    def statement(self) -> str:
        k = f"{self.threshold:g}"
        return f"at least {k} rows of the quasi-identifier table share every combination of quasi-identifiers"


class GroupAnonymity(KAnonymity):
    """k where quasi-identifiers are published as they are: a person's sensitive values hide among those of a group."""

    helps_against = "linking a known person with a sensitive value more closely than with a group"
    leaves_open = "a known person's row can be found, and that the person is in the table is plain to see"

    def statement(self) -> str:
        k = f"{self.threshold:g}"
        return (
            f"every group has at least {k} rows, so a person's sensitive values are hidden among those of {k} rows; "
            "the quasi-identifiers are published as they are, so this is not k-anonymity"
        )


class AlphaAnonymity(SensitiveModel):
    """No value has more than a share alpha of any class; with k-anonymity this is (alpha,k)-anonymity.

    Wong et al. name one value to protect; here every value is, which is their "general (alpha,k)-anonymity".
    """

    key = "alpha-k-anonymity"
    parameter = "alpha"
    title = "(alpha,k)-anonymity"
    source = "Wong, Li, Fu & Wang 2006"
    helps_against = "learning a person's sensitive value with more than alpha certainty from the class alone"
    leaves_open = "several close values (all of them cancers) may fill a class; a rare value may still become likely"
    direction = "at most"
    monotone = True

    def measure(self, block: Block) -> FloatArray:
        return block.greatest(block.share)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        size = attributes[self.attribute].size
        return (ShareCap(self.attribute, np.full(size, self.threshold + TOLERANCE)),)

    def statement(self) -> str:
        return f"no value of {self.attribute} makes up more than {self.threshold:g} of any class"
