"""Risk as a requirement on Adult, beside the figures of ARX's own risk benchmark.

    python benchmarks/risk_adult.py [--data FOLDER] [--effort fast]

Nine quasi-identifiers with ARX's hierarchies, the 30,162 complete training rows, no row left out by polyveil; ARX may
leave out any. ARX's figures are those of results/quality.csv in its repository `risk-benchmark`: "Loss" is, per column,
the mean share of the values that a cell covers, and over the columns the geometric mean of 1 + loss, minus 1. Both that
and the plain mean (`normalized_loss`), which is never smaller, are printed for polyveil. A row left out counts 1.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

import polars as pl

import polyveil

QUASI = (
    "age", "education", "marital-status", "native-country", "race", "salary-class", "sex", "workclass", "occupation",
)  # fmt: skip
UNITED_STATES = 318_000_000
"""People in the population that ARX's benchmark assumes, to a few percent."""
CASES: dict[str, tuple[dict[str, Any], float | None]] = {
    "k = 5": ({"k": 5}, 0.22129),
    "average risk 20 %, groups of 3 or more": ({"risk": {"average": 0.2, "strict_k": 3}}, 0.19229),
    "at most 1 % unique in the population": (
        {"risk": {"unique_in_population": 0.01, "population": {"fraction": 30_162 / UNITED_STATES}}},
        0.01970,
    ),
    "k = 12": ({"k": 12}, None),
    "average risk 9 %, groups of 3 or more": ({"risk": {"average": 0.09, "strict_k": 3}}, None),
}
"""Requirements, and the loss of ARX where its benchmark has it."""


def adult(folder: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The table and the columns of its policy."""
    frame = pl.read_csv(folder / "adult.csv.gz", null_values="?").filter(pl.col("split") == "train").drop_nulls()
    frame = frame.rename({name: "salary-class" for name in ("income", "class") if name in frame.columns})
    trees = folder / "hierarchies"
    columns = {name: {"role": "quasi", "hierarchy": str(trees / f"adult_hierarchy_{name}.csv")} for name in QUASI}
    return frame.select(*QUASI), columns


def geometric(by_attribute: dict[str, float]) -> float:
    """ARX's mean over the columns."""
    return math.exp(sum(math.log1p(loss) for loss in by_attribute.values()) / len(by_attribute)) - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--effort", default="fast")
    chosen = parser.parse_args()
    frame, columns = adult(chosen.data)
    print("| requirement | ARX | polyveil, ARX's mean | polyveil, plain mean | groups | rows per group | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    worse = False
    for name, (privacy, arx) in CASES.items():
        policy = {"columns": columns, "privacy": privacy, "method": {"name": "sift", "effort": chosen.effort}}
        start = time.perf_counter()
        release = polyveil.anonymize(frame, policy, seed=1, bound=False)
        seconds = time.perf_counter() - start
        loss, about = release.loss, release.manifest
        own = geometric(dict(loss["by_attribute"]))
        worse |= arx is not None and own >= arx
        shown = "" if arx is None else f"{arx:.3f}"
        size = about["class_size"]
        sizes = f"{size['min']} to {size['max']}, mean {size['mean']:.1f}"
        mean = loss["normalized_loss"]
        figures = f"{shown} | {own:.3f} | {mean:.3f} | {about['classes']:,} | {sizes} | {seconds:.0f}"
        print(f"| {name} | {figures} |", flush=True)
    if worse:
        raise SystemExit("a requirement costs more detail than in ARX")


if __name__ == "__main__":
    main()
