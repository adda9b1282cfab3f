"""The tree editor: drag values and groups, or select them with mouse or keyboard and use the buttons."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nicegui import ui

from polyveil.errors import InputError
from polyveil.web import tree_edit
from polyveil.web.pages.parts import notice, row, text
from polyveil.web.tree_edit import Node, NodeForest

PAGE = 60
"""Children of one group shown at first."""
Changed = Callable[[NodeForest], Awaitable[None]]


class TreeEditor:
    """A tree on the page; every edit is handed to `changed`."""

    def __init__(
        self, forest: NodeForest, counts: Mapping[str, int], changed: Changed, earlier: TreeEditor | None = None
    ) -> None:
        self.forest, self.counts, self.changed = forest, counts, changed
        self.picked: list[str] = []
        self.shown: dict[str, int] = {}
        self.undo: list[NodeForest] = earlier.undo if earlier else []
        small = sum(1 for _ in tree_edit.walk(forest)) <= PAGE
        self.unfolded: set[str] = earlier.unfolded if earlier else set(tree_edit.groups(forest) if small else ())
        self.dragged: str | None = None
        self.items: dict[str, ui.element] = {}
        self.problem = ui.element("div")
        self.bar = row()
        self.box = ui.element("div").classes("pv-treebox")
        self._draw_bar()
        self.draw()

    # -- drawing ----------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """The tree as it is now."""
        rows = tree_edit.rows_below(self.forest, self.counts)
        self.box.clear()
        self.items = {}
        with self.box:
            self._top(rows)
            with (
                ui.element("ul").classes("pv-tree").props('role=tree aria-multiselectable=true aria-label="Hierarchy"')
            ):
                self._nodes("*", self.forest, rows, 1)

    def _top(self, rows: Mapping[str, int]) -> None:
        total = sum(rows[node.label] for node in self.forest)
        with ui.element("div").classes("pv-node pv-group") as top:
            text("anything (*)", "span", "pv-label")
            text(f"{total:,}", "span", "pv-rows")
        self._accept(top, None)

    def _nodes(self, parent: str, nodes: NodeForest, rows: Mapping[str, int], depth: int) -> None:
        most = self.shown.get(parent, PAGE)
        for node in nodes[:most]:
            with ui.element("li").props("role=none"):
                self._node(node, rows, depth)
                if node.is_group and node.label in self.unfolded:
                    with ui.element("ul").props("role=group"):
                        self._nodes(node.label, node.children, rows, depth + 1)
        if len(nodes) > most:
            with ui.element("li").props("role=none"):

                def more() -> None:
                    self.shown[parent] = most + 4 * PAGE
                    self.draw()

                ui.button(f"{len(nodes) - most:,} more", on_click=more).props("flat dense no-caps")

    def _node(self, node: Node, rows: Mapping[str, int], depth: int) -> None:
        label, picked = node.label, node.label in self.picked
        look = f"pv-node {'pv-group' if node.is_group else ''} {'pv-picked' if picked else ''}"
        item = ui.element("div").classes(look).props(f"role=treeitem tabindex=0 draggable=true aria-level={depth}")
        item.props(f"aria-selected={'true' if picked else 'false'}")
        item.props["aria-label"] = f"{label}, {rows[label]:,} rows"
        item.props["data-label"] = label
        self.items[label] = item
        if node.is_group:
            unfolded = label in self.unfolded
            item.props(f"aria-expanded={'true' if unfolded else 'false'}")
        with item:
            if node.is_group:
                mark = text("▾" if label in self.unfolded else "▸", "span", "pv-toggle").props("aria-hidden=true")
                mark.on("click.stop", lambda: self._fold(label))
            else:
                ui.element("span").classes("pv-toggle").props("aria-hidden=true")
            text(label, "span", "pv-label")
            text(f"{rows[label]:,}", "span", "pv-rows")
        item.on("click", lambda: self._pick(label))
        item.on("keydown.enter", lambda: self._pick(label))
        item.on("keydown.space.prevent", lambda: self._pick(label))
        if node.is_group:
            item.on("keydown.right", lambda: self._fold(label, True))
            item.on("keydown.left", lambda: self._fold(label, False))
            self._accept(item, label)
        item.on("dragstart", lambda: setattr(self, "dragged", label))

    def _accept(self, item: ui.element, target: str | None) -> None:
        item.on("dragover.prevent", js_handler="() => {}")

        async def drop() -> None:
            if self.dragged is not None:
                moved = self.picked if self.dragged in self.picked else [self.dragged]
                await self._edit(lambda: tree_edit.move(self.forest, moved, target))

        item.on("drop.prevent.stop", drop)

    def _draw_bar(self) -> None:
        self.bar.clear()
        some, one = bool(self.picked), len(self.picked) == 1
        labels = set(tree_edit.groups(self.forest))
        chosen = [label for label in self.picked if label in labels]
        with self.bar:
            name = ui.input("Name of the group", value=chosen[0] if one and chosen else "")
            name.props("outlined dense").style("width: 190px").mark("group-name")

            def act(label: str, work: Callable[[], NodeForest], enabled: bool, why: str) -> None:
                async def do() -> None:
                    await self._edit(work)

                button = ui.button(label, on_click=do).props("outline dense no-caps").style("padding: 4px 10px")
                button.set_enabled(enabled)
                with button:
                    ui.tooltip(why)

            picked = list(self.picked)
            act(
                "Group",
                lambda: tree_edit.group(self.forest, picked, name.value or ""),
                some,
                "Put the selection into a new group",
            )
            act(
                "Rename",
                lambda: tree_edit.rename(self.forest, picked[0], name.value or ""),
                one and bool(chosen),
                "Rename the selected group",
            )
            act("Merge", lambda: tree_edit.merge(self.forest, picked), len(chosen) > 1, "Merge the selected groups")
            act(
                "Dissolve",
                lambda: tree_edit.dissolve(self.forest, picked[0]),
                one and bool(chosen),
                "Remove the group, keep its values",
            )
            self._mover(picked, some)
            undo = ui.button(icon="undo", on_click=self._undo).props('flat round dense aria-label="Undo"')
            undo.set_enabled(bool(self.undo))

    def _mover(self, picked: list[str], enabled: bool) -> None:
        targets: dict[str, str] = {"": "anything (*)", **{name: name for name in tree_edit.groups(self.forest)[:500]}}

        async def move(event: Any) -> None:
            await self._edit(lambda: tree_edit.move(self.forest, picked, event.value or None))

        select = ui.select(targets, label="Move to", on_change=move).props("outlined dense options-dense")
        select.style("width: 170px").set_enabled(enabled)

    # -- acting -----------------------------------------------------------------------------------------------------

    def _pick(self, label: str) -> None:
        """Select or not. Only this node changes, so that quick clicks and the keyboard keep their place."""
        if label in self.picked:
            self.picked.remove(label)
            self.items[label].classes(remove="pv-picked").props("aria-selected=false")
        else:
            self.picked.append(label)
            self.items[label].classes(add="pv-picked").props("aria-selected=true")
        self._draw_bar()

    def _fold(self, label: str, unfold: bool | None = None) -> None:
        unfold = label not in self.unfolded if unfold is None else unfold
        (self.unfolded.add if unfold else self.unfolded.discard)(label)
        self.draw()
        self._focus(label)

    def _focus(self, label: str) -> None:
        """Redrawing must not lose the keyboard's place."""
        node = f"`.pv-node[data-label=${{CSS.escape({json.dumps(label)})}}]`"
        self.box.client.run_javascript(f"requestAnimationFrame(() => document.querySelector({node})?.focus())")

    async def _edit(self, work: Callable[[], NodeForest]) -> None:
        self.problem.clear()
        try:
            forest = work()
        except InputError as error:
            with self.problem:
                notice(str(error))
            return
        self.undo.append(self.forest)
        del self.undo[:-50]
        await self._show(forest)

    async def _undo(self) -> None:
        if self.undo:
            await self._show(self.undo.pop())

    async def _show(self, forest: NodeForest) -> None:
        before = set(tree_edit.groups(self.forest))
        self.unfolded |= set(tree_edit.groups(forest)) - before
        self.forest, self.picked, self.dragged = forest, [], None
        self._draw_bar()
        self.draw()
        await self.changed(forest)
