"""Binding: a policy meets a table. Every column is found, parsed and given its domain; faults come all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import Fault, PolicyError, listed
from polyveil.frames import has_formulas
from polyveil.policy.fit import fitted
from polyveil.policy.hierarchy import Hierarchy, HierarchyFault, flat
from polyveil.policy.hierarchy_pairs import tree_from_pairs
from polyveil.policy.look_alikes import differ_by_case, is_unusual, look_alike, written_alike
from polyveil.policy.patterns import is_pattern
from polyveil.policy.publishing import Publish
from polyveil.policy.risk import least_for
from polyveil.policy.rules import DateParts, File, HierarchyRule, Intervals, Mask, Order, Pairs, Tree, number_label
from polyveil.policy.schema import DEFAULT_LEVEL, Column, ColumnType, Distance, Policy
from polyveil.table.domain import Domain, OrderedDomain, TreeDomain
from polyveil.table.parse import (
    as_text,
    coarsened,
    column_type,
    days_since_epoch,
    parse_dates,
    parse_numbers,
    place_of,
    without_markers,
)
from polyveil.table.profiling.people import MANY
from polyveil.table.profiling.words import is_key_by_name
from polyveil.table.pseudonyms import pseudonym_faults, random_keys
from polyveil.table.source import Table


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
    """Who each row is about; None where no column says so."""
    repeated: str | None = None
    """What to know about an identifier that repeats, where no column says whom a row is about."""

    pseudonyms: pl.DataFrame = field(default_factory=pl.DataFrame)
    """The random keys that stand for identifiers."""

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
        return (*(column.name for column in (*self.quasi, *self.sensitive)), *self.insensitive.columns)

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


def bind(policy: Policy, table: Table) -> Bound:
    """Fit the policy to the table, or raise PolicyError with everything that does not fit."""
    policy = fitted(policy, table.frame.columns)
    faults = [*column_faults(policy, table.frame.columns), *size_faults(policy, table.frame.height)]
    faults += name_faults(policy)
    bound: dict[str, BoundColumn] = {}
    for name, column in policy.columns.items():
        if column.role in ("quasi", "sensitive") and name in table.frame.columns:
            result = bind_column(name, column, policy, table)
            if isinstance(result, BoundColumn):
                bound[name] = result
            else:
                faults.extend(result)
    person = None
    if policy.person is not None and policy.person in table.frame.columns:
        person = without_markers(table.frame.get_column(policy.person), policy.missing)
        faults += person_faults(policy, person)
    faults += pseudonym_faults(policy, table.frame, person) + _infinite(policy, table.frame)
    if faults:
        raise PolicyError(faults, f"the policy does not fit {table.name}: it")
    return Bound(
        policy=stated(policy, bound),
        rows=table.frame.height,
        quasi=tuple(bound[name] for name in policy.having("quasi")),
        sensitive=tuple(bound[name] for name in policy.having("sensitive")),
        insensitive=table.frame.select(policy.having("insensitive")),
        person=person,
        repeated=_repeated(policy, table) if person is None else None,
        pseudonyms=pl.DataFrame([random_keys(table.frame.get_column(name)) for name in policy.pseudonyms]),
    )


def _infinite(policy: Policy, frame: pl.DataFrame) -> list[Fault]:
    """Columns that are published as they are and have numbers that no format writes in one way."""
    named = [name for name in policy.having("insensitive") if name in frame.columns]
    found = [name for name in named if frame.schema[name].is_float() and frame.get_column(name).is_infinite().any()]
    rule, remedy = "it has infinite numbers, which no release publishes", "Mend these cells, or write role: drop"
    return [Fault(f"columns.{name}", rule, remedy) for name in found]


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


def _repeated(policy: Policy, table: Table) -> str | None:
    """A warning that rows are counted although an identifier repeats; the likeliest key of a person, if several do."""
    rows = table.frame.height
    people = {name: table.frame.get_column(name).drop_nulls().n_unique() for name in policy.having("identifier")}
    repeated = {name: count for name, count in people.items() if MANY * rows < count < rows}
    if not repeated:
        return None
    name = max(repeated, key=lambda each: (is_key_by_name(each), repeated[each]))
    if is_key_by_name(name):
        found, advice = "people", f"Give {name} role: person to count people."
    else:
        found, advice = "values", f"If rows with the same {name} are about the same person, give it role: person."
    return f"{name} repeats: {repeated[name]:,} {found} in {rows:,} rows. Guarantees count rows. {advice}"


def stated(policy: Policy, bound: Mapping[str, BoundColumn]) -> Policy:
    """The policy with the types and distances that were found from the data written out."""
    columns = {name: bound[name].stated if name in bound else column for name, column in policy.columns.items()}
    return policy.model_copy(update={"columns": columns})


def column_faults(policy: Policy, columns: Sequence[str]) -> list[Fault]:
    """Columns that only the policy or only the table has."""
    if not set(policy.columns) & set(columns):
        # Without a header line the first person's cells would stand here as names, so no name is shown.
        remedy = "Check that this is the right table, and that its first line holds the column names"
        return [Fault("columns", f"the table has none of the policy's {len(policy.columns)} columns", remedy)]
    has = f"The table has: {listed(list(columns), most=50)}"
    faults = [
        Fault(
            f"columns.{name}",
            "no column of the table fits it" if is_pattern(name) else "the table has no such column",
            has,
        )
        for name in policy.columns
        if name not in columns
    ]
    rest = [name for name in columns if name not in policy.columns]
    if len(rest) == 1:
        rule = "the column is in the table but not in the policy"
        faults.append(Fault(f"columns.{rest[0]}", rule, f"Give it a role, or {_DROP_OTHERS}"))
    elif rest:
        rule = f"{len(rest)} columns are in the table but not in the policy: {listed(rest, most=5)}"
        faults.append(Fault("columns", rule, f"Give them roles, or {_DROP_OTHERS}"))
    return faults


_DROP_OTHERS = "leave out all columns that the policy does not name with other_columns: drop"


def name_faults(policy: Policy) -> list[Fault]:
    """Published columns whose names a reader cannot tell apart."""
    published = [name for name, column in policy.columns.items() if column.role not in ("identifier", "drop", "person")]
    rule = "its name looks like that of another column: a letter of another alphabet, a space or an invisible character"
    return [Fault(f"columns.{name}", rule, "Rename one of them, or drop it") for _, name in look_alike(published)]


def size_faults(policy: Policy, rows: int) -> list[Fault]:
    """Tables too small for anything, or for k or a risk."""
    if rows < 2:
        return [
            Fault("the table", f"it has {rows} row, and one row cannot hide among others", "Give at least two rows")
        ]
    return _too_large_groups(policy, rows, f"the table has {rows} rows")


def _too_large_groups(policy: Policy, there: int, has: str) -> list[Fault]:
    """Groups that k or a risk asks for, and that are larger than the whole table."""
    k, risk = policy.privacy.k, policy.privacy.risk
    faults = []
    if k is not None and k > there:
        faults.append(Fault("privacy.k", f"k is {k}, {has}", f"Ask for a k of at most {there}"))
    if risk is None:
        return faults
    if risk.strict_k is not None and risk.strict_k > there:
        faults.append(Fault("privacy.risk.strict_k", f"strict_k is {risk.strict_k}, {has}", f"Ask for at most {there}"))
    limits = {"max": risk.max, "average": risk.average} if risk.attacker == "prosecutor" else {}
    for name, limit in limits.items():
        if limit is not None and least_for(limit) > there:
            rule = f"a risk of {limit:g} needs groups of {least_for(limit):,}, {has}"
            faults.append(Fault(f"privacy.risk.{name}", rule, f"Ask for at least 1/{there}, or {1 / there:.2g}"))
    return faults


def person_faults(policy: Policy, person: pl.Series) -> list[Fault]:
    """Rows about nobody, and too few people for k."""
    return faults_of_people(policy, person.n_unique(), person.null_count())


def faults_of_people(policy: Policy, people: int, missing: int) -> list[Fault]:
    """The same from counts: how many people there are, and how many rows are about nobody."""
    if missing:
        rule = f"{missing:,} rows do not say whom they are about"
        return [Fault(f"columns.{policy.person}", rule, "Fill in the key of the person, or leave these rows out")]
    return _too_large_groups(policy, people, f"the table is about {people} people")


def bind_column(name: str, column: Column, policy: Policy, table: Table) -> BoundColumn | list[Fault]:
    """One column with its parsed cells and its domain, or what does not fit."""
    place = f"columns.{name}"
    cells = without_markers(table.frame.get_column(name), [*policy.missing, *column.missing])
    if policy.release.file_format == "csv" and cells.dtype == pl.String:
        cells = without_markers(cells, [""])  # in a CSV an empty text and a missing cell look the same
    if cells.null_count() == len(cells):
        remedy = "Give it the role identifier or insensitive, or check the missing markers"
        return [Fault(place, "the column has no value, only missing cells", remedy)]
    if isinstance(column.hierarchy, Pairs):
        if not column.hierarchy.in_file:
            rule = "pairs in a table of the source are for policies with tables:"
            return [Fault(f"{place}.hierarchy", rule, "Give the pairs as a CSV file")]
        try:
            column = tree_column(name, column, cells, column.hierarchy.read(policy.folder))
        except HierarchyFault as fault:
            return [Fault(f"{place}.hierarchy", fault.rule, fault.remedy)]
    kind = column_type(column, cells)
    column = column.model_copy(update={"type": kind})
    try:
        if column.recode == "set" or (isinstance(column.hierarchy, Tree | File | Mask) and kind != "ordinal"):
            return _bind_text(name, column, as_text(cells), table, policy.folder)
        if kind == "numeric":
            cells, faults = parse_numbers(name, cells, table)
        elif kind == "date":
            cells, faults = parse_dates(name, cells, column, table)
        else:
            return _bind_text(name, column, as_text(cells), table, policy.folder)
    except HierarchyFault as fault:
        return [Fault(f"{place}.hierarchy", fault.rule, fault.remedy)]
    if faults:
        return faults
    if column.publish is not None and kind != "numeric":
        return [Fault(f"{place}.publish", "publish is for numbers, and this column has none", "Remove publish")]
    if column.publish is not None and column.publish.intervals is not None:
        return _bind_intervals(name, column, column.publish, cells)
    if column.publish is not None:
        cells = coarsened(cells, column.publish).cast(pl.Float64)
    return _checked(BoundColumn(name, column, cells, _ordered_domain(kind, column.hierarchy, cells)))


def _bind_intervals(name: str, column: Column, publish: Publish, cells: pl.Series) -> BoundColumn | list[Fault]:
    """Numbers published as intervals: categories in their order."""
    labels = coarsened(cells, publish)
    outside = int((labels.is_null() & cells.is_not_null()).sum())
    if outside:
        rule = f"{outside:,} of {len(cells):,} numbers lie outside the intervals"
        remedy = "Widen the first or last edge; -inf and inf have no end"
        return [Fault(f"columns.{name}.publish", rule, remedy)]
    present = set(labels.drop_nulls().unique().to_list())
    used = tuple(label for label in publish.labels if label in present)
    domain = OrderedDomain("ordinal", np.arange(len(used), dtype=np.float64), used, cells.null_count() > 0)
    return _checked(BoundColumn(name, column, labels, domain))


def tree_column(name: str, column: Column, cells: pl.Series, pairs: Iterable[tuple[str, str]]) -> Column:
    """The column with pairs of codes made into the tree of the values that occur."""
    values = sorted(as_text(without_markers(cells, column.missing)).drop_nulls().unique().to_list())
    try:
        tree = Tree(tree=tree_from_pairs(pairs, values))
    except HierarchyFault as fault:
        raise PolicyError([Fault(f"columns.{name}.hierarchy", fault.rule, fault.remedy)]) from None
    return column.model_copy(update={"hierarchy": tree, "type": "categorical"})


def _ordered_domain(kind: ColumnType, rule: HierarchyRule | None, cells: pl.Series) -> Domain:
    """Numbers and dates: by value, or below the intervals or date parts asked for."""
    has_null = cells.null_count() > 0
    values = cells.drop_nulls().unique().sort()
    if kind == "date":
        days = values.to_list()
        if isinstance(rule, DateParts):
            return _tree(rule.build(days), has_null)
        labels = tuple(day.isoformat() for day in days)
        return OrderedDomain("date", np.array(days_since_epoch(days)), labels, has_null)
    numbers = values.to_numpy().astype(np.float64)
    labels = tuple(number_label(value) for value in numbers)
    if isinstance(rule, Intervals):
        return _tree(rule.build(numbers.tolist(), labels), has_null)
    return OrderedDomain("numeric", numbers, labels, has_null)


def _bind_text(name: str, column: Column, cells: pl.Series, table: Table, folder: Path) -> BoundColumn | list[Fault]:
    has_null = cells.null_count() > 0
    rule = column.hierarchy
    present = sorted(cells.drop_nulls().unique().to_list())
    domain: Domain
    if isinstance(rule, Order):
        ranks = np.arange(len(rule.order), dtype=np.float64)
        domain = OrderedDomain("ordinal", ranks, tuple(rule.order), has_null)
    elif column.recode == "set" or rule is None:
        domain = _tree(flat(present), has_null, as_set=column.recode == "set")
    elif isinstance(rule, Mask):
        domain = _tree(rule.build(present), has_null)
    elif isinstance(rule, Tree | File):
        domain = _tree(rule.build() if isinstance(rule, Tree) else rule.build(folder), has_null)
        if column.role == "sensitive":
            seen = {*present, None}
            used = np.array([label in seen for label in domain.hierarchy.leaves], dtype=np.bool_)
            domain = replace(domain, hierarchy=domain.hierarchy.used_by(used))
    else:
        return [Fault(f"columns.{name}.hierarchy", "this rule is for numbers or dates", "Set the column's type")]
    unknown = set(present) - set(domain.labels)
    if unknown:
        first = cells.is_in(list(unknown)).arg_true()[0]
        return [
            Fault(
                f"columns.{name}.hierarchy",
                f"{len(unknown)} of the column's {len(present)} values are missing from it; "
                f"the first stands in {place_of(first, table)}",
                "Add them, or declare them in missing:",
            )
        ]
    return _checked(BoundColumn(name, column, cells, domain))


def _tree(hierarchy: Hierarchy, has_null: bool, *, as_set: bool = False) -> TreeDomain:
    return TreeDomain(hierarchy.with_null() if has_null else hierarchy, has_null, as_set)


def _checked(bound: BoundColumn) -> BoundColumn | list[Fault]:
    """The demands on the column that only its domain can answer."""
    place = f"columns.{bound.name}"
    faults = []
    known = set(bound.domain.labels)
    for level, values in bound.column.levels.items():
        unknown = [value for value in values if value not in known]
        if unknown:
            rule = f"security level {level} names values the column does not have: {', '.join(unknown)}"
            faults.append(Fault(f"{place}.levels", rule, "Correct or remove them"))
    if bound.column.role == "sensitive":
        tree = isinstance(bound.domain, TreeDomain)
        if bound.distance == "hierarchical" and not tree:
            faults.append(
                Fault(f"{place}.distance", "hierarchical distance needs a hierarchy", "Give one, or use ordered")
            )
        if bound.distance == "ordered" and tree:
            remedy = "Declare type: numeric, date, or ordinal with hierarchy: {order: [...]}"
            faults.append(Fault(f"{place}.distance", "ordered distance needs ordered values", remedy))
    return faults or bound


def codes_of(domain: Domain, cells: pl.Series) -> IntArray:
    """One code per cell; the cells are parsed and within the domain."""
    if cells.dtype == pl.Date and isinstance(domain, OrderedDomain):
        cells = cells.cast(pl.Int32).cast(pl.Float64)
    if cells.dtype.is_numeric() and isinstance(domain, OrderedDomain):
        found = np.searchsorted(domain.positions, cells.fill_null(domain.positions[0]).to_numpy())
        codes = found.astype(np.int64)
        codes[cells.is_null().to_numpy()] = domain.null_code
        return codes
    text = cells.cast(pl.String) if cells.dtype == pl.Date else as_text(cells)
    physical = text.cast(pl.Enum(list(domain.labels))).to_physical()
    return physical.cast(pl.Int64).fill_null(domain.null_code).to_numpy()
