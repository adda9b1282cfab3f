"""The domains that a manifest describes are those that the released cells show: no end, no value, no missing cell more.

An end of a range, or a value of a set, that no released row has would tell of a row that was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from polyveil.cells import ANYTHING, place_of, read_range, read_set
from polyveil.policy import Policy
from polyveil.policy.rules import Tree
from polyveil.policy.scalars import number_label
from polyveil.policy.schema import Column
from polyveil.verification.findings import Finding, fails, unchecked
from polyveil.verification.versions import is_former


def check_domains(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, pl.DataFrame]) -> list[Finding]:
    """A finding per quasi-identifier whose described domain is not the one that the cells show."""
    found = {name: frame.get_column(name) for frame in tables.values() for name in frame.columns}
    return compare_domains(manifest, policy, lambda name: found[name].unique() if name in found else None)


def compare_domains(
    manifest: Mapping[str, Any], policy: Policy, distinct: Callable[[str], pl.Series | None]
) -> list[Finding]:
    """The same from the distinct cells of each column, wherever they were gathered."""
    if is_former(manifest):
        return []
    wrong: list[str] = []
    wider: list[str] = []
    for name in policy.having("quasi"):
        cells = distinct(name)
        if cells is not None and name in manifest["quasi"]:
            ranges = policy.release.numbers == "interval"
            about, column = manifest["quasi"][name], policy.columns[name]
            compare = _are_values if policy.release.exact_quasi else _is_shown
            shown = compare(about, column, _texts(cells), ranges=ranges)
            if not shown:
                (wider if shown is None else wrong).append(name)
    if wrong and manifest["suppressed"] and any("/" in name for name in manifest.get("files", ())):
        words = "Spark describes the whole table, so the ends of these columns may tell of rows left out"
        return [unchecked("domains", f"{', '.join(wrong)}: {words}")]
    found = [fails(f"domain of {name}", f"{name} is described with values that no released row has") for name in wrong]
    if wider:
        words = f"cells with {ANYTHING} hide whether there are missing cells or values beyond the ends that are shown"
        found.append(unchecked("domains", f"{', '.join(wider)}: {words}"))
    return found


def _texts(cells: pl.Series) -> list[str | None]:
    """The distinct cells as a release in text has them."""
    if cells.dtype.is_numeric():
        return [None if number is None else number_label(float(number)) for number in cells]
    return cells.cast(pl.String).to_list()


def _are_values(about: Mapping[str, Any], column: Column, cells: Sequence[str | None], *, ranges: bool) -> bool | None:
    """The same where quasi-identifiers are published as they are: every cell is one value, whatever it looks like."""
    values = [cell for cell in cells if cell is not None]
    try:
        if about["missing"] != (None in cells):
            return False
        if "values" in about:
            rule = column.hierarchy if column.recode != "set" else None
            known = rule.build().leaf_count if isinstance(rule, Tree) else len(values)
            return bool(about["values"] == known + about["missing"])
        if about["kind"] == "categorical":
            return True
        return _are_ends(about, values) if ranges else "low" not in about
    except (KeyError, TypeError, ValueError):
        return False


def _is_shown(about: Mapping[str, Any], column: Column, cells: Sequence[str | None], *, ranges: bool) -> bool | None:
    """None: the description goes beyond what cells show, by what a cell that says nothing may hide.

    `ranges`: numbers show their ends, which a midpoint or a mean does not.
    """
    values = [cell for cell in cells if cell is not None]
    try:
        if about["kind"] == "set":
            members = {member for cell in cells for member in read_set(cell)}
            return bool(about["values"] == len(members) and about["missing"] == (None in members))
        if about["kind"] == "categorical":
            return _are_nodes(about, column, values, None in cells)
        # A range that mixes values and missing cells is published as anything; nothing else is.
        if about["missing"] != (None in cells or ANYTHING in values):
            return False
        return _are_ends(about, values) if ranges else "low" not in about
    except (KeyError, TypeError, ValueError):
        return False


def _are_nodes(about: Mapping[str, Any], column: Column, values: Sequence[str], null: bool) -> bool | None:
    tree = column.hierarchy.build() if isinstance(column.hierarchy, Tree) else None
    if tree is not None and about["values"] != tree.leaf_count + about["missing"]:
        return False
    if about["missing"] == null:
        return True
    return None if about["missing"] and (ANYTHING if tree is None else tree.root) in values else False


def _are_ends(about: Mapping[str, Any], values: Iterable[str]) -> bool | None:
    """The lowest and the highest value; a cell that says nothing may hide one beyond those that are shown."""
    kind = about["kind"]
    if kind == "ordinal":
        return True
    ranges = [read_range(kind, cell) for cell in values if cell != ANYTHING]
    if "low" not in about:
        return not ranges
    ends = place_of(kind, about["low"]), place_of(kind, about["high"])
    low = min((place_of(kind, low) for low, _ in ranges), default=ends[1])
    high = max((place_of(kind, high) for _, high in ranges), default=ends[0])
    if ranges and (low, high) == ends:
        return True
    return None if ANYTHING in values and ends[0] <= low and high <= ends[1] else False
