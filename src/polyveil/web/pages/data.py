"""Data: open an example, upload a file, name a file the server may read, or bring a release back; then look at it."""

from __future__ import annotations

import time
from typing import Any

from nicegui import events, ui

from polyveil.demo import EXAMPLES
from polyveil.errors import PolyveilError
from polyveil.reports.markup import percent
from polyveil.table.profiling.column import ColumnProfile
from polyveil.web.pages.layout import frame, next_step, table_page, take_sheet
from polyveil.web.pages.page_context import Work, Workbench, in_thread
from polyveil.web.pages.parts import bars, card, drop_zone, figure, grid, notice, row, stack, text, trusted
from polyveil.web.roles import TYPES
from polyveil.web.store import MOST_FILES, StoredTable
from polyveil.web.tables import ColumnSketch, OpenTable

KINDS = {"upload": "uploaded", "file": "file on this machine", "example": "example"}
ACCEPTED = ".csv,.tsv,.tab,.txt,.gz,.zip,.xlsx,.xlsm,.sav,.zsav,.dta,.sas7bdat,.xpt,.parquet,.pq"
CARDS = 24
"""Columns that are sketched at once."""


def add(bench: Workbench) -> None:
    """Register the view."""

    @ui.page("/")
    def data(table: str | None = None) -> None:
        if table is None:
            with frame(bench, "data", None):
                _start(bench)
        else:
            table_page(bench, "data", table, _look)


def _start(bench: Workbench) -> None:
    text("Which table do you want to anonymize?", "h1", "pv-h1")
    text(
        "The data stays on this machine. Nothing is sent anywhere, and nothing is loaded from the internet.",
        classes="pv-lead",
    )
    with ui.element("div").classes("pv-columns pv-two"):
        with stack():
            _upload(bench)
            if bench.settings.data_folders:
                _file(bench)
        with stack():
            _examples(bench)
            _known(bench)
            _bring_back(bench)


def _upload(bench: Workbench) -> None:
    days = bench.settings.keep_days
    limit = bench.settings.max_upload // 10**6
    with card("Upload a table"):
        drop_zone(
            "/api/tables/upload",
            "Drop a file here, or choose one",
            f"CSV (also .gz, .zip), Excel, SPSS, Stata, SAS or Parquet, up to {limit:,} MB",
            ACCEPTED,
            done="table_taken",
            label="Choose a table to upload",
        )
        text(f"Uploads are deleted after {days:g} days, or as soon as you delete them.", classes="pv-hint")
    ui.on("table_taken", lambda event: ui.navigate.to(f"/?table={event.args['id']}"))


def _file(bench: Workbench) -> None:
    with card("Open a file on this machine", "Only from the folders named when the workbench was started."):
        place = stack()
        files = bench.store.files()
        names = {str(path): f"{name} ({_size(size)})" for path, name, size in files}

        def open_it() -> None:
            place.clear()
            try:
                stored = bench.store.add_file(str(chosen.value or ""))
            except PolyveilError as error:
                with place:
                    notice(str(error))
                return
            ui.navigate.to(f"/?table={stored.id}")

        with row("pv-end"):
            chosen: ui.select | ui.input
            if 0 < len(files) < MOST_FILES:
                chosen = ui.select(names, label="File", value=str(files[0][0]) if len(files) == 1 else None)
                chosen.props("outlined dense use-input fill-input hide-selected input-debounce=0")
            else:  # nothing to list, or too many to choose from
                chosen = ui.input("Path below the folder").props("outlined dense")
                chosen.on("keydown.enter", open_it)
            chosen.classes("pv-grow")
            ui.button("Open", on_click=open_it).props('unelevated no-caps aria-label="Open the file"')
        if not files:
            text(
                "No file in these folders can be read. Readable: CSV, Excel, SPSS, Stata, SAS, Parquet.",
                classes="pv-hint",
            )


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{max(size / 1e3, 0.1):,.1f} kB"


def _examples(bench: Workbench) -> None:
    with card("Try an example", "Generated data: no row describes a real person."):
        for example in EXAMPLES.values():
            with ui.element("div").classes("pv-item"):
                with stack("pv-grow pv-tight"):
                    text(example.title, "h3", "pv-h3")
                    text(example.description, classes="pv-hint")

                async def make(_: events.ClickEventArguments, key: str = example.name) -> None:
                    stored = await in_thread(bench.store.add_example, key, None)
                    ui.navigate.to(f"/?table={stored.id}")

                ui.button("Open", on_click=make).props(
                    f'outline no-caps aria-label="Open the example {example.name}"'
                ).mark(f"example-{example.name}")


def _known(bench: Workbench) -> None:
    box = card("Your tables")

    def draw() -> None:
        box.clear()
        tables = bench.store.tables()
        box.set_visibility(bool(tables))
        with box:
            text("Your tables", "h2", "pv-h2")
            for table in tables[:12]:
                _known_table(bench, table, draw)

    draw()


def _known_table(bench: Workbench, table: StoredTable, redraw: object) -> None:
    runs = len(bench.store.runs(table=table.id))
    with ui.element("div").classes("pv-item"):
        with stack("pv-grow pv-tight"):
            link = text(table.name, "a", "pv-link")
            link.props["href"] = f"/?table={table.id}"
            done = f"{runs} run{'s' if runs != 1 else ''}"
            text(f"{KINDS[table.kind]}, {_ago(table.created)}, {done}", classes="pv-hint")

        def delete() -> None:
            bench.store.delete_table(table.id)
            bench.library.forget(table.id)
            if callable(redraw):
                redraw()

        button = ui.button(icon="delete_outline", on_click=delete).props("flat round dense color=secondary")
        button.props["aria-label"] = f"Delete {table.name}"


def _ago(created: float) -> str:
    minutes = (time.time() - created) / 60
    if minutes < 1:
        return "just now"
    if minutes < 90:
        return f"{minutes:.0f} min ago"
    return f"{minutes / 60:.0f} h ago" if minutes < 48 * 60 else f"{minutes / 1440:.0f} days ago"


def _bring_back(bench: Workbench) -> None:
    hint = (
        "Verify and show a release folder that you downloaded earlier. Linked tables: pack them with their policy.yaml."
    )
    with card("Open a release", hint):
        drop_zone(
            "/api/bundles",
            "Drop a packed release (.zip)",
            "the file from Download",
            ".zip",
            done="bundle_taken",
            label="Choose a packed release",
        )
        for run in bench.store.runs("bundle")[:5]:
            link = text(run.title, "a", "pv-link")
            link.props["href"] = f"/release/{run.id}"
    ui.on("bundle_taken", lambda event: ui.navigate.to(f"/release/{event.args['id']}"))


async def _look(work: Work) -> None:
    table, profiles = work.open.table, work.open.profiles
    text(work.stored.name, "h1", "pv-h1")
    with row("pv-figures"):
        figure(f"{table.height:,}", "rows")
        figure(f"{table.width}", "columns")
        missing = sum(about.missing for about in profiles)
        figure(percent(missing / max(table.height * table.width, 1)), "cells missing")
        if table.delimiter:
            figure({"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar"}.get(table.delimiter, "?"), "delimiter")
        if table.encoding:
            figure(table.encoding, "encoding")
        if work.stored.sheet is not None:
            figure(work.stored.sheet, "sheet")
            other = ui.button("Choose another sheet", on_click=lambda: take_sheet(work.bench, work.stored.id, None))
            other.props("flat no-caps")
    await _sketches(work.open)
    with card("Rows", "Loaded as you scroll."):
        grid(f"/api/tables/{work.stored.id}/rows", list(table.columns), label="Rows of the table")
    next_step("data", work.stored.id)


async def _sketches(opened: OpenTable) -> None:
    """A card for each column, a few at a time; a search where there are many."""
    wanted, most, profiles = "", CARDS, opened.profiles

    async def look(event: events.ValueChangeEventArguments[Any]) -> None:
        nonlocal wanted, most
        wanted, most = str(event.value or "").strip().lower(), CARDS
        await draw()

    async def more() -> None:
        nonlocal most
        most += CARDS
        await draw()

    if len(profiles) > CARDS:
        search = ui.input("Search columns", on_change=look).props("outlined dense clearable debounce=200")
        search.style("max-width: 420px; width: 100%")
    place = stack()

    async def draw() -> None:
        found = [about for about in profiles if wanted in about.name.lower()]
        sketches = await in_thread(opened.sketches, found[:most])
        place.clear()
        with place:
            with ui.element("ul").classes("pv-cards").props('aria-label="Columns"'):
                for about in found[:most]:
                    _sketch(about, sketches[about.name], opened.table.height)
            if len(found) > most:
                label = f"Show more ({len(found) - most:,} columns are not shown)"
                ui.button(label, on_click=more).props("outline no-caps").style("align-self: start")

    await draw()


def _sketch(about: ColumnProfile, sketch: ColumnSketch, rows: int) -> None:
    with ui.element("li").classes("pv-card pv-column-card"):
        with row("pv-between"):
            text(about.name, "h2", "pv-h3")
            text(TYPES[about.type], "span", "pv-tag")
        text(_about(about, rows), classes="pv-hint")
        trusted(bars(sketch, about.name))
        for hint in about.missing_hints[:2]:
            text(f"“{hint.marker}” in {hint.rows:,} rows may mean missing", classes="pv-hint pv-warn")


def _about(about: ColumnProfile, rows: int) -> str:
    parts = [f"{about.distinct:,} value{'s' if about.distinct != 1 else ''}"]
    if about.missing:
        parts.append(f"{percent(about.missing / max(rows, 1))} missing")
    if about.unique_share == 1.0:
        return "Every value is unique."
    if about.unique_share > 0.0005:
        parts.append(f"{percent(about.unique_share)} of the rows have a value of their own")
    return ", ".join(parts)
