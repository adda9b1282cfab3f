"""The people of a population who fit each group, counted in a table of it by the released cells alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import InputError
from polyveil.policy import Policy
from polyveil.table.population import read_population
from polyveil.verification.classes import class_of_row
from polyveil.verification.findings import Finding, fails, holds
from polyveil.verification.source import fit_cells

COUNTED = "k-map"
"""The check that takes a table of the population."""
CLOSE = 1e-9


def check_population(policy: Policy, frame: pl.DataFrame, source: Any) -> list[Finding]:
    """Whether every group's cells fit as many people as its limit needs."""
    risk = policy.privacy.risk
    if risk is None or not risk.by_table or risk.max is None:
        raise InputError("this release guarantees nothing about a table of the population. Leave --population out")
    fitting = people_fitting(policy, frame, class_of_row(frame, policy.having("quasi")), source)
    if fitting is None:
        return [fails(COUNTED, "numbers are published as midpoints or means, which hide whom a group fits")]
    fewest = int(fitting.min()) if len(fitting) else 0
    words = f"counted in the population table: the cells of every group fit at least {fewest:,} people"
    if fewest == 0 or 1.0 / fewest > risk.max + CLOSE:
        return [fails(COUNTED, f"{words}, and a risk of at most {risk.max:g} is guaranteed")]
    return [holds(COUNTED, words)]


def people_fitting(policy: Policy, frame: pl.DataFrame, groups: IntArray, source: Any) -> IntArray | None:
    """How many people of a population table fit the cells of each group; None if cells hide which values they mean."""
    fit = fit_cells(policy, frame, groups, read_population(source, policy.having("quasi"), frame.height))
    if fit is None:
        return None
    return np.array([int(fit.rows(group).sum()) for group in range(int(groups.max(initial=-1)) + 1)], dtype=np.int64)
