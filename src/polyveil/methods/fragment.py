"""fragment: cut the space of sensitive values into boxes and give every class its share of each box.

Bagai, Weber, Thammanna Gowda: Data Sanitization for t-Closeness over Multiple Numerical Sensitive Attributes (2023).

- Guarantee: every model asked for, in every class. The paper's bound (Theorem 20) only guides the cuts; every class is
  judged by its real distance before it is released.
- Cost: the search over distinct sensitive tuples is polynomial in their number (milliseconds to seconds); then one
  nearest-row query per row, for each class size tried.
- Departures: `as_printed.DEPARTURES`, undone by `as_printed: true`. Hierarchical and nominal attributes, and mixtures,
  are cut at the children of a node (the paper handles numbers only). Published bounds add what values can move inside
  a bin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from polyveil.arrays import IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.methods._fragment.axes import Binning, axes_of, limits
from polyveil.methods._fragment.fragmentation import Bound, Fragmentation, find_fragmentation
from polyveil.methods._strata.base import Build, Prepared, StrataOptions, StratifiedMethod, classes_from_strata
from polyveil.methods._strata.generate import SeedOrder
from polyveil.methods.base import Task
from polyveil.table.coded import CodedTable

BALANCED_SLACK = 3.0
"""The bound is what the worst rows of a fragment could do; real classes stay far below it. Fewer fragments leave more
choice among near rows: on Adult the loss falls by 15 to 30 % from 1 to 3 and hardly beyond."""


class FragmentOptions(StrataOptions):
    """Options of `fragment`."""

    bound: Bound = Field(
        default="tight", description="how the distance inside a fragment is bounded: tight, or as in the paper"
    )
    rounding: Literal["balanced", "exact"] = Field(
        default="balanced",
        description="balanced: shares may differ by one row; exact: equal shares, gcd(counts) groups",
    )
    slack: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="factor by which the bound may exceed t; 1 as in the paper, 3 by default with balanced rounding",
    )
    bins: int = Field(
        default=64, ge=2, le=4096, description="an ordered column with more values than this is divided into bins"
    )
    binning: Binning = Field(default="frequency", description="bins of equal frequency or of equal width")
    edges: Mapping[str, tuple[float, ...]] = Field(default_factory=dict, description="bin edges per sensitive column")
    most_fragments: Annotated[int, Field(ge=1)] = Field(default=4096, description="stop cutting at this many fragments")


class Fragment(StratifiedMethod[FragmentOptions]):
    """FIND-FRAGMENTATION-GENERALIZED and GENERATE-CLASSES of bagai2023."""

    name = "fragment"
    title = "Fragment: divides the sensitive values into fragments; each group takes a share of each"
    paper = "Bagai et al. 2023"
    guarantee = "Every requirement is met in every group."
    cost = "One search for the nearest row per row, for each group size that is tried."
    options_type = FragmentOptions
    merging = "none"

    def __init__(self, options: FragmentOptions) -> None:
        super().__init__(options)
        self._last: tuple[CodedTable, Fragmentation] | None = None

    def builder(self, ready: Prepared, task: Task) -> Build:
        fragmentation = self.fragmentation(ready.table, task)
        stratum_of_row = fragmentation.of_tuple[ready.table.sensitive_tuples.of_row]
        sizes = np.bincount(stratum_of_row, minlength=fragmentation.fragments).astype(np.int64)

        def build(g: int, order: SeedOrder, rng: np.random.Generator) -> IntArray:
            rows = ready.table.rows
            classes = (
                exact_classes(sizes, self._least_rows(task)) if self.options.rounding == "exact" else max(rows // g, 1)
            )
            return classes_from_strata(ready, stratum_of_row, sizes, classes, order, rng)

        return build

    def fragmentation(self, table: CodedTable, task: Task) -> Fragmentation:
        """The fragmentation whose bounds keep every threshold asked for; made once for a table."""
        if self._last is None or self._last[0] is not table:
            self._last = table, self._fragmentation(table, task)
        return self._last[1]

    def _fragmentation(self, table: CodedTable, task: Task) -> Fragmentation:
        asked = self.options
        tuples = table.sensitive_tuples
        slack = asked.slack or (1.0 if asked.rounding == "exact" else BALANCED_SLACK)
        limit = {name: t * slack for name, t in limits(task.models, task.attributes).items()}
        axes = axes_of(table, limit, asked.bins, asked.binning, asked.edges)
        if not axes:
            return Fragmentation(np.zeros(len(tuples.counts), dtype=np.int64), 1, 1, np.zeros(0), True)
        units = np.stack([axis.unit_of_code[tuples.codes[:, a]] for a, axis in enumerate(axes)], axis=1)
        return find_fragmentation(units, tuples.counts, axes, asked.bound, asked.most_fragments)

    def fixed_size(self, ready: Prepared, task: Task) -> int | None:
        if self.options.rounding == "balanced":
            return None
        if self.options.strata != "auto" and not self.options.as_printed:
            rule = "rounding: exact leaves no choice of the rows per group, so strata cannot be given"
            raise PolicyError([Fault("method.strata", rule, "Remove strata, or use rounding: balanced")])
        fragmentation = self.fragmentation(ready.table, task)
        counts = np.bincount(fragmentation.of_tuple[ready.table.sensitive_tuples.of_row])
        return ready.table.rows // exact_classes(counts, self._least_rows(task))

    def _least_rows(self, task: Task) -> int:
        """The least class size; the paper knows no k."""
        return 1 if self.options.as_printed else task.k

    def found(self, ready: Prepared, task: Task) -> dict[str, Any]:
        fragmentation = self.fragmentation(ready.table, task)
        told: dict[str, Any] = {"fragments": fragmentation.fragments}
        if not fragmentation.complete:
            told["stopped_at_limit"] = True
        # Only classes with exactly equal shares of every fragment keep the bounds, and only against these rows.
        if self.options.rounding == "exact" and ready.table.rows == task.table.rows:
            names = [column.name for column in ready.table.sensitive]
            bounds = zip(names, fragmentation.bounds, strict=False)
            told["bounds"] = {name: round(min(float(b), 1.0), 6) for name, b in bounds if np.isfinite(b)}
        return told


def exact_classes(sizes: IntArray, k: int) -> int:
    """The most classes with exactly equal shares and k rows each: a divisor of all fragment counts."""
    shared = int(np.gcd.reduce(sizes))
    rows = int(sizes.sum())
    return max(c for c in range(1, shared + 1) if shared % c == 0 and (rows // c >= k or c == 1))
