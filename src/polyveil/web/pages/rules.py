"""The form that says how a column's values become coarser: ranges, a rule, a tree, or sets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nicegui import ui

from polyveil.errors import InputError
from polyveil.web.pages.interval_preview import counted_intervals, show_intervals
from polyveil.web.pages.page_context import in_thread
from polyveil.web.pages.parts import row, stack, text

Change = Callable[..., Awaitable[None]]
PAUSE = 0.5
"""Seconds without a key after which numbers are saved."""

KINDS = {
    "none": "By itself",
    "tree": "A tree of groups",
    "mask": "Hide characters",
    "intervals": "Intervals of numbers",
    "date": "Parts of a date",
    "order": "An order of categories",
    "set": "Sets of values",
}
MEANING = {
    "none": "Numbers and dates become ranges as narrow as possible. Categories that differ become anything (*).",
    "tree": "Values become groups, and groups become larger groups. You draw the tree.",
    "mask": "Each level hides one more character, for example 02903, 0290*, 029**.",
    "intervals": "Numbers become intervals of equal width; each level joins neighbours.",
    "date": "Days become months, quarters, years or decades.",
    "order": "Ordered categories become ranges from one to another.",
    "set": "Values become the set of values in the group, for example {Austria, Spain}.",
}


def kind_of(column: Mapping[str, Any]) -> str:
    """Which of the kinds a column's draft asks for."""
    if column.get("recode") == "set":
        return "set"
    rule = column.get("hierarchy")
    if rule is None:
        return "none"
    if isinstance(rule, Mapping):
        return next((key for key in ("mask", "intervals", "date", "order") if key in rule), "tree")
    return "tree"


def rule_form(
    column: Mapping[str, Any], counts: Mapping[str, int], change: Change, start_tree: Callable[[], Awaitable[None]]
) -> None:
    """Choose a kind and its numbers; every change is kept at once."""
    kind = kind_of(column)

    async def choose(event: Any) -> None:
        if event.value == "tree":
            await start_tree()
        elif event.value == "set":
            await change(recode="set", hierarchy=None, type="categorical")
        else:
            await change(recode=None, hierarchy=_first(event.value), type=_type(event.value, column))

    kinds = {k: v for k, v in KINDS.items() if k != "set" or column.get("role") == "quasi"}
    ui.select(kinds, value=kind, on_change=choose).props('outlined dense aria-label="How values are generalized"')
    text(MEANING[kind], classes="pv-hint")
    rule = column.get("hierarchy")
    if kind in FORMS and isinstance(rule, Mapping):
        FORMS[kind](rule, counts, change)


def _first(kind: str) -> dict[str, Any] | None:
    """A rule to start from."""
    return {
        "none": None,
        "mask": {"mask": 4},
        "intervals": {"intervals": {"width": 10, "levels": 3}},
        "date": {"date": ["month", "year"]},
        "order": {"order": []},
    }[kind]


def _type(kind: str, column: Mapping[str, Any]) -> str | None:
    wanted = {"intervals": "numeric", "date": "date", "order": "ordinal", "mask": "categorical"}.get(kind)
    known = column.get("type")
    return wanted or (None if known == "ordinal" else known)


def _number(label: str, value: float, low: float, save: Callable[[float], Awaitable[None]]) -> None:
    async def keep(event: Any) -> None:
        if isinstance(event.value, int | float) and event.value >= low:
            await save(event.value)

    field = ui.number(label, value=value, min=low).props("outlined dense debounce=100").style("width: 150px")
    field.on_value_change(keep)


def _mask(rule: Mapping[str, Any], _: Mapping[str, int], change: Change) -> None:
    with row():

        async def hide(value: float) -> None:
            await change(keep_form=True, hierarchy={**rule, "mask": int(value)})

        async def side(event: Any) -> None:
            await change(hierarchy={**rule, "side": event.value})

        _number("Characters to hide", rule["mask"], 1, hide)
        sides = {"right": "from the right", "left": "from the left"}
        ui.select(sides, value=rule.get("side", "right"), on_change=side, label="Start").props("outlined dense")


def _intervals(rule: Mapping[str, Any], counts: Mapping[str, int], change: Change) -> None:
    if not isinstance(rule["intervals"], Mapping):
        text("The limits of the intervals are listed in the policy file.", classes="pv-hint")
        return
    given, typed = dict(rule["intervals"]), 0

    def setter(key: str, whole: bool) -> Callable[[float], Awaitable[None]]:
        async def keep(value: float) -> None:
            nonlocal typed
            typed, given[key] = typed + 1, int(value) if whole else value
            own = typed
            await preview()
            await asyncio.sleep(PAUSE)
            if own == typed:  # nothing was typed since
                await change(keep_form=True, hierarchy={"intervals": dict(given)})

        return keep

    async def preview() -> None:
        try:
            levels = await in_thread(counted_intervals, dict(given), counts)
        except InputError as error:
            levels, said = [], str(error)
        place.clear()
        with place:
            if levels:
                show_intervals(levels)
            else:
                text(said, classes="pv-hint")

    with row():
        _number("Width", given["width"], 1e-9, setter("width", False))
        _number("Levels", given.get("levels", 3), 1, setter("levels", True))
        _number("Joined per level", given.get("fanout", 2), 2, setter("fanout", True))
        _number("Starting at", given.get("origin", 0), float("-inf"), setter("origin", False))
    place = stack("pv-mid").props('role=region aria-label="Preview of the intervals" aria-live=polite')
    ui.timer(0.01, preview, once=True)


def _dates(rule: Mapping[str, Any], _: Mapping[str, int], change: Change) -> None:
    chosen = [rule["date"]] if isinstance(rule["date"], str) else list(rule["date"])
    parts = ("month", "quarter", "year", "decade")
    with row():
        for part in parts:

            async def turn(event: Any, name: str = part) -> None:
                kept = [each for each in parts if (each in chosen) != (each == name)]
                if kept:
                    await change(hierarchy={"date": kept})

            ui.checkbox(part, value=part in chosen, on_change=turn)


def _order(rule: Mapping[str, Any], _: Mapping[str, int], change: Change) -> None:
    async def keep(event: Any) -> None:
        lines = [line.strip() for line in (event.value or "").splitlines() if line.strip()]
        if lines != rule["order"]:
            await change(hierarchy={"order": lines})

    area = ui.textarea("One category per line, lowest first", value="\n".join(map(str, rule["order"])))
    area.props("outlined dense autogrow debounce=800").on_value_change(keep)


FORMS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, int], Change], None]] = {
    "mask": _mask,
    "intervals": _intervals,
    "date": _dates,
    "order": _order,
}
