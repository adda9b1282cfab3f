"""Run: the method and its effort, live progress with the loss falling, cancelling, and runs side by side."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from polyveil.errors import PolicyError
from polyveil.methods import METHODS, method_class
from polyveil.policy import to_yaml
from polyveil.policy.schema import DEFAULT_METHOD
from polyveil.web.jobs import Busy
from polyveil.web.pages.layout import next_step, table_page
from polyveil.web.pages.live_runs import Runs
from polyveil.web.pages.options import options_form
from polyveil.web.pages.page_context import Work, Workbench, in_thread
from polyveil.web.pages.parts import at_place, card, copy_button, fault_notice, notice, row, stack, text


def add(bench: Workbench) -> None:
    """Register the view."""

    @ui.page("/run/{table_id}")
    def run(table_id: str) -> None:
        table_page(bench, "run", table_id, _build)


async def _build(work: Work) -> None:
    text("Make a release", "h1", "pv-h1")
    text("Try several methods and thresholds. Every run is kept, and Explore compares them.", classes="pv-lead")
    with ui.element("div").classes("pv-columns pv-side"):
        with stack():
            _Start(work).draw()
        with stack():
            runs = Runs(work)
    runs.table = ui.element("div")
    runs.poll()
    ui.timer(0.5, runs.poll)
    next_step("run", work.stored.id)


class _Start:
    """The form that starts a run."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.box = card()
        self.seed: int | None = None
        self.title = ""

    @property
    def method(self) -> dict[str, Any]:
        chosen = self.work.draft.section("method")
        chosen.setdefault("name", DEFAULT_METHOD)
        return chosen

    def draw(self) -> None:
        self.work.draft.save()
        _, faults = self.work.draft.check()
        self.box.clear()
        with self.box:
            text("Method", "h2", "pv-h2")
            self._choose_method()
            options_form(method_class(self.method["name"]).options_type, self.method, self.work.draft.save)
            fault_notice(at_place(faults, "method"))
            self._choose_release()
            fault_notice(at_place(faults, "release"))
            elsewhere = [f for f in faults if not f.place.startswith(("method", "release"))]
            for fault in elsewhere:
                notice(f"{fault.rule}.", title=fault.place, remedy=fault.remedy)
            self._name_and_start(bool(faults))

    def _choose_method(self) -> None:
        def choose(event: Any) -> None:
            self.method.clear()
            self.method["name"] = event.value
            release = self.work.draft.section("release")
            for key in ("form", "generalize", "counts"):
                release.pop(key, None)
            self.draw()

        name = self.method["name"]
        if name not in METHODS:
            name = DEFAULT_METHOD
            self.method["name"] = name
        about = method_class(name)
        titles = {key: _title(key, method_class(key).title) for key in METHODS}
        ui.select(titles, value=name, on_change=choose).props('outlined dense aria-label="Method"').mark("method")
        with ui.element("dl").classes("pv-explain"):
            for title, words in (("Keeps", about.guarantee), ("Effort", about.cost), ("From", about.paper)):
                text(title, "dt")
                text(words, "dd")

    def _choose_release(self) -> None:
        release = self.work.draft.section("release")
        forms = method_class(self.method["name"]).forms

        def setter(key: str) -> Any:
            def keep(event: Any) -> None:
                if event.value in (None, ""):
                    release.pop(key, None)
                else:
                    release[key] = event.value
                self.work.draft.save()

            return keep

        with row():
            form = release.get("form") if release.get("form") in forms else forms[0]
            ui.select({f: f for f in forms}, value=form, label="Published as", on_change=setter("form")).props(
                "outlined dense"
            ).style("min-width: 160px")
            ui.select(
                {"": "As the table", "parquet": "Parquet", "csv": "CSV"},
                value=release.get("format", ""),
                label="Files",
                on_change=setter("format"),
            ).props("outlined dense").style("min-width: 120px")

    def _name_and_start(self, faulty: bool) -> None:
        problem = ui.element("div")
        with row("pv-end"):
            title = ui.input("Name of the run").props("outlined dense").classes("pv-grow")
            seed = ui.number("Seed", min=0, precision=0).props("outlined dense clearable").style("width: 110px")
            with seed:
                ui.tooltip("Makes the groups reproducible. The order of released rows stays random.")

        async def start() -> None:
            problem.clear()
            policy, _ = self.work.draft.check()
            if policy is None:
                self.draw()
                return
            self.work.draft.save()
            chosen = None if seed.value is None else int(seed.value)
            try:
                yaml = await in_thread(to_yaml, policy)
                name = (title.value or "").strip()[:200] or policy.method.name
                self.work.bench.jobs.submit(self.work.stored, yaml, name, chosen)
            except (Busy, PolicyError) as error:
                with problem:
                    notice(str(error))

        button = ui.button("Start the run", icon="play_arrow", on_click=start).props("unelevated no-caps")
        button.mark("start").style("align-self: flex-start")
        button.set_enabled(not faulty)
        if not faulty:
            copy_button(self._policy, "Copy the policy")

    def _policy(self) -> str:
        policy, _ = self.work.draft.check()
        return "" if policy is None else to_yaml(policy)


def _title(name: str, title: str) -> str:
    return title if title.lower().startswith(name.lower()) else f"{name}: {title}"
