"""A privacy model as another package would add it: one file. Kernels know no form of its demand."""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray
from polyveil.models import Block, FormField, PolicyField, SensitiveModel


class TopTwo(SensitiveModel):
    """The two most common values of a class together have at most a share sigma of it."""

    key = "top-two"
    parameter = "sigma"
    field = PolicyField(float, "greatest share of the two most common values of a group together", gt=0, le=1)
    form = FormField("Cap on the two most common values", low=0.01, high=1.0, step=0.01, start=0.9)
    summary = "sigma"
    title = "cap on the two most common values"
    source = "an example"
    helps_against = "narrowing a person's sensitive value down to two"
    leaves_open = "the values may be similar in meaning"
    direction = "at most"
    monotone = True

    def measure(self, block: Block) -> FloatArray:
        order = np.lexsort((-block.count, block.owner))
        rank = np.arange(len(order)) - block.begin[block.owner]
        return block.sum(np.where(rank < 2, block.count[order], 0)) / block.sizes

    def statement(self) -> str:
        return f"no two values of {self.attribute} together make up more than {self.threshold:g} of any group"
