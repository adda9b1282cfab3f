"""What grouping costs beyond the least a group needs: additional information loss.

Definition 14 of xiao2020: sum over groups of (|G| - l_G), divided by the sum of l_G, where l_G is the l of the highest
security level in G. With one l for all this is the inner sum of eq. (8) of han2013, which averages over the slices.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models import Attribute, LevelDiversity, Model, RecursiveDiversity
from polyveil.models.linked import LinkedStatistics


def additional_information_loss(
    statistics: LinkedStatistics, models: Sequence[Model], slices: Sequence[Sequence[str]]
) -> float | None:
    """The mean over the slices of Definition 14; None if no l is asked for, so that there is no least size."""
    losses = []
    for names in slices:
        least = [_least_of_groups(statistics, model) for name in names for model in models_of_l(models, name)]
        if not least:
            return None
        losses.append(loss_of_groups(statistics.groups[names[0]], np.max(least, axis=0)))
    return float(np.mean(losses)) if losses else None


def loss_of_groups(sizes: IntArray, least: FloatArray) -> float:
    """Definition 14 for groups of these sizes, which need these many rows."""
    return float((sizes - least).sum() / least.sum()) if len(sizes) else 0.0


def models_of_l(models: Sequence[Model], attribute: str) -> list[Model]:
    """The models of one attribute that ask for an l."""
    return [model for model in models if model.parameter == "l" and model.attribute == attribute]


def _least_of_groups(statistics: LinkedStatistics, model: Model) -> FloatArray:
    """The l of the most demanding value in each group."""
    block = statistics.block(model.attribute)
    return block.greatest(asked_l(model, block.attribute)[block.code])


def asked_l(model: Model, attribute: Attribute) -> FloatArray:
    """The l each value of the attribute needs."""
    if isinstance(model, LevelDiversity):
        return model.asked(attribute.levels)
    return np.full(attribute.size, float(model.l if isinstance(model, RecursiveDiversity) else model.threshold))
