"""Re-measuring information loss (eq. (1) of wang2018) from released cells, as far as the release shows enough."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from polyveil.policy import Policy
from polyveil.policy.rules import Order, Tree
from polyveil.policy.schema import Column
from polyveil.verify.claims import same
from polyveil.verify.findings import Finding, fails, holds, not_checked

_NUMBER = r"-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf)"
_RANGE = {
    "numeric": re.compile(rf"\[({_NUMBER})-({_NUMBER})\]", re.IGNORECASE),
    "date": re.compile(r"\[(\d{4,}-\d\d-\d\d)/(\d{4,}-\d\d-\d\d)\]"),
    "ordinal": re.compile(r"\[(.+?)\.\.(.+)\]"),
}
CellLoss = Callable[[str], float]


def check_loss(manifest: Mapping[str, Any], policy: Policy, frame: pl.DataFrame) -> list[Finding]:
    """Compare the stated information loss with the cells' own."""
    total = summed_loss(manifest, policy, lambda name: frame.get_column(name).value_counts().iter_rows())
    return compare_loss(manifest, policy, total)


def summed_loss(
    manifest: Mapping[str, Any], policy: Policy, counts_of: Callable[[str], Iterable[tuple[Any, int]]]
) -> float | Finding:
    """The loss of all cells, from how often each quasi-identifier has which cell; a finding where it cannot be read."""
    if policy.release.numbers != "interval":
        return not_checked("loss", "numbers are published as midpoints or means, which hide the range they stand for")
    quasi = policy.having("quasi")
    if set(quasi) != set(manifest["quasi"]):
        return fails("loss", "the manifest does not describe exactly the policy's quasi-identifiers")
    total = 0.0
    for name in quasi:
        try:
            lost = _column_loss(counts_of(name), manifest["quasi"][name], policy.columns[name])
        except (KeyError, ValueError, TypeError):
            return fails("loss", f"{name} has cells that are neither values nor generalizations of its domain")
        if lost is None:
            return not_checked("loss", f"the cells of {name} do not tell how many values they stand for")
        total += lost
    return total


def compare_loss(manifest: Mapping[str, Any], policy: Policy, summed: float | Finding) -> list[Finding]:
    """The stated information loss against the sum over the cells."""
    if isinstance(summed, Finding):
        return [summed]
    total = (summed + manifest["suppressed"] * len(policy.having("quasi"))) / max(manifest["rows"], 1)
    stated = manifest["loss"].get("information_loss")
    if not same(stated, total):
        return [fails("loss", f"the manifest says information_loss {stated}, the cells give {total:.9g}")]
    return [holds("loss", f"information_loss {total:.6g} as measured from the cells")]


def _column_loss(counted: Iterable[tuple[Any, int]], about: Mapping[str, Any], column: Column) -> float | None:
    """The summed loss of a column's cells; a missing cell among equals loses nothing."""
    loss_of = _cell_loss(about, column)
    if loss_of is None:
        return None
    return float(sum(loss_of(str(cell)) * count for cell, count in counted if cell is not None))


def _cell_loss(about: Mapping[str, Any], column: Column) -> CellLoss | None:
    """How to read the loss off one cell, or None where it cannot be read."""
    kind = about["kind"]
    if kind == "set":
        return lambda cell: (_set_size(cell) - 1) / max(about["values"] - 1, 1)
    if kind == "categorical":
        return _node_loss(column, about)
    if kind == "ordinal":
        rank = (
            {label: i for i, label in enumerate(column.hierarchy.order)} if isinstance(column.hierarchy, Order) else {}
        )
        return lambda cell: _range_loss(cell, kind, lambda label: float(rank[label]), max(len(rank) - 1, 1))
    place: Callable[[str], float] = (
        float if kind == "numeric" else (lambda day: float(dt.date.fromisoformat(day).toordinal()))
    )
    span = place(about["high"]) - place(about["low"])
    return lambda cell: _range_loss(cell, kind, place, span)


def _range_loss(cell: str, kind: str, place: Callable[[str], float], span: float) -> float:
    if cell == "*":
        return 1.0
    found = _RANGE[kind].fullmatch(cell)
    if not found:
        place(cell)
        return 0.0
    return (place(found[2]) - place(found[1])) / span if span > 0 else 0.0


def _node_loss(column: Column, about: Mapping[str, Any]) -> CellLoss | None:
    if isinstance(column.hierarchy, Tree):
        tree = column.hierarchy.build()
        tree = tree.with_null() if about["missing"] else tree
        by_label = dict(zip(tree.labels, tree.loss_of_nodes().tolist(), strict=True))
        return lambda cell: by_label[cell]
    if column.hierarchy is None:
        return lambda cell: 1.0 if cell == "*" and about["values"] > 1 else 0.0
    return None


def _set_size(cell: str) -> int:
    if not (cell.startswith("{") and cell.endswith("}")):
        return 1
    return len(next(csv.reader(io.StringIO(cell[1:-1]), skipinitialspace=True)))
