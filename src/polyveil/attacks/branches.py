"""Coarser than a value: the branch of the hierarchy it is in, its fifth of the range, the class a learner guesses."""

from __future__ import annotations

import numpy as np

from polyveil.arrays import IntArray
from polyveil.measure.utility_model import few_classes
from polyveil.models import Attribute

FIFTHS = 5


def branches(about: Attribute) -> IntArray | None:
    """The top-level branch of each value, or its fifth of the range; None if values have no structure."""
    ground = about.ground
    if ground.distance == "ordered":
        return np.minimum(np.arange(about.size) * FIFTHS // max(about.size, 1), FIFTHS - 1)
    if ground.distance != "hierarchical":
        return None
    branch, reach = np.zeros(about.size, dtype=np.int64), 0
    order = np.lexsort((-ground.stop, ground.start))
    for r in order:  # the widest range that begins where the last one ended is the next child of the root
        if ground.start[r] >= reach:
            branch[ground.start[r] : ground.stop[r]] = r
            reach = int(ground.stop[r])
    numbers: IntArray = np.unique(branch, return_inverse=True)[1].astype(np.int64)
    return numbers if int(numbers.max(initial=0)) + 1 < about.size else None


def label_of_value(about: Attribute) -> IntArray:
    """The class that a learner guesses each value as."""
    ordered = about.ground.distance == "ordered"
    return few_classes(about.whole, ordered=ordered, branch=None if ordered else branches(about))
