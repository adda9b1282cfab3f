"""Security levels: how much harm each sensitive value would do, 0 little, 1 as usual, 2 and more a lot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nicegui import ui

from polyveil.policy.schema import DEFAULT_LEVEL
from polyveil.web.pages.page_context import Work
from polyveil.web.pages.parts import card, row, text

LEVELS = {0: "0 harmless", 1: "1 usual", 2: "2 harmful", 3: "3 very harmful"}
PAGE = 24


@dataclass
class _Shown:
    page: int = 1
    search: str = ""


def security_levels(work: Work, name: str, counts: Mapping[str, int]) -> None:
    """A level for every value, most common first."""
    column = work.draft.columns[name]
    values = sorted(counts, key=lambda value: (-counts[value], value))
    state = _Shown()
    with card(
        "Security levels",
        "How harmful it is if others learn a value. "
        "With one l per level (see Privacy), harmful values are protected more.",
    ):
        with row():
            search = ui.input("Find a value").props("outlined dense clearable debounce=250")
        listed = ui.element("div").classes("pv-cards")
        foot = row()

    def draw() -> None:
        found = [value for value in values if state.search.lower() in value.lower()]
        of_value = levels_of(column)
        start = (state.page - 1) * PAGE
        listed.clear()
        with listed:
            for value in found[start : start + PAGE]:
                with row("pv-nowrap pv-between"):
                    with ui.element("div").classes("pv-tight pv-stack"):
                        text(value, "span").style("overflow-wrap: anywhere")
                        text(f"{counts[value]:,} rows", "span", "pv-hint")
                    _chooser(value, of_value.get(value, DEFAULT_LEVEL))
        foot.clear()
        pages = max(1, -(-len(found) // PAGE))
        if pages > 1:
            with foot:
                ui.pagination(1, pages, value=state.page, on_change=lambda e: turn(e.value))

    def _chooser(value: str, level: int) -> None:
        def choose(event: Any) -> None:
            set_level(column, value, int(event.value))
            work.draft.save()

        options = LEVELS if level in LEVELS else {**LEVELS, level: str(level)}
        select = ui.select(options, value=level, on_change=choose).props("outlined dense options-dense")
        select.style("min-width: 150px").props["aria-label"] = f"Security level of {value}"

    def turn(page: int) -> None:
        state.page = page
        draw()

    def find(event: Any) -> None:
        state.search, state.page = event.value or "", 1
        draw()

    search.on_value_change(find)
    draw()


def levels_of(column: Mapping[str, Any]) -> dict[str, int]:
    """The level of every value that has one of its own."""
    return {str(value): int(level) for level, values in column.get("levels", {}).items() for value in values}


def set_level(column: dict[str, Any], value: str, level: int) -> None:
    """Give a value a level; the usual one needs no mention."""
    of_value = {**levels_of(column), value: level}
    levels: dict[int, list[str]] = {}
    for each, chosen in of_value.items():
        if chosen != DEFAULT_LEVEL:
            levels.setdefault(chosen, []).append(each)
    if levels:
        column["levels"] = {chosen: levels[chosen] for chosen in sorted(levels, reverse=True)}
    else:
        column.pop("levels", None)
