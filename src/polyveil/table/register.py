"""A table of the population that a table is a part of: one row per person, with the same quasi-identifiers.

Both are coded over the values of both, so that a group's cells cover people of the population whose values nobody in
the table has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from polyveil.policy import Policy
from polyveil.policy.schema import Privacy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.parse import as_text
from polyveil.table.population import read_population, refuse_strangers
from polyveil.table.source import Table


@dataclass(frozen=True, eq=False)
class Register:
    """The rows of the table and the people of the population, with the same domains."""

    table: CodedTable
    population: CodedTable


def population_file(policy: Policy) -> Path | None:
    """The file of the population that a policy names."""
    risk = policy.privacy.risk
    if risk is None or risk.population is None or risk.population.table is None:
        return None
    return policy.folder / risk.population.table


def read_register(policy: Policy, table: Table) -> Register | None:
    """The population that a policy names; `policy` says the type of every column."""
    file = population_file(policy)
    if file is None:
        return None
    names = list(policy.having("quasi"))
    people = read_population(file, names, table.height)
    ours, theirs = table.frame.select(names), people.frame.select(names)
    for name in names:
        if ours.schema[name] != theirs.schema[name]:
            ours, theirs = (each.with_columns(as_text(each.get_column(name))) for each in (ours, theirs))
    quasi = policy.model_copy(update={"columns": {name: policy.columns[name] for name in names}, "privacy": Privacy()})
    coded = encode(bind(quasi, replace(table, frame=pl.concat([ours, theirs]), name=people.name)))
    rows = range(coded.rows)
    ours_coded, theirs_coded = (
        coded.take(pl.Series(some).to_numpy()) for some in (rows[: table.height], rows[table.height :])
    )
    known = np.bincount(coded.quasi_tuples.of_row[table.height :], minlength=len(coded.quasi_tuples.counts)) > 0
    refuse_strangers(int((~known[coded.quasi_tuples.of_row[: table.height]]).sum()), table.height, people.name)
    return Register(ours_coded, theirs_coded)
