"""Binding: a policy meets a table. Every column is found, parsed and given its domain; faults come all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polyveil.errors import Fault, PolicyError, listed
from polyveil.policy.fit import fitted
from polyveil.policy.look_alikes import look_alike
from polyveil.policy.patterns import is_pattern
from polyveil.policy.risk import least_for
from polyveil.policy.schema import Policy
from polyveil.table.bind_column import bind_column
from polyveil.table.bound import Bound, BoundColumn
from polyveil.table.parse import (
    without_markers,
)
from polyveil.table.profiling.people import MANY
from polyveil.table.profiling.words import is_key_by_name
from polyveil.table.pseudonyms import pseudonym_faults, random_keys
from polyveil.table.source import Table
from polyveil.table.weights import bind_weights


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
    sampling, unfit = bind_weights(policy, table)
    faults += unfit
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
        sampling=sampling,
        pseudonyms=pl.DataFrame([random_keys(table.frame.get_column(name)) for name in policy.pseudonyms]),
    )


def _infinite(policy: Policy, frame: pl.DataFrame) -> list[Fault]:
    """Columns that are published as they are and have numbers that no format writes in one way."""
    named = [name for name in policy.having("insensitive") if name in frame.columns]
    found = [name for name in named if frame.schema[name].is_float() and frame.get_column(name).is_infinite().any()]
    rule, remedy = "it has infinite numbers, which no release publishes", "Mend these cells, or write role: drop"
    return [Fault(f"columns.{name}", rule, remedy) for name in found]


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
