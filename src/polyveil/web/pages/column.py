"""One column: its type, how its values become coarser, level by level with counts, and security levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from nicegui import ui

from polyveil.errors import Fault, InputError, PolicyError
from polyveil.policy import from_dict
from polyveil.policy.hierarchy import Hierarchy
from polyveil.table.bind import bind
from polyveil.table.bind_column import codes_of as cell_codes
from polyveil.table.domain import Domain, TreeDomain
from polyveil.table.source import Table
from polyveil.web.pages.hierarchy import TreeEditor
from polyveil.web.pages.levels import security_levels
from polyveil.web.pages.page_context import Work, in_thread
from polyveil.web.pages.parts import card, drop_zone, fault_notice, notice, row, stack, text
from polyveil.web.pages.rules import rule_form
from polyveil.web.tree_edit import Level, NodeForest, flat, from_hierarchy, levels, to_csv, to_nested, with_values
from polyveil.web.tree_from_data import tree_from_data

CHIPS = 40
DISTANCES = {
    "": "chosen by its type",
    "equal": "equal: any two values are equally far apart",
    "ordered": "ordered: neighbours in the order are close",
    "hierarchical": "hierarchical: values of one group are close",
    "hellinger": "Hellinger",
    "js": "Jensen-Shannon",
    "kl": "Kullback-Leibler",
}


@dataclass(frozen=True, eq=False)
class Shape:
    """A column as the draft reads it, or why it cannot be read that way."""

    domain: Domain | None
    counts: Mapping[str, int]
    missing: int
    faults: Sequence[Fault] = ()

    @property
    def hierarchy(self) -> Hierarchy | None:
        found = self.domain
        return found.hierarchy if isinstance(found, TreeDomain) and not found.as_set else None


def shape_of(work: Work, name: str) -> Shape:
    """Bind this column alone."""
    table = work.open.table
    column = {key: value for key, value in work.draft.columns[name].items() if key not in ("t", "l", "levels")}
    alone = Table(table.frame.select(name), table.name, table.decimal, table.first_line)
    try:
        asked = {"columns": {name: column}, "privacy": {"k": 2}, "missing": work.draft.data.get("missing")}
        bound = bind(from_dict(asked, folder=work.draft.folder, files="beside"), alone)
    except PolicyError as error:
        cells = table.frame[name].cast(pl.String)
        return Shape(None, work.open.counts(name), cells.null_count(), error.faults)
    only = (*bound.quasi, *bound.sensitive)[0]
    per_code = np.bincount(cell_codes(only.domain, only.cells), minlength=only.domain.size)
    counts = {label: int(rows) for label, rows in zip(only.domain.labels, per_code, strict=False)}
    return Shape(only.domain, counts, only.cells.null_count())


async def edit_column(work: Work, name: str) -> None:
    """The page of one column."""
    back = text("All columns", "a", "pv-back").props(f'href="/columns/{work.stored.id}"')
    back.style("padding: 0; align-self: flex-start")
    text(name, "h1", "pv-h1")
    page = _ColumnPage(work, name)
    with ui.element("div").classes("pv-columns pv-side"):
        with stack():
            page.rules = card()
            page.importing = card()
            page.distance = stack()
        with stack():
            page.tree = card()
            page.steps = card()
    page.protection = stack()
    await page.redraw()


class _ColumnPage:
    """Keeps the parts of the page in step with the draft."""

    def __init__(self, work: Work, name: str) -> None:
        self.work, self.name = work, name
        self.rules: ui.element
        self.faults: ui.element
        self.importing: ui.element
        self.tree: ui.element
        self.steps: ui.element
        self.distance: ui.element
        self.protection: ui.element
        self.editor: TreeEditor | None = None

    @property
    def column(self) -> dict[str, Any]:
        return self.work.draft.columns[self.name]

    async def change(self, *, keep_form: bool = False, **changes: Any) -> None:
        """Set keys of the column (None removes one), save, and show the result.

        With `keep_form`, the form stays as it is, so that whoever types in it can go on.
        """
        for key, value in changes.items():
            if value is None:
                self.column.pop(key, None)
            else:
                self.column[key] = value
        self.work.draft.save()
        await self.redraw(keep_form=keep_form)

    async def redraw(self, *, keep_form: bool = False) -> None:
        shape = await in_thread(shape_of, self.work, self.name)
        if keep_form:
            self._draw_faults(shape)
        else:
            self._draw_rules(shape)
            self._draw_import()
        self._draw_tree(shape)
        await self._draw_levels(shape)
        self._draw_protection(shape)

    def _draw_rules(self, shape: Shape) -> None:
        self.rules.clear()
        with self.rules:
            text("How values are generalized", "h2", "pv-h2")
            rule_form(self.column, shape.counts, self.change, self._start_tree)
            self.faults = stack()
        self._draw_faults(shape)

    def _draw_faults(self, shape: Shape) -> None:
        self.faults.clear()
        with self.faults:
            fault_notice(shape.faults)

    def _draw_import(self) -> None:
        self.importing.clear()
        with self.importing:
            text("Import a hierarchy", "h2", "pv-h2")
            text("CSV with one line per value, then ever larger groups; ARX's text format is one.", classes="pv-hint")
            drop_zone(
                f"/api/tables/{self.work.stored.id}/hierarchy",
                "Drop a hierarchy (.csv)",
                "or choose a file",
                ".csv,.txt,.tsv",
                done="hierarchy_taken",
                label="Choose a hierarchy file",
                field={"column": self.name},
            ).classes("pv-small")
            text("From the data", "h3", "pv-h3")
            text(
                "Puts values that go with similar sensitive values into one group. Edit the tree before you use it. It "
                "is published with the release, so readers see which values are alike.",
                classes="pv-hint",
            )
            ui.button("Make a tree from the data", icon="account_tree", on_click=self._tree_from_data).props(
                "outline dense no-caps"
            ).style("align-self: start; padding: 4px 10px")
        ui.on("hierarchy_taken", lambda: ui.navigate.reload())

    async def _start_tree(self) -> None:
        """A tree to edit: what there is already, else every value by itself."""
        shape = await in_thread(shape_of, self.work, self.name)
        tree = shape.hierarchy
        forest = from_hierarchy(tree) if tree is not None and tree.depth > 1 else flat(sorted(shape.counts))
        await self.change(hierarchy={"tree": to_nested(forest)}, recode=None, type="categorical")

    async def _tree_from_data(self) -> None:
        """Groups of values by the sensitive columns of the draft."""
        sensitive = [
            name
            for name, about in self.work.draft.columns.items()
            if about.get("role") == "sensitive" and name != self.name
        ]
        try:
            forest = await in_thread(tree_from_data, self.work.open.table.frame, self.name, sensitive)
        except InputError as error:
            with self.importing:
                notice(str(error))
            return
        await self.change(hierarchy={"tree": to_nested(forest)}, recode=None, type="categorical")

    def _export(self, forest: NodeForest) -> None:
        """The tree as a CSV file that can be imported again: a value, then ever larger groups."""
        ui.download.content(to_csv(forest), f"{self.name}.csv", "text/csv")

    def _draw_tree(self, shape: Shape) -> None:
        tree = shape.hierarchy
        self.tree.clear()
        is_tree = tree is not None and (tree.depth > 1 or isinstance(self.column.get("hierarchy"), dict))
        self.tree.set_visibility(is_tree)
        if not is_tree or tree is None:
            return
        forest = with_values(from_hierarchy(tree), sorted(shape.counts))
        with self.tree:
            text("As a tree", "h2", "pv-h2")
            text("Drag values and groups, or select them and use the buttons.", classes="pv-hint")
            editor = self.editor = TreeEditor(forest, shape.counts, self._tree_changed, self.editor)
            ui.button("Export as CSV", icon="download", on_click=lambda: self._export(editor.forest)).props(
                "outline dense no-caps"
            ).style("align-self: start; padding: 4px 10px")

    async def _tree_changed(self, forest: Any) -> None:
        """An edit: the tree draws itself, only the levels follow."""
        self.column["hierarchy"] = {"tree": to_nested(forest)}
        self.column.pop("recode", None)
        if self.column.get("type") in ("numeric", "date"):
            self.column["type"] = "categorical"
        self.work.draft.save()
        shape = await in_thread(shape_of, self.work, self.name)
        self._draw_rules(shape)
        await self._draw_levels(shape)

    async def _draw_levels(self, shape: Shape) -> None:
        tree = shape.hierarchy
        counts = {"missing": shape.missing, **shape.counts} if shape.missing else shape.counts
        found = await in_thread(levels, tree, counts) if tree is not None else []
        self.steps.clear()
        self.steps.set_visibility(bool(found))
        with self.steps:
            text("Level by level", "h2", "pv-h2")
            text("What a cell becomes at each level, and how many rows have it.", classes="pv-hint")
            for level in found:
                _level(level, len(found) - 1)

    def _draw_protection(self, shape: Shape) -> None:
        self.protection.clear()
        self.distance.clear()
        if self.column.get("role") != "sensitive":
            return

        async def choose(event: Any) -> None:
            await self.change(distance=event.value or None)

        with (
            self.distance,
            card("Distance", "How far apart two values are. Closeness (t) is measured with this distance."),
        ):
            select = ui.select(DISTANCES, value=self.column.get("distance", ""), on_change=choose)
            select.props('outlined dense aria-label="Distance"')
        with self.protection:
            security_levels(self.work, self.name, shape.counts)


def _level(level: Level, top: int) -> None:
    count = len(level.groups)
    what = "anything" if level.number == top else f"{count:,} {'value' if level.number == 0 else 'group'}"
    what += "s" if level.number != top and count != 1 else ""
    with ui.element("div").classes("pv-level"):
        with row("pv-between"):
            text(f"Level {level.number}", "h3", "pv-h3")
            text(f"{what}, rarest in {level.smallest:,} rows", "span", "pv-hint")
        with ui.element("div").classes("pv-chips"):
            for label, rows in level.groups[:CHIPS]:
                with ui.element("span").classes("pv-chip"):
                    text(label, "span")
                    text(f"{rows:,}", "b")
            if len(level.groups) > CHIPS:
                text(f"{len(level.groups) - CHIPS:,} more", "span", "pv-hint")
