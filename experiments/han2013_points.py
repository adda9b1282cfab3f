"""The verdicts on han2013, from the runs of its page and a few of their own."""

# ruff: noqa: E741 - l is what the paper calls its diversity, and what a policy calls it

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
from han2013_runs import ALL, LABOUR, PLAIN, Case, Grid, Runs, forced
from paper_page import Page, say
from real_tables import CENSUS_QUASI, policy_of, slices_of, task_of
from verdicts import judged, ours

from polyveil.methods.sloms import SlomsOptions, slice_columns

CELLS = ((3, 3), (4, 3), (5, 3), (6, 3), (4, 4), (4, 6), (6, 6))
"""d and l of the comparison over several samples."""
SAMPLES = 5
LITTLE = 0.1
"""An additional information loss up to this is called low."""


def points_of(page: Page, runs: Runs, grid: Grid) -> None:
    fewer_suppressed(page, runs, grid)
    several_samples(page, runs, grid)
    credit(page, runs, grid)
    growth(page, runs, grid)
    additional(page, runs, grid)
    distortion(page, runs, grid)
    time(page, runs, grid)
    attributes(page, runs)
    medoids(page, runs.table(ALL), grid)


def suppressed(runs: Runs, people: str, method: str, d: int, l: int, sample: int = 1) -> float:
    return runs.cell(Case(people, method, runs.rows, d, l, sample=sample)).suppressed


def compared(pairs: list[tuple[float, float]]) -> Counter[str]:
    """How often the first is less, equal or more."""
    return Counter("less" if a < b - 1e-9 else "more" if a > b + 1e-9 else "equal" for a, b in pairs)


def fewer_suppressed(page: Page, runs: Runs, grid: Grid) -> None:
    for method in PLAIN:
        found = compared(
            [
                (suppressed(runs, people, "sloms", d, l), suppressed(runs, people, method, d, l))
                for people in (ALL, LABOUR)
                for d in grid.ds
                for l in grid.ls
            ]
        )
        page.point(
            f"Fig. 2: MSB-KACA suppresses significantly less than {method.upper()} in all cases",
            f"less in {found['less']}, the same in {found['equal']}, more in {found['more']} of {found.total()} cells "
            "(d, l, all people and labour force), both as printed",
            judged(found["less"] == found.total()),
        )


def several_samples(page: Page, runs: Runs, grid: Grid) -> None:
    """Algorithm 1 as printed against MBF over samples of the rows."""
    cells = [cell for cell in CELLS if cell[0] in grid.ds and cell[1] in grid.ls] or [(grid.ds[0], grid.ls[0])]
    shown, fewer = [], 0
    for d, l in cells:
        sliced, plain = (
            np.array([suppressed(runs, ALL, method, d, l, sample) for sample in range(1, SAMPLES + 1)])
            for method in ("sloms", "mbf")
        )
        fewer += bool((sliced < plain).all())
        shown.append(
            f"d = {d}, l = {l}: {sliced.mean():.3f} ± {sliced.std():.3f} / {plain.mean():.3f} ± {plain.std():.3f}"
        )
        say(shown[-1])
    page.point(
        f"The same over {SAMPLES} samples of all people, against MBF (sliced / unsliced)",
        f"less in every sample in {fewer} of {len(cells)} cells; {'; '.join(shown)}",
        judged(fewer == len(cells)),
    )


def credit(page: Page, runs: Runs, grid: Grid) -> None:
    """Sliced or not, greedy or with the linear program."""
    cells = [(d, l) for d in grid.ds for l in grid.ls]
    methods = ("sloms", "sloms ours", "mbf", "mbf ours")
    found = {method: [suppressed(runs, ALL, method, d, l) for d, l in cells] for method in methods}
    by_program = compared(list(zip(found["mbf ours"], found["mbf"], strict=True)))
    both = compared(list(zip(found["sloms ours"], found["mbf ours"], strict=True)))
    means = {method: float(np.mean(values)) for method, values in found.items()}
    page.point(
        "Which rows to leave out matters more than slicing (mean share suppressed over all cells)",
        f"greedy: {means['sloms']:.3f} sliced, {means['mbf']:.3f} not; fewest rows left out: {means['sloms ours']:.3f} "
        f"sliced, {means['mbf ours']:.3f} not. Without slices the program suppresses less in {by_program['less']} of "
        f"{len(cells)} cells; with it on both sides slicing does in {both['less']}, the same in {both['equal']}",
        ours(means["mbf"] - means["mbf ours"] > means["mbf ours"] - means["sloms ours"] and by_program["more"] == 0),
    )


def growth(page: Page, runs: Runs, grid: Grid) -> None:
    steps = [
        suppressed(runs, ALL, "sloms", d, b) - suppressed(runs, ALL, "sloms", d, a)
        for d in grid.ds
        for a, b in zip(grid.ls, grid.ls[1:], strict=False)
    ]
    ends = [[suppressed(runs, ALL, "sloms", d, l) for d in grid.ds] for l in (grid.ls[0], grid.ls[-1])]
    page.point(
        "Fig. 2: the suppression ratio grows rapidly with l",
        f"MSB-KACA, all people: from {min(ends[0]):.2f} to {max(ends[0]):.2f} at l = {grid.ls[0]} to "
        f"{min(ends[1]):.2f} to {max(ends[1]):.2f} at l = {grid.ls[-1]}",
        judged(min(steps) >= -1e-9),
    )


def forced_words(frame: pl.DataFrame, grid: Grid) -> str:
    """What the most common values of one attribute force: at most one of l rows of a group has each of them."""
    l, names = grid.ls[0], [name for part in slices_of(grid.ds[0]) for name in part]
    name = max(names, key=lambda one: _forced_by(frame, one, l, 2))
    top = frame[name].value_counts(sort=True)
    values = ", ".join(f"{value} {count / frame.height:.0%}" for value, count in top.head(2).iter_rows())
    alone, together = (_forced_by(frame, name, l, number) for number in (1, 2))
    return (
        f"Among all people no method can suppress less than {forced(frame, grid.ds[0], l):.3f} at d = {grid.ds[0]} and "
        f"l = {l}. Two values force that together: the most common ones of {name} ({values}) make {together:.3f} "
        f"necessary, the first of them alone {alone:.3f}."
    )


def _forced_by(frame: pl.DataFrame, name: str, l: int, number: int) -> float:
    """With so many of the most common values limited, the others free: released <= l / (l - number) * others."""
    if number >= l:
        return 0.0
    counts = np.sort(frame[name].value_counts()["count"].to_numpy())[::-1]
    return max(0.0, 1 - l / (l - number) * float(counts[number:].sum()) / frame.height)


def additional(page: Page, runs: Runs, grid: Grid) -> None:
    def most(method: str) -> float:
        return max(runs.cell(Case(ALL, method, runs.rows, grid.d, l)).additional for l in grid.ls)

    printed = {method: most(method) for method in ("sloms", *PLAIN)}
    page.point(
        "Fig. 3: all four algorithms have a low additional information loss",
        f"at most {', '.join(f'{value:.3f} ({method})' for method, value in printed.items())} over all l, as printed; "
        f"{most('sloms ours'):.3f} with our default, which leaves out fewer rows and may form one large group",
        judged(max(printed.values()) <= LITTLE),
    )
    gap = max(
        abs(one.additional - one.by_slice)
        for d in grid.ds
        for l in grid.ls
        for one in [runs.cell(Case(ALL, "sloms", runs.rows, d, l))]
    )
    page.point(
        "Eq. (8): m is the number of sensitive attributes (our manifest averages over the slices)",
        f"the two differ by at most {gap:.4f} over all d and l, as printed",
        judged(True if gap <= 0.01 else None),
    )


def distortion(page: Page, runs: Runs, grid: Grid) -> None:
    case = Case(ALL, "", runs.rows, grid.d, grid.l)
    cells = {
        method: runs.cell(Case(case.people, method, case.n, case.d, case.l))
        for method in ("sloms", "sloms ours", "kaca")
    }
    page.point(
        "Fig. 4: MSB-KACA has a low distortion, generalization a high one",
        f"eq. (4): {cells['sloms'].distortion:,.0f} as printed, {cells['kaca'].distortion:,.0f} for generalization, of "
        f"at most {case.n * case.q:,} (d = {case.d}, l = {case.l}); of a released row {cells['sloms'].of_released:.2f} "
        f"and {cells['kaca'].of_released:.2f} of {case.q}",
        judged(cells["sloms"].distortion < cells["kaca"].distortion / 2),
    )
    page.point(
        "Section II.B: generalization suppresses more than SLOMS",
        f"{cells['kaca'].suppressed:.2f} against {cells['sloms'].suppressed:.2f} as printed and "
        f"{cells['sloms ours'].suppressed:.2f} by default (d = {case.d}, l = {case.l}): one large class can be diverse "
        "where small groups cannot be formed",
        judged(cells["kaca"].suppressed > cells["sloms"].suppressed),
    )


def time(page: Page, runs: Runs, grid: Grid) -> None:
    sloms = [runs.cell(Case(ALL, "sloms", runs.rows, d, grid.l)).seconds for d in grid.ds]
    plain = [[runs.cell(Case(ALL, m, runs.rows, d, grid.l)).seconds for m in PLAIN] for d in grid.ds]
    times = [a / max(b, 1e-4) for a, others in zip(sloms, plain, strict=True) for b in others]
    page.point(
        "Fig. 5: MSB-KACA takes over twice as long as the others, and less than a minute",
        f"{min(times):.0f} to {max(times):.0f} times as long, at most {max(sloms):.2f} s",
        judged(min(times) > 2 and max(sloms) < 60),
    )


def attributes(page: Page, runs: Runs) -> None:
    """Attributes 10 and 11 of Table VII: by their names, or by the numbers of values printed for them."""
    names = {"major_occupation_code": 24, "major_industry_code": 15}
    found = {name: runs.people[ALL][name].n_unique() for name in names}
    swapped = list(found.values()) == list(names.values())[::-1]
    page.point(
        "Table VII: 24 major occupation codes (attribute 10) and 15 major industry codes (11)",
        f"{found['major_occupation_code']} and {found['major_industry_code']}"
        + (": the numbers are printed beside each other's names" if swapped else "")
        + "; the names are followed here, and only d = 5, which takes attribute 10 alone, depends on it",
        judged(found == names),
    )


def medoids(page: Page, frame: pl.DataFrame, grid: Grid) -> None:
    """Slices by phi^2 and PAM with 20 random starts, against Table VIII."""
    d = grid.ds[-1]
    names = [name for part in slices_of(d) for name in part]
    table = task_of(frame.select(*CENSUS_QUASI, *names), policy_of(d, grid.ls[0], None, {"name": "mbf"})).table
    options, wanted = SlomsOptions(slices=2), {frozenset(part) for part in slices_of(d)}

    def slices(rng: np.random.Generator | None) -> frozenset[frozenset[str]]:
        return frozenset(
            frozenset(column.name for column in part) for part in slice_columns(table.sensitive, options, rng)
        )

    starts = Counter(slices(np.random.default_rng(seed)) for seed in range(20))
    best = slices(None)
    shown = " and ".join(sorted(", ".join(sorted(part)) for part in best))
    page.point(
        f"Table VIII: the slices for d = {d} come from phi^2 and PAM",
        f"PAM gives {shown}; 20 random starts, as printed, give {len(starts)} result{'s' * (len(starts) != 1)}, "
        f"{starts[best]} times this one",
        judged(set(best) == wanted),
    )
