"""sift on a table of 24 quasi-identifiers, ARX's credit cards: what its beginnings, `fast` and `balanced` lose.

    python benchmarks/sift_wide.py [--data FOLDER] [--rows 30000] [--efforts fast,balanced] [--k 5] [--write]

Shown is the part of the detail that is kept, 1 - normalized loss. ARX's best local recoding keeps .4512, as its authors
published it with the table. `--write` puts the efforts into docs/methods/index.md.
"""

from __future__ import annotations

import argparse
import gzip
import io
import time
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
from adult import DATA
from measured_pages import METHODS, markdown, percent, put

from polyveil.measure import measure_loss
from polyveil.methods import Task, make_method
from polyveil.methods._kernels.judge import compile_constraints
from polyveil.methods._search.arrange import CUT, DIVIDE, GROW, SIFT
from polyveil.methods._search.rounds import no_flag
from polyveil.methods._search.space import make_space
from polyveil.methods._search.start import begin_by
from polyveil.models import KAnonymity, attributes_of
from polyveil.policy.hierarchy import Hierarchy, from_tree
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import TreeDomain

ARX = 0.4512
WAYS = {"cut": CUT, "sift": SIFT, "divide": DIVIDE, "grow": GROW}


def main() -> None:
    """Print one line per beginning, method and effort."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--efforts", default="fast,balanced")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    lines = [["ARX, the best of its local recodings", percent(ARX)]]
    table = creditcard(asked.data / "arx_creditcard", asked.rows)
    attributes = attributes_of(table)
    task = Task(table, (KAnonymity(asked.k),), attributes, Privacy(k=asked.k), np.random.default_rng(1))
    space, rows = make_space(table, compile_constraints(task.models, attributes, table))
    for name, way in WAYS.items():
        began = time.process_time()
        _, loss = begin_by(space, rows, (way, asked.k), 1, no_flag())
        show(name, loss / table.rows, table, began)
    for effort in asked.efforts.split(","):
        began = time.process_time()
        options = {"effort": float(effort) if effort[0].isdigit() else effort}
        found = make_method(MethodChoice(name="sift", **options)).partition(task)
        loss = measure_loss(table, found.class_of_row).information_loss
        show(effort, loss, table, began)
        lines.append([f"`sift`, {effort}{' s' if effort[0].isdigit() else ''}", percent(1.0 - loss / len(table.quasi))])
    if asked.write:
        put("credit cards", markdown(["", "detail kept"], lines), METHODS)


def show(name: str, loss: float, table: CodedTable, began: float) -> None:
    kept = 1.0 - loss / len(table.quasi)
    print(
        f"{name:10} keeps {kept:.4f} (loss {loss:.3f})  {time.process_time() - began:.1f} processor seconds", flush=True
    )


def creditcard(folder: Path, rows: int) -> CodedTable:
    """The table; level labels repeat between levels in the files and are made distinct."""
    with gzip.open(folder / "creditcard_int.csv.gz") as file:
        frame = pl.read_csv(io.BytesIO(file.read()), separator=";", infer_schema=False).head(rows)
    quasi = []
    with zipfile.ZipFile(folder / "hierarchies.zip") as files:
        for name in frame.columns:
            found = next(item for item in files.namelist() if item == f"{name}.csv")
            levels = [line.split(";") for line in files.read(found).decode().split()]
            tree = hierarchy(levels, set(frame[name]))
            code = {label: i for i, label in enumerate(tree.leaves)}
            quasi.append(QuasiColumn(name, TreeDomain(tree, False, False), np.array([code[v] for v in frame[name]])))
    return CodedTable(frame.height, tuple(quasi), ())


def hierarchy(levels: list[list[str]], used: set[str]) -> Hierarchy:
    """A tree of the leaves that occur, from lines of leaf;level 1;...;root."""
    root: dict[str, object] = {}
    for leaf, *above in levels:
        if leaf in used:
            here = root
            for depth, label in enumerate(reversed(above[:-1])):
                here = here.setdefault(f"{len(above) - depth}:{label}", {})  # type: ignore[assignment]
            here[leaf] = None
    return from_tree(root)


if __name__ == "__main__":
    main()
