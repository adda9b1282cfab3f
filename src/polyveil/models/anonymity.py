"""Models of hiding in a crowd: k-anonymity, and (alpha,k)-anonymity's cap on any one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from polyveil.arrays import FloatArray
from polyveil.models.base import TOLERANCE, FormField, Model, SensitiveModel
from polyveil.models.constraints import Constraint, MinSize, ShareCap
from polyveil.models.statistics import Attribute, Block
from polyveil.policy.schema import Policy


class KAnonymity(Model):
    """Every class has at least k rows."""

    key = "k-anonymity"
    parameter = "k"
    title = "k-anonymity"
    source = "Sweeney 2002; Samarati 2001"
    helps_against = "finding a known person's row by linking quasi-identifiers with another table"
    leaves_open = "if all rows of a group have the same sensitive value, everyone in the group has it"
    direction = "at least"
    monotone = True
    form: ClassVar[FormField | None] = FormField("Hide among similar rows (k)", low=2, high=100, step=1, start=5)

    def __init__(self, k: int) -> None:
        super().__init__(k)

    def measure(self, block: Block) -> FloatArray:
        return block.sizes.astype(np.float64)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return (MinSize(int(self.threshold)),)

    def statement(self) -> str:
        return f"every group has at least {self.threshold:g} rows"

    def statement_in_people(self) -> str:
        return f"every group has at least {self.threshold:g} people"

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        """What k is about depends on the form of the release."""
        k, release = policy.privacy.k, policy.release
        if k is None or policy.privacy.any is not None:
            return ()
        if release.form in (None, "generalized"):
            return (KAnonymity(k),)
        return (GroupAnonymity(k) if release.generalize == "none" else LinkedAnonymity(k),)

    @classmethod
    def probes(cls, attributes: Mapping[str, Attribute]) -> Sequence[Model]:
        return (KAnonymity(2),)


class LinkedAnonymity(KAnonymity):
    """k if sensitive values are in tables of their own: k rows of the quasi-identifier table look alike."""

    leaves_open = "rows that look alike may be in different groups, and a group shows which values its rows have"

    def statement(self) -> str:
        k = f"{self.threshold:g}"
        return f"at least {k} rows of the quasi-identifier table share every combination of quasi-identifiers"


class GroupAnonymity(KAnonymity):
    """k if quasi-identifiers are published as they are: a person's sensitive values hide among those of a group."""

    helps_against = "linking a known person to one sensitive value instead of to the values of a whole group"
    leaves_open = "a known person's row can be found, and anyone can see that the person is in the table"

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
    unit = "having"
    parameter = "alpha"
    title = "(alpha,k)-anonymity"
    source = "Wong, Li, Fu & Wang 2006"
    helps_against = "inferring a person's sensitive value from their group with a certainty above alpha"
    leaves_open = "a group may have only similar values (all of them cancers); a rare value may still become likely"
    direction = "at most"
    monotone = True
    form = FormField("Cap on any one value (alpha)", low=0.01, high=1.0, step=0.01, start=0.5)

    def measure(self, block: Block) -> FloatArray:
        return block.greatest(block.share)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        size = attributes[self.attribute].size
        return (ShareCap(self.attribute, np.full(size, self.threshold + TOLERANCE)),)

    def statement(self) -> str:
        return f"no value of {self.attribute} makes up more than {self.threshold:.6g} of any group"
