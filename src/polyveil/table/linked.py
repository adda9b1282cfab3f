"""Several tables about the same people: read from a folder, a database or a mapping, and joined by the person's key.

A person without rows in a table gets one, in which every cell is missing: so absence is a value like any other, and
every person has a row in every table. Such rows narrow no group: they have whatever cell the others have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import BoolArray, IntArray
from polyveil.errors import Fault, InputError, PolicyError, listed
from polyveil.policy.linked import of_table, plain_name, table_of
from polyveil.policy.rules import Pairs
from polyveil.policy.schema import LinkedTable, Policy
from polyveil.table.bind import bind, stated
from polyveil.table.bind_column import tree_column
from polyveil.table.bound import Bound
from polyveil.table.coded import CodedTable
from polyveil.table.databases.place import is_url
from polyveil.table.encode import encode
from polyveil.table.parse import as_text, without_markers
from polyveil.table.source import PACKED_SUFFIXES, PARQUET_SUFFIXES, TEXT_SUFFIXES, Table, read
from polyveil.table.stores import is_store, local_copy

Rows = Callable[[Policy, Table], IntArray | None]
"""Which rows of a table to keep, by its policy; None: all."""


@dataclass(frozen=True, eq=False)
class LinkedBound(Bound):
    """A policy that fits its tables; `rows` are people, and `quasi` and `sensitive` those of all tables."""

    parts: Mapping[str, Bound] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LinkedCodes(CodedTable):
    """The tables as codes. `rows` are people; every column has the codes of the rows of its own table."""

    parts: Mapping[str, CodedTable] = field(default_factory=dict)
    """In each, `person` is the number of the person's row in the first table."""
    absent: Mapping[str, BoolArray] = field(default_factory=dict)
    """Per table, the rows without any value: those of people of whom it knows nothing."""

    def shown(self, name: str, class_of_row: IntArray) -> CodedTable:
        """A table in which rows without values have the cells of others of their class, if there are any."""
        part, absent = self.parts[name], self.absent[name]
        if not absent.any() or not part.quasi:
            return part
        classes, first = np.unique(np.where(absent, -1, class_of_row), return_index=True)
        donor = np.full(int(class_of_row.max(initial=-1)) + 2, -1, dtype=np.int64)
        donor[classes] = np.where(classes < 0, -1, first)  # classes of absent people only, and rows left out, have none
        from_row = donor[class_of_row]
        quasi = []
        for column in part.quasi:
            null = column.domain.size - 1
            codes = np.where(absent, np.where(from_row < 0, null, column.codes[from_row]), column.codes)
            quasi.append(replace(column, codes=codes))
        return replace(part, quasi=tuple(quasi))


def read_linked(source: Any, tables: Mapping[str, LinkedTable], **reading: Any) -> dict[str, Table]:
    """The tables by name, from a mapping, a database or a folder of files."""
    if isinstance(source, Mapping):
        strange = [str(name) for name in source if name not in tables]
        if strange or len(source) < len(tables):
            raise InputError(f"the tables given are not those of the policy: {listed(tables)}. Name them like these")
        return {name: read(source[name], **reading) for name in tables}
    if is_store(source):
        with local_copy(source) as copied:
            return read_linked(copied, tables, **reading)
    if is_url(source):
        others = {key: value for key, value in reading.items() if key not in ("table", "query")}
        return {name: read(source, table=about.source or name, **others) for name, about in tables.items()}
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        raise InputError(
            "a policy with tables: needs several tables. Give a folder with a file for each, the address of a "
            "database, or in Python a mapping of names to tables"
        )
    return {name: read(_file(Path(source), name, about), **reading) for name, about in tables.items()}


def _file(folder: Path, name: str, about: LinkedTable) -> Path:
    """The file of a table: the one it names, or the only one in the folder that has the table's name."""
    if about.source is not None:
        return folder / about.source
    packed = [f"{end}{by}" for end in TEXT_SUFFIXES for by in PACKED_SUFFIXES]
    found = [folder / f"{name}{end}" for end in (*PARQUET_SUFFIXES, *TEXT_SUFFIXES, *packed)]
    found = [file for file in found if file.exists()]
    if len(found) != 1:
        what = "several files" if found else "no file"
        raise InputError(f"{folder} has {what} for the table {name}. Write tables: {{{name}: {{source: FILE}}}}")
    return found[0]


def names_of(tables: Mapping[str, Table]) -> list[str]:
    """The columns of all tables, called table.column."""
    return [f"{name}.{column}" for name, table in tables.items() for column in table.columns]


def with_trees(policy: Policy, tables: Mapping[str, Table], table_named: Callable[[str], Table]) -> Policy:
    """The policy with pairs of codes that are one more table of the source made into trees."""
    columns = dict(policy.columns)
    for name, column in columns.items():
        rule = column.hierarchy
        if isinstance(rule, Pairs) and not rule.in_file:
            pairs = table_named(rule.pairs).frame
            lacking = [each for each in (rule.parent, rule.child) if each not in pairs.columns]
            if lacking:
                remedy = f"It has: {listed(pairs.columns)}"
                raise PolicyError(
                    [Fault(f"columns.{name}.hierarchy", f"{rule.pairs} has no column {lacking[0]}", remedy)]
                )
            listed_pairs = zip(
                *(as_text(pairs.get_column(each)).to_list() for each in (rule.parent, rule.child)), strict=True
            )
            columns[name] = tree_column(
                name, column, tables[table_of(name)].frame.get_column(plain_name(name)), listed_pairs
            )
    return policy.model_copy(update={"columns": columns})


def join_people(policy: Policy, tables: Mapping[str, Table], keep: Rows = lambda _, __: None) -> dict[str, Table]:
    """The tables with columns called table.column, the key as text, and a row for everybody in every table."""
    faults: list[Fault] = []
    found: dict[str, Table] = {}
    everybody: pl.Series | None = None
    for name, table in tables.items():
        own = of_table(policy, name)
        frame = table.frame.rename({column: f"{name}.{column}" for column in table.columns})
        if own.person is None or own.person not in frame.columns:
            rule = "no column says whom its rows are about, or the table does not have it"
            faults.append(Fault(f"tables.{name}", rule, f"Write {name}.KEY: {{role: person}}"))
            continue
        key = as_text(without_markers(frame.get_column(own.person), policy.missing)).rename(own.person)
        frame = frame.with_columns(key)
        if everybody is None:
            faults += _unique_faults(name, key)
            everybody = key
        else:
            faults += _known_faults(name, key, everybody, next(iter(tables)))
            kept = keep(own, replace(table, frame=frame))
            frame = frame if kept is None else frame[kept]
            absent = everybody.filter(~everybody.is_in(frame.get_column(own.person).to_list()))
            frame = pl.concat([frame, absent.rename(own.person).to_frame()], how="diagonal")
        found[name] = replace(table, frame=frame, name=name, first_line=None)
    if faults:
        raise PolicyError(faults, "the policy does not fit the tables: it")
    return found


def _unique_faults(name: str, key: pl.Series) -> list[Fault]:
    twice = len(key) - key.n_unique()
    rule = f"it must have one row per person, and {twice:,} rows are about somebody who has another"
    remedy = "Name the table of people first, and give each person one row"
    return [Fault(f"tables.{name}", rule, remedy)] if twice else []


def _known_faults(name: str, key: pl.Series, everybody: pl.Series, first: str) -> list[Fault]:
    missing = key.null_count()
    strangers = len(key) - missing - int(key.is_in(everybody.to_list()).fill_null(False).sum())
    rule = f"{missing + strangers:,} rows are about nobody in {first}"
    return [Fault(f"tables.{name}", rule, f"Add these people to {first}, or leave the rows out")] if strangers else []


def bind_linked(policy: Policy, tables: Mapping[str, Table]) -> tuple[LinkedBound, LinkedCodes]:
    """The policy bound to tables that `join_people` has joined, and the tables as codes."""
    faults: list[Fault] = []
    parts: dict[str, Bound] = {}
    for name, table in tables.items():
        try:
            parts[name] = bind(of_table(policy, name), table)
        except PolicyError as error:
            faults += error.faults
    if faults:
        raise PolicyError(faults, "the policy does not fit the tables: it")
    columns = {column.name: column for part in parts.values() for column in (*part.quasi, *part.sensitive)}
    absent = {name: _absent(part) for name, part in parts.items()}
    codes = {name: _numbered(part, next(iter(parts.values())), absent[name]) for name, part in parts.items()}
    people = next(iter(parts.values())).rows
    bound = LinkedBound(
        policy=stated(policy, columns),
        rows=people,
        quasi=tuple(columns[name] for name in policy.having("quasi")),
        sensitive=tuple(columns[name] for name in policy.having("sensitive")),
        insensitive=pl.DataFrame(),
        person=next(iter(parts.values())).person,
        parts=parts,
    )
    quasi = {column.name: column for part in codes.values() for column in part.quasi}
    sensitive = {column.name: column for part in codes.values() for column in part.sensitive}
    coded = LinkedCodes(
        rows=people,
        quasi=tuple(quasi[name] for name in policy.having("quasi")),
        sensitive=tuple(sensitive[name] for name in policy.having("sensitive")),
        keyed=policy.release.person == "pseudonym",
        parts=codes,
        absent=absent,
    )
    return bound, coded


def _absent(part: Bound) -> BoolArray:
    """The rows in which every published cell is missing."""
    cells = [*(column.cells for column in (*part.quasi, *part.sensitive)), *part.insensitive.get_columns()]
    found = np.ones(part.rows, dtype=bool)
    for series in cells:
        found &= series.is_null().to_numpy()
    return found


def _numbered(part: Bound, first: Bound, absent: BoolArray) -> CodedTable:
    """A table as codes in which a person has the number of their row in the first table.

    Rows without values stand in the middle of the others until classes are known.
    """
    if part.person is None or first.person is None:
        raise ValueError("linked tables name the person of each row")
    number = part.person.replace_strict(first.person, pl.Series(range(first.rows)), return_dtype=pl.Int64)
    coded = encode(part)
    middle = [int(np.median(column.codes[~absent])) if not absent.all() else 0 for column in coded.quasi]
    quasi = [
        replace(column, codes=np.where(absent, at, column.codes))
        for column, at in zip(coded.quasi, middle, strict=True)
    ]
    return replace(coded, quasi=tuple(quasi), person=number.to_numpy())


def zip_rows(policy: Policy, tables: Mapping[str, Table]) -> pl.DataFrame:
    """One table of all columns: row j of a person has the j-th row of theirs in each table, over again where a table
    has fewer. Everything that is in a row of a person is in one of their rows here, and nothing else."""
    keyed = {name: (table.frame, of_table(policy, name).person or "") for name, table in tables.items()}
    first, key = next(iter(keyed.values()))
    number = {name: _number(frame.get_column(own), first.get_column(key)) for name, (frame, own) in keyed.items()}
    counts = {name: np.bincount(found, minlength=first.height) for name, found in number.items()}
    longest = np.max(np.stack(list(counts.values())), axis=0)
    person = np.repeat(np.arange(first.height), longest)
    place = np.arange(len(person)) - np.repeat(np.cumsum(longest) - longest, longest)
    shown = []
    for name, (frame, _) in keyed.items():
        order = np.argsort(number[name], kind="stable")
        begin = np.cumsum(counts[name]) - counts[name]
        shown.append(frame[order[begin[person] + place % counts[name][person]]])
    return pl.DataFrame([series for frame in shown for series in frame.get_columns()])


def _number(key: pl.Series, everybody: pl.Series) -> IntArray:
    found = key.replace_strict(everybody, pl.Series(range(len(everybody))), return_dtype=pl.Int64)
    return np.asarray(found.to_numpy(), dtype=np.int64)
