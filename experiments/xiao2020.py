"""xiao2020: MBF, MSDCF and MMDCF against their forms with security levels on Adult (Figs. 2 to 23), re-run.

    python experiments/xiao2020.py [--data FOLDER] [--out FOLDER] [--quick]

Samples of the 30,162 complete training rows, n = 1,000 to 10,000 with three sensitive attributes, and two to five of
them with n = 2,000; as printed and with our defaults; then the ways to break ties, which the paper leaves to chance.
The points are in `xiao2020_points.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from paper_page import Asked, Page, run, say
from real_tables import complete_adult
from svg_plot import Line, Panel
from verdicts import ours
from xiao2020_points import points_of_loss, points_of_sizes, points_of_suppression, points_of_time
from xiao2020_runs import (
    ADDITIONAL,
    ATTRIBUTES,
    FIXED_ATTRIBUTES,
    FIXED_ROWS,
    GREEDY,
    LEVELS,
    MEASURES,
    METHODS,
    PRIORITIES,
    ROWS,
    RUNS,
    SAMPLES,
    SAMPLES_OF_D,
    SUPPRESSED,
    TIME,
    WIDTH,
    Cells,
    cell,
    grid,
)

from polyveil.methods._buckets.engine import TIES


def tie_rows(page: Page, frame: pl.DataFrame, rows: int, samples: int) -> None:
    """Suppression, additional loss and width of the quasi-identifiers for every way to break ties, and for two more."""
    ways: list[tuple[str, str, dict[str, Any]]] = [
        *((ties, "least-loss", {"ties": ties, "residual": "least-loss", **GREEDY}) for ties in TIES),
        ("random", "first", {"ties": "random", "residual": "first", **GREEDY}),
        ("random, best of 10 restarts", "least-loss", {"restarts": 10, **GREEDY}),
        ("random, `leave_out: fewest`", "least-loss", {"leave_out": "fewest"}),
    ]
    lines = []
    for method in ("mmdcf-mslf", "mmdcf"):
        found = [cell(frame, rows, FIXED_ATTRIBUTES, method, options, samples).means for _, _, options in ways]
        shown = [[f"{one[i]:.4f}" for i in (SUPPRESSED, ADDITIONAL, WIDTH)] for one in found]
        lines += [[f"`{method}`", words, residual, *row] for (words, residual, _), row in zip(ways, shown, strict=True)]
        say(f"ties of {method}")
        if method == "mmdcf-mslf":
            by_way = {(words, residual): one[WIDTH] for (words, residual, _), one in zip(ways, found, strict=True)}
            usual, nearest = by_way["random", "first"], by_way["closest-quasi", "least-loss"]
            page.point(
                "Future work, which bucket to take among equals: the one with the nearest row makes groups narrower",
                f"width {usual:.3f} as printed (any bucket, left-over rows in the first group), {nearest:.3f} with the "
                "nearest row",
                ours(bool(nearest < usual)),
            )
    page.table(["method", "ties", "left-over rows", "suppression", "additional loss", "width"], lines, left=3)


def figures(page: Page, cells: Cells, priority: str, places: Sequence[int], axis: str, first: int) -> None:
    """Three figures of the paper, as one picture: without levels against with levels."""
    panels = [
        Panel(
            f"Figure {first + i}",
            axis,
            MEASURES[i],
            [
                Line(method.upper(), [(p, cells[method, "as printed", p].means[i]) for p in places])
                for method in (priority, f"{priority}-mslf")
            ],
            top=1.05 if i == 1 else None,
        )
        for i in range(3)
    ]
    page.plot(f"figures-{first}-{first + 2}", f"Figures {first} to {first + 2}: {priority.upper()}", panels, columns=3)


def last_figures(page: Page, cells: Cells, places: Sequence[int], axis: str, first: int) -> None:
    """Figures 20 to 23: the three forms with levels against each other, as printed."""
    panels = [
        Panel(
            f"Figure {first + n}",
            axis,
            MEASURES[i],
            [
                Line(f"{p.upper()}-MSLF", [(x, cells[f"{p}-mslf", "as printed", x].means[i]) for x in places])
                for p in PRIORITIES
            ],
        )
        for n, i in enumerate((0, 2))
    ]
    page.plot(f"figures-{first}-{first + 1}", f"Figures {first} and {first + 1}: with security levels", panels)


def numbers(page: Page, cells: Cells, places: Sequence[int], axis: str) -> None:
    for i, measure in enumerate(MEASURES):
        page.text(f"{measure.capitalize()}, mean ± standard deviation over samples:")
        digits = 1 if i == TIME else 3
        rows = [
            [
                f"`{method}`, {run}",
                *(
                    f"{cells[method, run, p].means[i]:.{digits}f} ± {cells[method, run, p].spreads[i]:.{digits}f}"
                    for p in places
                ),
            ]
            for method in METHODS
            for run in RUNS
        ]
        page.table(["method", *(f"{axis} = {p:,}" for p in places)], rows)


def experiment(asked: Asked) -> Page:
    frame = complete_adult(asked.data, "train")
    rows, samples, samples_of_d = ((200, 400), 2, 2) if asked.quick else (ROWS, SAMPLES, SAMPLES_OF_D)
    fixed = 300 if asked.quick else FIXED_ROWS
    grid(frame, [(100, 100, 2)], 1)  # kernels are compiled or loaded at their first use
    by_rows = grid(frame, [(n, n, FIXED_ATTRIBUTES) for n in rows], samples)
    by_attributes = grid(frame, [(d, fixed, d) for d in ATTRIBUTES], samples_of_d)
    page = Page(asked, "xiao2020", "xiao2020: security levels of sensitive values")
    points_of_suppression(page, frame, by_rows, by_attributes, rows)
    points_of_loss(page, by_rows, by_attributes, rows)
    points_of_time(page, by_rows, by_attributes, rows)
    points_of_sizes(page, frame, fixed)
    page.heading("What was run")
    page.text(
        "Xiao and Li: Privacy Preserving Data Publishing for Multiple Sensitive Attributes Based on Security Level, "
        "2020. The six algorithms have the names they have here: `mbf`, `msdcf`, `mmdcf` and `-mslf`.",
        "Random samples of the complete training rows of Adult; sensitive attributes in the order of Table 4: "
        f"{', '.join(LEVELS)}; security levels of Table 3 (whose columns are scrambled in print: with other levels "
        "curves may cross) with l = 1, 2 and 3; l = 3 for all values without levels. The paper does not say which n "
        "rows it took, nor which columns are quasi-identifiers (they play no part in its measures). "
        f"{samples} samples for each n, {samples_of_d} for each d.",
        "*As printed* is `as_printed: true`; *ours* is the default, which leaves out the fewest rows. Both keep l in "
        "every group; each partition is judged by the plain models. That nothing is suppressed with levels is not only "
        "to the credit of the algorithm: a value of level 0 needs no protection there, and most values need a lower l.",
        "**The paper draws all of its figures and prints no numbers.** What it says about them is judged above. The "
        "pictures show the runs as printed.",
    )
    for axis, words, cells, places, first in (
        ("n", "number of rows n", by_rows, rows, 2),
        ("d", "number of sensitive attributes d", by_attributes, ATTRIBUTES, 5),
    ):
        page.heading(f"Against the {words}")
        for i, priority in enumerate(PRIORITIES):
            figures(page, cells, priority, places, words, first + 6 * i)
        last_figures(page, cells, places, words, 20 if axis == "n" else 22)
        numbers(page, cells, places, axis)
    page.heading("Breaking ties")
    page.text(
        "Among buckets of equal priority the paper takes any, and leaves a better rule to future work. Ours, with "
        f"n = {rows[-1]:,} and d = {FIXED_ATTRIBUTES}; *width* is the information loss per quasi-identifier cell (0 to "
        "1) if each group's quasi-identifiers were published as what they have in common. The last line of each method "
        "settles by a linear program which rows to leave out, before it groups."
    )
    tie_rows(page, frame, rows[-1], min(samples, 3))
    return page


if __name__ == "__main__":
    run(__doc__, experiment)
