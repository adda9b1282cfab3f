"""Published sampling weights: every row of a group has the same, in few digits, so that no row is told by it."""

from __future__ import annotations

import numpy as np
import polars as pl

from polyveil.arrays import FloatArray, IntArray
from polyveil.policy import Policy
from polyveil.verification.findings import Finding, fails, holds

DIGITS = 3
WEIGHTS = "weights"


def check_weights(policy: Policy, frame: pl.DataFrame, groups: IntArray) -> tuple[list[Finding], FloatArray | None]:
    """What is wrong with the weights, and the weight of each group; nothing of both where there are no weights."""
    name = policy.sampling_weight
    if name is None:
        return [], None
    cells = frame.get_column(name)
    numbers = cells.cast(pl.Float64, strict=False)
    if numbers.has_nulls() or not bool(numbers.is_finite().all()) or bool((numbers < 0).any()):
        return [fails(WEIGHTS, f"{name} has cells that are no weights: missing, negative, or no numbers")], None
    seen = pl.DataFrame({"group": groups, "cell": cells}).unique()
    if seen.height != seen.get_column("group").n_unique():
        return [fails(WEIGHTS, f"rows of one group have different weights in {name}, which tells them apart")], None
    exact = [value for value in numbers.unique().to_list() if float(f"{value:.{DIGITS}g}") != value]
    if exact:
        return [fails(WEIGHTS, f"{name} has weights of more than {DIGITS} digits, which can tell one person's")], None
    found = np.zeros(int(groups.max(initial=-1)) + 1)
    found[groups] = numbers.to_numpy()
    if not found.any():
        return [fails(WEIGHTS, f"all weights of {name} are 0")], None
    return [holds(WEIGHTS, f"{name}: the rows of each group have the same weight")], found
