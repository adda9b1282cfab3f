"""exact: the best grouping there is, for tables of up to 50 rows.

A linear program over classes gives prices to rows and a bound, and all groupings that are hardly above it are tried
(see `_exact`). It is the oracle of tests, and `sift` uses it for small tables at `effort: thorough`. As a method:

    polyveil.methods.register(Exact)  # then `method: {name: exact}` in a policy

- Guarantee: every model asked for, in every class, with the least loss of all groupings. Rows may be left out, as many
  as the policy allows, if no model compares classes with the whole table; otherwise that is refused. Where people have
  several rows, they are grouped by one row each, as for every method.
- Cost: tables of 30 rows mostly take about a second. Strict requirements on the shares of values can take very long:
  after a fixed number of steps it refuses.
- Loss is what is minimized, times the quasi-identifiers' weights where they have any.
"""

from __future__ import annotations

from polyveil.errors import Fault, PolicyError, Unsatisfiable
from polyveil.methods._exact import MOST_ROWS, TooHard, best_grouping
from polyveil.methods._kernels.judge import compile_constraints
from polyveil.methods.base import Method, Options, Task
from polyveil.models.constraints import MinDistinct, MinEntropy, MinSize, Recursive
from polyveil.partition import Partition, partition_of

OF_THE_CLASS = (MinSize, MinDistinct, MinEntropy, Recursive)
"""Constraints that do not depend on which rows are released besides those of the class."""
INSTEAD = "Use sift, and `polyveil bound` to see how near it is"


class Exact(Method[Options]):
    """A linear program over classes, then every grouping of the classes that can matter."""

    name = "exact"
    title = f"exact: the least possible loss, for tables of up to {MOST_ROWS} rows"
    paper = "this package"
    guarantee = "Every requirement is met in every group, and no other grouping loses less detail."
    cost = f"About a second for 30 rows, more if requirements are strict; more than {MOST_ROWS} rows are refused."

    def partition(self, task: Task) -> Partition:
        rows = task.table.rows
        if rows > MOST_ROWS:
            rule = f"the method exact can group up to {MOST_ROWS} rows; there are {rows:,}"
            raise PolicyError([Fault("method.name", rule, INSTEAD)])
        judge = compile_constraints(task.models, task.attributes, task.table)
        if len(judge.joint.limit):
            rule = "the method exact cannot judge t of several columns together"
            raise PolicyError([Fault("privacy.joint", rule, INSTEAD)])
        try:
            found = best_grouping(task.table, judge, self._left_out(task))
        except TooHard:
            rule = "the method exact did not find the best grouping of this table within its number of steps"
            raise PolicyError([Fault("method.name", rule, INSTEAD)]) from None
        if found is None:
            raise Unsatisfiable("no grouping of the rows meets every requirement", None)
        return partition_of(found.labels)

    def _left_out(self, task: Task) -> int:
        """How many rows may be left out; refused if what is required of groups then depends on which ones."""
        asked = [constraint for model in task.models for constraint in model.constraints(task.attributes)]
        if task.suppressible and not all(isinstance(each, OF_THE_CLASS) for each in asked):
            rule = "the method exact leaves rows out only if no requirement compares groups with the whole table"
            raise PolicyError([Fault("privacy.suppression_limit", rule, "Set it to 0, or use sift")])
        return task.suppressible
