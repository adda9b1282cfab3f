"""A policy that fits its table: what binding gives, and what the steward should know about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import listed
from polyveil.frames import has_formulas
from polyveil.policy.look_alikes import differ_by_case, is_unusual, written_alike
from polyveil.policy.rules import File, Tree
from polyveil.policy.schema import DEFAULT_LEVEL, Column, Distance, Policy
from polyveil.table.domain import Domain, OrderedDomain, TreeDomain


@dataclass(frozen=True, eq=False)
class BoundColumn:
    """A quasi-identifier or sensitive column with its parsed cells and its domain."""

    name: str
    column: Column
    cells: pl.Series
    domain: Domain

    @property
    def stated(self) -> Column:
        """The declaration with type and distance filled in, so that a reader need not find them from the data."""
        distance = self.distance if self.column.role == "sensitive" else None
        return self.column.model_copy(update={"distance": distance})

    @property
    def note(self) -> str | None:
        """What was done to the hierarchy as it was given, if its distances are not what its levels suggest."""
        if not isinstance(self.domain, TreeDomain) or not isinstance(self.column.hierarchy, Tree | File):
            return None
        tree = self.domain.hierarchy
        whole = tree.used_by(np.ones(tree.leaf_count, dtype=np.bool_))
        why = []
        if tree.is_stretched:
            why.append("levels with a single child were skipped")
        if self.column.role == "sensitive" and (tree.height[whole.height > 0] != whole.height[whole.height > 0]).any():
            why.append("values that do not occur in the table add no distance")
        return f"the hierarchy of {self.name} was normalized: {'; '.join(why)}" if why else None

    @property
    def distance(self) -> Distance:
        """The declared distance, else the natural one for the domain."""
        if self.column.distance is not None:
            return self.column.distance
        if isinstance(self.domain, OrderedDomain):
            return "ordered"
        return "equal" if self.domain.hierarchy.depth <= 1 else "hierarchical"

    def levels(self) -> IntArray:
        """The security level of each code."""
        levels = np.full(self.domain.size, DEFAULT_LEVEL, dtype=np.int64)
        if not self.column.levels:
            return levels
        code = {label: i for i, label in enumerate(self.domain.labels)}
        for level, values in self.column.levels.items():
            levels[[code[value] for value in values]] = level
        return levels


@dataclass(frozen=True, eq=False)
class Bound:
    """A policy that fits its table: all columns present, all values parsed and within their hierarchies."""

    policy: Policy
    rows: int
    quasi: tuple[BoundColumn, ...]
    sensitive: tuple[BoundColumn, ...]
    insensitive: pl.DataFrame
    person: pl.Series | None = None
    """Who each row is about; None if no column says so."""
    repeated: str | None = None
    """What to know about an identifier that repeats, where no column says whom a row is about."""

    pseudonyms: pl.DataFrame = field(default_factory=pl.DataFrame)
    """The random keys that stand for identifiers."""

    sampling: pl.Series | None = None
    """The sampling weight of each row; None if no column has the role weight."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the steward should know about how the policy was read."""
        of_columns = [column.note for column in (*self.quasi, *self.sensitive)]
        alike = [_values_note(column) for column in self.sensitive]
        found = (*of_columns, *alike, self.repeated, _names_note(self.published), self._formulas, *self._limits())
        return tuple(note for note in found if note is not None)

    @property
    def published(self) -> tuple[str, ...]:
        """The names of the columns that a release has."""
        weight = () if self.sampling is None else (self.sampling.name,)
        return (*(column.name for column in (*self.quasi, *self.sensitive)), *self.insensitive.columns, *weight)

    @property
    def _formulas(self) -> str | None:
        """What to know about cells that a spreadsheet would run, where the release is a CSV file."""
        if self.policy.release.file_format != "csv":
            return None
        cells = [column.cells for column in (*self.quasi, *self.sensitive)] + self.insensitive.get_columns()
        risky = [each.name for each in cells if has_formulas(each)]
        if not risky:
            return None
        return (
            f"{listed(risky)}: cells start with =, +, -, @ or a tab. A spreadsheet may run them as formulas when it "
            "opens the CSV. They are published as they are: import the column as text, or use format: parquet."
        )

    def _limits(self) -> Iterator[str]:
        """What pseudonyms and shifted dates do not protect."""
        if self.policy.pseudonyms:
            yield (
                f"{listed(self.policy.pseudonyms)}: published as random keys, new in every release. They hide the name "
                "only: the other columns of a row still describe its person."
            )
        if self.policy.shifted:
            days = max(column.shift.days for column in self.policy.columns.values() if column.shift is not None)
            yield (
                f"{listed(self.policy.shifted)}: all dates of a person are shifted by the same random number of days, "
                f"at most {days}. The time between them stays, and somebody who knows it can recognize the person."
            )


def _names_note(names: Sequence[str]) -> str | None:
    """What to know about names that are easily mistaken, or that have what nobody sees."""
    pairs, unusual = differ_by_case(names), [name for name in names if is_unusual(name)]
    if pairs:
        return f"{listed(pairs[0])} differ only by capital letters. Databases and Spark take them for one column."
    if unusual:
        return (
            f"{listed([repr(name) for name in unusual])}: the name has spaces or characters that a reader does not see."
        )
    return None


def _values_note(column: BoundColumn) -> str | None:
    """What to know about sensitive values that are another one in other letters."""
    alike = 0 if column.cells.dtype != pl.String else written_alike(column.cells.drop_nulls().unique())
    if not alike:
        return None
    return (
        f"{column.name}: {alike} values differ from another only in capitals, spaces or letters that look the same. "
        "Every guarantee counts them as different values: write them in one way if they mean the same."
    )
