"""Columns: who or what each column is about, with the suggestion and its reason, and whom they single out together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from polyveil.errors import Fault, PolyveilError
from polyveil.policy.faults import place_name
from polyveil.table.profiling.column import ColumnProfile
from polyveil.web.pages.column import edit_column
from polyveil.web.pages.layout import next_step, table_page
from polyveil.web.pages.page_context import Work, Workbench, in_thread
from polyveil.web.pages.parts import at_place, card, drop_zone, fault_notice, figure, row, stack, text

ROLES = {
    "person": ("Person", "who the row is about: people are counted, and the key is removed"),
    "identifier": ("Identifier", "identifies a person: removed"),
    "quasi": ("Quasi", "others may know it: generalized"),
    "sensitive": ("Sensitive", "should stay private: protected"),
    "insensitive": ("Insensitive", "harmless: published as it is"),
    "drop": ("Drop", "not needed: removed"),
}
TYPES = {"numeric": "number", "categorical": "category", "ordinal": "ordered category", "date": "date"}


def add(bench: Workbench) -> None:
    """Register the view and that of a single column."""

    @ui.page("/columns/{table_id}")
    def columns(table_id: str) -> None:
        table_page(bench, "columns", table_id, _build)

    @ui.page("/columns/{table_id}/{position}")
    def column(table_id: str, position: int) -> None:
        async def build(work: Work) -> None:
            names = list(work.draft.columns)
            await edit_column(work, names[min(max(position, 0), len(names) - 1)])

        table_page(bench, "columns", table_id, build)


async def _build(work: Work) -> None:
    text("What do the columns contain?", "h1", "pv-h1")
    text(
        "Choose a role for every column. Suggestions are based on names and values; you know what they mean.",
        classes="pv-lead",
    )
    view = _Columns(work)
    with ui.element("div").classes("pv-columns").style("grid-template-columns: minmax(0, 1fr)"):
        with card() as head:
            head.classes("pv-standing")
            view.standing = row("pv-figures")
        with card():
            view.listed = ui.element("div")
        with card("Open a saved policy", "A policy file, or the manifest.json of a release, replaces the roles above."):
            zone = drop_zone(
                f"/api/tables/{work.stored.id}/draft",
                "Drop a policy (.yaml) or a manifest (.json)",
                "or choose a file",
                ".yaml,.yml,.json",
                done="policy_taken",
                label="Choose a policy file",
            )
            zone.classes("pv-small")
    ui.on("policy_taken", lambda: ui.navigate.reload())
    view.draw()
    next_step("columns", work.stored.id)
    await view.count()


class _Columns:
    """The list of columns and what their roles amount to."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.standing: ui.element
        self.listed: ui.element
        self.profiles: Mapping[str, ColumnProfile] = {about.name: about for about in work.open.profiles}

    def draw(self) -> None:
        _, faults = self.work.draft.check()
        self.listed.clear()
        with self.listed:
            fault_notice(at_place(faults, "columns")[:0] + [f for f in faults if f.place == "columns"])
            for position, name in enumerate(self.work.draft.columns):
                self._row(position, name, faults)
            for name in self.work.open.table.columns:
                if name not in self.work.draft.columns:
                    self._row(-1, name, faults)

    def _row(self, position: int, name: str, faults: Sequence[Fault]) -> None:
        column, about = self.work.draft.columns.get(name, {}), self.profiles.get(name)
        with ui.element("div").classes("pv-column-row"):
            with stack("pv-tight"):
                text(name, "h2", "pv-h3")
                text(_kind(column, about), classes="pv-hint")
            self._roles(name, column.get("role", ""), about)
            with row("pv-why pv-between pv-nowrap"):
                text(_why(column, about), classes="pv-hint")
                if column.get("role") in ("quasi", "sensitive"):
                    link = text(_edit_label(column), "a", "pv-link")
                    link.props["href"] = f"/columns/{self.work.stored.id}/{position}"
                    link.props["aria-label"] = f"{_edit_label(column)} of {name}"
            wrong = at_place(faults, place_name(("columns", name)))
            if wrong:
                with ui.element("div").classes("pv-wide"):
                    fault_notice(wrong)

    def _roles(self, name: str, role: str, about: ColumnProfile | None) -> None:
        with ui.element("div").classes("pv-roles").props("role=radiogroup") as box:
            box.props["aria-label"] = f"Role of {name}"
            for key, (title, meaning) in ROLES.items():
                button = text(title, "button", f"pv-{key}").props(
                    f"role=radio type=button aria-checked={_js(key == role)}"
                )
                button.props["title"] = meaning
                button.on("click", self._setter(name, key))

    def _setter(self, name: str, role: str) -> Callable[[], Awaitable[None]]:
        async def choose() -> None:
            about = self.profiles.get(name)
            self.work.draft.columns.setdefault(name, {})
            self.work.draft.set_role(name, role)
            column = self.work.draft.columns[name]
            # A role that generalizes or protects needs a type; the profile knows it.
            if role in ("quasi", "sensitive") and "type" not in column and about is not None:
                if about.hierarchy and role == "quasi":
                    column["hierarchy"] = dict(about.hierarchy)
                if about.type != "ordinal":
                    column["type"] = about.type
                if about.type == "date" and about.date_format:
                    column["date_format"] = about.date_format
            self.work.draft.save()
            self.draw()
            await self.count()

        return choose

    async def count(self) -> None:
        """How many people the quasi-identifiers single out."""
        draft, rows = self.work.draft, self.work.open.table.height
        quasi = [name for name in draft.having("quasi") if name in self.work.open.table.columns]
        try:
            alone = await in_thread(self.work.bench.library.singled_out, self.work.stored.id, quasi) if quasi else 0
        except PolyveilError:
            alone = 0
        self.standing.clear()
        with self.standing:
            share = alone / max(rows, 1)
            with ui.element("div").props("role=status aria-live=polite").classes("pv-row pv-figures"):
                figure(
                    f"{alone:,} of {rows:,}",
                    "rows identified by the quasi-identifiers alone",
                    "pv-bad" if share > 0.05 else "",
                )
                figure(f"{share:.1%}", "of the people in the table")
            for role, (title, _) in ROLES.items():
                figure(str(len(draft.having(role))), title.lower())


def _js(value: bool) -> str:
    return "true" if value else "false"


def _kind(column: Mapping[str, Any], about: ColumnProfile | None) -> str:
    chosen = column.get("type") or (about.type if about else "categorical")
    return f"{TYPES[chosen]}, {about.distinct:,} values" if about else TYPES[chosen]


def _why(column: Mapping[str, Any], about: ColumnProfile | None) -> str:
    if about is None:
        return "The table has no such column."
    if not column:
        return f"This column is not in the policy. Choose a role. Suggested: {about.role}."
    if column.get("role") == about.role:
        return about.reason
    return f"Suggested: {about.role}. {about.reason}"


def _edit_label(column: Mapping[str, Any]) -> str:
    return "Hierarchy" if column.get("role") == "quasi" else "Hierarchy and levels"
