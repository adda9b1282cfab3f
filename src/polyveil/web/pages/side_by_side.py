"""The original and its release beside each other: classes marked, and what is chosen on one side shown on both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from nicegui import events, ui

from polyveil.web.explore import CLASS
from polyveil.web.pages.page_context import Work
from polyveil.web.pages.parts import card, grid, row, source, stack, text
from polyveil.web.store import StoredRun


def side_by_side(run: StoredRun, views: Mapping[str, Any], work: Work | None) -> None:
    """Two grids that follow each other by class, and the sensitive tables of a linked release below."""
    view = _Sides(run, views)
    hint = "Rows of one group look alike in the release. Click a row to see its group on both sides."
    with card("Original and release" if work else "The release", hint if work else ""):
        view.bar = row("pv-between")
        with ui.element("div").classes("pv-columns pv-two" if work else ""):
            if work is not None:
                with stack("pv-tight"):
                    text("Original, visible only to you", "h3", "pv-h3")
                    view.add("original", list(work.open.table.columns), "Rows of the original by group")
            with stack("pv-tight"):
                text("Release", "h3", "pv-h3")
                view.add("released", list(views["columns"]), "Rows of the release by group")
        if views["slices"]:
            text("Sensitive values are published in separate tables, linked only by group.", classes="pv-hint")
            with ui.element("div").classes("pv-columns pv-two"):
                for about in views["slices"]:
                    with stack("pv-tight"):
                        text(f"{about['table']}: {', '.join(about['attributes'])}", "h3", "pv-h3")
                        names = pl.read_parquet_schema(run.private / f"{about['table']}.parquet")
                        columns = [name for name in names if name != CLASS]
                        view.add(about["table"], columns, "Rows of a sensitive table by group", follows=False)
        view.draw_bar()


class _Sides:
    """The grids, and the class that is chosen."""

    def __init__(self, run: StoredRun, views: Mapping[str, Any]) -> None:
        self.run, self.views = run, views
        self.grids: dict[str, ui.aggrid] = {}
        self.parts: dict[str, ui.aggrid] = {}
        """The sensitive tables of a linked release, by name."""
        self.bar: ui.element
        self.chosen: int | None = None
        self.only = False

    def add(self, side: str, columns: list[str], label: str, *, follows: bool = True) -> None:
        heading = "group" if follows else ""  # a sensitive table names its groups itself
        shown = grid(self._address(side), columns, label=label, height="380px", classes=True, pinned=heading)
        if follows:
            shown.on("cellClicked", self._click)
            self.grids[side] = shown
        else:
            self.parts[side] = shown

    def _address(self, side: str) -> str:
        kept = f"?class={self.chosen}" if self.only and self.chosen is not None else ""
        return f"/api/runs/{self.run.id}/rows/{side}{kept}"

    def _click(self, event: events.GenericEventArguments) -> None:
        data = event.args.get("data") or {}
        if isinstance(data.get("class"), int):
            self.choose(data["class"])
            self._show_groups(data if event.sender is self.grids["released"] else {})

    def _show_groups(self, released_row: Mapping[str, Any]) -> None:
        """Mark, in every sensitive table, the group that a row of the release is linked with."""
        for about in self.views["slices"]:
            column = f"c{self.views['columns'].index(about['group'])}"
            table = self.run.private / f"{about['table']}.parquet"
            found = pl.scan_parquet(table).filter(pl.col(about["group"]) == released_row.get(column, "")).head(1)
            number = found.select(CLASS).collect()[CLASS].to_list()
            shown = self.parts[about["table"]]
            shown.run_grid_method("setGridOption", "context", {"chosen": number[0] if number else -1})
            shown.run_grid_method("redrawRows")
            if number:
                shown.run_grid_method("ensureIndexVisible", self._first(about["table"], number[0]), "top")

    def choose(self, number: int | None) -> None:
        """Mark a class on both sides and bring it into view."""
        self.chosen = number
        self.draw_bar()
        for side, shown in self.grids.items():
            shown.run_grid_method("setGridOption", "context", {"chosen": -1 if number is None else number})
            shown.run_grid_method("redrawRows")
            if number is not None and not self.only:
                shown.run_grid_method("ensureIndexVisible", self._first(side, number), "top")
        if self.only:
            self._reload()

    def _first(self, side: str, number: int) -> int:
        """Where a class begins: both sides are sorted by class."""
        found = pl.scan_parquet(self.run.private / f"{side}.parquet").select((pl.col(CLASS) < number).sum()).collect()
        return int(found.item() or 0)

    def _reload(self) -> None:
        for side, shown in self.grids.items():
            shown.run_grid_method("updateGridOptions", {":datasource": source(self._address(side))})

    def draw_bar(self) -> None:
        self.bar.clear()
        with self.bar:
            status = "No group is selected." if self.chosen is None else f"Group {self.chosen}"
            text(status, "span", "pv-says").props("role=status aria-live=polite")
            if self.chosen is not None:
                with row():

                    def turn(event: Any) -> None:
                        self.only = bool(event.value)
                        self._reload()

                    ui.switch("Show only this group", value=self.only, on_change=turn)
                    ui.button("Clear the selection", on_click=self._none).props("flat dense no-caps")

    def _none(self) -> None:
        alone, self.only = self.only, False
        self.choose(None)
        if alone:
            self._reload()
