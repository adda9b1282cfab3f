"""Anatomized and sliced releases as an adversary sees them: quasi-identifiers lead to groups, groups to values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from polyveil.arrays import IntArray
from polyveil.attacks.crowds import Crowd, Targets, Weights, sensitive_codes
from polyveil.models import from_classes
from polyveil.verification.attributes import Declared


def linked_crowds(
    slices: Sequence[Mapping[str, Any]],
    tables: Mapping[str, pl.DataFrame],
    alike: IntArray,
    fits: Weights,
    declared: Mapping[str, Declared],
    targets: Targets,
) -> tuple[Crowd, ...]:
    """One crowd per sensitive table. `alike` numbers the rows of the table with the quasi-identifiers by their cells.

    A person fits some rows of the quasi-identifier table; a record of a group is theirs as likely as one of those rows
    is in the group, shared among the group's records. Rows whose value is withheld are a group of their own: its values
    are those the manifest counts and the sensitive table does not have.
    """
    quasi = tables["quasi"]
    return tuple(_crowd(about, tables[about["table"]], quasi, alike, fits, declared, targets) for about in slices)


def _crowd(
    about: Mapping[str, Any],
    frame: pl.DataFrame,
    quasi: pl.DataFrame,
    alike: IntArray,
    fits: Weights,
    declared: Mapping[str, Declared],
    targets: Targets,
) -> Crowd:
    if "count" in about:
        repeats = frame.get_column(about["count"]).cast(pl.Int64).to_numpy()
        frame = frame.drop(about["count"])[pl.Series(np.repeat(np.arange(frame.height), repeats))]
    ids = sorted(frame.get_column(about["group"]).cast(pl.String).unique().to_list())
    group_of_record, group_of_row = (_numbers(each.get_column(about["group"]), ids) for each in (frame, quasi))
    codes = sensitive_codes(frame, {name: declared[name] for name in about["attributes"]})
    single = {name: declared[name].attribute for name in about["attributes"]}
    statistics = from_classes(group_of_record, codes, single)
    missing = group_of_row < 0
    rest = {name: _rest(declared[name].attribute.whole, found) for name, found in codes.items()}
    most = max((int(each.sum()) for each in rest.values()), default=0)
    sizes = np.append(statistics.sizes, max(most, 1))
    group = np.where(missing, len(ids), group_of_row)
    rows = sparse.csr_array((1.0 / sizes[group], (alike, group)), shape=(int(alike.max(initial=-1)) + 1, len(ids) + 1))
    withheld = bool(missing.any())
    return Crowd(
        tuple(codes),
        group_of_record,
        codes,
        statistics,
        targets.fitting_all(sparse.csr_array(fits @ (rows if withheld else rows[:, : len(ids)]))),
        group_of_row,
        tuple(ids),
        rest if withheld else {},
    )


def _rest(whole: IntArray, released: IntArray) -> IntArray:
    """The values of the rows that are not published: all rows' counts less the released ones.

    Where the manifest counts the released rows alone, nothing is known of the others: they may have any value.
    """
    rest = np.maximum(whole - np.bincount(released, minlength=len(whole)), 0)
    return rest if rest.any() else whole


def _numbers(groups: pl.Series, ids: list[str]) -> IntArray:
    known = {name: number for number, name in enumerate(ids)}
    numbers = groups.cast(pl.String).replace_strict(known, default=-1, return_dtype=pl.Int64)
    return numbers.to_numpy()
