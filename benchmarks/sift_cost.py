"""How sift's cost grows with rows, quasi-identifiers, sensitive columns and their values; two cores against one.

    python benchmarks/sift_cost.py [--effort fast] [--only rows,quasi,sensitive,values,cores] [--rows 30000] [--write]

Generated tables of people: quasi-identifiers of 20 values and sensitive columns that depend on them in part, k = 5 and
t = 0.15. One dimension changes at a time. Processor seconds count, so that other work on the machine does not; "growth"
is how many times more they are than in the line before, divided by how many times larger the table is: at most 1 is
linear or better. `cores` runs one search on one core and on all and compares seconds, on a machine that does nothing
else. `--write` puts the tables into docs/methods/sift.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measured_pages import SIFT, put

from polyveil.measure import measure_loss
from polyveil.methods import Task, make_method
from polyveil.models import KAnonymity, TCloseness, attributes_of, codes_of, from_classes
from polyveil.policy import Policy
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read

T = 0.15
SIZES: dict[str, tuple[int, ...]] = {
    "rows": (10_000, 100_000, 1_000_000, 10_000_000),
    "quasi": (3, 6, 12, 24, 48),
    "sensitive": (1, 2, 5, 10),
    "values": (10, 100, 1_000, 10_000),
}
NAMES = {"rows": "rows", "quasi": "quasi-identifiers", "sensitive": "sensitive columns", "values": "sensitive values"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--only", default="rows,quasi,sensitive,values,cores")
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--most-rows", type=int, default=10**7)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seconds-of", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    run(people(2_000, 6, 2, 20), "fast")  # compiled before anything is measured
    if chosen.seconds_of:
        print(run(people(chosen.rows, 6, 2, 20), chosen.effort)[0])
        return
    lines = ["| what grows | size | processor seconds | growth | detail lost |", "| --- | ---: | ---: | ---: | ---: |"]
    print("\n".join(lines), flush=True)
    for dimension in [one for one in chosen.only.split(",") if one in SIZES]:
        lines += measured(dimension, chosen)
    if "cores" in chosen.only:
        one, both = seconds_on(1, chosen), seconds_on(None, chosen)
        ratio = f"{one:.1f} s on one core, {both:.1f} s on two: {one / both:.2f} times as fast"
        told = f"The same search (`balanced`, 60,000 rows) takes {ratio}."
        print(told)
        lines += ["", told]
    if chosen.write:
        put("cost", "\n".join(lines), SIFT)


def measured(dimension: str, chosen: argparse.Namespace) -> list[str]:
    """A line for each size of one dimension."""
    lines, before = [], (0, 0.0)
    for size in SIZES[dimension]:
        shape = {"rows": chosen.rows, "quasi": 6, "sensitive": 2, "values": 20, dimension: size}
        if shape["rows"] > chosen.most_rows:
            continue
        _, busy, lost = run(people(**shape), chosen.effort)
        growth = f"{busy / before[1] / (size / before[0]):.2f}" if before[0] else ""
        lines.append(f"| {NAMES[dimension]} | {size:,} | {busy:.1f} | {growth} | {100 * lost:.1f} % |")
        print(lines[-1], flush=True)
        before = size, busy
    return lines


def seconds_on(cores: int | None, chosen: argparse.Namespace) -> float:
    """Seconds of one run in a process of its own, on so many cores or on all."""
    words = ["taskset", "-c", "0"] if cores == 1 else []
    words += [sys.executable, str(Path(__file__)), "--seconds-of", "--effort", "balanced", "--rows", "60000"]
    return float(subprocess.run(words, check=True, capture_output=True, text=True, timeout=3600).stdout)


def people(rows: int, quasi: int, sensitive: int, values: int) -> CodedTable:
    """People of a few kinds; what they answer depends on their kind in part."""
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 50, rows)
    columns: dict[str, Any] = {}
    for q in range(quasi):
        typical = rng.integers(0, 20, 50)[kind]
        columns[f"q{q}"] = np.where(rng.random(rows) < 0.7, typical, rng.integers(0, 20, rows))
    for s in range(sensitive):
        typical = rng.integers(0, values, 50)[kind]
        columns[f"s{s}"] = np.where(rng.random(rows) < 0.4, typical, rng.integers(0, values, rows))
    roles = {c: {"role": "quasi" if c[0] == "q" else "sensitive", "type": "numeric"} for c in columns}
    policy = Policy.from_dict({"columns": roles, "privacy": {"k": 5, "t": T}})
    return encode(bind(policy, read(pl.DataFrame(columns))))


def run(table: CodedTable, effort: str) -> tuple[float, float, float]:
    """Seconds, processor seconds and the share of the detail that is lost, once the plain models have judged it."""
    attributes = attributes_of(table)
    models = (KAnonymity(5), *(TCloseness(T, column.name) for column in table.sensitive))
    task = Task(table, models, attributes, Privacy(k=5, t=T), np.random.default_rng(1))
    began, busy = time.perf_counter(), time.process_time()
    found = make_method(MethodChoice(name="sift", effort=effort)).partition(task)
    took, busy = time.perf_counter() - began, time.process_time() - busy
    statistics = from_classes(found.class_of_row, codes_of(table), attributes)
    if not all(model.judge(statistics).holds for model in models):
        raise SystemExit("sift broke a model")
    return took, busy, measure_loss(table, found.class_of_row).information_loss / len(table.quasi)


if __name__ == "__main__":
    main()
