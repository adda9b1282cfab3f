"""A policy for wide tables meets the names of a table: patterns become columns, and the rest may be dropped."""

from __future__ import annotations

from collections.abc import Sequence

from polyveil.errors import PolicyError
from polyveil.policy.load import check
from polyveil.policy.patterns import fits, is_pattern
from polyveil.policy.schema import Column, Policy


def fitted(policy: Policy, columns: Sequence[str]) -> Policy:
    """The policy with one entry per column: patterns written out, and with `other_columns: drop` the rest dropped.

    A column's own name wins over patterns, and the first pattern that fits wins over later ones. A name that the table
    does not have, and a pattern that fits no column, stay as they are, so that binding reports them.
    """
    patterns = [name for name in policy.columns if is_pattern(name) and name not in columns]
    if not patterns and policy.other_columns == "error":
        return policy
    rest = [name for name in columns if name not in policy.columns]
    found: dict[str, Column] = {}
    for entry, column in policy.columns.items():
        covered = [name for name in rest if fits(entry, name)] if entry in patterns else [entry]
        rest = [name for name in rest if name not in covered]
        # A pattern without a column of its own is no fault if an earlier one took its columns.
        found |= dict.fromkeys(covered or ([entry] if not any(fits(entry, name) for name in columns) else []), column)
    if policy.other_columns == "drop":
        found |= dict.fromkeys(rest, Column(role="drop"))
    known = policy.model_copy(update={"columns": found, "other_columns": "error"})
    faults = check(known) if set(policy.columns) & set(columns) or patterns else ()
    if faults:
        raise PolicyError(faults)
    return known
