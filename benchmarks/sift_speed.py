"""How long sift takes with `effort: fast`, as ratios of reading and sorting the same CSV with polars, and its memory.

    python benchmarks/sift_speed.py [--data FOLDER] [--rows 100000,1000000] [--t 0.2] [--effort fast] [--write]
    python benchmarks/sift_speed.py --verify 1000000

Adult resampled with jitter on age, k = 5, occupation and education-num both t-close. Demanded: at a million rows at
most 25 times the yardstick, and at most 1.5 times the time per row at 100,000 rows; ten million rows in less than 8 GiB
(`--rows 10000000`; the peak is that of the whole process, reading and encoding included). Every release is judged by
the plain models before it counts. `--write` puts the table into docs/methods/sift.md.

`--verify` measures, at so many rows, `verify` of a release of sift with two sensitive attributes instead: at most 3
times the yardstick.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl
from adult import DATA, QUASI, adult, coded, partition, resampled
from measured_pages import SIFT, markdown, put
from sift_loss import adult_policy

import polyveil
from polyveil.measure import measure_loss
from polyveil.policy.schema import MethodChoice
from polyveil.verification import verify

COLUMNS = [
    "rows",
    "seconds",
    "relative time",
    "relative processor time",
    "time per row",
    "information loss, 0 to 7",
    "GiB",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", default="100000,1000000")
    parser.add_argument("--t", type=float, default=0.2)
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--verify", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    effort: Any = float(chosen.effort) if chosen.effort.replace(".", "").isdigit() else chosen.effort
    if chosen.verify:
        verify_ratio(chosen.data, chosen.verify, chosen.t, effort)
        return
    rows = speed_table(chosen.data, [int(number) for number in chosen.rows.split(",")], chosen.t, effort)
    text = markdown(COLUMNS, rows)
    print(f"\n{text}")
    if chosen.write:
        put("speed", text, SIFT)


def speed_table(folder: Path, sizes: list[int], t: float, effort: Any) -> list[list[str]]:
    """One line for each number of rows."""
    frame = adult(folder)
    partition(coded(frame.head(2000), folder), "sift", 5, 0.4, effort="fast")  # compile before the clock runs
    lines: list[list[str]] = []
    first = 0.0
    for rows in sizes:
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "table.csv"
            resampled(frame, rows).write_csv(path)
            yardstick, yard_busy = min(read_and_sort(path) for _ in range(3))
            table = coded(pl.read_csv(path), folder)
        start, busy = time.perf_counter(), time.process_time()
        found = partition(table, "sift", 5, t, effort=effort)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
        first = first or seconds / rows
        loss = measure_loss(table, found.class_of_row).information_loss
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        figures = [f"{seconds:.1f}", f"{seconds / yardstick:.1f}", f"{busy / yard_busy:.1f}"]
        lines.append([f"{rows:,}", *figures, f"{seconds / rows / first:.2f}", f"{loss:.3f}", f"{peak:.1f}"])
        print(" | ".join(lines[-1]), flush=True)
    return lines


def verify_ratio(folder: Path, rows: int, t: float, effort: Any) -> None:
    """Print how long verification of a release takes, beside the yardstick on the same table."""
    with tempfile.TemporaryDirectory() as place:
        path, out = Path(place) / "table.csv", Path(place) / "release"
        frame = resampled(adult(folder), rows)
        frame.write_csv(path)
        policy = adult_policy(folder, t, 5).model_copy(update={"method": MethodChoice(name="sift", effort=effort)})
        polyveil.anonymize(frame, policy, out=out, report=False, seed=1)
        yardstick, yard_busy = min(read_and_sort(path) for _ in range(3))
        start, busy = time.perf_counter(), time.process_time()
        found = verify(out)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
    if not found.holds:
        raise SystemExit("the release does not hold")
    print(
        f"{rows:>10} rows: verify {seconds:.1f} s ({busy:.1f} s CPU), {seconds / yardstick:.2f} x the yardstick of "
        f"{yardstick:.2f} s ({busy / yard_busy:.2f} x in CPU)"
    )


def read_and_sort(path: Path) -> tuple[float, float]:
    """Seconds, and processor seconds, to read the table and sort it by its quasi-identifiers."""
    start, busy = time.perf_counter(), time.process_time()
    pl.read_csv(path).sort(list(QUASI))
    return time.perf_counter() - start, time.process_time() - busy


if __name__ == "__main__":
    main()
