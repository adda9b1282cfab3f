"""What cutting the table into blocks costs: information loss on Adult, on Spark and on one machine.

    python benchmarks/spark_loss.py --block-rows 8000

Adult (30,162 rows, the columns of wang2018) at k = 5, t = 0.2. With its default block size Spark would place so small a
table in one block, so blocks are made small. One line per method: losses, their ratio, and how many blocks there were.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from adult import DATA, HIERARCHY, QUASI, adult

METHODS: tuple[dict[str, Any], ...] = (
    {"name": "mondrian"},
    {"name": "sift", "effort": "fast"},
    {"name": "sift", "effort": "balanced"},
    {"name": "fcm"},
)


def policy(columns: list[str], numeric: set[str], method: dict[str, Any], folder: Path = DATA) -> dict[str, Any]:
    """Every column below its hierarchy, k = 5 and t = 0.2 for both sensitive columns."""
    declared: dict[str, Any] = {}
    for name in columns:
        tree = folder / "hierarchies" / f"adult_hierarchy_{HIERARCHY.get(name, name)}.csv"
        kind = {"type": "numeric"} if name in numeric else {"hierarchy": str(tree)}
        declared[name] = {"role": "quasi", **kind} if name in QUASI else {"role": "sensitive", "t": 0.2, **kind}
    return {"version": 1, "columns": declared, "privacy": {"k": 5}, "method": method}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--block-rows", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    import polyveil
    from polyveil.engines.spark import session_for

    frame = adult()
    numeric = {name for name in frame.columns if frame[name].dtype.is_numeric()}
    spark = session_for(asked.master)
    try:
        table = spark.createDataFrame(frame.to_arrow())
        for method in METHODS:
            wanted = policy(frame.columns, numeric, method)
            here = polyveil.anonymize(frame, wanted, seed=asked.seed)
            there = polyveil.anonymize(table, wanted, seed=asked.seed, reading={"block_rows": asked.block_rows})
            losses = [release.loss["information_loss"] for release in (here, there)]
            line = {
                "method": " ".join(str(value) for value in method.values()),
                "local": round(losses[0], 4),
                "spark": round(losses[1], 4),
                "ratio": round(losses[1] / losses[0], 3),
                "blocks": there.manifest["method"]["found"]["blocks"],
                "block_rows": asked.block_rows,
            }
            print(json.dumps(line), flush=True)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
