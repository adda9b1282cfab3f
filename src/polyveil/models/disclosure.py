"""Models that bound how much more, or less, likely a value becomes in a class: beta-likeness, delta-disclosure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from polyveil.arrays import FloatArray
from polyveil.models.base import TOLERANCE, FormField, Model, SensitiveModel
from polyveil.models.constraints import Constraint, ShareCap, ShareFloor
from polyveil.models.statistics import Attribute, Block
from polyveil.policy.schema import Column, Privacy


class DeltaDisclosure(SensitiveModel):
    """|ln(P(v) / Q(v))| <= delta for every value of the table, so every class has every value.

    Brickell & Shmatikov ask for "<"; the tie, a matter of rounding here, counts as held.
    """

    key = "delta-disclosure"
    parameter = "delta"
    title = "delta-disclosure privacy"
    source = "Brickell & Shmatikov 2008"
    helps_against = "any value becoming much more, or much less, likely for a person than in the whole table"
    leaves_open = "what the whole table shows about everybody; every group needs every value, so groups become large"
    direction = "at most"
    monotone = True
    form = FormField("No value much more or less likely (delta)", low=0.1, high=5.0, step=0.1, start=1.5)

    def measure(self, block: Block) -> FloatArray:
        known = block.whole_share > 0
        ratio = np.where(known, block.share / np.where(known, block.whole_share, 1.0), np.inf)
        change = block.greatest(np.abs(np.log(ratio)))
        values = np.count_nonzero(block.attribute.whole)
        complete = block.sum(known.astype(np.float64)) == values
        return np.where(complete, change, np.inf)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        share, delta = attributes[self.attribute].whole_share, self.threshold + TOLERANCE
        return (
            ShareCap(self.attribute, share * np.exp(delta)),
            ShareFloor(self.attribute, share * np.exp(-delta)),
        )

    def statement(self) -> str:
        return (
            f"no value of {self.attribute} is more than e^{self.threshold:g} times as likely, or as unlikely, "
            "in any group as in the whole table"
        )


def gain(block: Block) -> FloatArray:
    """(P - Q) / Q of each entry: how much likelier a value becomes; infinite if the reference lacks it."""
    known = block.whole_share > 0
    return np.where(known, block.share / np.where(known, block.whole_share, 1.0) - 1.0, np.inf)


class BasicBetaLikeness(SensitiveModel):
    """(P(v) - Q(v)) / Q(v) <= beta for every value that is likelier in the class."""

    key = "basic-beta-likeness"
    parameter = "beta"
    title = "basic beta-likeness"
    source = "Cao & Karras 2012"
    helps_against = "any value, rare ones above all, becoming more than 1 + beta times as likely for a person"
    leaves_open = "values may become less likely; a common value may become certain"
    direction = "at most"
    monotone = True
    form = FormField("No value much more likely (beta)", low=0.1, high=10.0, step=0.1, start=2.0)
    kind: ClassVar[str] = "basic"

    def measure(self, block: Block) -> FloatArray:
        return np.maximum(block.greatest(np.maximum(gain(block), 0.0)), 0.0)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        share = attributes[self.attribute].whole_share
        return (ShareCap(self.attribute, share * (1.0 + self.threshold + TOLERANCE)),)

    def statement(self) -> str:
        return (
            f"no value of {self.attribute} is more than {1 + self.threshold:g} times as likely in any group as in the "
            "whole table"
        )

    @classmethod
    def for_column(cls, name: str, column: Column, privacy: Privacy) -> Model | None:
        return super().for_column(name, column, privacy) if privacy.beta_kind == cls.kind else None


class EnhancedBetaLikeness(BasicBetaLikeness):
    """(P(v) - Q(v)) / Q(v) <= min(beta, -ln Q(v)), which also keeps common values from becoming certain.

    Measured is the smallest beta that would do; infinite if the bound -ln Q(v) itself is broken.
    """

    key = "enhanced-beta-likeness"
    title = "enhanced beta-likeness"
    leaves_open = "values may become less likely; what the whole table shows about everybody"
    kind = "enhanced"

    def measure(self, block: Block) -> FloatArray:
        gained = gain(block)
        known = block.whole_share > 0
        bound = np.where(known, -np.log(np.where(known, block.whole_share, 1.0)), 0.0)
        broken = gained > bound + TOLERANCE
        return block.greatest(np.where(broken, np.inf, np.maximum(gained, 0.0)))

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        share = attributes[self.attribute].whole_share
        bound = -np.log(np.where(share > 0, share, 1.0))
        return (ShareCap(self.attribute, share * (1.0 + np.minimum(self.threshold, bound) + TOLERANCE)),)

    def statement(self) -> str:
        return (
            f"no value of {self.attribute} is more than {1 + self.threshold:g} times as likely in any group as in the "
            "whole table, and the limit is lower for common values"
        )
