"""A privacy model as another package would add it, in the constraints that kernels know."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polyveil.arrays import FloatArray
from polyveil.models import TOLERANCE, Attribute, Block, FormField, PolicyField, SensitiveModel
from polyveil.models.constraints import Constraint, ShareCap

RARE = 0.2


class RareCap(SensitiveModel):
    """A value that less than a fifth of the table has makes up at most a share rho of every class."""

    key = "rare-cap"
    parameter = "rho"
    field = PolicyField(float, "greatest share of any rare value in a group", gt=0, le=1)
    form = FormField("Cap on rare values", low=0.01, high=1.0, step=0.01, start=0.5)
    title = "cap on rare values"
    source = "an example"
    helps_against = "inferring that a person has a rare value"
    leaves_open = "values that are not rare"
    direction = "at most"
    monotone = True

    def measure(self, block: Block) -> FloatArray:
        return block.greatest(np.where(block.whole_share < RARE, block.share, 0.0))

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        share = attributes[self.attribute].whole_share
        return (ShareCap(self.attribute, np.where(share < RARE, self.threshold + TOLERANCE, np.inf)),)

    def statement(self) -> str:
        return f"no rare value of {self.attribute} makes up more than {self.threshold:g} of any group"
