"""Columns of a linked release that repeat a sensitive one beside the quasi-identifiers, under whatever name.

Linked tables protect because only a group id joins them. A column of `quasi` that has in every group the values of a
sensitive column, or one value for each of these, tells every person's value.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    kept = {name: _counts(sensitive, group, name) for name in attributes}
    told = {name: _counts(rows, group, name) for name in columns}
    return [
        fails(f"{COPY} {attribute}", f"{name} has the values of {attribute} in every group, so it tells each person's")
        for attribute, here in kept.items()
        for name, there in told.items()
        if len(here) > 1
        and (
            (len(ids) >= FEWEST_ALIKE and here == there)
            or (len(ids) >= FEWEST_GROUPS and sorted(here.values()) == sorted(there.values()))
        )
    ]


def _counts(frame: pl.DataFrame, group: str, name: str) -> dict[str | None, list[tuple[str, int]]]:
    """Per value how often it occurs in which group."""
    counted = (
        frame.select(pl.col(group).cast(pl.String).alias("group"), pl.col(name).cast(pl.String).alias("value"))
        .group_by("group", "value")
        .len()
        .sort("group")
    )
    found: dict[str | None, list[tuple[str, int]]] = {}
    for where, value, count in counted.iter_rows():
        found.setdefault(value, []).append((where, count))
    return found
