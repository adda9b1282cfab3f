"""wang2018: class sizes (Tables 6 to 8), information loss (Figs. 3 to 5) and time (Fig. 6) on Adult, re-run.

    python experiments/wang2018.py [--data FOLDER] [--out FOLDER] [--quick]

The 45,222 complete rows, occupation and education-num sensitive; k = 2 to 20, t = 0.1 to 0.5. Each algorithm runs as
printed (k strata, random first rows, the nearest class as partner) and with the number of strata free; `sift` runs on
the same cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from paper_page import Asked, Page, run, say
from real_tables import ADULT_QUASI, close_partition, coded_adult, complete_adult, task_of, timed
from svg_plot import Line, Panel

from polyveil.advice.least_class import least_class
from polyveil.measure import measure_loss
from polyveil.models import attributes_of
from polyveil.table.coded import CodedTable

SENSITIVE = ("occupation", "education-num")
KS, TS = (2, 5, 10, 15, 20), (0.1, 0.2, 0.3, 0.4, 0.5)
QUICK_KS, QUICK_TS, QUICK_ROWS = (2, 5), (0.3, 0.5), 400
AS_PRINTED: dict[str, Any] = {"strata": "k", "merge": "nearest", "seed_order": "random"}
RUNS: dict[str, dict[str, Any]] = {"k strata": AS_PRINTED, "free strata": {}}
ALGORITHMS = {"fcm": "Algorithm 1", "pca": "Algorithm 2", "swap": "Contrast algorithm"}
PRINTED = {
    "fcm": """
        8/14/12  8/10/9   8/10/9   6/10/8   6/8/7
        10/25/18 10/20/16 10/20/13 5/15/10  5/15/8
        10/30/25 10/20/18 10/20/14 10/20/12 10/20/12
        15/15/15 15/15/15 15/15/15 15/15/15 15/15/15
        20/20/20 20/20/20 20/20/20 20/20/20 20/20/20""",
    "pca": """
        8/12/10  8/10/9   6/8/7    6/8/7    6/8/6
        10/20/15 10/16/14 5/10/8   5/11/6   5/10/6
        10/30/28 10/30/20 10/20/16 10/20/12 10/20/12
        15/30/18 15/30/18 15/15/15 15/15/15 15/15/15
        20/40/22 20/40/22 20/20/20 20/20/20 20/20/20""",
    "swap": """
        8/10/9   8/10/9   6/10/8   6/8/7    6/8/7
        10/20/14 10/20/12 5/10/8   5/10/8   5/10/6
        10/30/25 10/20/15 10/20/14 10/20/12 10/10/10
        15/30/23 15/30/21 15/15/15 15/15/15 15/15/15
        20/40/27 20/40/24 20/20/20 20/20/20 20/20/20""",
}
"""Tables 6, 7 and 8: least, greatest and mean class size; a line for each of KS, a column for each of TS."""


@dataclass(frozen=True)
class Cell:
    """One run: class sizes, information loss by eq. (1), processor time, rows per class before merging."""

    sizes: tuple[int, int, float]
    loss: float
    seconds: float
    strata: int | None

    @property
    def text(self) -> str:
        least, most, mean = self.sizes
        return f"{least:,}/{most:,}/{mean:,.0f}" if mean >= 100 else f"{least:,}/{most:,}/{mean:,.1f}"


Cells = Mapping[tuple[str, str, int, float], Cell]
"""By method, run, k and t."""


def cell(table: CodedTable, method: str, k: int, t: float, options: Mapping[str, Any]) -> Cell:
    found, seconds = timed(lambda: close_partition(table, method, k, t, **options))
    sizes = np.bincount(found.class_of_row)
    loss = measure_loss(table, found.class_of_row).information_loss
    least, most, mean = int(sizes.min()), int(sizes.max()), float(sizes.mean())
    return Cell((least, most, mean), loss, seconds, found.found.get("strata"))


def all_cells(table: CodedTable, ks: tuple[int, ...], ts: tuple[float, ...]) -> Cells:
    found = {}
    plans = [(method, name, options) for method in ALGORITHMS for name, options in RUNS.items()]
    for method, name, options in [*plans, ("sift", "fast", {"effort": "fast"})]:
        for k in ks:
            for t in ts:
                one = found[method, name, k, t] = cell(table, method, k, t, options)
                say(f"{method} {name} k={k} t={t}: {one.text}, loss {one.loss:.3f}, {one.seconds:.1f} s")
    return found


def warm_up(table: CodedTable) -> None:
    """Kernels are compiled or loaded at their first use; that is not the algorithms' time."""
    small = table.take(np.arange(min(table.rows, 300)))
    for method in (*ALGORITHMS, "sift"):
        close_partition(small, method, 2, 0.5)


def least_sizes(page: Page, table: CodedTable, frame: pl.DataFrame, ts: tuple[float, ...]) -> None:
    """How few rows a class can have at all at each t, whatever the method: with the hierarchy used here, and flat."""
    flat = task_of(
        frame.select("occupation"), {"columns": {"occupation": {"role": "sensitive"}}, "privacy": {"t": 0.5}}
    )
    ways = {
        "occupation, hierarchy": {"occupation": attributes_of(table)["occupation"]},
        "occupation, no hierarchy": flat.attributes,
        "education-num": {"education-num": attributes_of(table)["education-num"]},
    }
    sizes = {words: [least_class(attributes, t).size for t in ts] for words, attributes in ways.items()}
    page.heading("How small a class can be")
    page.text(
        "The distribution of few rows cannot be near that of all rows. The least rows for which whole counts within t "
        "exist, whatever the method and the quasi-identifiers; the paper does not print its hierarchy of occupations, "
        "so two are shown:"
    )
    page.table(["", *(f"t = {t}" for t in ts)], [[words, *map(str, found)] for words, found in sizes.items()])
    tree, flat_sizes = sizes["occupation, hierarchy"], sizes["occupation, no hierarchy"]
    page.facts |= {"least": f"{tree[0]}", "least_flat": f"{flat_sizes[0]}"}


def sizes_table(page: Page, cells: Cells, method: str, ks: tuple[int, ...], ts: tuple[float, ...]) -> None:
    printed = [line.split() for line in PRINTED[method].strip().splitlines()]
    rows = []
    for k in ks:
        rows.append([f"{k}", "paper", *(printed[KS.index(k)][TS.index(t)] for t in ts)])
        rows += [["", f"ours, {name}", *(cells[method, name, k, t].text for t in ts)] for name in RUNS]
    page.table(["k", "", *(f"t = {t}" for t in ts)], rows, left=2)


def loss_panel(cells: Cells, method: str, name: str, title: str, ks: tuple[int, ...], ts: tuple[float, ...]) -> Panel:
    lines = [Line(f"k = {k}", [(t, cells[method, name, k, t].loss) for t in ts]) for k in ks]
    return Panel(title, "t", "information loss per row (eq. 1)", lines, top=float(len(ADULT_QUASI)))


def loss_table(page: Page, cells: Cells, ks: tuple[int, ...], ts: tuple[float, ...]) -> None:
    names = [(method, name) for method in ALGORITHMS for name in RUNS] + [("sift", "fast")]
    rows = [
        [f"{k}" if i == 0 else "", f"`{method}`, {name}", *(f"{cells[method, name, k, t].loss:.2f}" for t in ts)]
        for k in ks
        for i, (method, name) in enumerate(names)
    ]
    page.table(["k", "method", *(f"t = {t}" for t in ts)], rows, left=2)


def time_figure(page: Page, cells: Cells, k: int, ts: tuple[float, ...]) -> None:
    """Fig. 6, as printed and with free strata; seconds of one machine, so the shape counts."""
    for name in RUNS:
        rows = [
            [ALGORITHMS[method], f"`{method}`", *(f"{cells[method, name, k, t].seconds:.2f}" for t in ts)]
            for method in ALGORITHMS
        ]
        if name == "free strata":
            rows.append(["", "`sift`, fast", *(f"{cells['sift', 'fast', k, t].seconds:.2f}" for t in ts)])
        page.text(f"Seconds of processor time at k = {k}, {name}:")
        page.table(["algorithm", "method", *(f"t = {t}" for t in ts)], rows, left=2)
    panels = [
        Panel(
            title,
            "t",
            "seconds of processor time",
            [Line(ALGORITHMS[m], [(t, cells[m, name, k, t].seconds) for t in ts]) for m in ALGORITHMS],
        )
        for name, title in (("k strata", "k strata, as printed"), ("free strata", "free strata"))
    ]
    page.plot("figure-6", f"Figure 6: processor time against t, k = {k}", panels)


def experiment(asked: Asked) -> Page:
    ks, ts = (QUICK_KS, QUICK_TS) if asked.quick else (KS, TS)
    frame = complete_adult(asked.data).select(*ADULT_QUASI, *SENSITIVE)
    table = coded_adult(frame.head(QUICK_ROWS) if asked.quick else frame, asked.data)
    warm_up(table)
    cells = all_cells(table, ks, ts)
    page = Page(asked, "wang2018", "wang2018: t-closeness of several sensitive attributes")
    page.text(
        "Wang, Zhu, Chen and Chang: Privacy-Preserving Algorithms for Multiple Sensitive Attributes Satisfying "
        "t-Closeness, 2018. Algorithm 1 is our `fcm`, Algorithm 2 our `pca`, the contrast algorithm our `swap`.",
        f"{table.rows:,} rows of Adult without a missing cell; quasi-identifiers {', '.join(ADULT_QUASI)}; sensitive "
        f"{' and '.join(SENSITIVE)}. *k strata* is the paper's run: one row from each of k strata, random first rows, "
        "a class that is not t-close merged with the nearest one, until none is left. (The paper merges once; the "
        "result is then not always t-close.) *Free strata* is our default: the number of strata is chosen for the "
        "least loss. Every partition is judged by the plain models before it is counted. One seed each; `swap` looks "
        "at the nearest 64 unclustered rows, the paper at all.",
    )
    least_sizes(page, table, frame, ts)
    for number, method in enumerate(ALGORITHMS, start=6):
        page.heading(f"Table {number}: {ALGORITHMS[method]}, class sizes")
        page.text("Least / greatest / mean rows per class.")
        sizes_table(page, cells, method, ks, ts)
    page.heading("The same cells with sift")
    page.text("Not in the paper. `effort: fast`; least / greatest / mean rows per class.")
    rows = [[f"{k}", *(cells["sift", "fast", k, t].text for t in ts)] for k in ks]
    page.table(["k", *(f"t = {t}" for t in ts)], rows)
    page.heading("Figures 3 to 5: information loss")
    page.text(
        "The paper draws these figures and prints no numbers. It says that the losses of Algorithms 1 and 2 are about "
        "the same for k = 2, 5 and 10, that Algorithm 1 loses least for k = 15 and 20, and that Algorithm 2 is "
        "slightly inferior to the contrast algorithm. Eq. (1) sums over the quasi-identifiers: the most is "
        f"{len(ADULT_QUASI)}."
    )
    for number, method in enumerate(ALGORITHMS, start=3):
        panels = [
            loss_panel(cells, method, "k strata", "k strata, as printed", ks, ts),
            loss_panel(cells, method, "free strata", "free strata", ks, ts),
        ]
        page.plot(f"figure-{number}", f"Figure {number}: {ALGORITHMS[method]}, information loss against t", panels)
    page.plot(
        "sift",
        "The same grid with sift",
        [loss_panel(cells, "sift", "fast", "sift, effort fast", ks, ts)],
    )
    loss_table(page, cells, ks, ts)
    page.heading("Figure 6: time")
    page.text(
        "The paper draws seconds and prints none. It says that Algorithm 2 is the fastest, and that the time of both "
        "of its algorithms falls as t grows."
    )
    time_figure(page, cells, ks[0], ts)
    page.facts |= {**facts_of(cells, ks, ts), "tuples": f"{len(table.sensitive_tuples.counts)}"}
    return page


def facts_of(cells: Cells, ks: tuple[int, ...], ts: tuple[float, ...]) -> dict[str, str]:
    """The figures that the last words quote."""
    first, tight = ks[0], ts[0]
    others = [(method, name) for method in ALGORITHMS for name in RUNS]
    best = [min(cells[m, n, k, t].loss for m, n in others) > cells["sift", "fast", k, t].loss for k in ks for t in ts]
    facts = {"k": f"{first}", "tight": f"{tight}", "sift_best": f"{sum(best)}", "cells": f"{len(best)}"}
    facts["sift_tight"] = cells["sift", "fast", first, tight].text
    facts["sift_tight_loss"] = f"{cells['sift', 'fast', first, tight].loss:.2f}"
    for method in ALGORITHMS:
        facts[f"{method}_tight"] = cells[method, "k strata", first, tight].text
        facts[f"{method}_tight_free"] = cells[method, "free strata", first, tight].text
        facts[f"{method}_tight_loss"] = f"{cells[method, 'k strata', first, tight].loss:.2f}"
        facts[f"{method}_tight_free_loss"] = f"{cells[method, 'free strata', first, tight].loss:.2f}"
        seconds = [cells[method, "k strata", first, t].seconds for t in ts]
        facts[f"{method}_seconds"] = f"{min(seconds):.1f} to {max(seconds):.1f}"
    return facts


if __name__ == "__main__":
    run(__doc__, experiment)
