"""Weighted hierarchical distance and distortion (Definitions 6 to 8 of han2013, after Li et al. 2006)."""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray
from polyveil.policy.hierarchy import Hierarchy


def weighted_hierarchical_distance(p: int, q: int, levels: int) -> float:
    """Eq. (2): the cost of generalizing from level p to level q; level 1 is the root, `levels` the values.

    The step from level j to j - 1 weighs 1 / (j - 1): steps near the root, which lose most, weigh most.
    """
    if not 1 <= q <= p <= levels:
        raise ValueError("levels run from 1, the root, to the most specific, and generalizing goes towards the root")
    steps = 1.0 / np.arange(1, levels)
    return float(steps[q - 1 : p - 1].sum() / steps.sum()) if levels > 1 else 0.0


def distance_to_nodes(tree: Hierarchy) -> FloatArray:
    """For each node, the weighted hierarchical distance from a value below it.

    A level is counted from the bottom (the height), so that in an uneven tree every value is at the lowest level.
    """
    levels = int(tree.level[0]) + 1
    by_height = [weighted_hierarchical_distance(levels, levels - height, levels) for height in range(levels)]
    return np.array(by_height)[tree.level]
