"""Any partition, any form: what the chosen form makes of a method's partition before tables are written.

- generalized: classes that end up with equal cells are one class to every reader, so they are joined.
- anatomized: the classes become groups of one sensitive table.
- sliced: the method's slices, or one slice per sensitive attribute, become groups of several.

For the two linked forms `class_of_row` then holds the classes of the quasi-identifier table: rows with equal values
(`generalize: none`), k rows or more by KACA (`kaca`), or the groups themselves (`range`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.methods.base import Method
from polyveil.partition import Partition, Slice, partition_of
from polyveil.policy import Policy
from polyveil.releases.generalized import quasi_columns
from polyveil.table.bind import Bound
from polyveil.table.coded import CodedTable


def resolve_form(policy: Policy, method: Method[Any]) -> Policy:
    """The policy with the form it leaves open filled in by the method; raises PolicyError for what does not fit."""
    release = policy.release
    form = release.form or method.forms[0]
    faults = []
    if form not in method.forms:
        remedy = f"{method.name} can be released as: {', '.join(method.forms)}"
        faults.append(Fault("release.form", f"{method.name} does not make {form} releases", remedy))
    if form == "generalized":
        faults += [
            Fault(
                f"release.{key}",
                "it is for anatomized and sliced releases",
                "Remove it, or set release.form to one of them",
            )
            for key, given in (("generalize", release.generalize is not None), ("counts", release.counts))
            if given
        ]
        generalize = None
    else:
        generalize = release.generalize or ("kaca" if method.forms == ("sliced",) and policy.privacy.k else "none")
        faults += _linked_faults(policy, method, form, generalize)
    if faults:
        raise PolicyError(faults)
    return policy.model_copy(update={"release": release.model_copy(update={"form": form, "generalize": generalize})})


def _linked_faults(policy: Policy, method: Method[Any], form: str, generalize: str) -> list[Fault]:
    faults = []
    slices_only = method.forms == ("sliced",)
    if not policy.having("sensitive"):
        rule = f"the {form} form publishes sensitive columns in tables of their own, and no column is sensitive"
        faults.append(Fault("release.form", rule, "Give a column the role sensitive, or use form: generalized"))
    if generalize == "kaca" and policy.privacy.k is None:
        faults.append(Fault("release.generalize", "kaca makes k rows alike, and no k is given", "Give privacy.k"))
    if slices_only and generalize == "range":
        rule = f"{method.name} groups every slice in its own way, so there is no one range"
        faults.append(Fault("release.generalize", rule, "Use kaca or none"))
    if slices_only and generalize == "none" and policy.privacy.k is not None:
        rule = f"{method.name} keeps k by generalizing the quasi-identifiers"
        faults.append(Fault("release.generalize", rule, "Use kaca, or remove privacy.k"))
    if form == "sliced" and policy.privacy.joint:
        rule = "a sliced release does not say which values of different slices belong together"
        faults.append(Fault("privacy.joint", rule, "Use form: anatomized, or remove privacy.joint"))
    return faults


def arrange(bound: Bound, table: CodedTable, partition: Partition, rng: np.random.Generator) -> Partition:
    """The partition as the form publishes it; `bound.policy` is settled."""
    release = bound.policy.release
    if release.form == "generalized":
        return replace(partition, class_of_row=join_look_alikes(bound, table, partition.class_of_row))
    groups = partition.class_of_row
    slices = partition.slices or tuple(Slice(names, groups) for names in slices_of(bound.policy))
    if release.generalize == "range" or (partition.slices and release.generalize == "kaca"):
        classes = groups
    elif release.generalize == "kaca":
        classes = _by_kaca(bound, table, groups, rng)
    else:
        classes = np.where(groups >= 0, table.quasi_tuples.of_row, -1)
    if release.generalize == "none":
        return Partition(partition_of(classes).class_of_row, slices, partition.found)
    return Partition(join_look_alikes(bound, table, classes), slices, partition.found)


def slices_of(policy: Policy) -> tuple[tuple[str, ...], ...]:
    """The sensitive columns of each table that the form makes of them, where the method does not decide that itself."""
    names = tuple(policy.having("sensitive"))
    return tuple((name,) for name in names) if policy.release.form == "sliced" else (names,)


def _by_kaca(bound: Bound, table: CodedTable, groups: IntArray, rng: np.random.Generator) -> IntArray:
    from polyveil.methods.kaca import k_classes

    kept = np.flatnonzero(groups >= 0)
    classes = np.full(table.rows, -1, dtype=np.int64)
    classes[kept] = k_classes(table.take(kept), bound.policy.privacy.k or 1, rng)
    return classes


def join_look_alikes(bound: Bound, table: CodedTable, class_of_row: IntArray) -> IntArray:
    """Give classes whose released cells are all equal one number: to a reader they are one class.

    Their union keeps every model that both keep, because all models are convex.
    """
    kept = class_of_row >= 0
    owner = class_of_row[kept]
    if not table.quasi or not len(owner):
        return np.where(kept, 0, -1)
    _, first = np.unique(owner, return_index=True)
    cells = pl.DataFrame(quasi_columns(bound, table, Partition(class_of_row)))[first]
    number = cells.select(pl.struct(pl.all()).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    joined = np.full(len(class_of_row), -1, dtype=np.int64)
    joined[kept] = number[owner]
    return partition_of(joined).class_of_row
