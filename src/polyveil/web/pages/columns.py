"""Columns: who or what each column is about, with the suggestion and its reason, and whom they single out together."""

from __future__ import annotations

import json

from nicegui import ui

from polyveil.web.pages.column import edit_column
from polyveil.web.pages.layout import next_step, table_page
from polyveil.web.pages.page_context import Work, Workbench
from polyveil.web.pages.parts import card, drop_zone, text
from polyveil.web.roles import TYPES

ROLES = {
    "person": ("Person", "who the row is about: people are counted, and the key is removed"),
    "identifier": ("Identifier", "identifies a person: removed"),
    "quasi": ("Quasi", "others may know it: generalized"),
    "sensitive": ("Sensitive", "should stay private: protected"),
    "insensitive": ("Insensitive", "harmless: published as it is"),
    "drop": ("Drop", "not needed: removed"),
    "weight": ("Weight", "sampling weight: published as the mean of each group"),
}


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
    # The browser draws the list itself (static/columns.js): only the rows in sight, so that 500 columns stay quick.
    shown = ui.element("pv-columns")
    shown.props["data-table"] = work.stored.id
    shown.props["data-roles"] = json.dumps(ROLES)
    shown.props["data-types"] = json.dumps(TYPES)
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
    next_step("columns", work.stored.id)
