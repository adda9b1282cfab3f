"""Before and after: the distribution of every column in the table and in its release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from polyveil.reports.markup import percent
from polyveil.web.pages import charts
from polyveil.web.pages.chart_words import chart
from polyveil.web.pages.parts import card, row, stack, text

AT_ONCE = 12
"""Columns that are drawn at once."""


def distributions(views: Mapping[str, Any]) -> None:
    """All columns, a few at a time; a search where there are many."""
    columns = [(name, about, "quasi") for name, about in views["quasi"].items()]
    columns += [(name, about, "sensitive") for name, about in views["sensitive"].items()]
    hint = (
        "Shares of the rows, each column in its own order. A generalized value counts for all values it may stand for, "
        "in equal parts."
    )
    wanted, most = "", AT_ONCE

    def look(event: Any) -> None:
        nonlocal wanted, most
        wanted, most = str(event.value or "").strip().lower(), AT_ONCE
        draw()

    def more() -> None:
        nonlocal most
        most += AT_ONCE
        draw()

    with card("Before and after", hint):
        if len(columns) > AT_ONCE:
            search = ui.input("Search columns", on_change=look).props("outlined dense clearable debounce=200")
            search.style("max-width: 420px; width: 100%")
        place = stack()

    def draw() -> None:
        found = [each for each in columns if wanted in each[0].lower()]
        place.clear()
        with place:
            with ui.element("div").classes("pv-columns pv-two"):
                for name, about, role in found[:most]:
                    _column(name, about, role)
            if len(found) > most:
                label = f"Show more ({len(found) - most:,} columns are not shown)"
                ui.button(label, on_click=more).props("outline no-caps").style("align-self: start")

    draw()


def _column(name: str, about: Mapping[str, Any], role: str) -> None:
    with stack("pv-tight"):
        with row():
            text(name, "h3", "pv-h3")
            text(role, "span", "pv-tag pv-plain")
        words = [f"{percent(about['loss'])} of its detail lost." if "loss" in about else "Published as it is."]
        if about.get("untold"):
            words.append(f"{about['untold']:,} rows tell nothing about it and are not drawn.")
        if not about["before"]:
            words.append("The original is not here, so only the release is drawn.")
        text(" ".join(words), classes="pv-hint")
        chart(charts.before_after(about), f"{name} before and after", "pv-chart pv-chart-low")
