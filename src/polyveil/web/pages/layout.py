"""The frame of every page: the steps across the top, the appearance, and loading without holding the page up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from nicegui import ui

from polyveil.errors import PolyveilError, SeveralSheets, kind_and_place
from polyveil.reports.markup import Markup
from polyveil.web.draft import Draft
from polyveil.web.pages.page_context import Work, Workbench, in_thread, open_work
from polyveil.web.pages.parts import notice, text, trusted

LOGO = Markup(
    '<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8" '
    'fill="currentColor"/><path d="M7 9h18M7 16h18M7 23h18" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/>'
    '<rect x="10" y="6" width="6" height="20" rx="3" fill="#9fdcd2" fill-opacity=".85"/><rect x="18" y="6" width="4" '
    'height="20" rx="2" fill="#9fdcd2" fill-opacity=".5"/></svg>'
)


@dataclass(frozen=True)
class Step:
    """One stop of the way through the workbench."""

    key: str
    title: str

    def address(self, table_id: str | None) -> str:
        if self.key == "data":
            return f"/?table={table_id}" if table_id else "/"
        return f"/{self.key}/{table_id}"


STEPS = (
    Step("data", "Data"),
    Step("columns", "Columns"),
    Step("privacy", "Privacy"),
    Step("run", "Run"),
    Step("explore", "Explore"),
    Step("download", "Download"),
)

DRAFTED = ("columns", "privacy", "run")
"""The steps that change the draft."""


def frame(bench: Workbench, step: str, table_id: str | None, table_name: str = "") -> ui.element:
    """Header and steps; returns the place for the content."""
    ui.add_head_html('<link rel="stylesheet" href="/_workbench/style.css">')
    for script in ("workbench", "columns"):
        ui.add_head_html(f'<script src="/_workbench/{script}.js" defer></script>')
    ui.colors(primary="#1f6f7a", secondary="#48636a", accent="#8a5a2b", positive="#2e7d4f", negative="#b3382f")
    dark = ui.dark_mode(bench.dark)
    title = next(each.title for each in STEPS if each.key == step)
    ui.page_title(f"{title} - polyveil")
    with ui.element("header").classes("pv-header"):
        with ui.element("a").classes("pv-brand").props('href="/" aria-label="polyveil, start page"'):
            trusted(LOGO)
            text("polyveil", "span", "pv-brand-name")
        if table_name:
            text(table_name, "span", "pv-table-name").props(f'title="{_attribute(table_name)}"')
        ui.element("div").classes("pv-grow pv-tools-end").mark("tools")
        _appearance(bench, dark)
    _steps(step, table_id)
    main = ui.element("main").classes("pv-main").props("id=content")
    ui.skip_link("Skip to the content", target=main)
    return main


def _undo_and_redo(draft: Draft) -> None:
    """Undo and redo over the whole draft, and a look whether another page changed it."""
    seen = [draft.version]

    def follow() -> None:
        undo.set_enabled(draft.can_undo)
        redo.set_enabled(draft.can_redo)
        if draft.version != seen[0]:
            seen[0] = draft.version
            # The list of columns brings itself up to date; every other view is drawn anew.
            ui.run_javascript(
                "const list = document.querySelector('pv-columns');"
                f"list ? list.refresh({draft.version}) : location.reload()"
            )

    def step(change: Callable[[], None]) -> None:
        change()
        follow()

    with ui.teleport(".pv-tools-end"):
        undo = _tool("undo", "Undo the last change", lambda: step(draft.undo))
        redo = _tool("redo", "Redo the change", lambda: step(draft.redo))
    follow()
    ui.timer(0.5, follow)


def _tool(icon: str, label: str, on_click: Callable[[], None]) -> ui.button:
    button = ui.button(icon=icon, on_click=on_click).props(f'flat round dense color=secondary aria-label="{label}"')
    with button.classes(f"pv-{icon}"):
        ui.tooltip(label)
    return button


def _attribute(value: str) -> str:
    return value.replace("\\", "").replace('"', "'")


def _appearance(bench: Workbench, dark: ui.dark_mode) -> None:
    icons = {None: "brightness_auto", False: "light_mode", True: "dark_mode"}
    names = {None: "like the system", False: "light", True: "dark"}

    def turn() -> None:
        order: list[bool | None] = [None, False, True]
        dark.value = order[(order.index(dark.value) + 1) % 3]
        bench.set_dark(dark.value)
        button.props(f'icon={icons[dark.value]} aria-label="Appearance: {names[dark.value]}"')

    button = ui.button(icon=icons[dark.value], on_click=turn).props("flat round dense color=secondary")
    button.props(f'aria-label="Appearance: {names[dark.value]}"').mark("appearance")
    with button:
        ui.tooltip("Light, dark, or like the system")


def _steps(current: str, table_id: str | None) -> None:
    keys = [step.key for step in STEPS]
    with (
        ui.element("nav").classes("pv-steps").props('aria-label="Steps"'),
        ui.element("ol"),
    ):
        for number, step in enumerate(STEPS, start=1):
            state = "pv-now" if step.key == current else "pv-before" if number <= keys.index(current) else ""
            with ui.element("li").classes(state):
                if table_id or step.key == "data":
                    link = ui.element("a").props(f'href="{step.address(table_id)}"')
                    if step.key == current:
                        link.props('aria-current="step"')
                else:
                    link = ui.element("span").classes("pv-off").props('aria-disabled="true"')
                with link:
                    text(str(number), "span", "pv-step-number")
                    text(step.title, "span", "pv-step-title")


def table_page(bench: Workbench, step: str, table_id: str, build: Callable[[Work], Awaitable[None]]) -> None:
    """A page about one table: the frame at once, the content as soon as the table is read."""
    try:
        stored = bench.store.table(table_id)
    except PolyveilError:
        with frame(bench, "data", None):
            notice("This table no longer exists. It was deleted by somebody, or automatically because of its age.")
            text("Open another table", "a", "pv-link").props('href="/"')
        return
    main = frame(bench, step, table_id, stored.name)
    with main:
        waiting = ui.element("div").classes("pv-waiting").props("role=status")
        with waiting:
            ui.spinner(size="2rem")
            text("Reading the table", "span")

    async def load() -> None:
        try:
            work = await in_thread(open_work, bench, table_id)
            waiting.delete()
            with main:
                if step in DRAFTED:
                    _undo_and_redo(work.draft)
                await build(work)
        except SeveralSheets as error:
            main.clear()
            with main:
                _choose_sheet(bench, table_id, stored.name, error.sheets)
        except PolyveilError as error:
            fail(str(error))
        except Exception as error:
            fail(f"An unexpected {kind_and_place(error)}. Please report it with this line.")
            raise

    def fail(message: str) -> None:
        main.clear()
        with main:
            notice(message, title="This table cannot be shown")
            text("Open another table", "a", "pv-link").props('href="/"')

    ui.timer(0.01, load, once=True)


def _choose_sheet(bench: Workbench, table_id: str, name: str, sheets: Sequence[str]) -> None:
    """A workbook has several sheets; one of them is the table."""
    text("Which sheet is the table?", "h1", "pv-h1")
    text(f"{name} has {len(sheets)} sheets with cells.", classes="pv-lead")
    for sheet in sheets:
        ui.button(sheet, on_click=lambda _, sheet=sheet: take_sheet(bench, table_id, sheet)).props("outline no-caps")


def take_sheet(bench: Workbench, table_id: str, sheet: str | None) -> None:
    """Read this sheet of a workbook from now on; None asks again."""
    bench.store.choose_sheet(table_id, sheet)
    bench.library.forget(table_id)
    ui.navigate.to(f"/?table={table_id}")


def next_step(step: str, table_id: str) -> None:
    """The way on, at the foot of a view."""
    keys = [each.key for each in STEPS]
    position = keys.index(step)
    with ui.element("div").classes("pv-foot"):
        if position:
            back = STEPS[position - 1]
            _link(f"Back to {back.title}", back.address(table_id), "pv-back")
        ui.element("div").classes("pv-grow")
        if position < len(STEPS) - 1:
            on = STEPS[position + 1]
            _link(f"Continue to {on.title}", on.address(table_id), "pv-on").mark("continue")


def _link(label: str, address: str, classes: str) -> ui.element:
    return text(label, "a", classes).props(f'href="{address}"')
