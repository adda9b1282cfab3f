"""Does asking for less ever cost more? The worst rise of sift's loss as t is loosened, k lowered or a column left out.

    python benchmarks/sift_monotone.py [--data FOLDER] [--effort fast] [--only adult,census,...] [--rows 30000]
                                       [--t 0.1,0.15,0.2,0.25,0.3,0.4,0.5] [--k 20,10,5,2] [--at-t 0.2,0.5] [--at-k 5]
                                       [--alone 0.2,0.3,0.5,1] [--without 0.2]

Over all tables of the data folder: those that sift_loss.py compares methods on, and those of sift_effort.py. t is swept
at the given k, k at the given t, and the t of each sensitive column alone while the others keep the first value of
--alone; with --without, each sensitive column is left out in turn (a table of more than two: the first two). Everything
else is equal, the seed included. A rise is the loss of a request divided by the least loss of any stricter request of
its sweep, less one; demanded is at most 1 %. A sweep is left out by an empty list.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from adult import DATA, adult
from sift_effort import TABLES, table_of
from sift_loss import adult_policy, other_frame, other_policy

from polyveil.errors import Unsatisfiable
from polyveil.measure import measure_loss
from polyveil.methods import Task, make_method
from polyveil.models import KAnonymity, TCloseness, attributes_of, codes_of, from_classes
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read

MOST_RISE = 0.01
COMPARED = ("adult", "census", "diabetes", "credit")
"""Tables as sift_loss.py compares methods on them; the others are those of sift_effort.py."""
MOST_ALONE = 2
"""Sensitive columns of a table whose t is swept alone, and that are left out."""


@dataclass(frozen=True)
class Request:
    """The same t for every sensitive column but one, which may have its own, or be left out."""

    t: float
    k: int
    alone: str = ""
    its_t: float = 0.0
    without: str = ""

    def __str__(self) -> str:
        if self.without:
            return f"without {self.without} t={self.t:g}"
        return f"{self.alone} t={self.its_t:g}, others t={self.t:g}" if self.alone else f"t={self.t:g} k={self.k}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--only", default=",".join([*COMPARED, *(name for name in TABLES if name not in COMPARED)]))
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--t", default="0.1,0.15,0.2,0.25,0.3,0.4,0.5")
    parser.add_argument("--k", default="20,10,5,2")
    parser.add_argument("--at-t", default="0.2,0.5")
    parser.add_argument("--at-k", default="5")
    parser.add_argument("--alone", default="0.2,0.3,0.5,1")
    parser.add_argument("--without", default="0.2")
    chosen = parser.parse_args()
    effort: Any = float(chosen.effort) if chosen.effort.replace(".", "").isdigit() else chosen.effort
    worst = 0.0
    for name in chosen.only.split(","):
        table = table_named(name, chosen.data, chosen.rows)
        known: dict[Request, float] = {}
        began = time.process_time()
        for sweep in sweeps(chosen, [column.name for column in table.sensitive]):
            for request in sweep:
                if request not in known:
                    known[request] = loss_of(table, request, effort)
            worst = max(worst, show(name, sweep, known))
        print(f"{name:10} {time.process_time() - began:.0f} processor seconds", flush=True)
    verdict = "holds" if worst <= MOST_RISE else "misses"
    print(f"worst rise {worst:.2%} at effort {chosen.effort}: {verdict} the demand of at most {MOST_RISE:.0%}")


def sweeps(chosen: argparse.Namespace, sensitive: list[str]) -> list[list[Request]]:
    """Every sweep, strictest request first; without sensitive columns only that of k."""
    thresholds, sizes, at_t, at_k, alone, without = (
        [float(value) for value in listed.split(",") if value]
        for listed in (chosen.t, chosen.k, chosen.at_t, chosen.at_k, chosen.alone, chosen.without)
    )
    if not sensitive:
        return [[Request(1.0, int(k)) for k in sizes]] if sizes else []
    found = [[Request(t, int(k)) for t in thresholds] for k in at_k]
    found += [[Request(t, int(k)) for k in sizes] for t in at_t]
    for column in sensitive[:MOST_ALONE] if len(sensitive) > 1 else []:
        if alone:
            first, *looser = alone
            found.append([Request(first, int(at_k[0])), *(Request(first, int(at_k[0]), column, t) for t in looser)])
        found += [[Request(t, int(at_k[0])), Request(t, int(at_k[0]), without=column)] for t in without]
    return [sweep for sweep in found if sweep]


def show(name: str, sweep: list[Request], known: dict[Request, float]) -> float:
    """Print a sweep, strictest first; its worst rise."""
    least, worst, cells = float("inf"), 0.0, []
    for request in sweep:
        loss = known[request]
        rise = loss / least - 1.0 if 0.0 < least < float("inf") else 0.0
        cells.append(f"{request}: {loss:.4f}" + (f" (+{rise:.2%})" if rise > 0.0 else ""))
        worst, least = max(worst, rise), min(least, loss)
    print(f"{name:10} {'; '.join(cells)}", flush=True)
    return worst


def table_named(name: str, folder: Path, rows: int) -> CodedTable:
    """The first rows of a table, as methods see it."""
    if name not in COMPARED:
        table = table_of(TABLES[name], folder)
        return table.take(np.arange(min(rows, table.rows)))
    frame = adult(folder) if name == "adult" else other_frame(name, folder)
    policy = adult_policy(folder, 1.0, 2) if name == "adult" else other_policy(name, 1.0, 2)
    return encode(bind(policy, read(frame.select(*policy.columns).head(rows))))


def loss_of(table: CodedTable, request: Request, effort: Any) -> float:
    """Information loss of one run, once the plain models have judged it; infinite where nothing holds."""
    kept = tuple(column for column in table.sensitive if column.name != request.without)
    asked = CodedTable(table.rows, table.quasi, kept)
    limits = {column.name: request.its_t if column.name == request.alone else request.t for column in kept}
    attributes = attributes_of(asked)
    models = (KAnonymity(request.k), *(TCloseness(t, name) for name, t in limits.items()))
    task = Task(asked, models, attributes, Privacy(k=request.k), np.random.default_rng(1))
    try:
        found = make_method(MethodChoice(name="sift", effort=effort)).partition(task)
    except Unsatisfiable:
        return float("inf")
    statistics = from_classes(found.class_of_row, codes_of(asked), attributes)
    if not all(model.judge(statistics).holds for model in models):
        raise SystemExit(f"sift broke a model: {request}")
    return measure_loss(asked, found.class_of_row).information_loss


if __name__ == "__main__":
    main()
