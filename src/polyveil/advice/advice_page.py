"""The page of an advice: densities, overlaps, what each t and k costs, which columns point to people."""

from __future__ import annotations

from polyveil.advice.advice import NO_OVERLAP, Advice
from polyveil.advice.cases import CaseOutcome
from polyveil.advice.evidence import BEARABLE
from polyveil.advice.overlap import OverlapAdvice
from polyveil.reports.bars import Bar, bars
from polyveil.reports.charts import Curve, curves
from polyveil.reports.markup import Markup, number, percent, table, tag
from polyveil.reports.page import Section, page
from polyveil.version import __version__

MOST_SHOWN = 5


def advice_page(advice: Advice) -> str:
    """The whole page."""
    sections = [_overlap(advice), _loss(advice), _least(advice), _k(advice), _unique(advice)]
    rows = f"{number(advice.rows)} rows"
    sampled = f" (runs on {number(advice.sampled)} of them, drawn at random)" if advice.sampled else ""
    lead = tag(
        "p",
        f"What a table of {rows}{sampled} suggests for t and k. Each part is evidence, none is a decision: how much "
        "protection people need is not in the data.",
        class_="lead",
    )
    foot = f"Made by polyveil {__version__}. For the steward: it describes the original table, so do not publish it."
    return page("Advice on t and k", lead, sections, foot=foot)


def _overlap(advice: Advice) -> Section:
    found = advice.overlap
    title = "t from what the sensitive columns have in common"
    if found is None:
        return Section("overlap", title, (tag("p", NO_OVERLAP),))
    low, high = found.interval or (found.t, found.t)
    between = f" ({low:.2f} to {high:.2f} in 95 % of draws)" if found.interval else ""
    rows = [
        (
            each.title,
            " · ".join(map(str, each.classes)),
            percent(each.share),
            f"{1 - each.share:.3f}",
            "no" if each.mismatched else "yes",
        )
        for each in found.overlaps
    ]
    rule = f"A group does not count where one column has more than {found.ratio:g} times the classes of another"
    rule += ", which here are all: so all count." if found.all_mismatched else "."
    parts = (
        tag(
            "p",
            tag("strong", f"t = {found.t:.2f}"),
            f"{between}: one minus the least overlap, that of {found.least.title} (roy2014).",
        ),
        _density_chart(found),
        table(
            ("columns", "classes", "overlap", "1 − overlap", "counts"),
            rows,
            caption=f"Overlap of every pair and group. {rule}",
            numbers=[2, 3],
        ),
        _sensitivity(advice),
    )
    return Section("overlap", title, parts)


def _density_chart(found: OverlapAdvice) -> Markup:
    step = max(1, len(found.grid) // 200)
    lines = [
        Curve(f"{niche.name} ({niche.how})", found.grid[::step].tolist(), density[::step].tolist())
        for niche, density in zip(found.niches, found.densities, strict=True)
    ]
    kernel = found.estimator == "kernel"
    how = f"Gaussian kernel of bandwidth {found.bandwidth:g} over" if kernel else "Shares of"
    return curves(
        "Densities of the sensitive columns",
        lines,
        x_label="standardized class number" if kernel else "class number",
        y_label="density" if kernel else "share",
        note=f"{how} the classes, numbered by {found.coding}. The area below all curves is what all of them share.",
        filled=True,
    )


def _sensitivity(advice: Advice) -> Markup:
    rows = [Bar(words, (t,), (f"{t:.3f}",)) for words, t in advice.sensitivity]
    note = "The paper does not say how classes are numbered nor how densities are drawn, and t depends on it"
    return bars(f"t under other choices. {note}", ["t"], rows, first="choice")


def _loss(advice: Advice) -> Section:
    drawn = [curve for curve in advice.curves if len(curve.points()) > 1]
    words = (
        "Every sensitive column at the same t, k as in the policy. A knee is the point farthest below the straight "
        "line between the ends, both axes scaled to 0..1: beyond it, a larger t buys little."
    )
    rows = [(curve.method, *_run(outcome)) for curve in advice.curves for outcome in curve.outcomes]
    headers = ("method", "t asked", "loss", "distance reached", "classes", "seconds")
    data = table(headers, rows, caption="Loss by t", numbers=range(1, 6))
    if not drawn:
        return Section("loss", "What each t costs", (tag("p", words), data))
    lines = [Curve(c.method, [p[0] for p in c.points()], [p[1] for p in c.points()], marks=True) for c in drawn]
    knees = ", ".join(f"{c.method} {c.knee:g}" if c.knee is not None else f"{c.method} none" for c in drawn)
    chart = curves(
        "Loss against t", lines, x_label="t asked for", y_label="loss, 0 to 1", note=f"Knee: {knees}.", data=data
    )
    return Section("loss", "What each t costs", (tag("p", words), chart))


def _run(outcome: CaseOutcome) -> tuple[str, ...]:
    seconds = f"{outcome.seconds:.1f}"
    if not outcome.done:
        return number(outcome.case.t), outcome.status, "", "", seconds
    far = "" if outcome.distance is None else f"{outcome.distance:.3f}"
    return number(outcome.case.t), f"{outcome.normalized_loss:.3f}", far, number(outcome.classes), seconds


def _least(advice: Advice) -> Section:
    words = (
        "A class of few rows cannot look like the whole table, whatever its rows are. This is the smallest size at "
        "which whole numbers of rows can come within t at all; a smaller k asks for nothing more."
    )
    rows = [
        (
            f"{each.t:g}",
            number(each.size) if each.size is not None else "more than 2,000",
            "exact" if each.exact else "lower bound",
        )
        for each in advice.least
    ]
    found = table(("t", "smallest class", "how sure"), rows, caption="Smallest possible class", numbers=[1])
    return Section("least", "The smallest class that t allows", (tag("p", words), found))


def _k(advice: Advice) -> Section:
    rows = [
        Bar(
            f"k = {fact.k}",
            (fact.loss or 0.0,),
            (number(fact.rows_below), "–" if fact.loss is None else f"{fact.loss:.3f}"),
        )
        for fact in advice.ks
    ]
    best = (
        f"The largest k here whose loss is at most {BEARABLE:g} is {advice.supported_k}."
        if advice.supported_k
        else f"No k here has a loss of at most {BEARABLE:g}: fewer or coarser quasi-identifiers would help more."
    )
    caption = "Rows that look like fewer than k as the table stands, and the loss of hiding them"
    parts = (
        tag("p", f"k alone, without other guarantees, with {advice.k_method}. {best}"),
        bars(caption, ["rows below k", "loss"], rows, first="asked"),
    )
    return Section("k", "Which k the data supports", parts)


def _unique(advice: Advice) -> Section:
    rows = [
        Bar(" + ".join(each.columns), (each.share,), (number(each.unique_rows), percent(each.share)))
        for each in advice.uniqueness.telling(MOST_SHOWN)
    ]
    title, width = "Which columns point to people", advice.uniqueness.width
    note = "" if advice.uniqueness.complete else " Not all combinations were tried: there are many."
    if not rows:
        return Section(
            "unique", title, (tag("p", f"No combination of up to {width} columns singles out a row.{note}"),)
        )
    words = (
        f"Rows that are alone with their values in up to {width} columns. A column that is called insensitive and "
        f"stands here should be a quasi-identifier.{note}"
    )
    found = bars("Combinations that single out most rows, by width", ["rows", "share"], rows, first="columns")
    return Section("unique", title, (tag("p", words), found))
