"""Which column says whom a row is about, if people have several rows: what names say, and what values show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from polyveil.table.profiling.column import ColumnProfile
from polyveil.table.profiling.words import is_key_by_name, is_numbered, meaning_of
from polyveil.table.source import Table

MANY = 0.05
"""A key has more different values than this share of the rows: people have fewer than twenty rows on average."""
MANY_WITHOUT_NAME = 0.2
"""The same for a column whose name does not say that it is a person's key."""
CONSTANT, BY_CHANCE = 0.95, 0.7
"""A column belongs to the person if so many rows agree with the person's first row, and fewer would by chance."""


def with_person(table: Table, profiles: Sequence[ColumnProfile]) -> tuple[ColumnProfile, ...]:
    """The profiles, with the role person for the one column that most likely says whom a row is about."""
    repeated = [about for about in profiles if _repeats(about, table.height)]
    named = [about for about in repeated if is_key_by_name(about.name)]
    found, why = None, ""
    if named:
        found = max(named, key=lambda about: about.distinct)
        why = "Column name suggests a number given to a person, and values repeat"
    else:
        for about in sorted(repeated, key=lambda about: -about.distinct):
            constant = _constant(table, about, profiles) if _may_be_key(about, table.height) else []
            if constant:
                found, why = about, f"Values repeat, and rows with the same value have the same {', '.join(constant)}"
                break
    if found is None:
        return tuple(profiles)
    reason = f"{why}: {found.distinct:,} people in {table.height:,} rows."
    person = replace(found, role="person", reason=reason, hierarchy=None, confidence="high", topic="person")
    return tuple(person if about is found else about for about in profiles)


def _repeats(about: ColumnProfile, rows: int) -> bool:
    """Every row has a value, and some rows share theirs."""
    return not about.missing and max(1, MANY * rows) < about.distinct < rows and about.type != "date"


def _may_be_key(about: ColumnProfile, rows: int) -> bool:
    """Without a name that says so: a code or text that means nothing else, with few rows each."""
    code = about.type == "categorical" or (is_numbered(about.name) and about.dtype.startswith(("Int", "UInt")))
    unknown = not about.topic or about.role == "identifier"
    return code and unknown and about.distinct > MANY_WITHOUT_NAME * rows


def _constant(table: Table, key: ColumnProfile, profiles: Sequence[ColumnProfile]) -> list[str]:
    """Columns that do not change within a key and would by chance; none if a person's sex changes, or there is one."""
    others = [about for about in profiles if about.role == "quasi" and 1 < about.distinct < MANY * table.height]
    names = [about.name for about in others if about.name != key.name]
    if not names:
        return []
    again = pl.col(key.name).is_first_distinct().not_()
    same = [(pl.col(name).eq_missing(pl.col(name).first().over(key.name))).filter(again).mean() for name in names]
    chance = [(pl.col(name).value_counts().struct.field("count") / pl.len()).pow(2).sum() for name in names]
    agree = table.frame.select([each.alias(name) for name, each in zip(names, same, strict=True)]).row(0)
    random = [table.frame.select(each).item() for each in chance]
    kept = [
        name
        for name, share, likely in zip(names, agree, random, strict=True)
        if share >= CONSTANT and likely < BY_CHANCE
    ]
    changing_sex = any(_is_sex(name) and name not in kept for name in names)
    return [] if changing_sex or len(kept) < 2 else kept


def _is_sex(name: str) -> bool:
    meaning = meaning_of(name)
    return meaning is not None and meaning.topic == "sex"
