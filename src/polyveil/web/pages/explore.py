"""Explore: all runs against each other, and one release from near: rows, classes, distances, distributions, attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from polyveil.errors import PolyveilError
from polyveil.reports.markup import Markup, number, percent, table, tag
from polyveil.reports.sections import GUESSES
from polyveil.web.explore import read_views
from polyveil.web.pages import charts
from polyveil.web.pages.analyses_view import analyses_on
from polyveil.web.pages.attack_view import attacks_on
from polyveil.web.pages.chart_words import chart
from polyveil.web.pages.distributions import distributions
from polyveil.web.pages.download import file_item
from polyveil.web.pages.layout import frame, next_step, table_page
from polyveil.web.pages.page_context import Work, Workbench
from polyveil.web.pages.parts import card, figure, notice, row, stack, text, trusted
from polyveil.web.pages.progress_bar import follow_job
from polyveil.web.pages.runs import choose_run, least_l, worst_t
from polyveil.web.pages.side_by_side import side_by_side
from polyveil.web.store import StoredRun

TABS = {
    "summary": "Summary",
    "rows": "Rows",
    "columns": "Columns",
    "groups": "Groups",
    "risk": "Risk",
    "attacks": "Attacks",
    "analyses": "Analyses",
}


def add(bench: Workbench) -> None:
    """Register the view, and that of a release that was brought back."""

    @ui.page("/explore/{table_id}")
    def explore(table_id: str, run: str | None = None, tab: str = "summary") -> None:
        async def build(work: Work) -> None:
            _build(work, run, tab)

        table_page(bench, "explore", table_id, build)

    @ui.page("/release/{run_id}")
    def release(run_id: str, tab: str = "summary") -> None:
        with frame(bench, "data", None):
            _brought_back(bench, run_id, tab)


def _build(work: Work, wanted: str | None, tab: str) -> None:
    text("Results", "h1", "pv-h1")
    done, chosen = choose_run(work, "explore", wanted, f"/explore/{work.stored.id}?tab={tab}&run=")
    if chosen is None:
        return
    _tabs(f"/explore/{work.stored.id}?run={chosen.id}&tab=", tab, TABS)
    if tab not in TABS:
        tab = "summary"
    if tab == "summary":
        _frontier(work, done, chosen)
    _details(work.bench, chosen, work, tab)
    next_step("explore", work.stored.id)


def _tabs(address: str, current: str, tabs: Mapping[str, str]) -> None:
    """The parts of the results, each with an address of its own."""
    with ui.element("nav").classes("pv-tabs").props('aria-label="Parts of the results"'):
        for key, title in tabs.items():
            link = text(title, "a").props(f'href="{address}{key}"')
            if key == current:
                link.props('aria-current="page"')


def _frontier(work: Work, done: Sequence[StoredRun], chosen: StoredRun) -> None:
    axes = [axis for axis in ("t", "k", "l") if any(charts.protection_of(run, axis) is not None for run in done)]
    # The first that says something about the chosen run.
    first = next((axis for axis in axes if charts.protection_of(chosen, axis) is not None), axes[0])
    names = {"t": "closeness (t)", "k": "crowd (k)", "l": "diversity (l)"}

    def go(run_id: str) -> None:
        ui.navigate.to(f"/explore/{work.stored.id}?run={run_id}")

    with card(
        "All runs",
        "Detail lost against protection. Runs on the dashed line have the best trade-off. Click one for details.",
    ):
        if len(axes) > 1:
            toggle = ui.toggle({axis: names[axis] for axis in axes}, value=first).props("no-caps unelevated dense")
            toggle.props("toggle-color=primary padding='4px 10px'")
            toggle.on_value_change(lambda event: draw(event.value))
        place = ui.element("div")

    def draw(axis: str) -> None:
        place.clear()
        with place:
            chart(
                charts.frontier(done, axis, chosen.id),
                "Detail lost against protection, all runs",
                on_point_click=lambda event: go(event.data["id"]) if isinstance(event.data, dict) else None,
            )

    draw(first)


def _details(bench: Workbench, run: StoredRun, work: Work | None, tab: str) -> None:
    views = read_views(run.private)
    if views is None:
        _head(run, run.outcome["summary"])
        notice("This run has no charts.", "caution")
        return
    match tab:
        case "rows":
            side_by_side(run, views, work)
        case "columns":
            distributions(views)
        case "groups":
            _sizes(views)
            _distances(views)
        case "risk":
            _guesses(views)
            _worst(views)
        case "attacks" if work is not None:
            attacks_on(bench, run)
        case "analyses" if work is not None:
            analyses_on(work, run)
        case _:
            _summary(run, views)


def _summary(run: StoredRun, views: Mapping[str, Any]) -> None:
    about = run.outcome["summary"]
    _head(run, about)
    with ui.element("div").classes("pv-columns pv-two"):
        with card("Detail lost by column", "0 %: unchanged, 100 %: nothing left."):
            _losses(about["loss"]["by_attribute"])
        _utility(views.get("utility"))


def _sizes(views: Mapping[str, Any]) -> None:
    unit, sizes = ("people", views["people"]) if "people" in views else ("rows", views["sizes"])
    hint = f"Share of the groups by number of {unit}. A group is a set of rows that look alike in the release."
    with card("Group sizes", hint):
        chart(charts.shares(sizes, unit), "Group sizes")


def _guesses(views: Mapping[str, Any]) -> None:
    """What the simplest attacker can still guess, with the figures of the report."""
    if not views.get("guesses"):
        return
    hint = (
        "An attacker who knows which group a person is in guesses its most common value. Without the release, the same "
        "attacker guesses the most common value of the whole table."
    )
    with card("What can still be guessed", hint):
        trusted(table(GUESSES, views["guesses"], caption="Guessing a sensitive value", numbers=[1, 2, 3, 4]))


def _head(run: StoredRun, about: Mapping[str, Any]) -> None:
    privacy, loss = about["privacy"], about["loss"]
    with card(run.title), row("pv-figures"):
        figure(f"{about['rows'] - about['suppressed']:,}", "rows released")
        in_people = about.get("people", about["rows"]) != about["rows"]
        if in_people:
            figure(f"{about['people']:,}", "people")
        figure(f"{about['classes']:,}", "groups")
        figure(number(privacy["k"]), "k, people in the smallest group" if in_people else "k, the smallest group")
        least, worst = least_l(privacy), worst_t(privacy)
        if least is not None:
            figure(f"{least:.2f}", "least l")
        if worst is not None:
            figure(f"{worst:.3f}", "greatest distance t")
        figure(percent(loss["normalized_loss"]), "detail lost")
        figure(percent(about["suppressed"] / max(about["rows"], 1)), "rows left out")
        if "additional_information_loss" in loss:
            figure(number(loss["additional_information_loss"]), "additional loss of grouping")


def _utility(found: Mapping[str, float] | None) -> None:
    if not found:
        return
    with card("How useful it still is", "Compared with the original. Smaller is better."), row("pv-figures"):
        figure(percent(found["query_error"]), "error of a typical count query")
        figure(f"{found['distribution_shift']:.3f}", "change in distributions")
        figure(f"{found['association_shift']:.3f}", "change in associations")


def _losses(by_attribute: Mapping[str, float]) -> None:
    rows = [
        tag(
            "div",
            tag("span", name, class_="pv-bar-label"),
            tag("span", tag("span", style=f"width:{100 * value:.1f}%"), class_="pv-bar-track"),
            tag("span", percent(value), class_="pv-bar-rows"),
            class_="pv-bar",
        )
        for name, value in sorted(by_attribute.items(), key=lambda item: -item[1])
    ]
    trusted(tag("div", *rows, class_="pv-bars"))


def _distances(views: Mapping[str, Any]) -> None:
    if not views["distances"]:
        return
    box = card("Distance of each group", "How far each group's values are from those of the whole table.")
    with box, ui.element("div").classes("pv-columns pv-two"):
        for name, about in views["distances"].items():
            with stack("pv-tight"):
                text(name, "h3", "pv-h3")
                words = f"worst {about['worst']:.3f}, rows at {about['mean']:.3f} on average, limit {about['limit']:g}"
                text(words, classes="pv-hint")
                chart(charts.distances(about), "Distance per group")


def _worst(views: Mapping[str, Any]) -> None:
    if not views["worst"]:
        return
    with card("Groups closest to a limit", "The groups closest to a limit, and how much of the limit each uses."):
        head = tag(
            "tr",
            *(tag("th", name, scope="col") for name in ("group", "rows", "what", "measured", "limit", "used", "who")),
        )
        body = [_worst_row(each) for each in views["worst"][:15]]
        drawn = tag("table", tag("thead", head), tag("tbody", *body), class_="pv-table")
        trusted(
            tag("div", drawn, class_="pv-scroll", tabindex="0", role="region", aria_label="Groups closest to a limit")
        )


def _worst_row(each: Mapping[str, Any]) -> Markup:
    used = each["used"] or 0.0
    what = each["model"] + (f" of {each['attribute']}" if each["attribute"] else "")
    return tag(
        "tr",
        tag("th", number(each["class"]) if each["class"] else "group", scope="row"),
        tag("td", number(each["rows"]), class_="num"),
        tag("td", what, class_="pv-keep"),
        tag("td", "-" if each["value"] is None else f"{each['value']:.3f}", class_="num"),
        tag("td", f"{each['limit']:g}", class_="num"),
        tag(
            "td",
            tag("span", tag("span", style=f"width:{min(used, 1):.0%}"), class_="pv-used"),
            f" {percent(used, 0)}",
            class_="pv-keep",
        ),
        tag("td", ", ".join(each["cells"]), class_="pv-hint"),
    )


def _brought_back(bench: Workbench, run_id: str, tab: str) -> None:
    """A release from a bundle: whether it verifies, and what it holds."""

    def find() -> StoredRun | None:
        try:
            return bench.store.run(run_id)
        except PolyveilError:
            return None

    def show(run: StoredRun | None) -> None:
        if run is None:
            notice("This release no longer exists.")
            text("To the start", "a", "pv-link").props('href="/"')
            return
        text(run.title, "h1", "pv-h1")
        if run.state != "done":
            notice(run.outcome.get("error", {}).get("message", run.state), title="The release cannot be opened")
            return
        _verification(run.outcome["verification"])
        if run.outcome["verification"]["holds"]:
            address = f"/api/runs/{run.id}/bundle"
            file_item("Release folder", "tables, manifest, report", address, "release.zip", main=True)
        tabs = {key: title for key, title in TABS.items() if key not in ("attacks", "analyses")}
        _tabs(f"/release/{run.id}?tab=", tab, tabs)
        _details(bench, run, None, tab if tab in tabs else "summary")

    follow_job(stack(), "verification", find, show)


def _verification(found: Mapping[str, Any]) -> None:
    if found["holds"]:
        notice(
            "Every claim in its manifest was checked against its files and holds.",
            "success",
            "The release was verified",
        )
        return
    for finding in found["findings"]:
        if finding["outcome"] == "fails":
            notice(finding["message"], title=f"{finding['check']} fails")
