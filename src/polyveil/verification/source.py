"""People per group, checked against the table a release was made from, by whoever has that table.

With the private row map, which says the group of every input row, people are counted exactly. Without it, a lower bound
is proven: the rows of a group come from input rows that fit its cells, so a group of s rows has at least as many people
as it takes, those with most fitting rows first, to have s such rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import BoolArray, IntArray
from polyveil.cells import ANYTHING, place_of, read_range, read_set
from polyveil.errors import InputError
from polyveil.models import models_for
from polyveil.policy import Policy
from polyveil.policy.rules import DateParts, Intervals, Mask, Order, Tree, number_label
from polyveil.policy.schema import Column
from polyveil.table.parse import as_text, coarsened, parse_dates, parse_numbers, without_markers
from polyveil.table.profiling.words import is_key_by_name
from polyveil.table.source import Table, read
from polyveil.verification.attributes import codes_of_cells, declared_attributes, kind_of
from polyveil.verification.classes import class_of_row
from polyveil.verification.findings import Finding, fails, holds, unchecked
from polyveil.verification.joint import with_joint
from polyveil.verification.people import PER_GROUP, counted, judge_people


@dataclass(frozen=True, eq=False)
class Fit:
    """Which input rows fit each group: per quasi-identifier, which of its values each group's cell covers."""

    covers: tuple[BoolArray, ...]
    """Per quasi-identifier cells x values."""
    cell_of_group: tuple[IntArray, ...]
    value_of_row: tuple[IntArray, ...]

    def rows(self, group: int) -> BoolArray:
        """The input rows that fit a group."""
        fits = np.ones(len(self.value_of_row[0]) if self.value_of_row else 0, dtype=bool)
        for covers, cell, value in zip(self.covers, self.cell_of_group, self.value_of_row, strict=True):
            fits &= covers[cell[group]][value]
        return fits


def check_source(
    manifest: Mapping[str, Any],
    policy: Policy,
    frame: pl.DataFrame,
    source: Any,
    person: str | None,
    row_map: Path | str | None,
) -> list[Finding]:
    """Findings about people per group, from the table the release was made from."""
    if "people" not in manifest:
        raise InputError("this release counts rows: its policy has no column with role: person. Leave --source out")
    if policy.person is not None:
        raise InputError(
            "this release has a key for each person, which is how its people are counted. Leave --source out"
        )
    table = read(source)
    key = _key(table, policy, person)
    keys, limited = table.frame.get_column(key), manifest["people"].get("rows_left_out", 0)
    who = keys.rank("dense").fill_null(0).cast(pl.Int64).to_numpy() - 1
    people = int(who.max(initial=-1)) + 1
    if keys.null_count() or table.height - limited != manifest["rows"] or people != manifest["people"]["count"]:
        words = "the table does not have the rows and people of the manifest, so the release was not made from it"
        return [fails("source", words)]
    if policy.shifted:
        return [unchecked(PER_GROUP, "dates were shifted, so rows of the source cannot be found in the release")]
    groups = class_of_row(frame, policy.having("quasi"))
    fit = fit_cells(policy, frame, groups, table)
    if fit is None:
        return [unchecked(PER_GROUP, "numbers are published as midpoints or means, which hide the range of a group")]
    if row_map is not None:
        return _exactly(manifest, policy, frame, groups, fit, table, who, row_map)
    return _at_least(policy, np.bincount(groups), fit, who)


def _key(table: Table, policy: Policy, person: str | None) -> str:
    """The column that says whom a row is about: named, or the one that a release leaves out and whose name says so."""
    likely = [name for name in table.columns if name not in policy.columns and is_key_by_name(name)]
    name = person or policy.person or (likely[0] if len(likely) == 1 else None)
    if name is None or name not in table.columns:
        raise InputError("which column of the source says whom a row is about? Name it with --person COLUMN")
    return name


def _at_least(policy: Policy, sizes: IntArray, fit: Fit, who: IntArray) -> list[Finding]:
    """The fewest people each group can have, whatever rows it is made of."""
    fewest = np.array([_fewest(int(size), who[fit.rows(group)]) for group, size in enumerate(sizes)])
    if (fewest < 0).any():
        return [fails("source", "a group has more rows than rows of the table fit its cells")]
    k = policy.privacy.least_group
    unsure = int((fewest < k).sum())
    if unsure:
        words = (
            f"{unsure} of {len(sizes)} groups could have fewer than {k} people as far as the source tells. "
            "Give the private row map with --row-map to count them"
        )
        return [unchecked(PER_GROUP, words)]
    return [holds(PER_GROUP, f"every group has at least {int(fewest.min())} people, whichever rows it is made of")]


def _fewest(size: int, who: IntArray) -> int:
    """How many people it takes to have so many of these rows; -1 if all of them have too few."""
    rows = np.sort(np.unique(who, return_counts=True)[1])[::-1]
    enough = np.cumsum(rows) >= size
    return int(np.argmax(enough)) + 1 if enough.any() else -1


def _exactly(
    manifest: Mapping[str, Any],
    policy: Policy,
    frame: pl.DataFrame,
    groups: IntArray,
    fit: Fit,
    table: Table,
    who: IntArray,
    row_map: Path | str,
) -> list[Finding]:
    """People counted by the row map, once it is shown to be that of these files."""
    stated = read_map(row_map, table.height)
    kept = np.flatnonzero(stated >= 0)
    if len(kept) != len(groups):
        return [fails("row map", "the row map does not have as many released rows as the release")]
    declared = declared_attributes(manifest, policy)
    if manifest["suppressed"] and manifest["people"].get("rows_left_out"):
        return [unchecked(PER_GROUP, "the row map does not tell for which of two reasons a row was left out")]
    from_all = manifest.get("counts_of", "input") == "input" and "rows_left_out" not in manifest["people"]
    used = kept if not from_all else np.arange(table.height)
    codes: dict[str, IntArray] = {}
    shown: list[IntArray] = []
    for name, about in declared.items():
        cells = parsed(name, policy, table)
        source, released = codes_of_cells(about, cells.gather(used)), codes_of_cells(about, frame.get_column(name))
        if source is None or released is None:
            return [fails("source", f"the table has values of {name} that the manifest does not know")]
        codes[name] = source
        shown.append(released)
    place = np.searchsorted(used, kept)
    of_kept = [codes[name][place] for name in declared]
    group_of_class = _matched(stated[kept], of_kept, groups, shown, fit, kept)
    if group_of_class is None:
        return [fails("row map", "the rows of a group in the row map are not those of a group in the files")]
    if len(np.unique(np.stack([who[kept], stated[kept]]), axis=1).T) != len(np.unique(who[kept])):
        return [fails("people", "the rows of one person are in several groups")]
    codes, attributes = with_joint(policy, codes, {name: about.attribute for name, about in declared.items()})
    classes = np.full(len(used), -1, dtype=np.int64)
    classes[place] = group_of_class[stated[kept]]
    statistics = counted(classes, who[used], codes, attributes)
    return judge_people(manifest, models_for(policy, attributes), statistics, how="counted by the row map")


def read_map(file: Path | str, rows: int) -> IntArray:
    """The class of every input row, numbered from 0; -1: left out."""
    try:
        found = pl.read_parquet(file).sort("row")
        stated = found.get_column("class").cast(pl.Int64).to_numpy()
    except (pl.exceptions.PolarsError, OSError):
        raise InputError(f"{file} is not a row map. Give row_map.parquet, which anonymize --private wrote") from None
    if found.get_column("row").to_list() != list(range(1, rows + 1)):
        raise InputError(f"{file} is not the row map of this table: it has other rows")
    return np.where(stated < 0, -1, np.unique(np.append(stated, -1), return_inverse=True)[1][:-1] - 1)


def _matched(
    stated: IntArray, of_kept: Sequence[IntArray], groups: IntArray, shown: Sequence[IntArray], fit: Fit, kept: IntArray
) -> IntArray | None:
    """For every class of the map the group of the files with the same sensitive rows whose cells fit all its rows."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    ours, theirs = _contents(stated, of_kept), _contents(groups, shown)
    if len(ours) != len(theirs):
        return None
    of_content: dict[bytes, list[int]] = {}
    for group, (content, _) in enumerate(theirs):
        of_content.setdefault(content, []).append(group)
    pairs = []
    for number, (content, rows) in enumerate(ours):
        alike = of_content.get(content, [])
        pairs += [(number, group) for group in alike if fit.rows(group)[kept[rows]].all()]
    if not pairs:
        return None
    one, two = np.array(pairs).T
    graph = csr_array((np.ones(len(one), dtype=np.int8), (one, two)), shape=(len(ours), len(theirs)))
    found = maximum_bipartite_matching(graph, perm_type="column")
    return None if (found < 0).any() else np.asarray(found, dtype=np.int64)


def _contents(owner: IntArray, columns: Sequence[IntArray]) -> list[tuple[bytes, IntArray]]:
    """Per class its sorted sensitive rows as bytes, and its rows."""
    order = np.lexsort((*columns, owner)) if columns else np.argsort(owner, kind="stable")
    begin = np.flatnonzero(np.diff(owner[order], prepend=-1))
    values = np.stack([column[order] for column in columns], axis=1) if columns else np.zeros((len(owner), 1))
    ends = [*begin[1:], len(order)]
    return [(values[a:b].tobytes(), order[a:b]) for a, b in zip(begin, ends, strict=True)]


def fit_cells(policy: Policy, frame: pl.DataFrame, groups: IntArray, table: Table) -> Fit | None:
    """How the input's values fit the released cells; None if cells hide which values they stand for."""
    first = np.unique(groups, return_index=True)[1]
    covers, cell_of_group, value_of_row = [], [], []
    for name in policy.having("quasi"):
        column = policy.columns[name]
        if policy.release.numbers != "interval" and kind_of(column) == "numeric":
            return None
        texts = as_text(parsed(name, policy, table))
        cells = frame.get_column(name).cast(pl.String)
        values, value = _numbered(texts)
        shown, cell = _numbered(cells)
        try:
            covers.append(_covers(column, shown, values))
        except (KeyError, ValueError):
            raise InputError(
                f"the release's column {name} has cells that do not come from the source's values. "
                "Give the table this release was made from"
            ) from None
        cell_of_group.append(cell[first])
        value_of_row.append(value)
    return Fit(tuple(covers), tuple(cell_of_group), tuple(value_of_row))


def _numbered(texts: pl.Series) -> tuple[list[str | None], IntArray]:
    distinct = texts.unique().to_list()
    number = {text: i for i, text in enumerate(distinct)}
    mapped = texts.replace_strict(list(number), list(number.values()), return_dtype=pl.Int64)
    return distinct, mapped.to_numpy()


def parsed(name: str, policy: Policy, table: Table) -> pl.Series:
    """An input column as the policy reads it: numbers, days or text, missing if it is a missing marker."""
    column = policy.columns[name]
    if name not in table.columns:
        raise InputError(f"{table.name} lacks the released column {name}. Give the table this release was made from")
    cells = without_markers(table.frame.get_column(name), [*policy.missing, *column.missing])
    plain = column.recode == "set" or isinstance(column.hierarchy, Tree | Mask)
    if column.type == "numeric" and not plain:
        numbers = parse_numbers(name, cells, table)[0]
        return numbers if column.publish is None else coarsened(numbers, column.publish)
    if column.type == "date" and not plain:
        return parse_dates(name, cells, column, table)[0]
    return as_text(cells)


def _covers(column: Column, cells: Sequence[str | None], values: Sequence[str | None]) -> BoolArray:
    """Which values each cell may stand for; missing stands for itself, and `*` for anything."""
    kind = "set" if column.recode == "set" else kind_of(column)
    reader = _reader(kind, column, values)
    found = np.zeros((len(cells), len(values)), dtype=bool)
    for i, cell in enumerate(cells):
        if cell == ANYTHING:
            found[i] = True
        elif cell is None:
            found[i] = [value is None for value in values]
        else:
            found[i] = reader(cell)
    return found


def _reader(kind: str, column: Column, values: Sequence[str | None]) -> Callable[[str], list[bool]]:
    if kind == "set":
        return lambda cell: [value in read_set(cell) for value in values]
    if kind in ("numeric", "date", "ordinal"):
        place = _place(kind, column)
        at = [None if value is None else place(value) for value in values]

        def within(cell: str) -> list[bool]:
            low, high = map(place, read_range(kind, cell))
            return [here is not None and low <= here <= high for here in at]

        return within
    return _below(column, values)


def _place(kind: str, column: Column) -> Callable[[str], float]:
    if kind == "ordinal" and isinstance(column.hierarchy, Order):
        rank = {label: float(i) for i, label in enumerate(column.hierarchy.order)}
        return rank.__getitem__
    return lambda value: place_of(kind, value)


def _below(column: Column, values: Sequence[str | None]) -> Callable[[str], list[bool]]:
    """The values below a node of the column's hierarchy."""
    present, rule = sorted(value for value in values if value is not None), column.hierarchy
    if rule is None:
        return lambda cell: [value == cell for value in values]
    if isinstance(rule, Tree):
        tree = rule.build()
    elif isinstance(rule, Mask):
        tree = rule.build(present)
    elif isinstance(rule, Intervals):
        numbers = sorted(float(value) for value in present)
        tree = rule.build(numbers, [number_label(number) for number in numbers])
    elif isinstance(rule, DateParts):
        import datetime as dt

        tree = rule.build(sorted(dt.date.fromisoformat(value) for value in present))
    else:
        raise ValueError("the rule is for another kind of column")
    node = {label: i for i, label in enumerate(tree.labels)}
    leaf = {label: i for i, label in enumerate(tree.leaves)}
    at = [-1 if value is None else leaf[value] for value in values]
    return lambda cell: [tree.start[node[cell]] <= here < tree.stop[node[cell]] for here in at]
