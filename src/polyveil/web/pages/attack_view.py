"""Attacks on a release: start them, follow them, and what they achieved beside what is guaranteed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from polyveil.errors import PolyveilError
from polyveil.reports.markup import percent, tag
from polyveil.web.jobs import Busy
from polyveil.web.pages.page_context import Workbench
from polyveil.web.pages.parts import card, notice, stack, trusted
from polyveil.web.pages.progress_bar import follow_job
from polyveil.web.store import StoredRun


def attacks_on(bench: Workbench, run: StoredRun) -> None:
    box = card(
        "Attacks",
        "Simulated attackers try to learn about people from the release. "
        "This needs the original table, so only you can do it.",
    )
    place = stack("pv-mid")
    place.move(box)

    def start() -> None:
        try:
            bench.jobs.attack(run)
        except (Busy, PolyveilError) as error:
            with place:
                notice(str(error))
        look()

    def show(attack: StoredRun | None) -> None:
        if attack is not None and attack.state == "done":
            _attack_table(attack.outcome["attacks"])
            return
        button = ui.button("Attack this release", icon="gpp_maybe", on_click=start)
        button.props("outline no-caps").style("align-self: start")
        if attack is not None:
            notice(attack.outcome.get("error", {}).get("message", attack.state), title="The attacks did not finish")

    look = follow_job(place, "attacks", lambda: bench.store.newest_on(run.id, "attack"), show, bench.jobs.cancel)


def _attack_table(report: Mapping[str, Any]) -> None:
    if "sentences" not in report:
        notice("These attacks were made with an earlier version. Attack the release again.")
        return
    said = " ".join(report["sentences"])
    match report["outcome"]:
        case "holds":
            open_ones = any(each["verdict"] == "no promise" for each in report["attacks"])
            notice(said, "caution" if open_ones else "success")
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
