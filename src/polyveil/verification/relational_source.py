"""People of linked tables checked against the tables a release was made from, by whoever has them.

The policy says where the tables are and which column is the person's key. With the private row map, which says the
group of every row of the table of people, everything is counted exactly: cells cover all rows of all people of a group,
every group has the values of its people, and the guarantees hold in people. Without it, the tables must have as many
rows and people as the manifest says, and every group at least as many people who fit its cells as it has rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import BoolArray, IntArray
from polyveil.errors import InputError
from polyveil.models import models_for
from polyveil.policy import Policy, fitted, from_public
from polyveil.policy.linked import of_table
from polyveil.table.linked import join_people, names_of, read_linked
from polyveil.table.source import Table
from polyveil.verification.attributes import codes_of_cells, declared_attributes
from polyveil.verification.findings import Finding, fails, holds, unchecked
from polyveil.verification.joint import with_joint
from polyveil.verification.people import PER_GROUP, counted, judge_people
from polyveil.verification.relational import View, views_of
from polyveil.verification.source import Fit, fit_cells, parsed, read_map


def check_tables_of_source(
    manifest: Mapping[str, Any],
    tables: Mapping[str, pl.DataFrame],
    source: Any,
    asked: Policy | None,
    row_map: Path | str | None,
) -> list[Finding]:
    """Findings about people per group, from the tables the release was made from."""
    if asked is None or list(asked.tables) != list(manifest["relational"]["tables"]):
        raise InputError("which columns link the tables? Give the policy of the release with --policy FILE")
    policy = from_public(manifest["policy"])
    if policy.having("person"):
        raise InputError(
            "this release has a key for each person, which is how its people are counted. Leave --source out"
        )
    if "rows_left_out" in manifest["people"]:
        return [unchecked(PER_GROUP, "rows were left out by chance, and nothing tells which")]
    read = read_linked(source, asked.tables)
    asked = fitted(asked, names_of(read))
    joined = join_people(asked, read)
    views = views_of(manifest, tables)
    if any(joined[name].height != view.manifest["rows"] for name, view in views.items()):
        words = "the tables do not have the rows and people of the manifest, so the release was not made from them"
        return [fails("source", words)]
    first = next(iter(joined))
    everybody = joined[first].frame.get_column(of_table(asked, first).person or "")
    who = {name: _number(joined[name], of_table(asked, name).person or "", everybody) for name in joined}
    fits = {
        name: fit_cells(of_table(policy, name), view.frame, view.groups - 1, joined[name])
        for name, view in views.items()
    }
    if row_map is None:
        return _possible(views, fits, who, joined, policy)
    return _exactly(views, fits, who, joined, policy, read_map(row_map, len(everybody)))


def _number(table: Table, key: str, everybody: pl.Series) -> IntArray:
    places = pl.Series(range(len(everybody)))
    found = table.frame.get_column(key).replace_strict(everybody, places, return_dtype=pl.Int64)
    return np.asarray(found.to_numpy(), dtype=np.int64)


def _absent(policy: Policy, table: Table) -> BoolArray:
    names = [name for name in table.columns if name in policy.columns]
    found = np.ones(table.height, dtype=bool)
    for name in names:
        found &= parsed(name, policy, table).is_null().to_numpy()
    return found if names else np.zeros(table.height, dtype=bool)


def _possible(
    views: Mapping[str, View],
    fits: Mapping[str, Fit | None],
    who: Mapping[str, IntArray],
    joined: Mapping[str, Table],
    policy: Policy,
) -> list[Finding]:
    """Whether every group can have as many people as it has rows in the table of people."""
    if any(fit is None for fit in fits.values()):
        return [unchecked(PER_GROUP, "numbers are published as midpoints or means, which hide the range of a group")]
    sizes = np.bincount(next(iter(views.values())).groups)[1:]
    absent = {name: _absent(policy, table) for name, table in joined.items()}
    for group, size in enumerate(sizes):
        fitting = np.ones(len(next(iter(who.values()))), dtype=bool)
        for name, fit in fits.items():
            if fit is not None and fit.value_of_row:
                fitting[who[name][~fit.rows(group) & ~absent[name]]] = False
        if fitting.sum() < size:
            return [fails("source", "a group has more people than people of the source fit its cells")]
    words = f"the source has one row per person, and as many people fit every group as it has: at least {sizes.min()}"
    return [
        holds(PER_GROUP, words),
        unchecked("people with a value", "give the private row map with --row-map to count them"),
    ]


def _exactly(
    views: Mapping[str, View],
    fits: Mapping[str, Fit | None],
    who: Mapping[str, IntArray],
    joined: Mapping[str, Table],
    policy: Policy,
    group_of_person: IntArray,
) -> list[Finding]:
    findings: list[Finding] = []
    for name, view in views.items():
        groups = group_of_person[who[name]]
        kept = groups >= 0
        fit = fits[name]
        if fit is not None and fit.value_of_row:
            outside = ~_covered(fit, groups) & kept & ~_absent(policy, joined[name])
            if outside.any():
                return [fails("row map", f"rows of {name} lie outside the cells of their group")]
        found = _judged(name, view, joined[name], groups, who[name])
        if isinstance(found, Finding):
            return [found]
        findings += found
    return findings


def _covered(fit: Fit, groups: IntArray) -> BoolArray:
    covered = np.ones(len(groups), dtype=bool)
    for covers, cell, value in zip(fit.covers, fit.cell_of_group, fit.value_of_row, strict=True):
        covered &= covers[cell[np.maximum(groups, 0)], value]
    return covered


def _judged(name: str, view: View, table: Table, groups: IntArray, who: IntArray) -> list[Finding] | Finding:
    """The guarantees of one table in people, once its values are shown to be those of the groups in the files."""
    policy = from_public(view.manifest["policy"])
    declared = declared_attributes(view.manifest, policy)
    kept = groups >= 0
    used = np.ones(len(groups), dtype=bool) if view.manifest["counts_of"] == "input" else kept
    codes: dict[str, IntArray] = {}
    for column, about in declared.items():
        cells = parsed(column, policy, table)
        source, shown = (
            codes_of_cells(about, cells.filter(pl.Series(used))),
            codes_of_cells(about, view.frame.get_column(column)),
        )
        if source is None or shown is None:
            return fails("source", f"{name} has values of {column} that the manifest does not know")
        codes[column] = source
        mine = np.sort(groups[kept] * (about.attribute.size + 1) + source[kept[used]])
        if not np.array_equal(mine, np.sort((view.groups - 1) * (about.attribute.size + 1) + shown)):
            return fails("row map", f"the groups of {name} do not have the values of their people")
    if not np.array_equal(np.bincount(groups[kept]), np.bincount(view.groups - 1)):
        return fails("row map", f"the groups of {name} do not have the rows of their people")
    codes, attributes = with_joint(policy, codes, {column: about.attribute for column, about in declared.items()})
    statistics = counted(np.where(kept, groups, -1)[used], who[used], codes, attributes)
    return judge_people(view.manifest, models_for(policy, attributes), statistics, how="counted by the row map")
