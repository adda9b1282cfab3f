"""Explore: all runs against each other, and one release from near: rows, classes, distances, distributions, attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from polyveil.errors import PolyveilError
from polyveil.reports.markup import Markup, number, percent, tag
from polyveil.web.explore import read_views
from polyveil.web.jobs import Busy
from polyveil.web.pages import charts
from polyveil.web.pages.download import file_item
from polyveil.web.pages.layout import frame, next_step, table_page
from polyveil.web.pages.page_context import Work, Workbench
from polyveil.web.pages.parts import card, figure, notice, row, stack, text, trusted
from polyveil.web.pages.progress_bar import progress_bar, stamp_of
from polyveil.web.pages.runs import figures_of, least_l, worst_t
from polyveil.web.pages.side_by_side import side_by_side
from polyveil.web.store import FINISHED, StoredRun


def add(bench: Workbench) -> None:
    """Register the view, and that of a release that was brought back."""

    @ui.page("/explore/{table_id}")
    def explore(table_id: str, run: str | None = None) -> None:
        async def build(work: Work) -> None:
            _build(work, run)

        table_page(bench, "explore", table_id, build)

    @ui.page("/release/{run_id}")
    def release(run_id: str) -> None:
        with frame(bench, "data", None):
            _brought_back(bench, run_id)


def _build(work: Work, wanted: str | None) -> None:
    bench = work.bench
    done = [run for run in bench.store.runs(table=work.stored.id) if run.state == "done"]
    text("Results", "h1", "pv-h1")
    if not done:
        notice("There is no finished run yet.", "info", remedy="Start one in the step before.")
        next_step("explore", work.stored.id)
        return
    chosen = next((run for run in done if run.id == wanted), done[0])
    _frontier(work, done, chosen)
    _details(bench, chosen, work)
    next_step("explore", work.stored.id)


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
        with row("pv-between"):
            runs = {run.id: f"{run.title}: {figures_of(run)}" for run in done}
            select = ui.select(runs, value=chosen.id, label="Run", on_change=lambda event: go(event.value))
            select.props("outlined dense").classes("pv-grow").style("max-width: 720px")
            if len(axes) > 1:
                toggle = ui.toggle({axis: names[axis] for axis in axes}, value=first).props("no-caps unelevated dense")
                toggle.props("toggle-color=primary padding='4px 10px'")
                toggle.on_value_change(lambda event: draw(event.value))
        place = ui.element("div")

    def draw(axis: str) -> None:
        place.clear()
        with place:
            chart = ui.echart(
                charts.frontier(done, axis, chosen.id),
                on_point_click=lambda event: go(event.data["id"]) if isinstance(event.data, dict) else None,
            ).classes("pv-chart")
            chart.props('role=img aria-label="Detail lost against protection, all runs"')

    draw(first)


def _details(bench: Workbench, run: StoredRun, work: Work | None) -> None:
    views = read_views(run.private)
    about = run.outcome["summary"]
    _head(run, about)
    if views is None:
        notice("This run has no charts.", "caution")
        return
    side_by_side(run, views, work)
    with ui.element("div").classes("pv-columns pv-two"):
        unit, sizes = ("people", views["people"]) if "people" in views else ("rows", views["sizes"])
        with card(
            "Group sizes",
            f"Share of the groups by number of {unit}. A group is a set of rows that look alike in the release.",
        ):
            _chart(charts.shares(sizes, unit), "Group sizes")
        with stack():
            with card("Detail lost by column", "0 %: unchanged, 100 %: nothing left."):
                _losses(about["loss"]["by_attribute"])
            _utility(views.get("utility"))
    _distances(views)
    _worst(views)
    _distributions(views)
    if work is not None:
        _attacks(bench, run)


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
        figure(f"{loss['normalized_loss']:.1%}", "detail lost")
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
            tag("span", f"{value:.1%}", class_="pv-bar-rows"),
            class_="pv-bar",
        )
        for name, value in sorted(by_attribute.items(), key=lambda item: -item[1])
    ]
    trusted(tag("div", *rows, class_="pv-bars"))


def _chart(options: dict[str, Any], label: str, classes: str = "pv-chart") -> None:
    ui.echart(options).classes(classes).props(f'role=img aria-label="{label}"')


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
                _chart(charts.distances(about), "Distance per group")


def _worst(views: Mapping[str, Any]) -> None:
    if not views["worst"]:
        return
    with card("Groups closest to a limit", "The groups closest to a limit, and how much of the limit each uses."):
        head = tag(
            "tr",
            *(tag("th", name, scope="col") for name in ("group", "rows", "what", "measured", "limit", "used", "who")),
        )
        body = [_worst_row(each) for each in views["worst"][:15]]
        table = tag("table", tag("thead", head), tag("tbody", *body), class_="pv-table")
        trusted(
            tag("div", table, class_="pv-scroll", tabindex="0", role="region", aria_label="Groups closest to a limit")
        )


def _worst_row(each: Mapping[str, Any]) -> Markup:
    used = each["used"] or 0.0
    what = each["model"] + (f" of {each['attribute']}" if each["attribute"] else "")
    return tag(
        "tr",
        tag("th", number(each["class"]) if each["class"] else "group", scope="row"),
        tag("td", number(each["rows"]), class_="num"),
        tag("td", what),
        tag("td", "-" if each["value"] is None else f"{each['value']:.3f}", class_="num"),
        tag("td", f"{each['limit']:g}", class_="num"),
        tag("td", tag("span", tag("span", style=f"width:{min(used, 1):.0%}"), class_="pv-used"), f" {used:.0%}"),
        tag("td", ", ".join(each["cells"]), class_="pv-hint"),
    )


def _distributions(views: Mapping[str, Any]) -> None:
    columns = [(name, about, "sensitive") for name, about in views["sensitive"].items()]
    columns += [(name, about, "quasi") for name, about in views["quasi"].items()]
    box = card("Before and after", "Shares of the rows. Quasi-identifiers count by how much of each range they cover.")
    with box, ui.element("div").classes("pv-columns pv-two"):
        for name, about, role in columns:
            with stack("pv-tight"):
                with row():
                    text(name, "h3", "pv-h3")
                    text(role, "span", "pv-tag pv-plain")
                    if about.get("others"):
                        text(f"{about['others']:,} rarer values are not drawn", "span", "pv-hint")
                _chart(charts.before_after(about), "Before and after", "pv-chart pv-chart-low")


def _attacks(bench: Workbench, run: StoredRun) -> None:
    box = card(
        "Attacks",
        "Simulated attackers try to learn about people from the release. "
        "This needs the original table, so only you can do it.",
    )
    place = stack("pv-mid")
    place.move(box)
    shown = {"stamp": ""}

    def start() -> None:
        try:
            bench.jobs.attack(run)
        except (Busy, PolyveilError) as error:
            with place:
                notice(str(error))
        draw()

    def again() -> None:
        button = ui.button("Attack this release", icon="gpp_maybe", on_click=start)
        button.props("outline no-caps").style("align-self: start")

    def draw() -> None:
        attack = bench.store.attack_on(run.id)
        stamp = "none" if attack is None else f"{attack.id} {stamp_of(attack)}"
        if stamp == shown["stamp"]:
            return
        shown["stamp"] = stamp
        place.clear()
        with place:
            if attack is None:
                again()
            elif attack.state not in FINISHED:
                progress_bar(attack, "Progress of the attacks")
                ui.button("Cancel", icon="stop", on_click=partial(bench.jobs.cancel, attack.id)).props(
                    'outline dense no-caps aria-label="Cancel the attacks"'
                ).style("align-self: start; padding: 4px 12px")
            elif attack.state != "done":
                again()
                notice(attack.outcome.get("error", {}).get("message", attack.state), title="The attacks did not finish")
            else:
                _attack_table(attack.outcome["attacks"])

    draw()
    ui.timer(1.0, draw)


def _attack_table(report: Mapping[str, Any]) -> None:
    if "sentences" not in report:
        notice("These attacks were made with an earlier version. Attack the release again.")
        return
    said = " ".join(report["sentences"])
    match report["outcome"]:
        case "holds":
            notice(said, "success")
        case "fails":
            notice(f"{said} Do not publish this release.", title="Broken")
        case _:
            notice(said, title="Not checked")
    tones = {"within bound": "pv-tag pv-ok", "broken": "pv-tag pv-stop", "no promise": "pv-tag pv-care"}
    rows = []
    for each in report["attacks"]:
        if each["verdict"] == "not run":
            continue
        others = each["baseline_population"]
        bound = "-" if each["bound"] is None else percent(each["bound"])
        rows.append(
            tag(
                "tr",
                tag("th", f"{each['name']}{' of ' + each['attribute'] if each['attribute'] else ''}", scope="row"),
                tag("td", each["criterion"]),
                tag("td", each["adversary"], class_="pv-hint"),
                tag("td", percent(each["success"]), class_="num"),
                tag("td", f"{percent(each['low'])} to {percent(each['high'])}", class_="num"),
                tag("td", percent(each["baseline"]), class_="num"),
                tag("td", "-" if others is None else percent(others), class_="num"),
                tag("td", bound, class_="num"),
                tag("td", each["extent"]),
                tag("td", tag("span", each["verdict"], class_=tones.get(each["verdict"], "pv-tag pv-plain"))),
            )
        )
    names = (
        *("attack", "risk", "the attacker", "right", "95 % interval", "guessed from the table", "from other people"),
        *("allowed", "tried", "verdict"),
    )
    head = tag("tr", *(tag("th", name, scope="col") for name in names))
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="pv-table")
    trusted(tag("div", table, class_="pv-scroll", tabindex="0", role="region", aria_label="Attacks"))


def _brought_back(bench: Workbench, run_id: str) -> None:
    """A release from a bundle: whether it verifies, and what it holds."""
    try:
        title = bench.store.run(run_id).title
    except PolyveilError:
        notice("This release no longer exists.")
        ui.link("To the start", "/")
        return
    text(title, "h1", "pv-h1")
    place = stack()
    state = {"drawn": ""}

    def draw() -> None:
        run = bench.store.run(run_id)
        stamp = run.state if run.state in FINISHED else stamp_of(run)
        if stamp == state["drawn"]:
            return
        state["drawn"] = stamp
        place.clear()
        with place:
            if run.state not in FINISHED:
                progress_bar(run, "Progress of the verification")
            elif run.state != "done":
                notice(run.outcome.get("error", {}).get("message", run.state), title="The release cannot be opened")
            else:
                _verification(run.outcome["verification"])
                if run.outcome["verification"]["holds"]:
                    address = f"/api/runs/{run.id}/bundle"
                    file_item("Release folder", "tables, manifest, report", address, "release.zip", main=True)
                _details(bench, run, None)

    draw()
    ui.timer(0.5, draw)


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
