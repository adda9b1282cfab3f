"""Adult, one row per person: the same release whether a column says whom a row is about or not.

    python benchmarks/people_adult.py [--rows N]

k = 5, t = 0.2 on occupation and years of education, `sift` with effort fast, one seed. Groups of all rows and every
figure of the loss must be equal, and released rows are compared as a sorted table; seconds are the processor's.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from typing import Any

import polars as pl
from adult import DATA, HIERARCHY, QUASI, adult

import polyveil


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=30_162)
    frame = adult().head(parser.parse_args().rows).with_row_index("key")
    polyveil.anonymize(frame.head(500), policy_of(frame, "person"))  # compiles
    found = []
    for role in ("identifier", "person"):
        began = time.process_time()
        release = polyveil.anonymize(frame, policy_of(frame, role), seed=1)
        seconds = time.process_time() - began
        table = release.frames["table"]
        content = table.sort(table.columns, nulls_last=True).write_csv().encode()
        digest = hashlib.sha256(content).hexdigest()[:16]
        loss = release.loss["information_loss"]
        print(f"{role:10}  loss {loss:.6f}  groups {release.manifest['classes']:,}  rows {digest}  {seconds:.0f} s")
        found.append((release.class_of_row.tolist(), release.loss, digest))
    if found[0] != found[1]:
        raise SystemExit("the releases differ")
    print("equal")


def policy_of(frame: pl.DataFrame, role: str) -> dict[str, Any]:
    columns: dict[str, Any] = {"key": {"role": role}}
    for name in frame.drop("key").columns:
        tree = DATA / "hierarchies" / f"adult_hierarchy_{HIERARCHY.get(name, name)}.csv"
        about = {"type": "numeric"} if frame[name].dtype.is_numeric() else {"hierarchy": str(tree)}
        columns[name] = {"role": "quasi" if name in QUASI else "sensitive", **about}
    return {
        "columns": columns,
        "privacy": {"k": 5, "t": 0.2},
        "method": {"name": "sift", "effort": "fast"},
        "release": {"form": "generalized"},
    }


if __name__ == "__main__":
    main()
