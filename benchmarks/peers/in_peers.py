"""What pycanon and anjana make of the files in a folder; run by the Python of their own environment (see run.py).

    python in_peers.py FOLDER

Reads adult.csv, nulls.csv, ours.csv and the hierarchies, writes anjana's releases beside them, and prints one JSON
object. Nothing of polyveil is imported here.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from anjana.anonymity import k_anonymity as release_with_k
from anjana.anonymity import t_closeness as release_with_t
from pycanon import anonymity

SUPPRESSION = (0, 10)
"""Percent of rows that anjana may leave out."""


def main() -> None:
    folder = Path(sys.argv[1])
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = {"versions": {name: version(name) for name in ("pycanon", "anjana", "pandas")}}
    quasi, sensitive = settings["quasi"], settings["sensitive"]
    for name in ("adult", "ours"):
        found[name] = measured(pd.read_csv(folder / f"{name}.csv"), quasi, sensitive)
    nulls = pd.read_csv(folder / "nulls.csv")
    found["nulls"] = {str(len(some)): measured(nulls, some, ["disease"]) for some in (["zip"], ["sex", "zip"])}
    found["anjana"] = [
        anonymized(folder, settings, percent, t) for t in (settings["t"], None) for percent in SUPPRESSION
    ]
    sys.stdout.write(json.dumps(found) + "\n")


def measured(frame: pd.DataFrame, quasi: list[str], sensitive: list[str]) -> dict[str, Any]:
    """k, l and t by pycanon, each with its processor seconds."""
    found: dict[str, Any] = {"rows": len(frame)}
    start = time.process_time()
    found["k"] = int(anonymity.k_anonymity(frame, quasi))
    found["seconds_k"] = time.process_time() - start
    start = time.process_time()
    found["l"] = int(anonymity.l_diversity(frame, quasi, sensitive))
    found["seconds_l"] = time.process_time() - start
    start = time.process_time()
    found["t"] = {name: float(anonymity.t_closeness(frame, quasi, [name])) for name in sensitive}
    found["seconds_t"] = time.process_time() - start
    return found


def anonymized(folder: Path, settings: dict[str, Any], percent: int, t: float | None) -> dict[str, Any]:
    """anjana's release at k, and t for one sensitive column, written to a file; its lines on stdout are swallowed."""
    frame = pd.read_csv(folder / "adult.csv", dtype=str)
    trees = {name: levels(folder / "hierarchies" / f"{name}.csv") for name in settings["quasi"]}
    out, sys.stdout = sys.stdout, sys.stderr
    start = time.process_time()
    try:
        if t is None:
            made = release_with_k(frame, [], settings["quasi"], settings["k"], percent, trees)
        else:
            made = release_with_t(frame, [], settings["quasi"], settings["one"], settings["k"], t, percent, trees)
    finally:
        sys.stdout = out
    seconds = time.process_time() - start
    file = f"anjana_{percent}_{t}.csv"
    made.to_csv(folder / file, index=False)
    return {"percent": percent, "t": t, "file": file, "rows": len(made), "seconds": seconds, "columns": list(made)}


def levels(file: Path) -> dict[int, list[str]]:
    """A hierarchy file as anjana takes it: level -> the labels of all values."""
    table = pd.read_csv(file, sep=";", header=None, dtype=str)
    return {level: table[level].tolist() for level in table.columns}


if __name__ == "__main__":
    main()
