"""Small pieces that all views are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from polyveil.errors import Fault
from polyveil.reports.markup import Markup, tag
from polyveil.web.tables import ColumnSketch


def text(content: str, name: str = "p", classes: str = "") -> TextElement:
    """Text in an element of its own; it is always shown as text, never read as markup."""
    return TextElement(tag=name, text=content).classes(classes)


def card(title: str = "", hint: str = "", classes: str = "") -> ui.element:
    """A quiet box with a heading; use it as a context."""
    box = ui.element("section").classes(f"pv-card {classes}")
    if title:
        with box:
            text(title, "h2", "pv-h2")
            if hint:
                text(hint, classes="pv-hint")
    return box


def row(classes: str = "") -> ui.element:
    return ui.element("div").classes(f"pv-row {classes}")


def stack(classes: str = "") -> ui.element:
    return ui.element("div").classes(f"pv-stack {classes}")


def copy_button(content: str | Callable[[], str], label: str) -> None:
    """Puts a text on the clipboard and says so."""

    def copy() -> None:
        ui.clipboard.write(content if isinstance(content, str) else content())
        button.set_text("Copied")

    button = ui.button(label, icon="content_copy", on_click=copy).props("outline no-caps dense")
    button.style("align-self: start; padding: 4px 12px")


def notice(message: str, kind: str = "error", title: str = "", remedy: str = "") -> ui.element:
    """A message that stays; errors are announced to screen readers at once."""
    box = ui.element("div").classes(f"pv-notice pv-{kind}")
    box.props(f"role={'alert' if kind == 'error' else 'status'}")
    with box:
        if title:
            text(title, "strong")
        for line in message.split("\n"):
            text(line)
        if remedy:
            text(remedy, classes="pv-remedy")
    return box


def fault_notice(faults: Iterable[Fault]) -> None:
    """What is wrong at one place, and how to mend it."""
    for fault in faults:
        notice(f"{fault.rule}.", remedy=fault.remedy)


def at_place(faults: Sequence[Fault], *places: str) -> list[Fault]:
    """The faults at these places or below them."""
    return [f for f in faults if any(f.place == p or f.place.startswith((f"{p}.", f"{p}[")) for p in places)]


def figure(value: str, label: str, tone: str = "") -> None:
    """A number with its name below."""
    with ui.element("div").classes(f"pv-figure {tone}"):
        text(value, "span", "pv-figure-value")
        text(label, "span", "pv-figure-label")


def bars(sketch: ColumnSketch, name: str) -> Markup:
    """A column's values as a few bars, with a text for those who do not see them."""
    most = max((rows for _, rows in sketch.bars), default=1) or 1
    width = 100 / max(len(sketch.bars), 1)
    if sketch.ordered:
        shapes = [
            tag("rect", tag("title", f"{label}: {rows:,} rows"), x=f"{i * width:.2f}", y=f"{30 - 30 * rows / most:.2f}",
                width=f"{width * 0.86:.2f}", height=f"{30 * rows / most:.2f}")
            for i, (label, rows) in enumerate(sketch.bars)
        ]  # fmt: skip
        return tag(
            "svg", *shapes, viewBox="0 0 100 30", preserveAspectRatio="none", class_="pv-spark", role="img",
            aria_label=f"Distribution of {name}",
        )  # fmt: skip
    rows_ = [
        tag(
            "div",
            tag("span", label or "(empty)", class_="pv-bar-label", title=label),
            tag("span", tag("span", style=f"width:{100 * rows / most:.1f}%"), class_="pv-bar-track"),
            tag("span", f"{rows:,}", class_="pv-bar-rows"),
            class_="pv-bar",
        )
        for label, rows in sketch.bars[:5]
    ]
    more = sketch.others + max(len(sketch.bars) - 5, 0)
    if more:
        rows_.append(tag("div", f"{more:,} more", class_="pv-bar-more"))
    return tag("div", *rows_, class_="pv-bars")


def trusted(markup: Markup) -> ui.html:
    """Markup that was put together with `tag`, which escapes every text."""
    return ui.html(markup, sanitize=False)


def grid(
    url: str,
    columns: Sequence[str],
    *,
    height: str = "420px",
    label: str = "",
    classes: bool = False,
    pinned: str = "#",
) -> ui.aggrid:
    """A table of any length: rows are fetched in slices as a person scrolls."""
    first: dict[str, Any] = {"headerName": pinned, "width": 92, "pinned": "left", "sortable": False}
    first["hide"] = not pinned
    first |= {"field": "class"} if classes else {":valueGetter": "p => p.node.rowIndex + 1"}
    definitions = [first] + [
        {"headerName": name, "field": f"c{i}", "minWidth": 110, "flex": 1} for i, name in enumerate(columns)
    ]
    options: dict[str, Any] = {
        "columnDefs": definitions,
        "defaultColDef": {
            "sortable": False,
            "resizable": True,
            "suppressMovable": True,
            "suppressHeaderMenuButton": True,
        },
        "rowModelType": "infinite",
        "cacheBlockSize": 100,
        "maxBlocksInCache": 20,
        "rowHeight": 32,
        "headerHeight": 36,
        "context": {"chosen": -1},
        ":datasource": source(url),
        "suppressCellFocus": False,
        "enableCellTextSelection": True,
        "overlayLoadingTemplate": "<span>loading</span>",
    }
    if classes:
        options["rowClassRules"] = {
            "pv-odd": "data && data.class % 2",
            "pv-chosen": "data && data.class === ctx.chosen",
        }
    shown = ui.aggrid(options, auto_size_columns=False).style(f"height: {height}").classes("pv-grid-table")
    shown.props(f'role=region aria-label="{label}"')
    return shown


def source(url: str) -> str:
    """Where the browser asks for rows: same origin, positions only."""
    joint = "&" if "?" in url else "?"
    return (
        "{getRows: async p => { try {"
        f" const answer = await fetch(`{url}{joint}start=${{p.startRow}}&stop=${{p.endRow}}`);"
        " if (!answer.ok) { p.failCallback(); return; }"
        " const found = await answer.json(); p.successCallback(found.rows, found.total);"
        " } catch { p.failCallback(); } } }"
    )


def drop_zone(
    url: str, title: str, hint: str, accept: str, *, done: str, label: str, field: dict[str, str] | None = None
) -> ui.element:
    """Drag a file here or choose one; progress and errors show in place. `done` is the event with the answer."""
    zone = ui.element("div").classes("pv-drop")
    inner = tag(
        "label",
        tag("span", title, class_="pv-drop-title"),
        tag("span", hint, class_="pv-drop-hint"),
        Markup(f'<input type="file" accept="{accept}" aria-label="{label}">'),
        class_="pv-drop-label",
    )
    progress = Markup('<progress max="100" value="0" hidden aria-label="Upload progress"></progress>')
    error = Markup('<div class="pv-notice pv-error" role="alert" hidden></div>')
    with zone:
        trusted(Markup(inner + progress + error))
    zone.props["data-url"], zone.props["data-done"] = url, done
    for key, value in (field or {}).items():
        zone.props[f"data-field-{key}"] = value
    return zone
