"""Columns of a linked release that repeat a sensitive one beside the quasi-identifiers, under whatever name.

Linked tables protect because only a group id joins them. A column of `quasi` that has in every group the values of a
sensitive column, or one value for each of these, tells every person's value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from polyveil.verification.findings import Finding, fails

COPY = "copy of"
"""How the check of a column begins that is told by another."""
FEWEST_GROUPS = 20
"""From so many groups on, chance does not give two columns the same counts in each of them."""
FEWEST_ALIKE = 5
"""The same where the two columns have the same values as well."""


def check_copies(
    quasi: pl.DataFrame, group: str, columns: Sequence[str], sensitive: pl.DataFrame, attributes: Sequence[str]
) -> list[Finding]:
    """A finding per column of `quasi` that repeats an attribute of the table that `group` joins it with."""
    ids = set(sensitive.get_column(group).cast(pl.String))
    rows = quasi.filter(pl.col(group).cast(pl.String).is_in(ids))
    kept = {name: _occurrence(sensitive, group, name) for name in attributes}
    return compare_copies(len(ids), kept, {name: _occurrence(rows, group, name) for name in columns})


@dataclass(frozen=True)
class Occurrence:
    """How many values a column has, and in which groups each of them occurs how often: by value, and by any name."""

    values: int
    by_value: Any
    by_any_name: Any


def compare_copies(groups: int, kept: Mapping[str, Occurrence], told: Mapping[str, Occurrence]) -> list[Finding]:
    """A finding per column of `told` that repeats one of `kept`."""
    return [
        fails(f"{COPY} {attribute}", f"{name} has the values of {attribute} in every group, so it tells each person's")
        for attribute, here in kept.items()
        for name, there in told.items()
        if here.values > 1
        and (
            (groups >= FEWEST_ALIKE and here.by_value == there.by_value)
            or (groups >= FEWEST_GROUPS and here.by_any_name == there.by_any_name)
        )
    ]


def _occurrence(frame: pl.DataFrame, group: str, name: str) -> Occurrence:
    counted = (
        frame.select(pl.col(group).cast(pl.String).alias("group"), pl.col(name).cast(pl.String).alias("value"))
        .group_by("group", "value")
        .len()
        .sort("group")
    )
    found: dict[str | None, list[tuple[str, int]]] = {}
    for where, value, count in counted.iter_rows():
        found.setdefault(value, []).append((where, count))
    return Occurrence(len(found), found, sorted(found.values()))
