"""Random keys in place of names: drawn for every release from the operating system, and computed from nothing.

A key made from the name with a formula could be made again by whoever knows the name. These keys cannot: nobody but the
steward who kept the private list can tell whose they are. What else a row says may still point to its person.
"""

from __future__ import annotations

import secrets

import polars as pl

from polyveil.errors import Fault
from polyveil.policy import Policy

KEY_BYTES = 8
"""2 to the 64th keys."""


def random_keys(cells: pl.Series) -> pl.Series:
    """A key for each value, with no relation to the value or to the order; a missing cell has a key of its own."""
    missing = cells.is_null()
    values = cells.drop_nulls().unique()
    keys: set[str] = set()
    while len(keys) < len(values) + int(missing.sum()):
        keys.add(secrets.token_hex(KEY_BYTES))
    drawn = list(keys)
    found = cells.replace_strict(values, pl.Series(drawn[: len(values)], dtype=pl.String), default=None)
    return found.cast(pl.String).scatter(missing.arg_true(), drawn[len(values) :]) if missing.any() else found


def pseudonym_faults(policy: Policy, frame: pl.DataFrame, person: pl.Series | None) -> list[Fault]:
    """A key that several rows share tells that they belong together, which only a published key of people may tell."""
    faults = []
    for name in policy.pseudonyms:
        if name not in frame.columns:
            continue
        cells = frame.get_column(name)
        values, filled = cells.drop_nulls().n_unique(), cells.count()
        if values == filled:
            continue
        if person is not None and policy.release.person == "pseudonym" and filled == len(cells):
            pairs = pl.DataFrame([cells.alias("value"), person.alias("person")]).n_unique()
            if pairs == values == person.n_unique():
                continue
        rule = (
            f"{filled:,} rows share {values:,} values, so a reader of pseudonyms would see which rows belong together"
        )
        remedy = "Give the column role: person and write release: {person: pseudonym}, or remove replace"
        faults.append(Fault(f"columns.{name}.replace", rule, remedy))
    return faults
