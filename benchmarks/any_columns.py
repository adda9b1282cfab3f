"""k for any m quasi-identifiers beside k for all 20 of them: the detail lost, the time, and a brute-force count.

    python benchmarks/any_columns.py [--data FOLDER] [--rows 10000] [--effort fast]

The table is a sample of the census income data of 1994/95 (census_income_kdd), with the 20 columns that others are most
likely to know. Every release is read row by row and all combinations of m columns are counted with plain dictionaries;
the script fails if a combination of cells has fewer than k rows, or if `any` does not lose less than k for all columns.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import polars as pl

import polyveil

K = 5
QUASI = (
    "age", "class_of_worker", "industry", "occupation", "education", "wage_per_hour", "marital_status",
    "major_industry", "major_occupation", "race", "hispanic_origin", "sex", "union_member", "employment_status",
    "tax_filer_status", "state_previous", "household_status", "country_father", "country_birth", "citizenship",
)  # fmt: skip


def fewest(frame: pl.DataFrame, columns: int) -> int:
    """The fewest rows that share the cells of any so many columns."""
    cells = [frame[name].to_list() for name in frame.columns]
    return min(min(Counter(zip(*some, strict=True)).values()) for some in combinations(cells, columns))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--effort", default="fast")
    chosen = parser.parse_args()
    table = pl.read_parquet(chosen.data / "census_income_kdd.parquet")
    names = [name for name in QUASI if name in table.columns]
    names += [name for name in table.columns if name not in names][: 20 - len(names)]
    frame = table.select(names).sample(chosen.rows, seed=1)
    losses, wrong = [], False
    print("| requirement | detail lost | rows alone with all columns | fewest rows, counted | seconds |")
    print("| --- | --- | --- | --- | --- |")
    for columns in (2, 3, None):
        privacy = {"k": K} if columns is None else {"k": K, "any": columns}
        policy = {
            "columns": {name: {"role": "quasi"} for name in names},
            "privacy": privacy,
            "method": {"name": "sift", "effort": chosen.effort},
        }
        start = time.perf_counter()
        release = polyveil.anonymize(frame, policy, seed=1, bound=False)
        seconds = time.perf_counter() - start
        least = fewest(release.table, len(names) if columns is None else columns)
        alone = int((release.table.group_by(pl.all()).len()["len"] == 1).sum())
        losses.append(release.loss["normalized_loss"])
        wrong = wrong or least < K
        what = f"k = {K}, all {len(names)}" if columns is None else f"k = {K}, any {columns} of {len(names)}"
        print(f"| {what} | {losses[-1]:.1%} | {alone:,} | {least} | {seconds:.0f} |", flush=True)
    if wrong or not losses[0] < losses[1] < losses[2]:
        sys.exit("a combination has too few rows, or any few columns do not lose less than all of them")


if __name__ == "__main__":
    main()
