"""What the Explore view shows of a finished run, worked out in the run's own process and left as small files.

In the run's `private/` folder: explore.json (figures), released.parquet and sensitive_N.parquet (the published tables
with the class of each row, sorted by it), original.parquet (row number and class of each input row, no data).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.cells import misfits
from polyveil.cells import day_at
from polyveil.partition import Partition
from polyveil.releases.generalized import published, quasi_columns
from polyveil.releases.release import Original
from polyveil.reports.facts import Facts, gather
from polyveil.reports.released_cells import Spread, counted_cells, spread_of
from polyveil.reports.sections import guess_rows
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import OrderedDomain
from polyveil.verification.classes import class_of_row
from polyveil.web.store import write_json

CLASS = "__class"
SHOWN = 14
WORST = 40
BINS = 30
NUMBERS_AS_BARS = 15
UTILITY_ROWS = 200_000
_COVERED = 20_000_000
"""Most pairs of a released cell and a value that are held in memory at once."""


def write_views(
    folder: Path,
    manifest: Mapping[str, Any],
    tables: Mapping[str, pl.DataFrame],
    original: Original | None = None,
    of_row: IntArray | None = None,
) -> None:
    """Everything Explore needs; `original` is the table the release was made of, `of_row` the class of its rows."""
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = gather(manifest, tables)
    names = list(facts.policy.having("quasi"))
    classes = class_of_row(facts.quasi, names) + 1
    _write_sorted(facts.quasi, classes, folder / "released.parquet")
    for about in manifest.get("linked", {}).get("slices", ()):
        frame = tables[about["table"]]
        groups = class_of_row(frame, [about["group"]]) + 1
        _write_sorted(frame, groups, folder / f"{about['table']}.parquet")
    figures = _figures(facts, classes, None if original is None else original.coded)
    if "relational" in manifest:
        figures |= _write_tables(folder, manifest, tables, facts.quasi, classes)
    if original is not None and of_row is not None:
        rows = _original_rows(original, of_row, facts.quasi.select(names), classes)
        rows.write_parquet(folder / "original.parquet")
        if not facts.linked:
            figures["utility"] = _utility(original.coded, of_row)
        if original.coded.person is not None:
            figures["people"] = _people_sizes(of_row, original.coded.person)
    write_json(folder / "explore.json", figures)


def _write_tables(
    folder: Path,
    manifest: Mapping[str, Any],
    tables: Mapping[str, pl.DataFrame],
    people: pl.DataFrame,
    classes: IntArray,
) -> dict[str, Any]:
    """The tables of a relational release beside that of people, shown as the linked tables of other forms are."""
    group, (first, *others) = manifest["relational"]["group"], manifest["relational"]["tables"]
    text = pl.col(group).cast(pl.String)
    number = tables[first].get_column(group).cast(pl.Int64).to_numpy()
    class_of_group = dict(zip(number.tolist(), classes.tolist(), strict=True))
    shown = people.with_columns(pl.Series(group, number).cast(pl.String))
    _write_sorted(shown, classes, folder / "released.parquet")
    slices = []
    for place, name in enumerate(others, start=1):
        frame = tables[name]
        own = np.array([class_of_group[each] for each in frame.get_column(group).cast(pl.Int64).to_list()])
        _write_sorted(frame.with_columns(text), own, folder / f"sensitive_{place}.parquet")
        columns = [f"{name}.{column}" for column in frame.columns if column != group]
        slices.append({"table": f"sensitive_{place}", "group": group, "attributes": columns})
    return {"slices": slices, "columns": list(shown.columns)}


def _write_sorted(frame: pl.DataFrame, classes: IntArray, path: Path) -> None:
    marked = frame.with_columns(pl.Series(CLASS, classes, dtype=pl.Int64)).sort(CLASS, maintain_order=True)
    marked.write_parquet(path, compression="zstd", row_group_size=50_000)


def _original_rows(original: Original, of_row: IntArray, cells: pl.DataFrame, classes: IntArray) -> pl.DataFrame:
    """Row number and class of every input row, by the cells its class was released with; suppressed rows have none."""
    kept = np.flatnonzero(of_row >= 0)
    bound = original.bound
    if bound.policy.release.generalize == "none":
        mine = pl.DataFrame([published(c.cells).rename(c.name) for c in bound.quasi])[kept]
    else:
        mine = pl.DataFrame(quasi_columns(bound, original.coded, Partition(of_row, cells=original.cells)))
    known = cells.with_columns(pl.Series(CLASS, classes)).unique()
    names = list(cells.columns)
    found = mine.join(known, on=names, how="left", nulls_equal=True, maintain_order="left") if names else mine
    number = np.zeros(len(of_row), dtype=np.int64)
    number[kept] = found[CLASS].fill_null(0).to_numpy() if names else 1
    rows = pl.DataFrame({"row": np.arange(len(of_row)), CLASS: number})
    return rows.with_columns(pl.col(CLASS).replace(0, None)).sort(CLASS, nulls_last=True, maintain_order=True)


def _people_sizes(of_row: IntArray, person: IntArray) -> Any:
    """The groups by how many people they have."""
    members = pl.DataFrame({"group": of_row, "person": person}).filter(pl.col("group") >= 0).unique()
    sizes = members.group_by("group").len().get_column("len").to_numpy()
    return _histogram(sizes.astype(np.float64), np.ones(len(sizes)), whole=True)


def _figures(facts: Facts, classes: IntArray, coded: CodedTable | None) -> dict[str, Any]:
    sizes = facts.statistics.sizes
    before = {} if coded is None else {column.name: column for column in coded.quasi}
    return {
        "form": facts.form,
        "classes": int(classes.max(initial=0)),
        "columns": list(facts.quasi.columns),
        "slices": list(facts.manifest.get("linked", {}).get("slices", ())),
        "sizes": _histogram(sizes.astype(np.float64), np.ones(len(sizes)), whole=True),
        "distances": {
            str(model.attribute): {
                "limit": model.threshold,
                "worst": float(values.max(initial=0.0)),
                "mean": float(values @ own / max(own.sum(), 1)),
                "bins": _histogram(values, own.astype(np.float64)),
                "classes": [[float(v), int(n)] for v, n in zip(values[:2000], own[:2000], strict=True)],
            }
            for model, values, own in facts.distances()
        },
        "worst": _worst(facts, classes),
        "guesses": guess_rows(facts),
        "sensitive": {name: _sensitive(facts, name) for name in facts.declared},
        "quasi": {name: _quasi(facts, name, before.get(name)) for name in facts.policy.having("quasi")},
    }


def _worst(facts: Facts, classes: IntArray) -> list[dict[str, Any]]:
    """The classes nearest to what is allowed: for each promise the share of its limit that is used up."""
    found: list[dict[str, Any]] = []
    first_row = _first_rows(facts, classes)
    for model in facts.models:
        if model.key == "joint-t-closeness" or model.threshold <= 0:
            continue
        values = model.measure_all(facts.statistics)
        used = (
            model.threshold / np.maximum(values, 1e-12) if model.direction == "at least" else values / model.threshold
        )
        sizes = facts.sizes_of(model.attribute)
        for number in np.argsort(-used, kind="stable")[:WORST]:
            own = not facts.linked
            found.append(
                {
                    "class": int(number) + 1 if own else None,
                    "rows": int(sizes[number]),
                    "model": model.key,
                    "attribute": model.attribute,
                    "value": _finite(values[number]),
                    "limit": float(model.threshold),
                    "used": _finite(used[number]),
                    "cells": first_row.get(int(number) + 1, []) if own else [],
                }
            )
    found.sort(key=lambda each: -(each["used"] or 0.0))
    return found[:WORST]


def _utility(table: CodedTable, of_row: IntArray) -> dict[str, float] | None:
    """What the release is still good for; left out for tables so large that it would keep people waiting."""
    if table.rows > UTILITY_ROWS:
        return None
    from polyveil.measure.utility import measure_utility

    found = measure_utility(table, Partition(of_row), learn=False)
    return {name: float(getattr(found, name)) for name in ("query_error", "distribution_shift", "association_shift")}


def _first_rows(facts: Facts, classes: IntArray) -> dict[int, list[str]]:
    """The released quasi-identifier cells of each class."""
    names = list(facts.policy.having("quasi"))
    if not names or facts.linked:
        return {}
    numbers, first = np.unique(classes, return_index=True)
    cells = facts.quasi.select(names)[first].cast(pl.String).rows()
    return {
        int(number): [
            f"{name} {cell if cell is not None else 'missing'}" for name, cell in zip(names, row, strict=True)
        ]
        for number, row in zip(numbers, cells, strict=True)
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _histogram(values: FloatArray, weights: FloatArray, *, whole: bool = False) -> list[list[Any]]:
    """[label, share] per bin."""
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    if whole:
        step = max(1.0, float(np.ceil((high - low + 1) / BINS)))
        edges = np.arange(low, high + step + 1, step)
    else:
        edges = np.linspace(0.0, max(high, 1e-9), BINS + 1)
    counts, _ = np.histogram(values, bins=edges, weights=weights / max(weights.sum(), 1e-12))
    return [[_bin_label(a, b, whole), float(share)] for a, b, share in zip(edges[:-1], edges[1:], counts, strict=True)]


def _bin_label(low: float, high: float, whole: bool) -> str:
    if whole:
        return f"{low:,.0f}" if high - low == 1 else f"{low:,.0f}-{high - 1:,.0f}"
    return f"{low:.3g}-{high:.3g}"


def _sensitive(facts: Facts, name: str) -> dict[str, Any]:
    """Shares of each value before and after."""
    before, after, labels = facts.declared[name].attribute.whole, facts.released(name), facts.labels(name)
    if facts.declared[name].kind == "numeric" and len(labels) > NUMBERS_AS_BARS:
        values = np.array([float(label) for label in labels if label != "missing"])
        parts = [Spread(values, values, n[: len(values)].astype(np.float64), 0).bins(BINS) for n in (before, after)]
        return _paired([f"{_short(a)}-{_short(b)}" for a, b, _ in parts[0]], *[[s for *_, s in part] for part in parts])
    ordered = facts.declared[name].kind != "categorical"
    order = range(len(labels)) if ordered else sorted(range(len(labels)), key=lambda i: -int(before[i]))
    return _top([(labels[i], int(before[i]), int(after[i])) for i in order], ordered)


def _quasi(facts: Facts, name: str, original: QuasiColumn | None) -> dict[str, Any]:
    """A quasi-identifier before and after, in its own order: what the release still tells of its distribution.

    A released cell counts for each value it may stand for, by equal parts; a range by how much of it is there.
    """
    cells, about = facts.quasi.get_column(name), facts.manifest["quasi"][name]
    loss = {"loss": float(facts.manifest["loss"]["by_attribute"].get(name, 0.0))}
    spread = _spread(cells, about)
    if spread is not None and (original is None or isinstance(original.domain, OrderedDomain)):
        return _over_ranges(spread, about["kind"], original) | loss
    size = 0 if original is None else original.domain.size
    if original is not None and cells.n_unique() * size <= _COVERED:
        return _over_values(cells, original) | loss
    rows = [("anything (*)" if cell == "*" else cell, 0, count) for cell, count in counted_cells(cells)]
    return {**_top(rows, ordered=False), "before": None, **loss}


def _spread(cells: pl.Series, about: Mapping[str, Any]) -> Spread | None:
    """The cells as ranges of numbers or days; a column that is published as numbers has ranges of one number."""
    if cells.dtype == pl.String:
        return spread_of(cells, about)
    if about["kind"] not in ("numeric", "date") or cells.drop_nulls().is_empty():
        return None
    numbers = cells.drop_nulls().cast(pl.Date).cast(pl.Int32) if cells.dtype.is_temporal() else cells.drop_nulls()
    values, rows = np.unique(numbers.cast(pl.Float64).to_numpy(), return_counts=True)
    return Spread(values, values, rows.astype(np.float64), cells.null_count())


def _over_ranges(after: Spread, kind: str, original: QuasiColumn | None) -> dict[str, Any]:
    write = day_at if kind == "date" else _short
    untold = {"untold": after.unknown}
    if original is None or not isinstance(original.domain, OrderedDomain):
        bins = after.bins(BINS)
        labels = [_bin(a, b, write, whole=after.whole) for a, b, _ in bins]
        return {"labels": labels, "before": None, "after": [s for *_, s in bins], **untold}
    values = original.domain.positions
    rows = np.bincount(original.codes, minlength=original.domain.size)[: len(values)].astype(np.float64)
    # Both over the same range, so that their bins are the same.
    ends = np.array([min(values.min(), after.low.min()), max(values.max(), after.high.max())])
    none = np.zeros(2)
    whole = Spread(np.append(values, ends), np.append(values, ends), np.append(rows, none), 0)
    told = Spread(np.append(after.low, ends), np.append(after.high, ends), np.append(after.rows, none), 0)
    both = whole.whole and told.whole
    pairs = whole.bins(BINS, whole=both), told.bins(BINS, whole=both)
    labels = [_bin(a, b, write, whole=both) for a, b, _ in pairs[0]]
    return _paired(labels, [s for *_, s in pairs[0]], [s for *_, s in pairs[1]]) | untold


def _bin(low: float, high: float, write: Callable[[float], str], *, whole: bool) -> str:
    last = high - 1 if whole else high
    return write(low) if low == last else f"{write(low)} to {write(last)}"


def _over_values(cells: pl.Series, original: QuasiColumn) -> dict[str, Any]:
    """Categories, ordered or in a tree, and numbers below a hierarchy: each value with its share before and after."""
    misfit, cell_of_row = misfits(original, cells)
    covers = (misfit <= misfit.min(axis=1, keepdims=True)).astype(np.float64)
    rows = np.bincount(cell_of_row, minlength=len(covers)).astype(np.float64)
    after = (rows / covers.sum(axis=1)) @ covers
    domain = original.domain
    before = np.bincount(original.codes, minlength=domain.size)
    labels = list(domain.labels) + ["missing"] * (domain.size - len(domain.labels))
    order, numbers = _own_order(labels)
    found = [(labels[i], int(before[i]), float(after[i])) for i in order]
    return _top(found, ordered=numbers or isinstance(domain, OrderedDomain))


def _own_order(labels: Sequence[str]) -> tuple[list[int], bool]:
    """The order of the hierarchy or the domain; numbers as numbers, with "missing" last. Whether they are numbers."""
    try:
        places = {i: float(label) for i, label in enumerate(labels) if label != "missing"}
    except ValueError:
        return list(range(len(labels))), False
    rest = [i for i in range(len(labels)) if i not in places]
    return [*sorted(places, key=lambda i: places[i]), *rest], bool(places)


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _top(rows: Sequence[tuple[str, int, float]], ordered: bool) -> dict[str, Any]:
    """Shares of a column's values in the order given. Of many values, neighbours in an order share a bar; of others the
    most common have one each, and all rarer ones have the last together."""
    totals = max(sum(row[1] for row in rows), 1), max(sum(row[2] for row in rows), 1e-9)
    if len(rows) > 2 * SHOWN:
        rows = _neighbours(rows) if ordered else _with_rarer(rows)
    return _paired([r[0] for r in rows], [r[1] / totals[0] for r in rows], [r[2] / totals[1] for r in rows])


def _neighbours(rows: Sequence[tuple[str, int, float]]) -> list[tuple[str, int, float]]:
    step = -(-len(rows) // (2 * SHOWN))
    parts = [rows[i : i + step] for i in range(0, len(rows), step)]
    return [
        (p[0][0] if len(p) == 1 else f"{p[0][0]} to {p[-1][0]}", sum(r[1] for r in p), sum(r[2] for r in p))
        for p in parts
    ]


def _with_rarer(rows: Sequence[tuple[str, int, float]]) -> list[tuple[str, int, float]]:
    common = set(sorted(range(len(rows)), key=lambda i: (-max(rows[i][1], rows[i][2]), i))[:SHOWN])
    rarer = [row for i, row in enumerate(rows) if i not in common]
    together = (f"{len(rarer):,} rarer values", sum(r[1] for r in rarer), sum(r[2] for r in rarer))
    return [*(row for i, row in enumerate(rows) if i in common), together]


def _paired(labels: list[str], before: list[float], after: list[float]) -> dict[str, Any]:
    return {"labels": labels, "before": before, "after": after}


def read_views(folder: Path) -> dict[str, Any] | None:
    """The figures of a finished run, where they are there."""
    try:
        found: dict[str, Any] = json.loads((folder / "explore.json").read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return None
    return found
