"""han2013: SLOMS against plain bucketization and generalization on Census-Income (Figs. 2 to 5), re-run.

    python experiments/han2013.py [--data FOLDER] [--out FOLDER] [--quick]

10,000 random rows; suppression against l and d, additional information loss, distortion, time. Half of all people are
"not in universe" for occupation and industry, which decides what any method must suppress; the runs are therefore
repeated for the people in the labour force. As printed and with our defaults; the points are in `han2013_points.py`.
"""

# ruff: noqa: E741 - l is what the paper calls its diversity, and what a policy calls it

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from han2013_points import forced_words, points_of
from han2013_runs import ALL, LABOUR, METHODS, PRINTED, QUICK, Case, Grid, K, Runs, forced
from paper_page import Asked, Page, run, say
from real_tables import census
from svg_plot import Line, Panel


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
    page.table(["", *places], [[line.name, *(shown(y, digits) for _, y in line.points)] for line in made])


def shown(value: float, digits: int) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.{digits}f}"


def figure_2(page: Page, runs: Runs, grid: Grid) -> None:
    page.heading("Figure 2: suppression ratio")
    page.text(
        "The paper draws this figure and prints no numbers. The share of rows with any suppressed value; the dashed "
        "line is the least that one attribute alone forces on every method.",
        forced_words(runs.table(ALL), grid),
    )
    least = "no method below"
    for people, letter in ((ALL, "a"), (LABOUR, "b")):
        table, panels, rows = runs.table(people), [], []
        bottom = math.floor(10 * forced(table, grid.ds[0], grid.ls[0])) / 10
        for d in grid.ds:
            case = Case(people, "", grid.ns[-1], d, 0)
            made = lines(runs, case, "l", grid.ls, "suppressed", tuple(METHODS) if people == ALL else PRINTED)
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
        f"No numbers are printed. Rows beyond the least a group needs, by eq. (8) with the number of attributes as m; "
        f"d = {grid.d}; where nothing can be published it is 0."
    )
    panels, tables = [], []
    case = Case(ALL, "", grid.ns[-1], grid.d, grid.l)
    for letter, name, values, label in (("a", "l", grid.ls, "l"), ("b", "n", grid.ns, "number of rows n")):
        made = lines(runs, case, name, values, "additional")
        panels.append(Panel(f"Figure 3({letter})", label, "additional information loss", made))
        tables.append((f"Figure 3({letter}):", name, made))
        say(f"figure 3({letter})")
    page.plot("figure-3", f"Figure 3: additional information loss against l, and against n at l = {grid.l}", panels)
    for words, name, made in tables:
        page.text(words)
        numbers(page, name, made)


def figure_4(page: Page, runs: Runs, grid: Grid) -> None:
    page.heading("Figure 4: distortion")
    page.text(
        "No numbers are printed. Generalization (Definition 5) is our `kaca` with the same k and l on one table. "
        f"k = {K}, l = {grid.l}, d = {grid.d}; the sum of eq. (4) over all rows (as printed, MSB-KACA keeps rows whose "
        "values are withheld; of the others, a row left out counts as wholly generalized). Age has the paper's five "
        "levels; for the other columns it prints heights and no trees: they are flat here."
    )
    methods = ("sloms", "sloms ours", "kaca")
    panels, tables = [], []
    case = Case(ALL, "", grid.ns[-1], grid.d, grid.l)
    axes = (("a", "q", grid.qs, "number of quasi-identifiers"), ("b", "n", grid.ns, "number of rows n"))
    for letter, name, values, label in axes:
        made = lines(runs, case, name, values, "distortion", methods)
        panels.append(Panel(f"Figure 4({letter})", label, "distortion, eq. (4)", made))
        suppressed = lines(runs, case, name, values, "suppressed", methods)
        both = [*made, *(Line(f"rows suppressed, {line.name}", line.points) for line in suppressed)]
        tables.append((f"Figure 4({letter}):", "QI" if name == "q" else name, both))
        say(f"figure 4({letter})")
    page.plot("figure-4", "Figure 4: distortion against the number of quasi-identifiers and of rows", panels)
    for words, name, made in tables:
        page.text(words)
        numbers(page, name, made)


def figure_5(page: Page, runs: Runs, grid: Grid) -> None:
    page.heading("Figure 5: time")
    page.text(
        "The paper draws seconds and prints none. Ours, all people, in seconds of processor time; buckets are kept in "
        "a heap here, so that nearly all of MSB-KACA's time is the generalization:"
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
    page.heading("What was run")
    page.text(
        "Han, Luo, Lu and Peng: SLOMS: A Privacy Preserving Data Publishing Method for Multiple Sensitive Attributes "
        "Microdata, 2013. Its MSB-KACA is our `sloms`. *As printed* is `as_printed: true`: every slice on its own, by "
        "MMDCF; *ours* is the default, where a linear program first says which rows to leave out (values are withheld "
        "in both, so that they can be compared).",
        f"Census-Income (KDD), {grid.ns[-1]:,} random rows - the paper draws others; sensitive attributes in the order "
        f"of Table VII by their names, sliced as in Table VIII (which forgets attribute 8 for d = 5; the text has it "
        f"in the first slice); k = {K} for the quasi-identifiers of `sloms`. Every partition is judged by the plain "
        "models.",
        "Half of all people are children or have no work: their occupation, industry and class of worker are "
        '"not in universe". The paper does not say whether it kept them. Fig. 2 is therefore shown for all people '
        "and for the labour force alone, the others for all people. In the labour force seven of ten have a private "
        "employer, which is as hard.",
    )
    for figure in FIGURES:
        figure(page, runs, grid)
    points_of(page, runs, grid)
    return page


FIGURES: tuple[Callable[[Page, Runs, Grid], None], ...] = (figure_2, figure_3, figure_4, figure_5)


if __name__ == "__main__":
    run(__doc__, experiment)
