"""SLOMS: slice the sensitive attributes into tables, bucketize each, generalize the quasi-identifiers.

Han, Luo, Lu & Peng 2013 (Algorithm 1, MSB-KACA). Attributes that depend on each other go into one slice (phi^2, PAM);
each slice is grouped by MSB on its own, the quasi-identifiers by KACA; group ids link the tables.

- Guarantee: k-anonymity of the quasi-identifier table; l-diversity (or L_sl by security level) of every attribute in
  every group of its slice. A person's values in two slices cannot be joined to more than what two groups tell.
- Cost: that of MSB per slice plus that of KACA.
- Departures: `as_printed.DEPARTURES`, undone by `as_printed: true`. In both, k applies to the quasi-identifier table
  only; groups of a slice have l rows or more. Slicing by default never suppresses more than not slicing.
- A row with a value that fits no group of its slice is left out of all tables, and the slices are grouped again without
  it. As printed (`withhold: values`) only the value is withheld (group id `NA`) and the row stays; whoever sees `NA`
  can often tell the value from it, so no guarantee covers such rows and verification says so. Rows with any suppressed
  value count against `suppression_limit` in both cases (han2013, Definition 13).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from pydantic import Field, field_validator

from polyveil.arrays import BoolArray, IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.methods._buckets.contingency import attribute_distances, clusters_of, natural_slices
from polyveil.methods._buckets.demand import Demand, check_demand, demand_of, reachable_rows
from polyveil.methods._buckets.engine import PRIORITIES, BucketOptions, Grouping, Priority, bucketize, by_loss
from polyveil.methods.as_printed import in_force
from polyveil.methods.base import Method, Task
from polyveil.methods.buckets import check_suppressed
from polyveil.methods.kaca import k_classes
from polyveil.partition import Partition, Slice
from polyveil.table.coded import CodedTable, SensitiveColumn

MOST_ROUNDS = 20
"""How often slices are grouped again, without the rows that lack a group or with those that were left out."""
Slicing = tuple[tuple[SensitiveColumn, ...], ...]


class SlomsOptions(BucketOptions):
    """Options of `sloms`: how to slice, and how to bucketize each slice."""

    slices: Literal["auto"] | int | tuple[tuple[str, ...], ...] = Field(
        default="auto", description="auto, the number of slices, or the columns of each slice: [[a, b], [c]]"
    )
    leave_out: Literal["last", "fewest"] = Field(
        default="fewest",
        description="which rows to leave out of a slice. fewest: as few as possible, chosen by a linear program "
        "before grouping if that is better; last: those that fit in no group in the end",
    )
    priority: Priority | Literal["best"] = Field(
        default="best",
        description="which bucket comes first: mbf, msdcf, mmdcf, or for each slice the one that leaves out least",
    )
    levels: bool = Field(
        default=True, description="highest security level first (-mslf) if the policy gives one l per level"
    )
    bins: int = Field(
        default=10, ge=2, description="number of categories into which numbers are divided to compute phi^2"
    )
    withhold: Literal["rows", "values"] = Field(
        default="rows",
        description="what to leave out if a value fits no group: the whole row, or, as printed, the value alone; "
        "no guarantee covers people whose value is visibly withheld",
    )

    @field_validator("slices")
    @classmethod
    def _at_least_one(cls, value: str | int | tuple[tuple[str, ...], ...]) -> object:
        if isinstance(value, int) and value < 1:
            raise ValueError("there is at least one slice")
        if isinstance(value, tuple) and (not value or not all(value)):
            raise ValueError("every slice has at least one column")
        return value


class Sloms(Method[SlomsOptions]):
    """Slices of sensitive attributes, each bucketized; quasi-identifiers generalized apart."""

    name = "sloms"
    title = "SLOMS: publishes the sensitive attributes in several tables that are linked by group numbers"
    paper = "han2013 (MSB-KACA)"
    guarantee = "k in the table of quasi-identifiers; l for each attribute in every group of its table."
    cost = "Time grows with the rows; a few seconds for hundreds of thousands of rows."
    forms = ("sliced",)
    makes_own_slices = True
    options_type = SlomsOptions

    def partition(self, task: Task) -> Partition:
        if self.options.as_printed:
            return self._as_printed(task)
        table, options = task.table, self.options
        slices = _given(table.sensitive, task.slices) if task.slices else slice_columns(table.sensitive, options)
        demand = demand_of(task)
        if not options.levels:
            demand = demand.flattened()
        # k is kept by the quasi-identifier table; a group of a slice needs only what its values ask for.
        demand = Demand(demand.need, 1)
        check_demand(demand, table.sensitive, table.rows, task.suppressible)
        same_start = deepcopy(task.rng)
        found = self._settled(task, slices, demand)
        if found.lost:
            starts = [plain_groups(task, demand, options, same_start).of_row]
            if options.withhold == "rows" and len(slices) > 1:
                together = self._settled(task, (table.sensitive,), demand)
                starts += [part.group_of_row for part in together.slices(table.rows)]
            others = [self._settled(task, slices, demand, [of_row] * len(slices)) for of_row in starts]
            found = min([found, *others], key=lambda one: one.lost)
        check_suppressed(found.lost, task, self.name)
        classes = np.full(table.rows, -1, dtype=np.int64)
        classes[found.rows] = k_classes(table.take(found.rows), task.k, task.rng, task.progress)
        return Partition(classes, found.slices(table.rows), {"slices": [list(part.attributes) for part in found.parts]})

    def _as_printed(self, task: Task) -> Partition:
        """Algorithm 1: every slice on its own, the quasi-identifiers of all rows by KACA; values that fit nowhere are
        withheld and their rows stay."""
        options, table = in_force(self.name, self.options), task.table
        slices = (
            _given(table.sensitive, task.slices)
            if task.slices
            else slice_columns(table.sensitive, options, task.rng if isinstance(options.slices, int) else None)
        )
        demand = demand_of(task)
        demand = Demand((demand if options.levels else demand.flattened()).need, 1)
        check_demand(demand, table.sensitive, table.rows, task.suppressible)
        parts, (priority, *_) = [], priorities_of(options)
        for columns in slices:
            names = tuple(column.name for column in columns)
            found = bucketize(table, columns, demand.only(names), priority, options, task.rng, task.progress)
            parts.append(Slice(names, found.of_row))
        check_suppressed(int(incomplete_rows(tuple(parts)).sum()), task, self.name)
        classes = k_classes(table, task.k, task.rng, task.progress)
        return Partition(classes, tuple(parts), {"slices": [list(part.attributes) for part in parts]})

    def _settled(
        self, task: Task, slices: Slicing, demand: Demand, formed: Sequence[IntArray] | None = None
    ) -> _Settled:
        """Groups of every slice, begun with those that are `formed`; unless values are withheld, of whole rows.

        A row without a group in some slice is left out and the rest is grouped again, until all rows that are left have
        their groups. Then those left out are offered to these groups once more, as long as some of them fit.
        """
        rows = np.arange(task.table.rows)
        best = _Settled(task.table.rows, rows[:0], ())
        if formed is not None:
            names = [tuple(column.name for column in some) for some in slices]
            begun_with = rows[np.all([of_row >= 0 for of_row in formed], axis=0)]
            parts = tuple(Slice(one, of_row[begun_with]) for one, of_row in zip(names, formed, strict=True))
            best = _Settled(task.table.rows, begun_with, parts)
        for _ in range(MOST_ROUNDS):
            part = task if len(rows) == task.table.rows else replace(task, table=task.table.take(rows))
            now = _given(part.table.sensitive, tuple(tuple(column.name for column in some) for some in slices))
            begun = None if formed is None else [of_row[rows] for of_row in formed]
            found = group_slices(part, now, demand, self.options, task.rng, begun)
            complete = ~incomplete_rows(found)
            if self.options.withhold == "values" or (complete.all() and len(rows) == task.table.rows):
                return _Settled(task.table.rows, rows, found)
            if complete.all():
                if len(rows) <= len(best.rows):
                    break
                best = _Settled(task.table.rows, rows, found)
                formed = [part.group_of_row for part in best.slices(task.table.rows)]
                rows = np.arange(task.table.rows)
            elif complete.any():
                rows = rows[complete]
            else:
                break
        return best

    def slices(self, table: CodedTable) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(column.name for column in part) for part in slice_columns(table.sensitive, self.options))


@dataclass(frozen=True, eq=False)
class _Settled:
    """The groups of some rows of a table in every slice."""

    all_rows: int
    rows: IntArray
    parts: tuple[Slice, ...]

    @property
    def lost(self) -> int:
        """Rows that are left out or lack a group."""
        return self.all_rows - len(self.rows) + (int(incomplete_rows(self.parts).sum()) if self.parts else 0)

    def slices(self, all_rows: int) -> tuple[Slice, ...]:
        """The groups as those of all rows; rows left out have none."""
        found = []
        for part in self.parts:
            groups = np.full(all_rows, -1, dtype=np.int64)
            groups[self.rows] = part.group_of_row
            found.append(Slice(part.attributes, groups))
        return tuple(found)


def group_slices(
    task: Task,
    slices: Slicing,
    demand: Demand,
    options: SlomsOptions,
    rng: np.random.Generator,
    formed: Sequence[IntArray] | None = None,
) -> tuple[Slice, ...]:
    """Bucketize every slice, from nothing or from groups of it that are `formed` already.

    The slice that must suppress most comes first; the others then leave out the same rows if they can choose.
    """
    found: dict[int, Slice] = {}
    for i in sorted(range(len(slices)), key=lambda i: _reachable(slices[i], demand)):
        names = tuple(column.name for column in slices[i])
        spare = incomplete_rows(tuple(found.values())) if found else None
        groupings = []
        for priority in priorities_of(options):
            asked = (task.table, slices[i], demand.only(names), priority, options, rng, task.progress)
            groupings.append(bucketize(*asked, spare=spare, formed=None if formed is None else formed[i]))
            if groupings[-1].lost == 0:
                break
        found[i] = Slice(names, min(groupings, key=by_loss).of_row)
    return tuple(found[i] for i in range(len(slices)))


def plain_groups(task: Task, demand: Demand, options: SlomsOptions, rng: np.random.Generator) -> Grouping:
    """The groups of MSB over all attributes at once, as its methods make them with the same seed."""
    plain = options.model_copy(update={"leave_out": "last"})
    groupings = (
        bucketize(task.table, task.table.sensitive, demand, priority, plain, deepcopy(rng), task.progress)
        for priority in priorities_of(options)
    )
    return min(groupings, key=by_loss)


def priorities_of(options: SlomsOptions) -> tuple[Priority, ...]:
    """The priorities to try."""
    return tuple(PRIORITIES) if options.priority == "best" else (options.priority,)


def incomplete_rows(slices: tuple[Slice, ...]) -> BoolArray:
    """Rows with a suppressed value in some slice."""
    return np.asarray(np.any([part.group_of_row < 0 for part in slices], axis=0))


def _reachable(columns: tuple[SensitiveColumn, ...], demand: Demand) -> int:
    """The most rows that the slice's tightest attribute allows to be published."""
    return min(reachable_rows(column.counts, demand.need[column.name]) for column in columns)


def slice_columns(
    columns: tuple[SensitiveColumn, ...], options: SlomsOptions, rng: np.random.Generator | None = None
) -> tuple[tuple[SensitiveColumn, ...], ...]:
    """The columns of each slice, as asked for or as found; with a generator PAM begins with random medoids."""
    asked = options.slices
    if isinstance(asked, tuple):
        return _given(columns, asked)
    if isinstance(asked, int) and asked > len(columns):
        rule = f"{asked} slices are asked for, there are {len(columns)} sensitive columns"
        raise PolicyError([Fault("method.slices", rule, f"Ask for at most {len(columns)}, or for auto")])
    distances = attribute_distances(columns, options.bins)
    parts = natural_slices(distances) if asked == "auto" else clusters_of(distances, int(asked), rng)
    return tuple(tuple(columns[i] for i in part) for part in parts)


def _given(
    columns: tuple[SensitiveColumn, ...], asked: tuple[tuple[str, ...], ...]
) -> tuple[tuple[SensitiveColumn, ...], ...]:
    by_name = {column.name: column for column in columns}
    named = [name for part in asked for name in part]
    faults = []
    for i, part in enumerate(asked):
        unknown = [name for name in part if name not in by_name]
        if unknown:
            rule = f"the slice names what is not a sensitive column: {', '.join(unknown)}"
            faults.append(Fault(f"method.slices.{i}", rule, f"Sensitive columns are: {', '.join(by_name)}"))
    twice = sorted({name for name in named if named.count(name) > 1})
    if twice:
        rule = f"{', '.join(twice)} is named more than once"
        faults.append(Fault("method.slices", rule, "Put each sensitive column into one slice"))
    missing = [name for name in by_name if name not in named]
    if missing:
        rule = f"no slice has the sensitive column {', '.join(missing)}"
        faults.append(Fault("method.slices", rule, "Add it to a slice, or change its role"))
    if faults:
        raise PolicyError(faults)
    return tuple(tuple(by_name[name] for name in part) for part in asked)
