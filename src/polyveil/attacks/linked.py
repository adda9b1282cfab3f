"""Anatomized and sliced releases as an adversary sees them: quasi-identifiers lead to groups, groups to values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from polyveil.arrays import IntArray
from polyveil.attacks.scene import Crowd, group_fits, sensitive_codes
from polyveil.models import from_classes
from polyveil.policy import Policy
from polyveil.table.coded import CodedTable
from polyveil.verification.attributes import Declared
from polyveil.verification.classes import class_of_row

NOT_AVAILABLE = "NA"


def linked_crowds(
    manifest: Mapping[str, Any],
    tables: Mapping[str, pl.DataFrame],
    policy: Policy,
    people: CodedTable,
    declared: Mapping[str, Declared],
    targets: IntArray,
) -> tuple[Crowd, ...]:
    """One crowd per sensitive table.

    A person fits some rows of the quasi-identifier table; a record of a group is theirs as likely as one of those rows
    is in the group, shared among the group's records.
    """
    quasi = tables["quasi"]
    alike = class_of_row(quasi, [column.name for column in people.quasi])
    fits = group_fits(quasi, policy, people, alike, targets)
    return tuple(
        _crowd(about, tables[about["table"]], quasi, alike, fits, declared) for about in manifest["linked"]["slices"]
    )


def _crowd(
    about: Mapping[str, Any],
    frame: pl.DataFrame,
    quasi: pl.DataFrame,
    alike: IntArray,
    fits: Any,
    declared: Mapping[str, Declared],
) -> Crowd:
    if "count" in about:
        repeats = frame.get_column(about["count"]).cast(pl.Int64).to_numpy()
        frame = frame.drop(about["count"])[pl.Series(np.repeat(np.arange(frame.height), repeats))]
    ids = sorted(frame.get_column(about["group"]).cast(pl.String).unique().to_list())
    group_of_record, group_of_row = (_numbers(each.get_column(about["group"]), ids) for each in (frame, quasi))
    codes = sensitive_codes(frame, {name: declared[name] for name in about["attributes"]})
    single = {name: declared[name].attribute for name in about["attributes"]}
    statistics = from_classes(group_of_record, codes, single)
    known = group_of_row >= 0
    rows = sparse.csr_array(
        (1.0 / statistics.sizes[group_of_row[known]], (alike[known], group_of_row[known])),
        shape=(int(alike.max(initial=-1)) + 1, len(ids)),
    )
    return Crowd(
        tuple(codes), group_of_record, codes, statistics, sparse.csr_array(fits @ rows), group_of_row, tuple(ids)
    )


def _numbers(groups: pl.Series, ids: list[str]) -> IntArray:
    known = {name: number for number, name in enumerate(ids)}
    numbers = groups.cast(pl.String).replace_strict(known, default=-1, return_dtype=pl.Int64)
    return numbers.to_numpy()
