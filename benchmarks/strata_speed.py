"""Seconds of fcm, pca, fragment and swap at 30k, 100k, 300k and a million rows, as ratios of time per row.

    python benchmarks/strata_speed.py [--data FOLDER] [--methods a,b] [--rows 30000,100000] [--strata auto]

Adult resampled with jitter on age, k = 5, t = 0.2. The time per row at the most rows must be at most four times that
at the fewest for fcm, pca and fragment. Seconds depend on the machine and its load; the ratios are what counts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from adult import DATA, adult, coded, partition, resampled

MOST_RATIO = 4.0
BOUND = ("fcm", "pca", "fragment")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--methods", default="fcm,pca,fragment,swap")
    parser.add_argument("--rows", default="30000,100000,300000,1000000")
    parser.add_argument("--strata", default="auto")
    chosen = parser.parse_args()
    options: dict[str, Any] = {"strata": int(chosen.strata) if chosen.strata.isdigit() else chosen.strata}
    frame, missed = adult(chosen.data), []
    names = chosen.methods.split(",")
    for name in names:  # compile before the clock runs
        partition(coded(frame.head(500), chosen.data), name, 5, 0.4)
    per_row: dict[str, list[float]] = {name: [] for name in names}
    for rows in map(int, chosen.rows.split(",")):
        table = coded(resampled(frame, rows), chosen.data)
        for name in names:
            start, busy = time.perf_counter(), time.process_time()
            found = partition(table, name, 5, 0.2, **options)
            seconds, busy = time.perf_counter() - start, time.process_time() - busy
            per_row[name].append(busy / rows)
            ratio = per_row[name][-1] / per_row[name][0]
            size = np.bincount(found.class_of_row).mean()
            times = f"{seconds:7.1f} s ({busy:.1f} s of processor)  {busy / rows * 1e6:7.1f} us a row  x{ratio:.2f}"
            print(f"{name:9} {rows:>9,} rows  {times}  {dict(found.found)}  mean size {size:.1f}", flush=True)
    for name in names:
        ratio = per_row[name][-1] / per_row[name][0]
        if name in BOUND and ratio > MOST_RATIO:
            missed.append(f"{name}: {ratio:.1f} times the time per row, at most {MOST_RATIO:g} allowed")
    if missed:
        raise SystemExit("; ".join(missed))


if __name__ == "__main__":
    main()
