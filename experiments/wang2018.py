"""wang2018: class sizes (Tables 6 to 8), information loss (Figs. 3 to 5) and time (Fig. 6) on Adult, re-run.

    python experiments/wang2018.py [--data FOLDER] [--out FOLDER] [--quick]

Samples of the 45,222 complete rows, occupation and education-num sensitive; k = 2 to 20, t = 0.1 to 0.5. Each algorithm
runs as printed and with our defaults; `sift` runs on the same cells. Some cells are run on all rows. The points are in
`wang2018_points.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from paper_page import Asked, Page, run
from real_tables import ADULT_QUASI, close_partition, coded_adult, complete_adult
from svg_plot import Line, Panel
from wang2018_points import (
    points_of_all_rows,
    points_of_closeness,
    points_of_departures,
    points_of_figures,
    points_of_least_class,
    points_of_strata,
    points_of_tables,
)
from wang2018_runs import (
    ALGORITHMS,
    AS_PRINTED,
    KS,
    OURS,
    RUNS,
    SENSITIVE,
    TS,
    Cell,
    Cells,
    all_cells,
    printed_cell,
    samples_of,
)

from polyveil.table.coded import CodedTable

ROWS, SMALL_ROWS, SAMPLES = 3_000, 1_000, 3
ALL_ROWS = (("swap", 20, 0.2), ("fcm", 5, 0.2), ("pca", 5, 0.2), ("fcm", 10, 0.1))
OUR_KS, OUR_TS = (2, 20), (0.1, 0.2, 0.5)
"""The cells that run with our defaults: searching for the number of strata takes most of the time."""
QUICK_KS, QUICK_TS, QUICK_ROWS = (2, 10), (0.3, 0.5), 200


def warm_up(table: CodedTable) -> None:
    """Kernels are compiled or loaded at their first use; that is not the algorithms' time."""
    small = table.take(np.arange(min(table.rows, 300)))
    for method in (*ALGORITHMS, "sift"):
        close_partition(small, method, 2, 0.5)
    all_cells([small], small, (10,), (0.5,), [(10, 0.5)])


def shown(cells: Cells, method: str, name: str, k: int, ts: Sequence[float], how: Callable[[Cell], str]) -> list[str]:
    """A line of a table; blank where a cell was not run."""
    return [how(cells[method, name, k, t]) if (method, name, k, t) in cells else "" for t in ts]


def sizes_table(page: Page, cells: Cells, method: str, ks: Sequence[int], ts: Sequence[float]) -> None:
    rows = []
    for k in ks:
        rows.append([f"{k}", "paper", *(printed_cell(method, k, t) for t in ts)])
        rows += [
            ["", name, *shown(cells, method, name, k, ts, lambda one: one.text)]
            for name in RUNS
            if name_run(cells, method, name, k)
        ]
        if method != "swap":
            failing = shown(cells, method, AS_PRINTED, k, ts, lambda one: f"{one.failing:.0%}")
            rows.append(["", "not t-close, as printed", *failing])
    page.table(["k", "", *(f"t = {t}" for t in ts)], rows, left=2)


def name_run(cells: Cells, method: str, name: str, k: int) -> bool:
    return any(place[:3] == (method, name, k) for place in cells)


def loss_panel(cells: Cells, method: str, name: str, ks: Sequence[int], ts: Sequence[float]) -> Panel:
    lines = [
        Line(f"k = {k}", [(t, cells[method, name, k, t].loss) for t in ts if (method, name, k, t) in cells])
        for k in ks
        if name_run(cells, method, name, k)
    ]
    title = name if method in ALGORITHMS else "sift, effort fast"
    return Panel(title, "t", "information loss per row (eq. 1)", lines, top=float(len(ADULT_QUASI)))


def loss_table(page: Page, cells: Cells, ks: Sequence[int], ts: Sequence[float]) -> None:
    rows = []
    for k in ks:
        names = [*((method, name) for method in ALGORITHMS for name in RUNS), ("sift", OURS)]
        present = [(method, name) for method, name in names if name_run(cells, method, name, k)]
        rows += [
            [
                f"{k}" if i == 0 else "",
                f"`{method}`, {name}",
                *shown(cells, method, name, k, ts, lambda one: f"{one.loss:.2f}"),
            ]
            for i, (method, name) in enumerate(present)
        ]
    page.table(["k", "method", *(f"t = {t}" for t in ts)], rows, left=2)


def time_figure(page: Page, cells: Cells, k: int, ts: Sequence[float]) -> None:
    """Fig. 6; seconds of one machine, so the shape counts."""

    def seconds(one: Cell) -> str:
        return f"{one.seconds:.2f}"

    names = [*((method, name) for name in RUNS for method in ALGORITHMS), ("sift", OURS)]
    rows = [
        [ALGORITHMS.get(method, ""), f"`{method}`, {name}", *shown(cells, method, name, k, ts, seconds)]
        for method, name in names
    ]
    page.table(["algorithm", "run", *(f"t = {t}" for t in ts)], rows, left=2)
    panels = [
        Panel(
            name,
            "t",
            "seconds of processor time",
            [
                Line(ALGORITHMS[m], [(t, cells[m, name, k, t].seconds) for t in ts if (m, name, k, t) in cells])
                for m in ALGORITHMS
            ],
        )
        for name in RUNS
    ]
    page.plot("figure-6", f"Figure 6: processor time against t, k = {k}", panels)


def points(page: Page, asked: Asked, table: CodedTable, samples: Sequence[CodedTable], cells: Cells) -> None:
    ks, ts = (QUICK_KS, QUICK_TS) if asked.quick else (KS, TS)
    frame = complete_adult(asked.data).select(*ADULT_QUASI, *SENSITIVE)
    points_of_tables(page, cells, ks, ts)
    points_of_all_rows(page, table, (("swap", 10, 0.5),) if asked.quick else ALL_ROWS)
    points_of_closeness(page, cells, ks, ts)
    points_of_least_class(page, table, frame, 5 if asked.quick else 100)
    points_of_figures(page, cells, ks, ts)
    points_of_departures(page, table, samples[0], seeds=1 if asked.quick else 2)
    few = samples[0].take(np.arange(min(1_500, samples[0].rows)))
    points_of_strata(page, few, (5,) if asked.quick else (2, 5, 10), (0.4,) if asked.quick else (0.2, 0.4))


def experiment(asked: Asked) -> Page:
    ks, ts = (QUICK_KS, QUICK_TS) if asked.quick else (KS, TS)
    our_ks, our_ts = (QUICK_KS, QUICK_TS) if asked.quick else (OUR_KS, OUR_TS)
    frame = complete_adult(asked.data).select(*ADULT_QUASI, *SENSITIVE)
    table = coded_adult(frame.head(QUICK_ROWS) if asked.quick else frame, asked.data)
    warm_up(table)
    samples = samples_of(table, 150 if asked.quick else ROWS, 1 if asked.quick else SAMPLES)
    small = samples[0].take(np.arange(min(SMALL_ROWS, samples[0].rows)))
    cells = all_cells(samples, small, ks, ts, [(k, t) for k in our_ks for t in our_ts])
    page = Page(asked, "wang2018", "wang2018: t-closeness of several sensitive attributes")
    points(page, asked, table, samples, cells)
    page.heading("What was run")
    page.text(
        "Wang, Zhu, Chen and Chang: Privacy-Preserving Algorithms for Multiple Sensitive Attributes Satisfying "
        "t-Closeness, 2018. Algorithm 1 is our `fcm`, Algorithm 2 our `pca`, the contrast algorithm our `swap`.",
        f"Adult, complete rows; quasi-identifiers {', '.join(ADULT_QUASI)}; sensitive {' and '.join(SENSITIVE)}. *As "
        "printed* is `as_printed: true`: k strata, random first rows, every class that is not t-close merged once with "
        "the nearest one (so that classes may still fail), and in the contrast algorithm all unclustered rows tried in "
        f"swaps, then merging until all hold. Means ± standard deviations over {len(samples)} samples of "
        f"{samples[0].rows:,} rows; the contrast algorithm with k below 10 on one sample of {small.rows:,}, since it "
        "then tries nearly all rows for every class. Points that say so are of all rows: as printed, the mean sizes of "
        "Algorithms 1 and 2 grow with the number of rows. *Ours* is the default, on the "
        "first sample, for some cells: the number of strata is chosen for the least loss, and merging goes on until "
        "every class is t-close, which the plain models confirm.",
    )
    for number, method in enumerate(ALGORITHMS, start=6):
        page.heading(f"Table {number}: {ALGORITHMS[method]}, class sizes")
        page.text("Least / greatest / mean rows per class.")
        sizes_table(page, cells, method, ks, ts)
    page.heading("The same cells with sift")
    page.text("Not in the paper. `effort: fast`; least / greatest / mean rows per class.")
    rows = [[f"{k}", *shown(cells, "sift", OURS, k, our_ts, lambda one: one.text)] for k in our_ks]
    page.table(["k", *(f"t = {t}" for t in our_ts)], rows)
    page.heading("Figures 3 to 5: information loss")
    page.text(
        "The paper draws these figures and prints no numbers. Eq. (1) sums over the quasi-identifiers: the most is "
        f"{len(ADULT_QUASI)}. As printed, Algorithms 1 and 2 leave classes that are not t-close, which costs less."
    )
    for number, method in enumerate(ALGORITHMS, start=3):
        panels = [loss_panel(cells, method, name, ks, ts) for name in RUNS]
        page.plot(f"figure-{number}", f"Figure {number}: {ALGORITHMS[method]}, information loss against t", panels)
    page.plot("sift", "The same grid with sift", [loss_panel(cells, "sift", OURS, ks, ts)])
    loss_table(page, cells, ks, ts)
    page.heading("Figure 6: time")
    page.text(f"The paper draws seconds and prints none. Seconds of processor time at k = {ks[0]}:")
    time_figure(page, cells, ks[0], ts)
    return page


if __name__ == "__main__":
    run(__doc__, experiment)
