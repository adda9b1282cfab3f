"""What bucket methods must give every group: how thinly each value has to be spread, and how many rows there are.

Every demand on the diversity of a group follows from one form, "value v makes up at most 1/need(v) of the group":

- a cap on shares is that form already (frequency l-diversity, L_sl-diversity, (alpha,k)-anonymity);
- shares of at most 1/l leave at least l distinct values, and an entropy of at least log l;
- recursive (c,l)-diversity holds where shares are at most 1/L with L > l - 1 + 1/c, because then
  r1 <= n/L and r_l + r_(l+1) + ... >= n (L - l + 1) / L.

Closeness to the whole table does not follow from it; a policy that asks for t needs another method (and may publish its
classes in the anatomized form).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.errors import Fault, PolicyError, Unsatisfiable
from polyveil.methods.base import Task
from polyveil.models.constraints import Constraint, MinDistinct, MinEntropy, MinSize, Recursive, ShareCap, ShareFloor
from polyveil.table.coded import SensitiveColumn

_WHOLE = 1e-6
"""Demands this near a whole number are that number: models grant a tolerance, groups are counted in whole rows."""


@dataclass(frozen=True, eq=False)
class Demand:
    """`need[name][code]`: the l of each value; `least` is the least number of rows of a group."""

    need: dict[str, FloatArray]
    least: int

    def flattened(self) -> Demand:
        """One l per attribute, the greatest of its values': what the methods without security levels work with."""
        return Demand({name: np.full_like(need, need.max(initial=1.0)) for name, need in self.need.items()}, self.least)

    def only(self, names: Sequence[str]) -> Demand:
        """The demands on some attributes."""
        return Demand({name: self.need[name] for name in names}, self.least)


def demand_of(task: Task) -> Demand:
    """Gather the demands of all models; raises PolicyError if one is not about the shares of values."""
    if not task.table.sensitive:
        rule = "buckets spread sensitive values, and no column is sensitive"
        raise PolicyError([Fault("columns", rule, "Give a column the role sensitive, or use another method")])
    need = {column.name: np.ones(column.domain.size) for column in task.table.sensitive}
    least = 1
    unfit: list[Fault] = []
    for model in task.models:
        for constraint in model.constraints(task.attributes):
            if isinstance(constraint, MinSize):
                least = max(least, constraint.rows)
                continue
            asked = _needed(constraint)
            if asked is None:
                rule = f"buckets spread sensitive values, which does not give {model.title}"
                unfit.append(
                    Fault(model.place, rule, "Drop it, or use another method; its groups can be published anatomized")
                )
                continue
            values = need[model.attribute or ""]
            values[:] = np.maximum(values, _whole(asked))
    if unfit:
        raise PolicyError(unfit)
    return Demand(need, least)


def _needed(constraint: Constraint) -> FloatArray | float | None:
    """The l that keeps the constraint; None where shares of values cannot keep it."""
    match constraint:
        case ShareCap():
            return np.asarray(1.0 / constraint.cap)
        case MinDistinct():
            return float(constraint.values)
        case MinEntropy():
            return math.exp(constraint.nats)
        case Recursive():
            return math.floor(constraint.l - 1 + 1.0 / constraint.c) + 1.0
        case ShareFloor():
            return None if (constraint.floor > 0).any() else 1.0
        case _:
            return None


def _whole(asked: FloatArray | float) -> FloatArray:
    values = np.asarray(asked, dtype=np.float64)
    rounded = np.round(values)
    return np.where(np.abs(values - rounded) < _WHOLE, rounded, values)


def reachable_rows(counts: IntArray, need: FloatArray) -> int:
    """The most rows that one attribute alone allows to be published.

    N rows in groups that all keep their demands keep it together, so value v has at most N / need(v) rows: the greatest
    N with sum_v min(count(v), floor(N / need(v))) >= N. Iterating from all rows downwards stops exactly there.
    """
    rows = int(counts.sum())
    while True:
        kept = int(np.minimum(counts, np.floor(rows / need + 1e-9)).sum())
        if kept >= rows:
            return rows
        rows = kept


def check_demand(demand: Demand, columns: Sequence[SensitiveColumn], rows: int, suppressible: int) -> None:
    """Refuse before any work what no grouping can reach; names the attribute and the largest l that can work."""
    if demand.least > rows:
        raise Unsatisfiable(f"groups of at least {demand.least} rows, but the table has {rows}", f"k of at most {rows}")
    for column in columns:
        need = demand.need[column.name]
        present = column.counts > 0
        if reachable_rows(column.counts[present], need[present]) >= max(rows - suppressible, 1):
            continue
        asked = need[present].max()
        best = largest_l(column.counts[present], rows - suppressible)
        raise Unsatisfiable(
            f"{column.name} cannot be spread as l = {asked:g} requires: it has {int(present.sum())} distinct values in "
            f"{rows} rows, the most common in {int(column.counts.max())}, and at most {suppressible} rows may be "
            "left out",
            f"l = {best} for {column.name} in every group, or a higher privacy.suppression_limit",
        )


def largest_l(counts: IntArray, rows: int) -> int:
    """The largest l, one for all values, that lets at least `rows` rows be published."""
    low, high = 1, len(counts)
    while low < high:
        middle = (low + high + 1) // 2
        if reachable_rows(counts, np.full(len(counts), float(middle))) >= max(rows, 1):
            low = middle
        else:
            high = middle - 1
    return low
