"""The runs of a table on the page: their progress, stopping and cancelling, why one failed, side by side."""

from __future__ import annotations

from nicegui import ui

from polyveil.web.pages.page_context import Work
from polyveil.web.pages.parts import card, notice, row, stack, text, trusted
from polyveil.web.pages.progress_bar import progress_bar, stamp_of
from polyveil.web.pages.runs import comparison, figures_of
from polyveil.web.store import FINISHED, StoredRun

TONES = {"done": "pv-ok", "failed": "pv-stop", "crashed": "pv-stop", "cancelled": "pv-care", "interrupted": "pv-care"}


class _Card:
    """A run on the page."""

    def __init__(self, box: ui.element) -> None:
        self.box = box
        self.body: ui.element
        self.stop: ui.button | None = None
        self.state = ""
        self.stamp = ""


class Runs:
    """All runs of the table, followed through the files they write."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.empty = text("No runs yet. They appear here with their progress and the detail lost.", classes="pv-hint")
        self.box = stack()
        self.table: ui.element
        self.cards: dict[str, _Card] = {}
        self.compared = ""

    def poll(self) -> None:
        """Look at the runs' files; draw what changed."""
        runs = self.work.bench.store.runs(table=self.work.stored.id)
        known = {run.id for run in runs}
        for gone in [run_id for run_id in self.cards if run_id not in known]:
            self.cards.pop(gone).box.delete()
        for run in reversed(runs):
            self._follow(run)
        self.empty.set_visibility(not runs)
        done = [run for run in runs if run.state == "done"]
        stamp = ",".join(run.id for run in done)
        if stamp != self.compared:
            self.compared = stamp
            self.table.clear()
            if len(done) > 1:
                with self.table, card("Side by side"):
                    trusted(comparison(done))

    def _follow(self, run: StoredRun) -> None:
        if run.id not in self.cards:
            with self.box:
                self.cards[run.id] = _Card(card(classes="pv-run").mark(f"run-{run.id}"))
            self.cards[run.id].box.move(self.box, 0)
        shown = self.cards[run.id]
        if shown.state != run.state:
            shown.state = run.state
            shown.box.clear()
            with shown.box:
                self._draw(run, shown)
        if run.state in FINISHED:
            return
        if shown.stop is not None:
            shown.stop.set_visibility(bool(run.progress.get("stoppable")))
        stamp = stamp_of(run)
        if shown.stamp != stamp:
            # The buttons stay where they are while the figures move.
            shown.stamp = stamp
            shown.body.clear()
            with shown.body:
                progress_bar(run, "Progress of the run")

    def _draw(self, run: StoredRun, shown: _Card) -> None:
        shown.stamp, shown.stop = "", None
        with row("pv-between pv-nowrap"):
            text(run.title, "h2", "pv-h3")
            text(run.state, "span", f"pv-tag {TONES.get(run.state, '')}").props("role=status")
        shown.body = stack("pv-mid")
        with shown.body:
            if run.state == "done":
                text(figures_of(run), classes="pv-hint")
            elif run.state in FINISHED:
                _why(run)
        with row():
            if run.state == "done":
                _link("Explore", f"/explore/{self.work.stored.id}?run={run.id}")
                _link("Download", f"/download/{self.work.stored.id}?run={run.id}")
            if run.state in FINISHED:
                self._delete_button(run)
            else:
                shown.stop = self._stop_button(run)
                self._cancel_button(run)

    def _stop_button(self, run: StoredRun) -> ui.button:
        def stop() -> None:
            self.work.bench.jobs.stop(run.id)
            button.set_text("Stopping")
            button.disable()

        button = ui.button("Stop and keep the best", icon="flag", on_click=stop).props("outline dense no-caps")
        button.style("padding: 4px 12px").props["aria-label"] = f"Stop the run {run.title} and keep the best groups"
        button.set_visibility(False)
        return button

    def _cancel_button(self, run: StoredRun) -> None:
        async def cancel() -> None:
            await self.work.bench.jobs.cancel(run.id)
            self.poll()

        button = ui.button("Cancel", icon="stop", on_click=cancel).props("outline dense no-caps")
        button.style("padding: 4px 12px").props["aria-label"] = f"Cancel the run {run.title}"

    def _delete_button(self, run: StoredRun) -> None:
        def delete() -> None:
            self.work.bench.store.delete_run(run.id)
            self.poll()

        button = ui.button("Delete", on_click=delete).props("flat dense no-caps color=secondary")
        button.props["aria-label"] = f"Delete the run {run.title}"


def _link(label: str, address: str) -> None:
    text(label, "a", "pv-link").props["href"] = address


def _why(run: StoredRun) -> None:
    """Why there is no release, at the run it concerns."""
    error = run.outcome.get("error", {})
    if run.state == "crashed":
        notice(
            "The process of this run ended without a message, most likely because memory ran out.",
            title="The run crashed",
        )
    elif run.state == "interrupted":
        notice("The workbench was stopped while it ran. Start it again.", "caution")
    elif error.get("kind") == "Unsatisfiable":
        nearest = error.get("nearest")
        notice(
            f"{error['constraint']}.",
            title="This policy cannot be met",
            remedy=f"Nearest reachable: {nearest}." if nearest else "",
        )
    elif error.get("faults"):
        for fault in error["faults"]:
            notice(f"{fault['rule']}.", title=fault["place"], remedy=fault["remedy"])
    elif error:
        notice(error.get("message", ""), title="It failed")
