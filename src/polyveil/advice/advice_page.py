"""The page of an advice: densities, overlaps, what each t and k costs, which columns point to people."""

from __future__ import annotations

from polyveil.advice.advice import Advice
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
    sections = [_recommended(advice), _overlap(advice), _loss(advice), _least(advice), _k(advice), _unique(advice)]
    rows = f"{number(advice.rows)} rows"
    few = advice.compared < advice.rows
    sampled = f" (runs that compare costs use {number(advice.compared)} of them, chosen at random)" if few else ""
    lead = tag(
        "p",
        f"What a table of {rows}{sampled} suggests for t and k. Each part is evidence, not a decision: how much "
        "protection people need is not in the data. A group is all rows that look alike after generalization; "
        "detail lost says how much coarser the quasi-identifiers became, from 0 % to 100 %.",
        class_="lead",
    )
    foot = f"Made by polyveil {__version__}. For the steward: it describes the original table, so do not publish it."
    return page("Advice on t and k", lead, sections, foot=foot)


def _recommended(advice: Advice) -> Section:
    """The recommendation, its reason, how sure it is, and what it costs."""
    found = advice.recommended
    asked = f"k = {found.k}" + (f", t = {found.t:g}" if found.t is not None else "")
    parts = [tag("p", tag("strong", asked), f" with the method {found.method}. {found.reason}")]
    if found.t_range is not None:
        low, high = found.t_range
        parts.append(
            tag("p", f"Ways to compute the overlap of the sensitive columns give t from {low:.2f} to {high:.2f}.")
        )
    if found.detail_lost is not None:
        searched = f"expected from searches of up to {number(found.rows)} rows"
        words = f"A release loses about {percent(found.detail_lost)} of the detail, {searched}."
        parts.append(tag("p", words))
    return Section("recommended", "Recommendation", tuple(parts))


def _overlap(advice: Advice) -> Section:
    found = advice.overlap
    title = "t from what the sensitive columns have in common"
    if found is None:
        return Section("overlap", title, (tag("p", advice.overlap_note or ""),))
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
    rule = (
        f"A combination does not count if one column has over {found.ratio:g} times as many groups of values as another"
    )
    rule += ". Here this is true of all of them, so all count." if found.all_mismatched else "."
    parts = (
        tag(
            "p",
            tag("strong", f"t = {found.t:.2f}"),
            f"{between}: 1 minus the smallest overlap, that of {found.least.title} (roy2014).",
        ),
        _density_chart(found),
        table(
            ("columns", "classes", "overlap", "1 − overlap", "counts"),
            rows,
            caption=f"Overlap of every pair and larger combination. {rule}",
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
        x_label="standardized number of the group of values" if kernel else "number of the group of values",
        y_label="density" if kernel else "share",
        note=f"{how} the groups of values, numbered by {found.coding}. The area below all curves is what they share.",
        filled=True,
    )


def _sensitivity(advice: Advice) -> Markup:
    rows = [Bar(words, (t,), (f"{t:.3f}",)) for words, t in advice.sensitivity]
    note = "The paper does not say how to number groups of values or estimate densities, and t depends on both"
    return bars(f"t under other choices. {note}", ["t"], rows, first="choice")


def _loss(advice: Advice) -> Section:
    drawn = [curve for curve in advice.curves if len(curve.points()) > 1]
    words = (
        "Every sensitive column has the same t; k is the policy's. The knee is the point farthest below the straight "
        "line between the ends, with both axes scaled to 0..1. Beyond it, a larger t saves little detail."
    )
    rows = [(curve.method, *_run(outcome)) for curve in advice.curves for outcome in curve.outcomes]
    headers = ("method", "required t", "detail lost", "distance reached", "groups", "seconds")
    data = table(headers, rows, caption="Detail lost by t", numbers=range(1, 6))
    if not drawn:
        return Section("loss", "What each t costs", (tag("p", words), data))
    lines = [Curve(c.method, [p[0] for p in c.points()], [p[1] for p in c.points()], marks=True) for c in drawn]
    knees = ", ".join(f"{c.method} {c.knee:g}" if c.knee is not None else f"{c.method} none" for c in drawn)
    chart = curves(
        "Detail lost by t",
        lines,
        x_label="required t",
        y_label="detail lost",
        y_percent=True,
        note=f"Knee: {knees}.",
        data=data,
    )
    return Section("loss", "What each t costs", (tag("p", words), chart))


def _run(outcome: CaseOutcome) -> tuple[str, ...]:
    seconds = f"{outcome.seconds:.1f}"
    if not outcome.done:
        return number(outcome.case.t), outcome.status, "", "", seconds
    far = "" if outcome.distance is None else f"{outcome.distance:.3f}"
    return number(outcome.case.t), percent(outcome.normalized_loss), far, number(outcome.classes), seconds


def _least(advice: Advice) -> Section:
    words = (
        "A small group cannot resemble the whole table, whatever rows it has. This is the smallest size at "
        "which whole numbers of rows can come within t at all. A smaller k has no effect."
    )
    rows = [
        (
            f"{each.t:g}",
            number(each.size) if each.size is not None else "more than 2,000",
            "exact" if each.exact else "lower bound",
        )
        for each in advice.least
    ]
    found = table(("t", "smallest group", "how sure"), rows, caption="Smallest possible group", numbers=[1])
    return Section("least", "The smallest group that t allows", (tag("p", words), found))


def _k(advice: Advice) -> Section:
    rows = [
        Bar(
            f"k = {fact.k}",
            (fact.loss or 0.0,),
            (number(fact.rows_below), "–" if fact.loss is None else percent(fact.loss)),
        )
        for fact in advice.ks
    ]
    best = (
        f"The largest k here that loses at most {percent(BEARABLE)} of the detail is {advice.supported_k}."
        if advice.supported_k
        else f"Every k here loses more than {percent(BEARABLE)}. Fewer or coarser quasi-identifiers would help more."
    )
    caption = "Rows in groups smaller than k in the table as it is, and the detail lost by protecting them"
    parts = (
        tag("p", f"k alone, without other guarantees, with {advice.k_method}. {best}"),
        bars(caption, ["rows below k", "detail lost"], rows, first="k"),
    )
    return Section("k", "Which k the data supports", parts)


def _unique(advice: Advice) -> Section:
    rows = [
        Bar(" + ".join(each.columns), (each.share,), (number(each.unique_rows), percent(each.share)))
        for each in advice.uniqueness.telling(MOST_SHOWN)
    ]
    title, width = "Which columns identify people", advice.uniqueness.width
    note = "" if advice.uniqueness.complete else " Not all combinations were tried, because there are too many."
    if not rows:
        return Section(
            "unique", title, (tag("p", f"No combination of up to {width} columns makes a row unique.{note}"),)
        )
    words = (
        f"Rows that are unique in up to {width} columns. A column in this list that the policy calls insensitive "
        f"should be a quasi-identifier.{note}"
    )
    found = bars(
        "Combinations that make most rows unique, by number of columns", ["rows", "share"], rows, first="columns"
    )
    return Section("unique", title, (tag("p", words), found))
