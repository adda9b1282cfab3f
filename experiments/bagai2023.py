"""bagai2023: the experiment the paper lacks - fragments, classes and loss against t on three tables of numbers.

    python experiments/bagai2023.py [--data FOLDER] [--out FOLDER] [--quick]

Blood tests (HCV, ILPD) and money (Taiwan credit), two sensitive columns and more; the paper's bound against the tight
one, exact shares against balanced ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from paper_page import Asked, Page, run, say
from real_tables import close_partition, task_of, timed
from svg_plot import Line, Panel

from polyveil.measure import measure_loss
from polyveil.methods import Task
from polyveil.methods._fragment.fragmentation import Fragmentation
from polyveil.methods.fragment import Fragment, FragmentOptions
from polyveil.models import TCloseness, attributes_of, codes_of, from_classes
from polyveil.policy.schema import Privacy
from polyveil.table.coded import CodedTable

K, QUICK_TS = 2, (0.2, 0.4)
MOST_ROWS = 10_000
FEW, MANY = 4096, 512
"""Boxes at which cutting stops: with two sensitive columns, and with more (about as many as there are rows)."""
RUNS: dict[str, dict[str, Any]] = {
    "paper bound, exact": {"bound": "paper", "rounding": "exact"},
    "tight bound, exact": {"bound": "tight", "rounding": "exact"},
    "paper bound, balanced": {"bound": "paper", "rounding": "balanced", "slack": 1.0},
    "tight bound, balanced": {"bound": "tight", "rounding": "balanced", "slack": 1.0},
    "our default (slack 3)": {},
}


@dataclass(frozen=True)
class Source:
    """A table, who its people are by, and its sensitive numbers, the two of the first run in front."""

    key: str
    title: str
    file: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    ts: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)

    def frame(self, folder: Path) -> pl.DataFrame:
        """The rows without a missing cell, of the columns that are used and there."""
        path = folder / self.file
        csv = path.name.endswith(".csv.gz")
        whole = pl.read_csv(path, infer_schema_length=None, null_values="?") if csv else pl.read_parquet(path)
        return whole.select(name for name in (*self.quasi, *self.sensitive) if name in whole.columns).drop_nulls()


SOURCES = (
    Source(
        *("hcv", "HCV, blood tests of donors and hepatitis C patients", "hcv.csv.gz", ("Age", "Sex")),
        ("ALB", "ALP", "ALT", "AST", "BIL", "CHE", "CHOL", "CREA", "GGT", "PROT"),
    ),
    Source(
        *("ilpd", "ILPD, blood tests of Indian liver patients", "ilpd.csv.gz", ("age", "gender")),
        (
            *("total_bilirubin", "albumin", "direct_bilirubin", "alkaline_phosphatase"),
            *("sgpt_alt", "sgot_ast", "total_proteins", "albumin_globulin_ratio"),
        ),
    ),
    Source(
        *("credit", "Taiwan credit, card clients", "credit_default_tw.parquet"),
        ("AGE", "SEX", "EDUCATION", "MARRIAGE"),
        ("LIMIT_BAL", "BILL_AMT1", "PAY_AMT1"),
        (0.1, 0.2, 0.3, 0.5),
    ),
)


@dataclass(frozen=True)
class Cell:
    """One run: fragments with rows, classes, loss per quasi-identifier cell, worst distance, worst bound.

    `reached` says whether the bound came within what was asked before cutting stopped.
    """

    fragments: int
    classes: int
    loss: float
    distance: float
    bound: float
    reached: bool
    seconds: float


Cells = Mapping[tuple[str, float], Cell]
"""By run and t."""


def coded(frame: pl.DataFrame, source: Source, attributes: int) -> CodedTable:
    sensitive = [name for name in source.sensitive if name in frame.columns][:attributes]
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in source.quasi}
    columns |= {name: {"role": "sensitive", "type": "numeric"} for name in sensitive}
    return task_of(frame.select(*columns), {"columns": columns, "privacy": {"k": K}}).table


def fragmentation_of(table: CodedTable, t: float, options: Mapping[str, Any]) -> Fragmentation:
    """The fragments and bounds behind a run."""
    attributes = attributes_of(table)
    models = tuple(TCloseness(t, column.name) for column in table.sensitive)
    task = Task(table, models, attributes, Privacy(k=K, t=t), np.random.default_rng(1))
    return Fragment(FragmentOptions(**options)).fragmentation(table, task)


def cell(table: CodedTable, t: float, options: Mapping[str, Any]) -> Cell:
    most = FEW if len(table.sensitive) <= 2 else MANY
    found, seconds = timed(lambda: close_partition(table, "fragment", K, t, most_fragments=most, **options))
    statistics = from_classes(found.class_of_row, codes_of(table), attributes_of(table))
    distances = [TCloseness(t, column.name).judge(statistics).value for column in table.sensitive]
    loss = measure_loss(table, found.class_of_row).normalized_loss
    cut = fragmentation_of(table, t, {"most_fragments": most, **options})
    bound = float(max(cut.bounds))
    return Cell(found.found["fragments"], found.classes, loss, max(distances), bound, cut.complete, seconds)


def all_cells(table: CodedTable, ts: Sequence[float], words: str) -> Cells:
    found = {}
    for name, options in RUNS.items():
        for t in ts:
            one = found[name, t] = cell(table, t, options)
            say(f"{words}, {name}, t={t}: {one.fragments} fragments, {one.classes} classes, {one.seconds:.1f} s")
    return found


def table_of(page: Page, cells: Cells, ts: Sequence[float], rows: int) -> None:
    lines = []
    for name in RUNS:
        made = [cells[name, t] for t in ts]
        lines.append([name, "fragments", *(f"{one.fragments:,}{'' if one.reached else ' (!)'}" for one in made)])
        lines.append(["", "classes", *(f"{one.classes:,}" for one in made)])
        lines.append(["", "rows per class", *(f"{rows / one.classes:,.1f}" for one in made)])
        lines.append(["", "worst distance", *(f"{one.distance:.3f}" for one in made)])
        lines.append(["", "loss", *(f"{one.loss:.3f}" for one in made)])
    page.table(["run", "", *(f"t = {t}" for t in ts)], lines, left=2)


def panels_of(cells: Cells, ts: Sequence[float], words: str) -> list[Panel]:
    """Fragments (the same for exact and balanced), classes and loss against t."""
    balanced = [name for name in RUNS if not name.endswith("exact")]
    return [
        Panel(f"Fragments, {words}", "t", "with rows in them", lines_of(cells, ts, balanced, "fragments"), log=True),
        Panel(f"Classes, {words}", "t", "classes", lines_of(cells, ts, list(RUNS), "classes"), log=True),
        Panel(f"Loss, {words}", "t", "per cell, 0 to 1", lines_of(cells, ts, list(RUNS), "loss"), top=1.05),
    ]


def lines_of(cells: Cells, ts: Sequence[float], names: Sequence[str], measure: str) -> list[Line]:
    return [
        Line(name, [(t, float(getattr(cells[name, t], measure))) for t in ts], dashed=name.endswith("exact"))
        for name in names
    ]


def experiment(asked: Asked) -> Page:
    page = Page(asked, "bagai2023", "bagai2023: fragments of the sensitive values")
    page.text(
        "Bagai, Weber and Thammanna Gowda: Data Sanitization for t-Closeness over Multiple Numerical Sensitive "
        "Attributes, 2023; our `fragment`. **The paper has no experiment and prints no figures on data.** This is the "
        "one it lacks: how many fragments its search needs, how many classes they give, and what is lost, against t.",
        "*Paper bound*: movement inside a fragment is measured against the fragment's own length, as printed. *Tight "
        "bound*: against the whole domain, in which the mass moves; also a bound, and smaller. *Exact*: every class "
        "has exactly its share of each fragment, so the number of classes is the greatest common divisor of the "
        "fragments' counts. *Balanced*: shares up to one row, the number of classes searched for the least loss, "
        "classes that fail merged. *Our default* also lets the bound exceed t by a factor of three, as the real "
        "distances decide.",
        f"k = {K} and the same t for every sensitive column; rows with a missing cell are left out. Columns with more "
        "than 64 values are cut into 64 bins of equal frequency. Cutting stops at "
        f"{FEW:,} boxes with two sensitive columns and at {MANY} with more; *(!)* marks where the bound was then still "
        "above what was asked. Loss is information loss per quasi-identifier cell, 0 to 1. Every class is judged by "
        "its real distance.",
    )
    facts: dict[str, str] = {}
    every: list[list[Cell]] = []
    for source in SOURCES:
        complete = source.frame(asked.data)
        most = 300 if asked.quick else MOST_ROWS
        frame = complete if complete.height <= most else complete.sample(most, seed=1)
        ts = QUICK_TS if asked.quick else source.ts
        present = [name for name in source.sensitive if name in frame.columns]
        page.heading(source.title)
        page.text(
            f"{frame.height:,} of {complete.height:,} complete rows; quasi-identifiers {', '.join(source.quasi)}."
        )
        shown, panels = [], []
        for number in sorted({2, len(present)}):
            words = f"{number} columns"
            cells = all_cells(coded(frame, source, number), ts, f"{source.key}, {words}")
            panels += panels_of(cells, ts, words)
            every.append([cells[name, t] for name in RUNS if name.endswith("exact") for t in ts])
            shown.append((f"Sensitive: {', '.join(present[:number])}.", cells))
            facts |= facts_of(cells, ts, f"{source.key}_{'two' if number == 2 else 'all'}", frame.height)
            if len(present) == 2:
                facts |= facts_of(cells, ts, f"{source.key}_all", frame.height)
        page.plot(source.key, f"{source.title}: fragments, classes and loss against t", panels, columns=3)
        for sentence, cells in shown:
            page.text(sentence)
            table_of(page, cells, ts, frame.height)
    page.facts = facts | exact_facts([one for cells in every for one in cells])
    return page


def exact_facts(cells: Sequence[Cell]) -> dict[str, str]:
    """How many runs there were with exact shares, how many gave one class, and the most classes of any."""
    one = sum(cell.classes == 1 for cell in cells)
    return {"exact_runs": f"{len(cells)}", "exact_one": f"{one}", "exact_most": f"{max(c.classes for c in cells)}"}


def facts_of(cells: Cells, ts: Sequence[float], key: str, rows: int) -> dict[str, str]:
    """The figures that the last words quote: at t = 0.1, or the tightest t there is, and over all t."""
    t = 0.1 if 0.1 in ts else ts[0]
    names = {"paper": "paper bound, balanced", "tight": "tight bound, balanced", "default": "our default (slack 3)"}
    facts = {f"{key}_t": f"{t}"}
    for short, name in names.items():
        one = cells[name, t]
        facts[f"{key}_{short}_fragments"] = f"{one.fragments:,}"
        facts[f"{key}_{short}_classes"] = f"{one.classes:,}"
        facts[f"{key}_{short}_size"] = f"{rows / one.classes:,.1f}"
        facts[f"{key}_{short}_loss"] = f"{one.loss:.2f}"
        facts[f"{key}_{short}_bound"] = f"{one.bound:.2f}"
    return facts


if __name__ == "__main__":
    run(__doc__, experiment)
