"""Row order from the operating system's randomness, so that no seed anyone could learn gives it back."""

from __future__ import annotations

import os

import numpy as np

from polyveil.arrays import IntArray


def random_order(rows: int) -> IntArray:
    """A uniformly random permutation of the row numbers."""
    keys = np.frombuffer(os.urandom(8 * rows), dtype=np.uint64)
    return np.argsort(keys, kind="stable").astype(np.int64)
