"""The page of a comparison: a plot of loss against protection for each form of release, and the table behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polyveil.advice.cases import Case, CaseOutcome
from polyveil.advice.frontier import lower_steps, protection
from polyveil.reports.markup import Markup, number, percent, table, tag
from polyveil.reports.page import Section, page
from polyveil.reports.scatter import Point, choice, scatter
from polyveil.version import __version__

if TYPE_CHECKING:
    from polyveil.advice.compare import Comparison

MOST_LABELS = 14
STATUS_WORDS = {
    "unreachable": "this method cannot meet the policy",
    "not possible": "the method does not fit this policy",
    "out of time": "stopped at its time limit",
    "failed": "failed",
}


def comparison_page(comparison: Comparison) -> str:
    """The whole page."""
    done = [outcome for outcome in comparison.outcomes if outcome.done]
    drawn = list(dict.fromkeys(outcome.case.method for outcome in done))
    boxes, rules = choice("Show", drawn)
    sections: list[Section] = []
    for form in dict.fromkeys(outcome.form for outcome in done):
        some = [outcome for outcome in done if outcome.form == form]
        parts = (_plot(form, some, comparison.best, drawn), _releases(form, some, comparison.best))
        # One set of check boxes serves every plot.
        parts = parts if sections else (boxes, *parts)  # type: ignore[assignment]
        sections.append(Section(f"form-{form}", f"{form.capitalize()} releases", parts))
    rest = [outcome for outcome in comparison.outcomes if not outcome.done]
    if rest:
        sections.append(_without(rest))
    lead = tag(
        "p",
        f"{number(len(comparison.outcomes))} runs on a table of {number(comparison.rows)} rows; {number(len(done))} "
        "gave a release that passed its verification. Less detail lost and less distance are better. A ring marks "
        "releases with the best trade-off of their form. Detail lost is about quasi-identifiers only: do not "
        "compare it between forms. It is 0 % if they are published as they are and groups hide the sensitive values.",
        class_="lead",
    )
    foot = f"Made by polyveil {__version__}. For the steward: this page describes releases that were not published."
    return page("Comparison of methods", lead, sections, foot=foot, rules=rules)


def _plot(form: str, outcomes: Sequence[CaseOutcome], best: frozenset[Case], methods: Sequence[str]) -> Markup:
    measured = all(outcome.distance is not None for outcome in outcomes)
    points = [
        Point(
            protection(outcome),
            outcome.normalized_loss,
            methods.index(outcome.case.method),
            f"{outcome.case.title}: {percent(outcome.normalized_loss)} of the detail lost, distance {_far(outcome)}, "
            f"k {number(outcome.privacy['k'])}, {outcome.seconds:.1f} s",
            outcome.case in best,
            _label(outcome, outcomes),
        )
        for outcome in outcomes
    ]
    steps = lower_steps([(point.x, point.y) for point in points])
    axis = (
        "greatest distance of any group from the whole table" if measured else "chance of finding a row, 1 / k reached"
    )
    return scatter(
        f"Detail lost and protection, {form} releases",
        points,
        steps,
        x_label=f"{axis} (left is safer)",
        y_label="detail lost",
        y_percent=True,
        note="The dotted line joins the runs with the best trade-off. Point at a mark for its figures. The table "
        "below has all figures.",
    )


def _label(outcome: CaseOutcome, among: Sequence[CaseOutcome]) -> str:
    """The method where that tells the marks apart, the whole case where not, nothing where marks are many."""
    if len(among) > MOST_LABELS:
        return ""
    return outcome.case.method if len({(o.case.k, o.case.t) for o in among}) == 1 else outcome.case.title


def _far(outcome: CaseOutcome) -> str:
    return "–" if outcome.distance is None else f"{outcome.distance:.3f}"


def _releases(form: str, done: Sequence[CaseOutcome], best: frozenset[Case]) -> Markup:
    rows = [
        (
            outcome.case.method,
            number(outcome.case.k),
            number(outcome.case.t),
            percent(outcome.normalized_loss),
            percent(outcome.utility["query_error"]) if "query_error" in outcome.utility else "–",
            _far(outcome),
            number(outcome.privacy["k"]),
            number(outcome.classes),
            number(round(outcome.class_size["mean"], 1)),
            number(outcome.suppressed),
            f"{outcome.seconds:.1f}",
            tag("span", "yes", class_="ok") if outcome.case in best else "",
        )
        for outcome in done
    ]
    headers = (
        *(
            "method",
            "required k",
            "required t",
            "detail lost",
            "query error",
            "distance",
            "k reached",
            "groups",
            "rows per group",
        ),
        *("left out", "seconds", "frontier"),
    )
    return table(headers, rows, caption=f"{form.capitalize()} releases, least detail lost first", numbers=range(1, 11))


def _without(rest: Sequence[CaseOutcome]) -> Section:
    """Runs that ended for the same reason share a row."""
    alike: dict[tuple[str, str], list[CaseOutcome]] = {}
    for outcome in rest:
        alike.setdefault((STATUS_WORDS[outcome.status], outcome.message), []).append(outcome)
    rows = [
        (", ".join(outcome.case.title for outcome in some), words, message) for (words, message), some in alike.items()
    ]
    found = table(("runs", "outcome", "why"), rows, caption="Runs without a release")
    return Section("without", "Runs without a release", (found,))
