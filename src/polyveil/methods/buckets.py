"""MSB, multi-sensitive bucketization: `mbf`, `msdcf`, `mmdcf`, and with security levels `-mslf`.

Yang, Wang & Wang 2008 as described in han2013 (section IV) and xiao2020 (Algorithms 1 to 3). Rows that share all
sensitive values make a bucket; a group takes one row from each of l buckets that differ in every attribute, so that
within a group nobody's values are more likely than 1/l. The six methods are one engine with a priority function.

- Guarantee: frequency l-diversity, or L_sl-diversity by security level, of every sensitive attribute in every group,
  and k rows per group where k is asked for. Distinct, entropy and recursive diversity and alpha follow from the same
  caps. Not t-closeness.
- Cost: O(n l (d + log B)) for B buckets where few are shielded at a time; memory O(n (d + q)).
- Departures: `as_printed.DEPARTURES`, undone by `as_printed: true`. Without `-mslf` an attribute's values all get the
  greatest l of that attribute (the papers have one l for all attributes; write `l: 3` for that). Levels that ask for
  the same l are one level.
- Suppresses what fits nowhere; more than `suppression_limit` allows is Unsatisfiable.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from polyveil.errors import Unsatisfiable
from polyveil.methods._buckets.demand import check_demand, demand_of
from polyveil.methods._buckets.engine import BucketOptions, Priority, bucketize
from polyveil.methods.as_printed import in_force
from polyveil.methods.base import Method, Task
from polyveil.partition import Partition, partition_of


class _Buckets(Method[BucketOptions]):
    """What the six have in common."""

    priority: ClassVar[Priority]
    levels: ClassVar[bool]
    paper = "Yang et al. 2008; han2013; xiao2020"
    guarantee = "No value is more frequent in a group than its l allows. Rows that fit in no group are left out."
    cost = "Time grows with the rows; seconds for a million rows."
    forms = ("anatomized", *(name for name in Method.forms if name != "anatomized"))
    options_type = BucketOptions

    def partition(self, task: Task) -> Partition:
        demand = demand_of(task)
        if not self.levels:
            demand = demand.flattened()
        columns = task.table.sensitive
        check_demand(demand, columns, task.table.rows, task.suppressible)
        options = in_force(self.name, self.options)
        found = bucketize(task.table, columns, demand, self.priority, options, task.rng, task.progress)
        check_suppressed(found.suppressed, task, self.name)
        return partition_of(found.of_row, restarts=found.restarts, residual_rows=found.residual)


def check_suppressed(suppressed: int, task: Task, method: str) -> None:
    """Raise where more rows had to be suppressed than the policy allows."""
    rows = task.table.rows
    if suppressed <= task.suppressible:
        return
    limit = (
        f"privacy.suppression_limit: {np.ceil(suppressed / rows * 10_000) / 10_000:g}; or " if suppressed < rows else ""
    )
    raise Unsatisfiable(
        f"{method} had to leave out {suppressed} of {rows} rows, and privacy.suppression_limit allows "
        f"{task.suppressible}",
        f"{limit}a smaller l, security levels (-mslf), more restarts, or `sloms`, which groups few attributes at once",
    )


class Mbf(_Buckets):
    """The largest bucket first."""

    name, priority, levels = "mbf", "mbf", False
    title = "MBF: fills groups from the largest bucket of values first"


class Msdcf(_Buckets):
    """The bucket with the most common value first."""

    name, priority, levels = "msdcf", "msdcf", False
    title = "MSDCF: fills groups from the bucket with the greatest capacity in one attribute first"


class Mmdcf(_Buckets):
    """The bucket whose values are most common together first."""

    name, priority, levels = "mmdcf", "mmdcf", False
    title = "MMDCF: fills groups from the bucket with the greatest capacity over all attributes first"


class MbfMslf(_Buckets):
    """The highest security level, then the largest bucket."""

    name, priority, levels = "mbf-mslf", "mbf", True
    title = "MBF-MSLF: like mbf, with the highest security level first"


class MsdcfMslf(_Buckets):
    """The highest security level, then the most common value."""

    name, priority, levels = "msdcf-mslf", "msdcf", True
    title = "MSDCF-MSLF: like msdcf, with the highest security level first"


class MmdcfMslf(_Buckets):
    """The highest security level, then the values most common together."""

    name, priority, levels = "mmdcf-mslf", "mmdcf", True
    title = "MMDCF-MSLF: like mmdcf, with the highest security level first"
