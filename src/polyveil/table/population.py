"""Reading a table of the population: one row per person, with the same quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polyveil.errors import InputError, listed
from polyveil.table.source import Table, read


def read_population(source: Any, quasi: Sequence[str], rows: int) -> Table:
    """The table of the population, which has all quasi-identifiers and everybody of the table."""
    people = read(source)
    lacking = [name for name in quasi if name not in people.columns]
    if lacking:
        raise InputError(f"the population table {people.name} lacks {listed(lacking)}. Give all quasi-identifiers")
    if people.height < rows:
        raise InputError(
            f"the population table {people.name} has {people.height:,} rows, fewer than the {rows:,} of the table that "
            "is a part of it. Give one row for everybody in the population"
        )
    return people


def refuse_strangers(strangers: int, rows: int, population: str) -> None:
    """A table is a part of its population: whoever is in it fits somebody there."""
    if strangers:
        raise InputError(
            f"{strangers:,} of the {rows:,} rows fit nobody in the population table {population}, which must have "
            "everybody of the table. Write the quasi-identifiers of both in the same way, or add the people it lacks"
        )
