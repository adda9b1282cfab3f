"""han2013: SLOMS against plain bucketization and generalization on Census-Income (Figs. 2 to 5), re-run.

    python experiments/han2013.py [--data FOLDER] [--out FOLDER] [--quick]

10,000 random rows; suppression against l and d, additional information loss, distortion, time. Half of all people are
"not in universe" for occupation and industry, which decides what any method must suppress; the runs are therefore
repeated for the people in the labour force.
"""

# ruff: noqa: E741 - l is what the paper calls its diversity, and what a policy calls it

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from paper_page import Asked, Page, run, say
from real_tables import CENSUS_QUASI, census, in_labour_force, policy_of, slices_of, task_of, timed
from svg_plot import Line, Panel

from polyveil.errors import Unsatisfiable
from polyveil.measure import measure_loss
from polyveil.measure.additional_loss import additional_information_loss
from polyveil.methods import Task, make_method
from polyveil.methods._buckets.demand import reachable_rows
from polyveil.methods.sloms import incomplete_rows
from polyveil.models.linked import from_groups
from polyveil.partition import Partition
from polyveil.policy.schema import MethodChoice

ALL, LABOUR = "all people", "labour force"
PLAIN = ("mbf", "msdcf", "mmdcf")
METHODS = {"sloms": "sloms", "greedy": "MSB-KACA, greedy", "mbf": "MBF", "msdcf": "MSDCF", "mmdcf": "MMDCF"}
"""`greedy` is MSB-KACA as the paper has it: each slice by MMDCF, and what fits no group is suppressed."""
K = 6


@dataclass(frozen=True)
class Grid:
    """The values of the four parameters; the last number of rows is the one held fixed."""

    ls: tuple[int, ...] = (3, 4, 5, 6, 7, 8, 9)
    ds: tuple[int, ...] = (3, 4, 5, 6)
    ns: tuple[int, ...] = (2000, 4000, 6000, 8000, 10_000)
    qs: tuple[int, ...] = (2, 3, 4, 5)
    l: int = 6
    d: int = 4


QUICK = Grid(ls=(2, 3), ds=(3, 4), ns=(300, 600), qs=(2, 3), l=2)


@dataclass(frozen=True)
class Case:
    """One run; q is the number of quasi-identifiers."""

    people: str
    method: str
    n: int
    d: int
    l: int
    q: int = len(CENSUS_QUASI)


@dataclass(frozen=True)
class Cell:
    """Share of rows with a suppressed value, additional information loss, distortion per row, processor time.

    `distortion` counts a suppressed row as wholly generalized; `of_released` leaves it out.
    """

    suppressed: float
    additional: float
    distortion: float
    of_released: float
    seconds: float


class Runs:
    """The cases run so far: several figures share some."""

    def __init__(self, frame: pl.DataFrame, rows: int) -> None:
        self.tables = {
            name: part.sample(min(rows, part.height), seed=1)
            for name, part in ((ALL, frame), (LABOUR, in_labour_force(frame)))
        }
        self._cells: dict[Case, Cell] = {}

    def cell(self, case: Case) -> Cell:
        if case not in self._cells:
            self._cells[case] = self._run(case)
        return self._cells[case]

    def _run(self, case: Case) -> Cell:
        sensitive = [name for part in slices_of(case.d) for name in part]
        frame = self.tables[case.people].head(case.n).select(*CENSUS_QUASI[: case.q], *sensitive)
        method: dict[str, Any] = {"name": case.method}
        if case.method in ("sloms", "greedy"):
            method = {"name": "sloms", "slices": slices_of(case.d), "withhold": "values"}
        if case.method == "greedy":
            method |= {"priority": "mmdcf", "leave_out": "last"}
        policy = policy_of(case.d, case.l, None if case.method in PLAIN else K, method)
        for name in CENSUS_QUASI[case.q :]:
            policy["columns"].pop(name)
        task = task_of(frame, policy)
        try:
            found, seconds = timed(lambda: make_method(MethodChoice(**method)).partition(task))
        except Unsatisfiable:
            return Cell(1.0, 0.0, float(case.q), 0.0, 0.0)
        return measured(task, found, seconds)


def measured(task: Task, found: Partition, seconds: float) -> Cell:
    """Judge the partition by the plain models, then measure it. A slice all of whose values are suppressed is void."""
    names = tuple(column.name for column in task.table.sensitive)
    slices = [(part.attributes, part.group_of_row) for part in found.slices] or [(names, found.class_of_row)]
    codes = {column.name: column.codes for column in task.table.sensitive}
    sizes = np.bincount(found.class_of_row[found.class_of_row >= 0])
    statistics = from_groups(sizes, slices, codes, task.attributes)
    void = {name for part, groups in slices if groups.max(initial=-1) < 0 for name in part}
    broken = [model for model in task.models if model.attribute not in void and not model.judge(statistics).holds]
    if broken:
        raise SystemExit(f"broke {broken}")
    kept = np.flatnonzero(found.class_of_row >= 0)
    rows = task.table.rows
    missing = incomplete_rows(found.slices) if found.slices else found.class_of_row < 0
    return Cell(
        suppressed=float(missing.mean()),
        additional=additional_information_loss(statistics, task.models, [part for part, _ in slices]) or 0.0,
        distortion=measure_loss(task.table, found.class_of_row).distortion / rows,
        of_released=measure_loss(task.table.take(kept), found.class_of_row[kept]).distortion / max(len(kept), 1),
        seconds=seconds,
    )


def forced(frame: pl.DataFrame, d: int, l: int) -> float:
    """The share of rows that one attribute alone makes any method suppress."""
    least = 0.0
    for name in (name for part in slices_of(d) for name in part):
        counts = frame[name].value_counts()["count"].to_numpy()
        least = max(least, 1 - reachable_rows(counts, np.full(len(counts), float(l))) / frame.height)
    return least


def lines(
    runs: Runs, case: Case, name: str, values: Sequence[int], measure: str, methods: Sequence[str] = tuple(METHODS)
) -> list[Line]:
    """One line per method, the parameter `name` of the case taking each of the values."""
    found = []
    for method in methods:
        changes: list[dict[str, Any]] = [{"method": method, name: v} for v in values]
        cells = [(change[name], runs.cell(replace(case, **change))) for change in changes]
        found.append(Line(METHODS.get(method, "generalization (kaca)"), [(v, getattr(c, measure)) for v, c in cells]))
    return found


def numbers(page: Page, axis: str, made: Sequence[Line], digits: int = 3) -> None:
    """The lines of a panel as a table."""
    places = [f"{axis} = {x:,.0f}" for x, _ in made[0].points]
    page.table(["", *places], [[line.name, *(f"{y:.{digits}f}" for _, y in line.points)] for line in made])


def figure_2(page: Page, runs: Runs, grid: Grid) -> None:
    page.heading("Figure 2: suppression ratio")
    page.text(
        "The paper draws this figure and prints no numbers. It says that MSB-KACA suppresses significantly less than "
        "the other three in all cases, and that suppression grows rapidly with l. The share of rows with any "
        "suppressed value; the dashed line is the least that one attribute alone forces on every method."
    )
    least = "no method below"
    for people, letter in ((ALL, "a"), (LABOUR, "b")):
        table, panels, rows = runs.tables[people], [], []
        bottom = math.floor(10 * forced(table, grid.ds[0], grid.ls[0])) / 10
        for d in grid.ds:
            case = Case(people, "", grid.ns[-1], d, 0)
            made = lines(runs, case, "l", grid.ls, "suppressed")
            made.append(Line(least, [(l, forced(table, d, l)) for l in grid.ls], dashed=True))
            panels.append(Panel(f"d = {d}", "l", "suppression ratio", made, bottom=bottom, top=1.02))
            rows += [[f"{d}", line.name, *(f"{y:.3f}" for _, y in line.points)] for line in made]
            say(f"figure 2, {people}, d = {d}")
        page.plot(f"figure-2{letter}", f"Figure 2: suppression ratio against l, {people}", panels)
        page.text(f"{people.capitalize()}, n = {table.head(grid.ns[-1]).height:,}:")
        page.table(["d", "", *(f"l = {l}" for l in grid.ls)], rows, left=2)


def figure_3(page: Page, runs: Runs, grid: Grid) -> None:
    page.heading("Figure 3: additional information loss")
    page.text(
        "No numbers are printed; the paper concludes that all four algorithms have a low additional information loss "
        f"(rows beyond the least a group needs, eq. (8)). d = {grid.d}; where nothing can be published it is 0."
    )
    panels, tables = [], []
    for people in (ALL, LABOUR):
        case = Case(people, "", grid.ns[-1], grid.d, grid.l)
        for letter, name, values, label in (("a", "l", grid.ls, "l"), ("b", "n", grid.ns, "number of rows n")):
            made = lines(runs, case, name, values, "additional")
            panels.append(Panel(f"Figure 3({letter}), {people}", label, "additional information loss", made))
            tables.append((f"Figure 3({letter}), {people}:", name, made))
        say(f"figure 3, {people}")
    page.plot("figure-3", f"Figure 3: additional information loss against l, and against n at l = {grid.l}", panels)
    for words, name, made in tables:
        page.text(words)
        numbers(page, name, made)


def figure_4(page: Page, runs: Runs, grid: Grid) -> None:
    page.heading("Figure 4: distortion")
    page.text(
        "No numbers are printed; the paper concludes that MSB-KACA has a low distortion, because it need not take the "
        "diversity of sensitive attributes into account. Generalization (Definition 5) is our `kaca` with the same k "
        f"and l on one table. k = {K}, l = {grid.l}, d = {grid.d}; weighted hierarchical distance per released row "
        "(eq. (4) divided by the rows), at most the number of quasi-identifiers. Age has the paper's five levels; for "
        "the other columns it prints heights and no trees: they are flat here."
    )
    panels, tables = [], []
    for people in (ALL, LABOUR):
        case = Case(people, "", grid.ns[-1], grid.d, grid.l)
        axes = (("a", "q", grid.qs, "number of quasi-identifiers"), ("b", "n", grid.ns, "number of rows n"))
        for letter, name, values, label in axes:
            made = lines(runs, case, name, values, "of_released", ("sloms", "kaca"))
            panels.append(Panel(f"Figure 4({letter}), {people}", label, "distortion per released row", made))
            suppressed = lines(runs, case, name, values, "suppressed", ("sloms", "kaca"))
            both = [*made, *(Line(f"rows suppressed, {line.name}", line.points) for line in suppressed)]
            tables.append((f"Figure 4({letter}), {people}:", "QI" if name == "q" else name, both))
        say(f"figure 4, {people}")
    page.plot("figure-4", "Figure 4: distortion against the number of quasi-identifiers and of rows", panels)
    for words, name, made in tables:
        page.text(words)
        numbers(page, name, made)


def figure_5(page: Page, runs: Runs, grid: Grid) -> None:
    page.heading("Figure 5: time")
    page.text(
        "The paper draws seconds: MSB-KACA takes over twice as long as the other three, because generalization costs "
        "more than bucketizing, and less than a minute in all cases. Ours, all people, in seconds of processor time:"
    )
    case = Case(ALL, "", grid.ns[-1], grid.d, grid.l)
    axes = (
        ("a", "n", grid.ns, "number of rows n"),
        ("b", "d", grid.ds, "number of sensitive attributes d"),
        ("c", "l", grid.ls, "l"),
    )
    made = [(letter, name, label, lines(runs, case, name, values, "seconds")) for letter, name, values, label in axes]
    panels = [Panel(f"Figure 5({letter})", label, "seconds", found) for letter, _, label, found in made]
    page.plot("figure-5", "Figure 5: processor time against n, d and l", panels, columns=3)
    for letter, name, _, found in made:
        page.text(f"Figure 5({letter}):")
        numbers(page, name, found)


def experiment(asked: Asked) -> Page:
    grid = QUICK if asked.quick else Grid()
    frame = census()
    runs = Runs(frame, grid.ns[-1])
    for method in (*METHODS, "kaca"):  # kernels are compiled or loaded at their first use
        Runs(frame, 200).cell(Case(ALL, method, 200, 3, 2))
    page = Page(asked, "han2013", "han2013: slices of sensitive attributes")
    page.text(
        "Han, Luo, Lu and Peng: SLOMS: A Privacy Preserving Data Publishing Method for Multiple Sensitive Attributes "
        "Microdata, 2013. Its MSB-KACA is our `sloms`, shown as the paper has it (greedy, with the priority of MMDCF "
        "that it reckons with) and as it is here by default, where a linear program first says which rows to leave "
        "out. The others have the names they have here.",
        f"Census-Income (KDD), {grid.ns[-1]:,} random rows - the paper draws others; sensitive attributes in the "
        f"order of Table VII, sliced as in Table VIII; k = {K} for the quasi-identifiers of `sloms`. Every partition "
        "is judged by the plain models. One seed each.",
        "Half of all people are children or have no work: their occupation, industry and class of worker are "
        '"not in universe". The paper does not say whether it kept them. Everything but the time is therefore shown '
        "for all people and for the labour force alone.",
    )
    for figure in FIGURES:
        figure(page, runs, grid)
    page.facts = facts_of(runs, grid)
    return page


FIGURES: tuple[Callable[[Page, Runs, Grid], None], ...] = (figure_2, figure_3, figure_4, figure_5)


def facts_of(runs: Runs, grid: Grid) -> dict[str, str]:
    """The figures that the last words quote."""
    facts: dict[str, str] = {}
    n = grid.ns[-1]
    for people, key in ((ALL, "all"), (LABOUR, "labour")):
        more = less = cells = 0
        for d in grid.ds:
            for l in grid.ls:
                sloms = runs.cell(Case(people, "sloms", n, d, l)).suppressed
                for method in PLAIN:
                    plain = runs.cell(Case(people, method, n, d, l)).suppressed
                    cells, more, less = cells + 1, more + (sloms > plain), less + (sloms < plain)
        facts |= {f"{key}_more": f"{more}", f"{key}_less": f"{less}", "cells": f"{cells}"}
        for d, l, place in ((grid.ds[0], grid.ls[0], "first"), (grid.d, grid.l, "middle")):
            facts[f"{key}_forced_{place}"] = f"{forced(runs.tables[people], d, l):.2f}"
            for method in METHODS:
                facts[f"{key}_{method}_{place}"] = f"{runs.cell(Case(people, method, n, d, l)).suppressed:.2f}"
        middle = Case(people, "kaca", n, grid.d, grid.l)
        facts[f"{key}_kaca_middle"] = f"{runs.cell(middle).suppressed:.2f}"
        facts[f"{key}_kaca_distortion"] = f"{runs.cell(middle).of_released:.2f}"
        facts[f"{key}_sloms_distortion"] = f"{runs.cell(replace(middle, method='sloms')).of_released:.2f}"
        for method in METHODS:
            additional = [runs.cell(Case(people, method, n, grid.d, l)).additional for l in grid.ls]
            facts[f"{key}_{method}_additional"] = f"{max(additional):.2f}"
        greedy = [facts[f"{key}_{method}_additional"] for method in METHODS if method != "sloms"]
        facts[f"{key}_additional"] = max(greedy, key=float)
    times = [
        runs.cell(Case(ALL, "sloms", n, d, grid.l)).seconds / runs.cell(Case(ALL, m, n, d, grid.l)).seconds
        for m in PLAIN
        for d in grid.ds
    ]
    facts |= {"times": f"{min(times):.0f} to {max(times):.0f}", "quasi": f"{len(CENSUS_QUASI)}"}
    return facts | {"d": f"{grid.d}", "l": f"{grid.l}"}


if __name__ == "__main__":
    run(__doc__, experiment)
