"""sift on Census-Income with 12, 20 and 30 quasi-identifiers, beside greedy growth, kaca and mondrian.

    python benchmarks/sift_census.py [--data FOLDER] [--rows 8000] [--quasi 12,20,30] [--efforts fast,balanced]
                                      [--write]

k = 5 alone, and with the detailed and the major occupation t-close at 0.2; the columns come in the order of the file,
few-valued ones as sets. Greedy growth is written out here as Byun et al. 2007 describe it: the next class begins with
the row farthest from the last one begun and takes the row that costs least until it holds; rows left over join the
class that they cost least, or, where that breaks it, the first class with which it holds. Asked: `sift` loses less than
all of them, and `balanced` no more than `fast`. `--write` puts the table into docs/methods/index.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from adult import DATA
from measured_pages import METHODS, markdown, percent, put
from sift_effort import Asked, partition_of, table_of

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.measure import measure_loss
from polyveil.models import KAnonymity, TCloseness, attributes_of, codes_of, from_classes
from polyveil.table.coded import CodedTable
from polyveil.table.domain import OrderedDomain

FILE, K, T = "census_income_kdd.parquet", 5, 0.2
OCCUPATIONS = ("detailed_occupation_recode", "major_occupation_code")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--quasi", default="12,20,30")
    parser.add_argument("--efforts", default="fast,balanced")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    names = [
        name for name in pl.read_parquet_schema(chosen.data / FILE) if name not in (*OCCUPATIONS, "instance_weight")
    ]
    columns: dict[str, dict[str, str]] = {}
    print(f"{'quasi':>5} {'asked':8} {'method':14} {'seconds':>8} {'CPU':>7} {'loss':>8}", flush=True)
    for count in map(int, chosen.quasi.split(",")):
        for t in (None, T):
            asked = Asked(FILE, tuple(names[:count]), OCCUPATIONS if t else (), t, chosen.rows, True)
            found = compare(table_of(asked, chosen.data), count, t, chosen.efforts.split(","))
            columns[f"{count}, {f't = {t}' if t else 'k only'}"] = {
                name: percent(loss / count) for name, loss in found.items()
            }
    if chosen.write:
        methods = list(next(iter(columns.values())))
        lines = [[_title(name), *(cells[name] for cells in columns.values())] for name in methods]
        put("wide", markdown(["method", *columns], lines), METHODS)


def _title(name: str) -> str:
    if name == "greedy growth":
        return "greedy growth (Byun et al. 2007)"
    return {"balanced": "`sift`", "fast": "`sift`, fast"}.get(name, f"`{name}`")


def compare(table: CodedTable, count: int, t: float | None, efforts: list[str]) -> dict[str, float]:
    """A line for every method, and what each loses; what is not as asked is marked."""
    others, before = np.inf, np.inf
    losses: dict[str, float] = {}
    for name in ("greedy growth", "kaca", "mondrian", *efforts):
        if name == "greedy growth":
            loss, took, busy = grown(table, t)
        elif name in efforts:
            loss, took, busy = partition_of(table, t, effort=name)
        else:
            loss, took, busy = partition_of(table, t, name=name)
        fault = ""
        if name in efforts:
            fault = "  not below" if loss >= others else "  above less effort" if loss > before else ""
            before = loss
        else:
            others = min(others, loss)
        losses[name] = loss
        words = f"k, t {t}" if t else "k"
        print(f"{count:>5} {words:8} {name:14} {took:8.1f} {busy:7.1f} {loss:8.4f}{fault}", flush=True)
    return losses


class Growing:
    """A class that grows: its box, and the values in it."""

    def __init__(self, table: CodedTable) -> None:
        self.places = [
            np.append(column.domain.normalized, 2.0)[column.codes] if isinstance(column.domain, OrderedDomain) else None
            for column in table.quasi
        ]
        self.codes = [column.codes for column in table.quasi]
        self.sizes = [column.domain.size for column in table.quasi]

    def begin(self, row: int) -> None:
        self.low = [place[row] if place is not None else 0.0 for place in self.places]
        self.high = list(self.low)
        self.inside = [np.zeros(size, dtype=np.bool_) for size in self.sizes]
        self.add(row)

    def add(self, row: int) -> None:
        for a, place in enumerate(self.places):
            if place is not None:
                self.low[a], self.high[a] = min(self.low[a], place[row]), max(self.high[a], place[row])
            self.inside[a][self.codes[a][row]] = True

    def cost(self, rows: IntArray) -> FloatArray:
        """What a row of the class would lose with each of these rows in it; missing numbers lose all."""
        total = np.zeros(len(rows))
        for a, place in enumerate(self.places):
            if place is not None:
                width = np.maximum(self.high[a], place[rows]) - np.minimum(self.low[a], place[rows])
                total += np.minimum(width, 1.0)
            elif self.sizes[a] > 1:
                held = self.inside[a]
                total += (held.sum() - 1 + ~held[self.codes[a][rows]]) / (self.sizes[a] - 1)
        return total


def grown(table: CodedTable, t: float | None) -> tuple[float, float, float]:
    """Information loss, seconds and processor seconds of greedy growth."""
    start, busy = time.perf_counter(), time.process_time()
    attributes = attributes_of(table)
    models = (KAnonymity(K), *(TCloseness(t, column.name) for column in table.sensitive if t is not None))

    def holds(labels: IntArray) -> bool:
        return all(model.judge(from_classes(labels, codes_of(table), attributes)).holds for model in models)

    def close(members: list[int]) -> bool:
        return t is None or all(
            0.5 * np.abs(np.bincount(c.codes[members], minlength=len(w)) / len(members) - w).sum() <= t
            for c, w in zip(table.sensitive, whole, strict=True)
        )

    whole = [np.bincount(c.codes, minlength=c.domain.size) / table.rows for c in table.sensitive]
    box, free = Growing(table), np.ones(table.rows, dtype=np.bool_)
    labels, classes, row = np.full(table.rows, -1, dtype=np.int64), [], 0
    while free.sum() >= K:
        rest = np.flatnonzero(free)
        box.begin(row)
        row = int(rest[box.cost(rest).argmax()])
        members = _one_class(box, row, free, close)
        if not members:
            break
        labels[members] = len(classes)
        classes.append(members)
    for left in np.flatnonzero(labels < 0):
        labels[left] = _join(box, classes, int(left), close)
    if not holds(labels):
        raise SystemExit("greedy growth broke a model")
    loss = measure_loss(table, labels).information_loss
    return loss, time.perf_counter() - start, time.process_time() - busy


def _one_class(box: Growing, row: int, free: BoolArray, close: Callable[[list[int]], bool]) -> list[int]:
    """The members of a class from a seed; none if it cannot hold with the rows that are free."""
    members = [row]
    free[row] = False
    box.begin(row)
    while len(members) < K or not close(members):
        rest = np.flatnonzero(free)
        if not len(rest):
            return []
        best = int(rest[box.cost(rest).argmin()])
        free[best] = False
        box.add(best)
        members.append(best)
    return members


def _join(box: Growing, classes: list[list[int]], row: int, close: Callable[[list[int]], bool]) -> int:
    """Add a row to the class that it costs least among those that hold with it; the class's number."""
    box.begin(row)
    costs = [float(box.cost(np.array(members)).max()) for members in classes]
    for number in np.argsort(costs, kind="stable"):
        if close([*classes[number], row]):
            classes[number].append(row)
            return int(number)
    raise SystemExit("greedy growth leaves rows over")


if __name__ == "__main__":
    main()
