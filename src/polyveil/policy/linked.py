"""Policies for several tables about the same people: `tables:` names them, and a column is called `table.column`.

The first table has one row per person, the others any number. Each names the person's key with `role: person`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from polyveil.errors import listed
from polyveil.policy.broken import PolicyFinding
from polyveil.policy.checks import ColumnDraft
from polyveil.policy.guarantees import guarantee_keys, setting_keys
from polyveil.policy.patterns import is_pattern
from polyveil.policy.schema import LinkedTable, Policy, Privacy

NAME = re.compile("[A-Za-z][A-Za-z0-9_]{0,59}")
"""What a table may be called: it is also the name of a published file or database table."""


def table_of(column: str) -> str:
    """The table of a column `table.column`."""
    return column.partition(".")[0]


def plain_name(column: str) -> str:
    """The column's name in its own table."""
    return column.partition(".")[2]


def of_table(policy: Policy, table: str) -> Policy:
    """The policy of one of the tables alone."""
    return _part(policy, table, {name for name in policy.columns if table_of(name) == table})


def view_of(policy: Policy, table: str) -> Policy:
    """The policy of what a reader gets who joins the quasi-identifiers of all tables to the rows of one."""
    own = {name for name in policy.columns if table_of(name) == table}
    return _part(policy, table, own | set(policy.having("quasi")))


def _part(policy: Policy, table: str, chosen: set[str]) -> Policy:
    joint = tuple(each for each in policy.privacy.joint if table_of(each.columns[0]) == table)
    columns = {name: column for name, column in policy.columns.items() if name in chosen}
    asked = {"joint": joint}
    if all(column.role != "sensitive" for column in columns.values()):  # guarantees of columns have nothing to say
        usual = Privacy()
        asked |= {key: getattr(usual, key) for key in (*guarantee_keys(Privacy, "column"), *setting_keys(Privacy))}
    return policy.model_copy(
        update={
            "tables": {},
            "other_columns": "error",
            "columns": columns,
            "privacy": policy.privacy.model_copy(update=asked),
            "release": policy.release.model_copy(update={"form": "generalized"}),
        }
    )


def check_tables(
    tables: Mapping[str, LinkedTable], sketches: Mapping[str, ColumnDraft], privacy: Privacy
) -> Iterator[PolicyFinding]:
    """What several tables ask of the names of tables and columns."""
    for name in tables:
        if not NAME.fullmatch(name):
            rule = "the name of a table has letters, digits and underscores, and starts with a letter"
            yield PolicyFinding(("tables", name), rule, "Choose such a name, and say where it is with source:")
    if len(tables) == 1:
        yield PolicyFinding(("tables",), "there is only one table", "Remove tables:, and name columns without a table")
    for name in sketches:
        if is_pattern(name):
            continue
        if table_of(name) not in tables or not plain_name(name):
            rule = f"the column does not say which table it is in: {listed(tables)}"
            yield PolicyFinding(("columns", name), rule, "Call it table.column")
    for name, sketch in sketches.items():
        for key in ("replace", "shift"):
            if getattr(sketch.column, key) is not None:
                yield PolicyFinding(("columns", name, key), f"{key} is for releases of one table", f"Remove {key}")
    if privacy.risk is not None:
        rule = "risk is guaranteed for releases of one table"
        yield PolicyFinding(("privacy", "risk"), rule, "Use k: a risk of at most 1/k in every table")
    if privacy.any is not None:
        yield PolicyFinding(("privacy", "any"), "any is guaranteed for releases of one table", "Remove any")
    for number, joint in enumerate(privacy.joint):
        if len({table_of(name) for name in joint.columns}) > 1:
            rule = "the columns are in different tables, and no row tells which of their values belong together"
            yield PolicyFinding(("privacy", "joint", number, "columns"), rule, "Name columns of one table")
