"""The page of a comparison: a plot of loss against protection for each form of release, and the table behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polyveil import __version__
from polyveil.advise.cases import Case, Outcome
from polyveil.advise.frontier import lower_steps
from polyveil.report.markup import Markup, number, table, tag
from polyveil.report.page import Section, page
from polyveil.report.scatter import Point, choice, scatter

if TYPE_CHECKING:
    from polyveil.advise.compare import Comparison

STATUS_WORDS = {
    "unreachable": "the policy cannot be reached with this method",
    "not possible": "the method does not fit this policy",
    "out of time": "stopped at its time limit",
    "failed": "failed",
}


def comparison_page(comparison: Comparison) -> str:
    """The whole page."""
    done = [outcome for outcome in comparison.outcomes if outcome.done]
    methods = list(dict.fromkeys(outcome.case.method for outcome in comparison.outcomes))
    boxes, rules = choice("Show", [m for m in methods if any(o.case.method == m for o in done)])
    forms = list(dict.fromkeys(outcome.form for outcome in done))
    drawn = [m for m in methods if any(o.case.method == m for o in done)]
    sections = [_plot(form, [o for o in done if o.form == form], comparison.best, drawn, boxes) for form in forms]
    sections = [_only_first_has_boxes(section, i, boxes) for i, section in enumerate(sections)]
    sections.append(_releases(done, comparison.best))
    rest = [outcome for outcome in comparison.outcomes if not outcome.done]
    if rest:
        sections.append(_without(rest))
    lead = tag(
        "p",
        f"{number(len(comparison.outcomes))} runs on a table of {number(comparison.rows)} rows; {number(len(done))} "
        "made a release that its own verifier passed. Less loss and less distance are better. A ring marks what no "
        "other release of the same form beats in loss, distance and smallest class at once.",
        class_="lead",
    )
    foot = f"Made by polyveil {__version__}. For the steward: this page describes releases that were not published."
    return page("Comparison of methods", lead, sections, foot=foot, rules=rules)


def _only_first_has_boxes(section: Section, place: int, boxes: Markup) -> Section:
    parts = tuple(part for part in section.parts if part is not boxes or place == 0)
    return Section(section.key, section.title, parts)


def _plot(
    form: str, outcomes: Sequence[Outcome], best: frozenset[Case], methods: Sequence[str], boxes: Markup
) -> Section:
    measured = all(outcome.distance is not None for outcome in outcomes)
    points = [
        Point(
            _protection(outcome, measured),
            outcome.normalized_loss,
            methods.index(outcome.case.method),
            f"{outcome.case.title}: loss {outcome.normalized_loss:.3f}, distance {_far(outcome)}, "
            f"k {number(outcome.privacy['k'])}, {outcome.seconds:.1f} s",
            outcome.case in best,
            outcome.case.title if len(outcomes) <= 14 else "",
        )
        for outcome in outcomes
    ]
    steps = lower_steps([(point.x, point.y) for point in points])
    axis = (
        "greatest distance of any class from the whole table" if measured else "chance of finding a row, 1 / k reached"
    )
    chart = scatter(
        f"Loss against protection, {form} releases",
        points,
        steps,
        x_label=f"{axis} (left is safer)",
        y_label="loss, 0 to 1",
        note="The dotted line joins the least loss at each protection. Point at a mark for its figures; the table "
        "below holds them all.",
    )
    return Section(f"plot-{form}", f"{form.capitalize()} releases", (boxes, chart))


def _protection(outcome: Outcome, measured: bool) -> float:
    if measured and outcome.distance is not None:
        return outcome.distance
    return 1.0 / max(float(outcome.privacy.get("k", 1)), 1.0)


def _far(outcome: Outcome) -> str:
    return "–" if outcome.distance is None else f"{outcome.distance:.3f}"


def _releases(done: Sequence[Outcome], best: frozenset[Case]) -> Section:
    rows = [
        (
            outcome.case.title,
            outcome.form,
            tag("span", "yes", class_="ok") if outcome.case in best else "",
            f"{outcome.normalized_loss:.4f}",
            f"{outcome.loss['information_loss']:.4f}",
            number(outcome.privacy["k"]),
            _far(outcome),
            number(outcome.classes),
            f"{outcome.class_size['mean']:.1f}",
            number(outcome.suppressed),
            f"{outcome.seconds:.1f}",
        )
        for outcome in done
    ]
    headers = (
        *("run", "form", "on the frontier", "loss, 0 to 1", "information loss", "k reached", "greatest distance"),
        *("classes", "rows a class", "left out", "seconds"),
    )
    parts = (
        tag(
            "p",
            "Sorted by loss within each form. Loss looks at quasi-identifiers alone, so it does not compare forms: "
            "where these are published as they are, it is 0 and the groups hide the sensitive values only.",
        ),
        table(headers, rows, caption="Releases", numbers=range(3, 11)),
    )
    return Section("releases", "All releases", parts if rows else (tag("p", "No run made a release."),))


def _without(rest: Sequence[Outcome]) -> Section:
    rows = [
        (outcome.case.title, STATUS_WORDS[outcome.status], outcome.message, f"{outcome.seconds:.1f}")
        for outcome in rest
    ]
    found = table(("run", "outcome", "why", "seconds"), rows, caption="Runs without a release", numbers=[3])
    return Section("without", "Runs that made no release", (found,))
