"""The propositions of bagai2023 on random tables, and what our options say: the points that need no figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from paper_page import Asked, Page
from real_tables import complete_adult, task_of
from verdicts import judged, ours

from polyveil.arrays import FloatArray
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.methods import make_method
from polyveil.methods._fragment.axes import axis_of
from polyveil.methods._fragment.fragmentation import AxisSpec, Bound, axis_spec, evaluate_splits, fragment_bounds
from polyveil.methods.as_printed import in_force
from polyveil.methods.fragment import Fragment, FragmentOptions
from polyveil.models import TCloseness, codes_of, from_classes
from polyveil.partition import Partition
from polyveil.policy.schema import MethodChoice
from polyveil.table.coded import SensitiveColumn
from polyveil.table.domain import OrderedDomain


def points_of_theory(page: Page, asked: Asked) -> None:
    padding(page)
    raised_bounds(page, 20 if asked.quick else 300)
    common_divisors(page, 3 if asked.quick else 30)
    unbinned(page, asked)
    published_bounds(page, 3 if asked.quick else 30)
    said(page)


def padding(page: Page) -> None:
    short, padded = (
        ordered_distance(np.array(p), np.array(q))
        for p, q in (([1.0, 0.0], [0.0, 1.0]), ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    )
    page.point(
        "Proof of Proposition 7: the distance is invariant if both vectors are extended by zeros",
        f"between (1, 0) and (0, 1) it is {short:.2f}, with a zero added to both {padded:.2f} (the inequality holds)",
        judged(short == padded),
    )


def ordered_distance(p: FloatArray, q: FloatArray) -> float:
    return float(np.abs(np.cumsum(p - q)).sum() / (len(p) - 1))


def spec_of(shape: tuple[int, ...], bound: Bound) -> AxisSpec:
    """Axes whose units are all values of the domains, present or not, as in the paper's matrices."""
    axes = []
    for size in shape:
        domain = OrderedDomain("numeric", np.arange(float(size)), tuple(map(str, range(size))))
        column = SensitiveColumn("s", domain, np.arange(size), "ordered", np.ones(size, dtype=np.int64))
        axes.append(axis_of(column, 0.0, 64, "width", None))
    return axis_spec(axes, bound)


def raised_bounds(page: Page, tables: int) -> None:
    """Proposition 21, and the step of its proof: a cut does not raise the bound of the attribute that is cut."""
    own, both, cut_tables = dict.fromkeys(("paper", "tight"), 0), dict.fromkeys(("paper", "tight"), 0), 0
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        shape = tuple(int(size) for size in rng.integers(2, 7, 2))
        counts = rng.integers(1, 5, shape) * (rng.random(shape) < 0.4)
        units = np.argwhere(counts > 0)
        if len(units) < 2:
            continue
        cut_tables += 1
        share, box = counts[counts > 0].astype(np.float64), np.array([[0, size - 1] for size in shape])
        for bound in ("paper", "tight"):
            axis, _, change = evaluate_splits(spec_of(shape, bound), units, share, np.arange(len(units)), box)
            rises = change > 1e-9 * share.sum()
            own[bound] += bool(rises[np.arange(len(axis)), axis].any())
            both[bound] += bool(rises.all(axis=1).any())
    spec, half = spec_of((4,), "paper"), np.array([0.5, 0.5])
    place, whole = np.array([[0], [2]]), np.array([[0, 3]])
    before = float(fragment_bounds(spec, place, half, np.arange(2), whole)[0])
    _, cut, change = evaluate_splits(spec, place, half, np.arange(2), whole)
    after = before + float(change[cut == 2][0, 0])
    page.point(
        "Proof of Proposition 21: a cut does not raise the bound of the attribute that is cut",
        f"(.5, 0, .5, 0) has the bound {before:.3f}, cut in the middle {after:.3f}; some first cut raises it in "
        f"{own['paper']} of {cut_tables} random tables, in {own['tight']} with our factor",
        judged(own["paper"] == 0),
    )
    page.point(
        "Proposition 21: a cut raises at most one of the two bounds",
        f"some first cut raises both in {both['paper']} of {cut_tables} random tables, in {both['tight']} with our "
        "factor",
        judged(both["paper"] == 0),
    )


def repeated_rows(seed: int, values: int, times: int) -> pl.DataFrame:
    """A table in which every pair of sensitive values occurs a multiple of so many times."""
    rng = np.random.default_rng(seed)
    pairs = np.repeat(rng.integers(0, values, (40, 2)), times, axis=0)
    return pl.DataFrame({"age": rng.integers(20, 70, len(pairs)), "x": pairs[:, 0], "y": pairs[:, 1]})


def fragmented(frame: pl.DataFrame, seed: int, **options: Any) -> tuple[Partition, float]:
    """The classes of `fragment` at t = 0.25, and the greatest distance of any."""
    columns = {"age": {"role": "quasi", "type": "numeric"}}
    columns |= {name: {"role": "sensitive", "type": "numeric"} for name in ("x", "y")}
    task = task_of(frame, {"columns": columns, "privacy": {"t": 0.25}}, seed)
    found = make_method(MethodChoice(name="fragment", **options)).partition(task)
    statistics = from_classes(found.class_of_row, codes_of(task.table), task.attributes)
    return found, max(TCloseness(0.25, name).judge(statistics).value for name in ("x", "y"))


def common_divisors(page: Page, tables: int) -> None:
    """Theorem 20 where there are several classes: every sensitive pair three times."""
    kept, classes = 0, []
    for seed in range(tables):
        try:
            found, worst = fragmented(repeated_rows(seed, 6, 3), seed, as_printed=True)
        except Unsatisfiable:
            continue
        kept += worst <= 0.25
        classes.append(found.classes)
    page.point(
        "Theorem 20: classes with equal shares of every fragment are t-close (tables with a common divisor)",
        f"t = 0.25 kept in {kept} of {tables} tables, with {min(classes)} to {max(classes)} classes",
        judged(kept == tables),
    )


def unbinned(page: Page, asked: Asked) -> None:
    """Fragments for education by hours on Adult, every value on its own."""
    names = ("education-num", "hours-per-week")
    frame = complete_adult(asked.data, "train").select(names)
    columns = {name: {"role": "sensitive", "type": "numeric"} for name in names}
    task = task_of(frame.head(200) if asked.quick else frame, {"columns": columns, "privacy": {"t": 0.2}})

    def fragments(**options: Any) -> int:
        chosen = in_force("fragment", FragmentOptions(**options))
        return Fragment(chosen).fragmentation(task.table, task).fragments

    printed, tight = fragments(as_printed=True), fragments(bins=4096, slack=1.0)
    page.point(
        "Adult, education by hours, t = 0.2: the factor of the whole range needs fewer fragments",
        f"{printed:,} as printed, {tight:,} with our factor; no bins in either",
        ours(tight < printed),
    )


def published_bounds(page: Page, tables: int) -> None:
    """Bounds of tables whose columns are put into bins: what moves inside a bin is part of them."""
    gaps, several = [], 0
    for seed in range(tables):
        found, worst = fragmented(repeated_rows(seed, 40, 4), seed, rounding="exact", bins=8)
        gaps.append(max(found.found["bounds"].values()) - worst)
        several += found.classes > 1
    page.point(
        "Bounds that a result names hold where columns are put into bins",
        f"in {sum(gap >= -1e-9 for gap in gaps)} of {tables} tables, {several} of them with several classes; the least "
        f"room between the bound and the worst class is {min(gaps):.3f}",
        ours(min(gaps) >= -1e-9),
    )


def said(page: Page) -> None:
    """Options that cannot be followed are refused or reported."""
    frame = repeated_rows(1, 12, 1)
    try:
        fragmented(frame, 1, rounding="exact", strata=5)
        refused = False
    except PolicyError:
        refused = True
    found, _ = fragmented(frame, 1, bound="paper", slack=1.0, most_fragments=5)
    reported, fragments = bool(found.found.get("stopped_at_limit")), int(found.found["fragments"])
    page.point(
        "Options say what they do: `strata` with `rounding: exact`, and reaching `most_fragments`",
        f"`strata` is {'refused' if refused else 'ignored'}; the limit of 5 counts fragments with rows ({fragments}) "
        f"and reaching it is {'reported' if reported else 'not reported'}",
        ours(refused and reported and fragments <= 5),
    )
