"""The verdicts on wang2018: from the runs of its page, from all rows of Adult, and one departure after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from paper_page import Page
from real_tables import task_of
from verdicts import judged, near, ours
from wang2018_runs import (
    ALGORITHMS,
    AS_PRINTED,
    OURS,
    SMALL_K,
    Cells,
    as_printed,
    by_default,
    close_task,
    printed_cell,
    printed_mean,
)

from polyveil.advice.least_class import least_class, least_distance
from polyveil.arrays import IntArray
from polyveil.methods import Task, make_method
from polyveil.methods._kernels.judge import compile_constraints
from polyveil.methods._strata.base import Prepared, Trial, prepare
from polyveil.methods._strata.embedding import sensitive_cells
from polyveil.methods._strata.merge import merge
from polyveil.methods._strata.printed import ensure_closeness_as_printed
from polyveil.methods.fcm import NEVER_ZERO, equal_memberships, fuzzy_centres, squared_distances
from polyveil.models import attributes_of
from polyveil.policy.schema import MethodChoice
from polyveil.table.coded import CodedTable

LITTLE_MORE = 1.02
GROUPS = {"2 and 5": (2, 5), "10": (10,), "15 and 20": (15, 20)}
NAMES = {**ALGORITHMS, "swap": "the contrast algorithm"}
EIGHT, TIGHT = 8, 0.1
"""The least class that Table 6 prints for k = 2 and t = 0.1."""


def points_of_tables(page: Page, cells: Cells, ks: Sequence[int], ts: Sequence[float]) -> None:
    for number, method in enumerate(ALGORITHMS, start=6):
        for words, some in GROUPS.items():
            chosen = [k for k in ks if k in some]
            pairs = [(cells[method, AS_PRINTED, k, t].mean, printed_mean(method, k, t)) for k in chosen for t in ts]
            if not pairs:
                continue
            agree, ratios = sum(near(*pair) for pair in pairs), [found / printed for found, printed in pairs]
            rows = cells[method, AS_PRINTED, chosen[0], ts[0]].rows
            page.point(
                f"Table {number}: mean class sizes of {NAMES[method]} for k = {words}",
                f"{agree} of {len(pairs)} within a fifth, on {rows:,} rows; "
                f"{min(ratios):.2f} to {max(ratios):.2f} times the printed one",
                judged(agree == len(pairs)),
            )
        greatest = max(cells[method, AS_PRINTED, k, t].greatest for k in ks for t in ts)
        printed = max(int(printed_cell(method, k, t).split("/")[1]) for k in ks for t in ts)
        page.point(
            f"Table {number}: no class of {NAMES[method]} has more than {printed} rows",
            f"the greatest has {greatest:,}",
            judged(greatest <= printed * 1.2),
        )


def points_of_all_rows(page: Page, table: CodedTable, cells: Sequence[tuple[str, int, float]]) -> None:
    for method, k, t in cells:
        found, printed = as_printed([table], method, k, t), printed_mean(method, k, t)
        page.point(
            f"Tables 6 to 8: {NAMES[method]} at k = {k}, t = {t} has classes of {printed:g} rows on average",
            f"{found.mean:.1f} on all {table.rows:,} rows; {found.failing:.0%} of the classes are not t-close",
            judged(near(found.mean, printed)),
        )


def points_of_closeness(page: Page, cells: Cells, ks: Sequence[int], ts: Sequence[float]) -> None:
    for method in ("fcm", "pca"):
        failing = {(k, t): cells[method, AS_PRINTED, k, t].failing for k in ks for t in ts}
        worst = [share for (k, t), share in failing.items() if k <= 5 and t <= 0.2] or list(failing.values())
        page.point(
            f"{ALGORITHMS[method]}: one pass of Pseudocode 2 makes every class t-close",
            f"up to {max(failing.values()):.0%} of the classes are not t-close after it, {min(worst):.0%} to "
            f"{max(worst):.0%} for k = 2 and 5 with t = 0.1 and 0.2; none fails in "
            f"{sum(share == 0 for share in failing.values())} of {len(failing)} cells",
            judged(max(failing.values()) == 0),
        )


def points_of_figures(page: Page, cells: Cells, ks: Sequence[int], ts: Sequence[float]) -> None:
    def loss(method: str, k: int, t: float, run: str = AS_PRINTED) -> float:
        return cells[method, run, k, t].loss

    few = [loss("pca", k, t) / loss("fcm", k, t) for k in ks if k <= 10 for t in ts]
    page.point(
        "Figs. 3 and 4: Algorithms 1 and 2 lose about the same for k = 2, 5 and 10",
        f"Algorithm 2 loses {min(few):.2f} to {max(few):.2f} times as much as Algorithm 1, as printed",
        judged(all(near(ratio, 1.0) for ratio in few)),
    )
    many = [(k, t) for k in ks if k >= max(SMALL_K, ks[-2]) for t in ts]
    best = sum(loss("fcm", k, t) <= min(loss("pca", k, t), loss("swap", k, t)) for k, t in many)
    page.point(
        "Figs. 3 to 5: Algorithm 1 loses least for k = 15 and 20",
        f"in {best} of {len(many)} cells, as printed",
        judged(best == len(many)) if many else judged(None),
    )
    wide = [(k, t) for k in ks if k >= SMALL_K for t in ts]
    ratios = [loss("pca", k, t) / loss("swap", k, t) for k, t in wide]
    shown = f"{min(ratios):.1f} to {max(ratios):.1f} times as much, as printed, for k of 10 and more" if ratios else "-"
    page.point("Figs. 4 and 5: Algorithm 2 is slightly inferior to the contrast algorithm", shown, slightly(ratios))
    usual = [(k, t) for k in ks for t in ts if ("sift", OURS, k, t) in cells]
    less = sum(loss("sift", k, t, OURS) < min(loss(m, k, t, OURS) for m in ALGORITHMS) for k, t in usual)
    page.point(
        "Classes nearer to k rows lose less: `sift` has larger classes and loses least of all methods",
        f"in {less} of {len(usual)} cells, with {np.mean([cells['sift', OURS, k, t].mean for k, t in usual]):.0f} rows "
        f"per class on average against {np.mean([cells['fcm', OURS, k, t].mean for k, t in usual]):.0f} (`fcm`)",
        ours(less == len(usual)),
    )
    first = ks[0]
    seconds = {m: [cells[m, AS_PRINTED, first, t].seconds for t in ts] for m in ALGORITHMS}
    page.point(
        f"Fig. 6: Algorithm 2 is the fastest (k = {first})",
        f"{_span(seconds['pca'])} s, Algorithm 1 {_span(seconds['fcm'])} s (clustering works on distinct pairs of "
        f"sensitive values here), the contrast algorithm {_span(seconds['swap'])} s for fewer rows",
        judged(True if max(seconds["pca"]) < min(seconds["fcm"]) else None),
    )
    page.point(
        f"Fig. 6: the time of Algorithms 1 and 2 falls as t grows (k = {first})",
        "from t = 0.1 to 0.5 to "
        + ", ".join(f"{seconds[m][-1] / seconds[m][0]:.0%} of it ({m})" for m in ("fcm", "pca")),
        judged(all(seconds[m][-1] < seconds[m][0] for m in ("fcm", "pca"))),
    )


def _span(values: Sequence[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


def slightly(ratios: Sequence[float]) -> str:
    return judged(bool(ratios) and min(ratios) >= 1 and max(ratios) <= 1.5 if ratios else None)


def points_of_least_class(page: Page, table: CodedTable, frame: pl.DataFrame, trees: int) -> None:
    """How few rows a class can have at all: with the public tree of occupations, without one, with random ones."""
    public = attributes_of(table)["occupation"]
    flat = occupation_below(frame, None)
    values = sorted(frame["occupation"].unique().to_list())
    allowed = sum(
        least_distance(occupation_below(frame, random_tree(values, seed)), EIGHT) <= TIGHT for seed in range(trees)
    )
    page.point(
        f"Table 6: a class of {EIGHT} rows is {TIGHT}-close in occupation",
        f"impossible below {least_class({'occupation': public}, TIGHT).size} rows with the public tree and below "
        f"{least_class({'occupation': flat}, TIGHT).size} without one; possible with {allowed} of {trees} random "
        "trees. The paper does not print its tree",
        judged(None if allowed else False),
    )


def occupation_below(frame: pl.DataFrame, tree: dict[str, Any] | None) -> Any:
    about: dict[str, Any] = {"role": "sensitive", **({"hierarchy": {"tree": tree}} if tree else {})}
    task = task_of(frame.select("occupation"), {"columns": {"occupation": about}, "privacy": {"t": 0.5}})
    return task.attributes["occupation"]


def random_tree(values: Sequence[str], seed: int) -> dict[str, Any]:
    """Two to seven groups of values, in half of the trees under two groups of groups."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(2, 8))
    group_of = np.concatenate([np.arange(number), rng.integers(0, number, len(values) - number)])
    order = rng.permutation(values)
    groups = {f"group {g}": {str(v): None for v in order[group_of == g]} for g in range(number)}
    if number < 4 or rng.random() < 0.5:
        return groups
    half = int(rng.integers(1, number))
    names = list(groups)
    return {
        "one": {name: groups[name] for name in names[:half]},
        "other": {name: groups[name] for name in names[half:]},
    }


def ready(table: CodedTable, k: int, t: float) -> tuple[Task, Prepared]:
    task = close_task(table, k, t)
    return task, prepare(table, compile_constraints(task.models, task.attributes, table))


def trial(table: CodedTable, method: str, k: int, t: float, seed: int, **options: Any) -> Trial:
    """Classes of k strata with random first rows, merged with the nearest until all hold, whatever else is asked."""
    task, prepared = ready(table, k, t)
    chosen: Any = make_method(MethodChoice(name=method, strata="k", merge="nearest", seed_order="random", **options))
    found: Trial = chosen.trial(prepared, chosen.builder(prepared, task), k, "random", seed)
    return found


def mean_size(found: Sequence[Trial]) -> str:
    sizes = [len(one.labels) / one.classes for one in found]
    return f"{np.mean(sizes):.1f} ± {np.std(sizes):.1f}"


def points_of_departures(page: Page, table: CodedTable, sample: CodedTable, *, seeds: int) -> None:
    """One departure after the other; everything else as printed, except that merging goes on until all hold."""
    pairs: list[tuple[str, str, int, float, dict[str, Any], dict[str, Any]]] = [
        ("Strata polished five times after fuzzy c-means (`polish`)", "fcm", 10, 0.1, {"polish": 0}, {}),
        ("Components not scaled to variance 1 (`pca`)", "pca", 20, 0.1, {"as_printed": True}, {}),
    ]
    for words, method, k, t, printed, default in pairs:
        before, after = (
            [trial(table, method, k, t, s, **chosen) for s in range(seeds)] for chosen in (printed, default)
        )
        losses = [float(np.mean([one.loss for one in some])) for some in (before, after)]
        page.point(
            f"{words}: less loss (k = {k}, t = {t}, {table.rows:,} rows)",
            f"loss {losses[0]:.2f} as printed, {losses[1]:.2f} by default; mean class size {mean_size(before)} and "
            f"{mean_size(after)} over {seeds} seeds",
            ours(losses[1] < losses[0]),
        )
    extra_rows(page, table)
    greatest_or_sum(page, sample)
    unmerged(page, sample)
    memberships(page, table)


def extra_rows(page: Page, table: CodedTable, k: int = 20) -> None:
    """Pseudocode 1, steps 12 to 16, before any merging."""
    task, prepared = ready(table, k, 0.5)
    most = []
    for printed in (True, False):
        chosen: Any = make_method(MethodChoice(name="fcm", as_printed=printed, polish=0))
        labels = chosen.builder(prepared, task)(k, "random", np.random.default_rng(1))
        most.append(int(np.bincount(labels[labels >= 0]).max()))
    page.point(
        "Pseudocode 1: rows beyond k are dealt evenly instead of to the first classes",
        f"the largest class before merging has {most[0]} rows as printed, {most[1]} by default (k = {k})",
        ours(most[1] <= most[0]),
    )


def greatest_or_sum(page: Page, table: CodedTable, k: int = 10, t: float = 0.2) -> None:
    """Definition 4 in the contrast algorithm: swaps judged by the greatest distance, or by the sum of excesses."""
    task, prepared = ready(table, k, t)
    means = []
    for printed in (True, False):
        chosen: Any = make_method(MethodChoice(name="swap", as_printed=printed, candidates=0))
        labels = chosen.builder(prepared, task)(k, "farthest", np.random.default_rng(1))
        merged = merged_as_printed(prepared, labels, again=True)
        means.append(table.rows / (int(merged.max()) + 1))
    page.point(
        "Definition 4: swaps judged by the sum of what exceeds t give smaller classes than by the greatest distance",
        f"mean {means[0]:.1f} by the greatest, {means[1]:.1f} by the sum (k = {k}, t = {t}, {table.rows:,} rows)",
        ours(means[1] <= means[0]),
    )


def merged_as_printed(prepared: Prepared, labels: IntArray, *, again: bool) -> IntArray:
    return ensure_closeness_as_printed(
        labels, prepared.codes, prepared.sensitive, prepared.judge, prepared.metric, again=again
    )


def unmerged(page: Page, table: CodedTable, k: int = 5, t: float = 0.2) -> None:
    """The partner in a merge: the nearest class, merged or not, or of those not merged in the same round."""
    task, prepared = ready(table, k, t)
    chosen: Any = make_method(MethodChoice(name="fcm", as_printed=True))
    labels = chosen.builder(prepared, task)(k, "random", np.random.default_rng(1))

    def in_rounds(rule: Literal["nearest", "best"]) -> IntArray:
        return merge(
            labels.copy(), prepared.codes, prepared.sensitive, prepared.judge, prepared.metric, prepared.place_of_row,
            rule, 16,
        )[0]  # fmt: skip

    found = {
        "nearest, merged or not": merged_as_printed(prepared, labels, again=True),
        "nearest not merged in this round": in_rounds("nearest"),
        "most helpful of the near ones": in_rounds("best"),
    }
    means = {words: table.rows / (int(some.max()) + 1) for words, some in found.items()}
    page.point(
        "Merging until all classes hold: partners not merged in the same round, and the most helpful of them",
        "mean class size "
        + ", ".join(f"{mean:.1f} ({words})" for words, mean in means.items())
        + f" (Algorithm 1, k = {k}, t = {t}, {table.rows:,} rows)",
        ours(means["most helpful of the near ones"] <= means["nearest, merged or not"]),
    )


def memberships(page: Page, table: CodedTable) -> None:
    """Equi-sized fuzzy c-means: what setting negative memberships to 0 does to their sums and to the sizes."""
    cells = sensitive_cells(table)
    weight = cells.counts.astype(np.float64)
    sums, sizes = [], []
    for g in (2, 5, 10, 15, 20):
        squared = squared_distances(fuzzy_centres(cells.points, cells.counts, g), cells.points) + NEVER_ZERO
        member = equal_memberships(squared, weight)
        sums.append(float(member.sum(axis=0).max()))
        sizes.append(float(np.abs((member @ weight) * g / weight.sum() - 1).max()))
    page.point(
        "Equi-sized fuzzy c-means: memberships of a row sum to 1, and clusters have equal sizes",
        f"negative memberships are set to 0 here, in both runs: sums up to {max(sums):.2f}, sizes up to "
        f"{max(sizes):.0%} off; the strata made of them are then rounded to equal sizes exactly",
        judged(max(sums) <= 1.01 and max(sizes) <= 0.01),
    )


def points_of_strata(page: Page, table: CodedTable, ks: Sequence[int], ts: Sequence[float]) -> None:
    worse, gains = 0, []
    for method in ("fcm", "pca"):
        for k in ks:
            for t in ts:
                loss = [
                    by_default(table, method, k, t, **options).loss
                    for options in (
                        {"strata": "k", "seed_order": "random"},
                        {"strata": "k", "seed_order": "farthest"},
                        {},
                    )
                ]
                worse += loss[2] > LITTLE_MORE * min(loss[:2])
                gains.append(1 - loss[2] / min(loss[:2]))
    page.point(
        "Free strata with both orders of seeds lose no more than k strata with either order",
        f"worse in {worse} of {len(gains)} cells; {np.mean(gains):.0%} less loss on average",
        ours(worse == 0),
    )
