"""Does my analysis survive? One analysis at a time on the original and on the release, beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from polyveil.errors import InputError, PolyveilError
from polyveil.reports.markup import number, percent, table
from polyveil.verification.files import read_manifest
from polyveil.web.jobs import Busy
from polyveil.web.pages import charts
from polyveil.web.pages.chart_words import chart
from polyveil.web.pages.page_context import Work
from polyveil.web.pages.parts import card, notice, row, stack, text, trusted
from polyveil.web.pages.progress_bar import follow_job
from polyveil.web.store import StoredRun

KINDS = {
    "linear": "Linear regression",
    "logistic": "Logistic regression",
    "table": "Cross table",
    "survival": "Survival curve",
}
LABELS = {"linear": "Outcome", "logistic": "Outcome", "table": "First column", "survival": "Time"}
MOST_VALUES = 100
"""Values that are offered for a choice."""


class _Form:
    """The fields of one analysis; which of them are shown depends on its kind."""

    def __init__(self, work: Work, columns: Mapping[str, bool]) -> None:
        self.work = work
        names = list(columns)
        numbers = [name for name, number in columns.items() if number]
        kinds = {key: title for key, title in KINDS.items() if numbers or key in ("logistic", "table")}
        self.kind = ui.toggle(kinds, value=next(iter(kinds)), on_change=self.arrange)
        self.kind.props("no-caps unelevated dense toggle-color=primary padding='4px 10px'")
        with row("pv-fields"):
            self.outcome = self._select(names, "Outcome")
            self.second = self._select(names, "Second column")
            self.event = self._select(names, "Event")
            self.value = self._select([], "Value that counts")
            self.on = self._select(names, "Explained by").props("multiple use-chips")
            self.by = self._select(["(all together)", *names], "Curves by")
        self.by.value = "(all together)"
        self.on.value = []
        for field in (self.outcome, self.event):
            field.on_value_change(self.offer_values)
        self.arrange()

    @staticmethod
    def _select(names: list[str], label: str) -> ui.select:
        return ui.select(names, label=label, with_input=True).props("outlined dense").style("min-width: 200px")

    def arrange(self) -> None:
        """Show the fields of the kind."""
        kind = str(self.kind.value)
        self.outcome.props(f'label="{LABELS[kind]}"')
        shown = {
            "linear": (self.on,),
            "logistic": (self.value, self.on),
            "table": (self.second,),
            "survival": (self.event, self.value, self.by),
        }
        for field in (self.second, self.event, self.value, self.on, self.by):
            field.set_visibility(field in shown[kind])
        self.offer_values()

    def offer_values(self) -> None:
        """The values of the column whose value counts."""
        column = self.event.value if self.kind.value == "survival" else self.outcome.value
        if column and self.kind.value in ("logistic", "survival"):
            self.value.set_options(sorted(list(self.work.open.counts(column))[:MOST_VALUES]))

    def asked(self) -> dict[str, Any]:
        """The analysis, as `polyveil.analyze` takes it."""
        kind = str(self.kind.value)
        needed = {self.outcome: LABELS[kind], self.second: "Second column", self.event: "Event"}
        needed |= {self.value: "Value that counts", self.on: "Explained by"}
        empty = [label for field, label in needed.items() if field.visible and not field.value]
        if empty:
            raise InputError(f"Choose: {', '.join(empty)}")
        first: Any = [self.outcome.value, self.second.value] if kind == "table" else self.outcome.value
        more: dict[str, Any] = {}
        if kind in ("linear", "logistic"):
            more["on"] = list(self.on.value or [])
        if kind in ("logistic", "survival"):
            more["value"] = self.value.value
        if kind == "survival":
            more["event"] = self.event.value
            if self.by.value != "(all together)":
                more["by"] = self.by.value
        return {kind: first, **more}


def analyses_on(work: Work, run: StoredRun) -> None:
    """A form, and the newest result."""
    from polyveil.analyses.asked import read_analyses

    bench = work.bench
    box = card(
        "Does an analysis survive?",
        "Run the same analysis on the original and on the release. Values are drawn from the cells of the release, and "
        "the results combined. This needs the original table, so only you can do it.",
    )
    with box:
        form = _Form(work, _columns(run))
        faults = stack()
        ui.button("Compare", icon="balance", on_click=lambda: start()).props("no-caps").style("align-self: start")
        place = stack("pv-mid")

    def start() -> None:
        faults.clear()
        try:
            asked = [form.asked()]
            read_analyses(asked)
            bench.jobs.analyze(run, asked)
        except (Busy, PolyveilError) as error:
            with faults:
                notice(str(error))
        look()

    def show(newest: StoredRun | None) -> None:
        if newest is not None and newest.state == "done":
            _result(newest.outcome["analyses"])
        elif newest is not None:
            notice(newest.outcome.get("error", {}).get("message", newest.state), title="No result")

    look = follow_job(place, "analyses", lambda: bench.store.newest_on(run.id, "analyses"), show, bench.jobs.cancel)


def _columns(run: StoredRun) -> dict[str, bool]:
    """The released columns, and whether each has numbers."""
    manifest = read_manifest(run.bundle)
    found = {name: about["kind"] in ("numeric", "date") for name, about in manifest["quasi"].items()}
    found |= {name: about["kind"] == "numeric" for name, about in manifest["sensitive"].items()}
    others = manifest["policy"]["columns"]
    return found | {name: True for name, about in others.items() if about.get("role") == "insensitive"}


def _result(found: Mapping[str, Any]) -> None:
    notice(found["answer"], "info")
    for each, curves in zip(found["analyses"], found["curves"], strict=True):
        text(each["title"], "h3", "pv-h3")
        for curve in curves:
            if curve[0]:
                text(curve[0], "p", "pv-hint")
            name = f"Share that survives, {each['title']} {curve[0]}".strip()
            chart(charts.survival(curve), name)
        if each["note"]:
            notice(f"{each['title']}: {each['note']}", "caution")
            continue
        headers = ("figure", "original", "95 % interval", "release", "95 % interval", "overlap", "same conclusion")
        rows = [
            (
                one["term"],
                number(one["original"]),
                f"{number(one['low'])} to {number(one['high'])}",
                number(one["released"]),
                f"{number(one['released_low'])} to {number(one['released_high'])}",
                percent(one["overlap"], 0),
                "yes" if one["same_conclusion"] else "no",
            )
            for one in each["estimates"]
        ]
        trusted(table(headers, rows, caption=each["title"], numbers=range(1, 6)))
    text(
        f"k-marginal score: {found['k_marginal']:.0f} of 1,000 over combinations of three columns; a random half of "
        f"the original has {found['k_marginal_half']:.0f}.",
        "p",
        "pv-hint",
    )
