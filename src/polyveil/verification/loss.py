"""Re-measuring the losses: those of class sizes, and those of cells as far as a release shows what they stand for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.cells import ANYTHING, place_of, read_range, read_set
from polyveil.policy import Policy
from polyveil.policy.hierarchy import Hierarchy
from polyveil.policy.rules import Order, Tree
from polyveil.policy.schema import Column
from polyveil.verification.claims import compare_parts
from polyveil.verification.findings import Finding, fails, holds, not_checked

Costs = tuple[float, float, float]
"""What a cell, or the cells of a column together, lost: information (eq. (1) of wang2018), height in the hierarchy
(precision), and weighted height (distortion, eq. (2) of han2013)."""
CellCosts = Callable[[str], Costs]
NOTHING: Costs = (0.0, 0.0, 0.0)
CostsOf = Mapping[str, Costs | None]
"""The summed costs of each quasi-identifier; None if its cells do not tell how many values they stand for."""


@dataclass(frozen=True)
class ClassSizes:
    """What the losses of class sizes need: rows, classes, the sum of n * n and the sum of n * log2 n."""

    rows: int
    classes: int
    squares: int
    logs: float


def class_sizes(sizes: IntArray) -> ClassSizes:
    """Sums over the classes' sizes."""
    squares = sum(size * size for size in sizes.tolist())
    return ClassSizes(int(sizes.sum()), len(sizes), squares, float((sizes * np.log2(np.maximum(sizes, 1))).sum()))


def check_loss(
    manifest: Mapping[str, Any], policy: Policy, frame: pl.DataFrame, sizes: ClassSizes, *, exact: bool = False
) -> list[Finding]:
    """Compare the stated losses with those of the classes and the cells; `exact` cells are the input's own."""
    costs: CostsOf | Finding = dict.fromkeys(policy.having("quasi"), NOTHING)
    if not exact:
        costs = summed_costs(manifest, policy, lambda name: frame.get_column(name).value_counts().iter_rows())
    return compare_loss(manifest, policy, costs, sizes)


def check_weighted_loss(manifest: Mapping[str, Any], policy: Policy, frame: pl.DataFrame) -> list[Finding]:
    """The loss of the released rows with their weights, where these are published and the cells tell their losses."""
    name, stated = policy.sampling_weight, manifest["loss"].get("weighted_loss")
    if name is None:
        return [] if stated is None else [fails("loss", "the manifest has a loss with weights, and there are none")]
    weight = frame.get_column(name).cast(pl.Float64, strict=False)
    summed = summed_costs(manifest, policy, lambda each: _weighed(frame.get_column(each), weight))
    if isinstance(summed, Finding) or any(costs is None for costs in summed.values()):  # said of the loss in rows
        possible = isinstance(stated, int | float) and not isinstance(stated, bool) and 0 <= stated <= 1
        return [] if possible else [fails("loss", "the manifest has no possible loss with weights")]
    total = math.fsum(costs[0] for costs in summed.values() if costs) / max(float(weight.sum()) * len(summed), 1e-300)
    return compare_parts("weighted_loss", stated, total, "loss")


def _weighed(cells: pl.Series, weight: pl.Series) -> Iterable[tuple[Any, float]]:
    """How often each cell occurs, each row counted with its weight."""
    return pl.DataFrame({"cell": cells, "weight": weight}).group_by("cell").agg(pl.col("weight").sum()).iter_rows()


def summed_costs(
    manifest: Mapping[str, Any], policy: Policy, counts_of: Callable[[str], Iterable[tuple[Any, float]]]
) -> dict[str, Costs | None] | Finding:
    """What each quasi-identifier's cells lost, from how often it has which cell; a finding if that is hidden."""
    if policy.release.numbers != "interval":
        return not_checked("loss", "numbers are published as midpoints or means, which hide the range they stand for")
    found = {}
    for name in policy.having("quasi"):
        try:
            found[name] = _column_costs(counts_of(name), manifest["quasi"][name], policy.columns[name])
        except (KeyError, ValueError, TypeError):
            return fails("loss", f"{name} has cells that are neither values nor generalizations of its domain")
    return found


def compare_loss(
    manifest: Mapping[str, Any], policy: Policy, summed: CostsOf | Finding, sizes: ClassSizes
) -> list[Finding]:
    """Every stated loss that can be measured; suppressed rows lose all, and are one class more."""
    if set(policy.having("quasi")) != set(manifest["quasi"]):
        return [fails("loss", "the manifest does not describe exactly the policy's quasi-identifiers")]
    rows, suppressed = manifest["rows"], manifest["suppressed"]
    measured: dict[str, Any] = {
        "discernibility": sizes.squares + suppressed * rows,
        "average_class_size": sizes.rows / sizes.classes if sizes.classes else 0.0,
        "entropy": _entropy(sizes, suppressed),
    }
    if manifest["form"] == "generalized":  # in linked tables, rows with suppressed values count as well
        measured["suppression_ratio"] = suppressed / max(rows, 1)
    stated, unread = manifest["loss"], summed
    if not _all_numbers(stated, policy.having("quasi")):
        return [fails("loss", "the manifest has losses that are not numbers, or of columns it does not have")]
    if not isinstance(summed, Finding):
        measured |= _losses_of_cells(summed, stated, suppressed, max(rows, 1))
        hidden = [name for name, costs in summed.items() if costs is None]
        words = f"the cells of {', '.join(hidden)} do not tell how many values they stand for"
        unread = not_checked("loss", words) if hidden else summed
    findings = [f for name, value in measured.items() for f in compare_parts(name, stated.get(name), value, "loss")]
    if isinstance(unread, Finding):
        return [*findings, unread]
    return findings or [holds("loss", f"information_loss {measured['information_loss']:.6g} as measured")]


def _all_numbers(stated: Mapping[str, Any], quasi: Sequence[str]) -> bool:
    parts = stated.get("by_attribute")
    if not isinstance(parts, Mapping) or sorted(parts) != sorted(quasi):
        return False
    figures = [value for name, value in stated.items() if name != "by_attribute"] + list(parts.values())
    return all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in figures)


def _losses_of_cells(summed: CostsOf, stated: Mapping[str, Any], suppressed: int, rows: int) -> dict[str, Any]:
    """All losses of cells; where some cells do not tell theirs, those that add up to the stated ones."""
    by_attribute = {}
    for name, costs in summed.items():
        by_attribute[name] = (costs[0] + suppressed) / rows if costs else _stated_share(stated, name)
    total, quasi = math.fsum(by_attribute.values()), max(len(summed), 1)
    measured = {"information_loss": total, "normalized_loss": total / quasi, "by_attribute": by_attribute}
    known = [costs for costs in summed.values() if costs]
    if len(known) == len(summed):
        height, weighted = (math.fsum((costs[kind] + suppressed) / rows for costs in known) for kind in (1, 2))
        measured |= {"precision": 1.0 - height / quasi, "distortion": weighted * rows}
    return measured


def _stated_share(stated: Mapping[str, Any], name: str) -> float:
    """What the manifest says a column lost, if that is possible at all."""
    parts = stated.get("by_attribute")
    share = parts.get(name) if isinstance(parts, Mapping) else None
    return float(share) if isinstance(share, (int, float)) and 0 <= share <= 1 else math.nan


def _entropy(sizes: ClassSizes, suppressed: int) -> float:
    """Entropy in bits of a row's class: log N - (sum n log n) / N."""
    rows = sizes.rows + suppressed
    logs = sizes.logs + (suppressed * math.log2(suppressed) if suppressed else 0.0)
    return max(math.log2(rows) - logs / rows, 0.0) if rows else 0.0


def _column_costs(counted: Iterable[tuple[Any, float]], about: Mapping[str, Any], column: Column) -> Costs | None:
    """What a column's cells lost together; a missing cell among equals loses nothing."""
    costs_of = _cell_costs(about, column)
    if costs_of is None:
        return None
    each = [(costs_of(str(cell)), count) for cell, count in counted if cell is not None]
    information, height, weighted = (math.fsum(costs[kind] * count for costs, count in each) for kind in range(3))
    return information, height, weighted


def _cell_costs(about: Mapping[str, Any], column: Column) -> CellCosts | None:
    """How to read the costs off one cell, or None if they cannot be read. Ranges and sets have no height."""
    if about["kind"] == "categorical":
        return _node_costs(column, about)
    width = _cell_width(about, column)
    return lambda cell: (width(cell),) * 3


def _cell_width(about: Mapping[str, Any], column: Column) -> Callable[[str], float]:
    kind = about["kind"]
    if kind == "set":
        return lambda cell: (len(read_set(cell)) - 1) / max(about["values"] - 1, 1)
    if kind == "ordinal":
        rank = (
            {label: i for i, label in enumerate(column.hierarchy.order)} if isinstance(column.hierarchy, Order) else {}
        )
        return lambda cell: _range_loss(cell, kind, lambda label: float(rank[label]), max(len(rank) - 1, 1))
    place = partial(place_of, kind)
    span = place(about["high"]) - place(about["low"]) if "high" in about else 0.0  # no ends: no row has a value
    return lambda cell: _range_loss(cell, kind, place, span)


def _range_loss(cell: str, kind: str, place: Callable[[str], float], span: float) -> float:
    if cell == ANYTHING:
        return 1.0
    low, high = map(place, read_range(kind, cell))
    if low > high:
        raise ValueError("a range ends before it begins")
    return (high - low) / span if high > low and span > 0 else 0.0


def _node_costs(column: Column, about: Mapping[str, Any]) -> CellCosts | None:
    if isinstance(column.hierarchy, Tree):
        tree = column.hierarchy.build()
        tree = tree.with_null() if about["missing"] else tree
        by_label = {label: _costs_of_node(tree, node) for node, label in enumerate(tree.labels)}
        return lambda cell: by_label[cell]
    if column.hierarchy is None:
        return lambda cell: (1.0, 1.0, 1.0) if cell == ANYTHING and about.get("values") != 1 else NOTHING
    return None


def _costs_of_node(tree: Hierarchy, node: int) -> Costs:
    """The step from a level to the one above it weighs 1 over that one's distance from the top, counted from 1."""
    covered, height, depth = int(tree.stop[node] - tree.start[node]), int(tree.level[node]), int(tree.level[0])
    steps = [1.0 / level for level in range(1, depth + 1)]
    return (
        (covered - 1) / max(tree.leaf_count - 1, 1),
        height / max(depth, 1),
        math.fsum(steps[depth - height :]) / math.fsum(steps) if steps else 0.0,
    )
