"""The verdicts on xiao2020, from the runs of its page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from paper_page import Page
from real_tables import task_of
from verdicts import judged, ours
from xiao2020_runs import (
    ADDITIONAL,
    ATTRIBUTES,
    FIXED_ATTRIBUTES,
    LEVELS,
    METHODS,
    PRIORITIES,
    QUASI,
    RUNS,
    SUPPRESSED,
    TIME,
    Cells,
    forced,
)

from polyveil.arrays import FloatArray
from polyveil.methods import make_method
from polyveil.policy.schema import MethodChoice


def points_of_suppression(page: Page, frame: pl.DataFrame, by_n: Cells, by_d: Cells, rows: Sequence[int]) -> None:
    places = [(by_n, p) for p in rows] + [(by_d, p) for p in ATTRIBUTES]
    most = max(cells[m, "as printed", p].samples[:, SUPPRESSED].max() for cells, p in places for m in METHODS[3:])
    page.point(
        "Figs. 3, 6, 9, 12, 15, 18: with security levels the suppression ratio is 0",
        f"at most {most:.3f} in any sample",
        judged(bool(most == 0)),
    )
    by_d_plain = [[by_d[m, "as printed", d].means[SUPPRESSED] for m in METHODS[:3]] for d in ATTRIBUTES]
    means = [float(np.mean(some)) for some in by_d_plain]
    page.point(
        "Figs. 6, 12, 18: without levels the suppression ratio rises very fast with d",
        f"over d = 2 to 5: {', '.join(f'{mean:.2f}' for mean in means)} (mean of the three)",
        judged(bool((np.diff(means) > 0).all()) and means[-1] > 0.9),
    )
    last = rows[-1]
    printed, now = (np.mean([by_n[m, run, last].means[SUPPRESSED] for m in METHODS[:3]]) for run in RUNS)
    least, name = forced(frame, FIXED_ATTRIBUTES)
    page.point(
        f"By default fewer rows are left out without levels (d = {FIXED_ATTRIBUTES}, n = {last:,})",
        f"{printed:.3f} as printed, {now:.3f} by default; {name} alone forces every method to {least:.3f} on all rows",
        ours(bool(now < printed)),
    )


def points_of_loss(page: Page, by_n: Cells, by_d: Cells, rows: Sequence[int]) -> None:
    def loss(cells: Cells, method: str, place: int) -> FloatArray:
        return cells[method, "as printed", place].samples[:, ADDITIONAL]

    gaps = [loss(by_n, f"{p}-mslf", n).mean() - loss(by_n, p, n).mean() for p in PRIORITIES for n in rows]
    page.point(
        "Figs. 2, 8, 14: the additional information loss is a little higher with levels",
        f"higher by {min(gaps):.2f} to {max(gaps):.2f} for every n and priority",
        judged(bool(min(gaps) > 0)),
    )
    steps = [abs(loss(by_n, m, rows[-1]).mean() - loss(by_n, m, rows[-2]).mean()) for m in METHODS]
    page.point(
        "Figs. 2, 8, 14: it settles as n grows",
        f"it changes by at most {max(steps):.3f} between the two largest n",
        judged(bool(max(steps) < 0.01)),
    )
    for priority in PRIORITIES[1:]:
        less = [(loss(by_n, "mbf-mslf", n) - loss(by_n, f"{priority}-mslf", n)).mean() for n in rows]
        page.point(
            f"Fig. 20: {priority.upper()}-MSLF loses less than MBF-MSLF for every n",
            f"less by {min(less):.3f} to {max(less):.3f}",
            judged(bool(min(less) > 0)),
        )
    for priority in PRIORITIES:
        found = [loss(by_d, f"{priority}-mslf", d) for d in ATTRIBUTES]
        shown = ", ".join(f"{some.mean():.3f} ± {some.std():.3f}" for some in found)
        page.point(
            f"Fig. 22: the additional loss of {priority.upper()}-MSLF first rises, then falls (d = 2 to 5)",
            f"{shown} over {len(found[0])} samples",
            judged(rises_and_falls(found)),
        )
    for priority in PRIORITIES[1:]:
        gaps = [loss(by_d, f"{priority}-mslf", d) - loss(by_d, "mbf-mslf", d) for d in (ATTRIBUTES[1], ATTRIBUTES[-1])]
        low, high = (significant(gap) for gap in gaps)
        page.point(
            f"Fig. 22: {priority.upper()}-MSLF loses first less, then more than MBF-MSLF",
            f"difference {gaps[0].mean():+.3f} at d = 3 and {gaps[1].mean():+.3f} at d = 5, over the same samples",
            judged(None if low == 0 or high == 0 else low < 0 < high),
        )


def significant(differences: FloatArray) -> int:
    """The sign of the mean, 0 where it lies within two standard errors of 0."""
    error = float(differences.std(ddof=1)) / np.sqrt(len(differences)) if len(differences) > 1 else np.inf
    mean = float(differences.mean())
    return 0 if abs(mean) <= 2 * error else int(np.sign(mean))


def rises_and_falls(found: Sequence[FloatArray]) -> bool | None:
    """Whether means over the same samples rise to a place in the middle and fall after it; None within the spread."""
    top = int(np.argmax([some.mean() for some in found]))
    last = len(found) - 1
    if 0 < top < last:
        return True if significant(found[last] - found[top]) < 0 else None
    return False if significant(found[last] - found[last - 1]) > 0 else None


def points_of_time(page: Page, by_n: Cells, by_d: Cells, rows: Sequence[int]) -> None:
    def time(cells: Cells, method: str, place: int) -> float:
        return float(cells[method, "as printed", place].means[TIME])

    grows = [time(by_n, m, rows[-1]) / time(by_n, m, rows[0]) for m in METHODS]
    longer = [time(by_n, f"{p}-mslf", n) / time(by_n, p, n) for p in PRIORITIES for n in rows]
    page.point(
        "Figs. 4, 10, 16: time grows with n, and is longer with levels",
        f"{min(grows):.0f} to {max(grows):.0f} times from n = {rows[0]:,} to {rows[-1]:,}; with levels "
        f"{min(longer):.1f} to {max(longer):.1f} times as long",
        judged(min(grows) > 1 and min(longer) > 1),
    )
    plain = [float(np.mean([time(by_d, m, d) for m in PRIORITIES])) for d in ATTRIBUTES]
    page.point(
        "Figs. 7, 13, 19: without levels time grows with d",
        f"{', '.join(f'{ms:.1f}' for ms in plain)} milliseconds over d = 2 to 5: hardly any group can be formed, and "
        "buckets are kept in a heap here",
        judged(bool((np.diff(plain) > 0).all())),
    )


def points_of_sizes(page: Page, frame: pl.DataFrame, rows: int) -> None:
    """k = 4 with l = 3: groups of k rows as printed, and sizes up to the next multiple; the largest groups."""
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in QUASI}
    columns |= {name: {"role": "sensitive"} for name in list(LEVELS)[:FIXED_ATTRIBUTES]}
    part = frame.head(rows).select(*columns)

    def lost(k: int, method: str, **options: Any) -> tuple[float, int]:
        task = task_of(part, {"columns": columns, "privacy": {"k": k, "l": 3, "suppression_limit": 1.0}})
        found = make_method(MethodChoice(name=method, **options)).partition(task)
        sizes = np.bincount(found.class_of_row[found.class_of_row >= 0], minlength=1)
        return found.suppressed / task.table.rows, int(sizes.max())

    before, after = {k: lost(k, "mbf", as_printed=True)[0] for k in (4, 6)}, {k: lost(k, "mbf")[0] for k in (4, 6)}
    page.point(
        "A smaller k leaves out no more rows (MBF, l = 3, three attributes)",
        ", ".join(f"k = {k}: {before[k]:.0%} as printed, {after[k]:.0%} by default" for k in (4, 6)),
        ours(after[4] <= after[6] + 0.01),
    )
    largest = {(k, m): lost(k, m)[1] for k in (3, 4, 6) for m in PRIORITIES}
    most = max(largest, key=lambda place: largest[place])
    page.point(
        "Leaving out the fewest rows makes no huge group (l = 3; every priority is tried for rows that fit nowhere)",
        f"the largest group has {largest[most]} rows ({most[1]}, k = {most[0]}); `class_size` in the result tells it",
        ours(largest[most] <= 10 * most[0]),
    )
