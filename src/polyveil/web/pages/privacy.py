"""Privacy: which guarantees, how strict, within what the table supports - each in plain words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from polyveil.advice.recommendation import WIDE_RANGE
from polyveil.errors import Fault, PolyveilError
from polyveil.models import AnyColumns, JointCloseness, KAnonymity, LevelDiversity, Model, TCloseness
from polyveil.policy.guarantees import guarantee_keys
from polyveil.policy.schema import Privacy
from polyveil.reports.markup import percent
from polyveil.results import counted
from polyveil.web.pages.guarantee import chosen_kind, explanation, guarantee, slider
from polyveil.web.pages.layout import next_step, table_page
from polyveil.web.pages.page_context import Work, Workbench, in_thread
from polyveil.web.pages.parts import at_place, card, fault_notice, notice, row, stack, text
from polyveil.web.pages.risk import risk_card
from polyveil.web.reach import Bounds, Reach, reach

DIVERSITY = {
    "frequency": "no value is likelier than 1/l",
    "distinct": "at least l different values",
    "entropy": "as uncertain as l equal values",
    "recursive": "recursive (c,l)",
}
MANY = 12
"""From more sensitive columns on, those without a t of their own are offered in a choice."""
ANY_COLUMNS, KNOWN_COLUMNS = "k in any few quasi-identifiers", 3
_OWN_CARD = ("l", "t")
"""Guarantees of single columns with more to choose than a threshold."""


def add(bench: Workbench) -> None:
    """Register the view."""

    @ui.page("/privacy/{table_id}")
    def privacy(table_id: str) -> None:
        table_page(bench, "privacy", table_id, _build)


async def _build(work: Work) -> None:
    text("How much protection do you need?", "h1", "pv-h1")
    text(
        "Each guarantee says what it protects against and what it does not. "
        "Slider limits are the strictest values this table can reach.",
        classes="pv-lead",
    )
    try:
        found = await in_thread(reach, work.open.table, work.draft.data, work.draft.folder)
    except PolyveilError as error:
        notice(str(error), title="Check the columns first")
        link = text("Go to Columns", "a", "pv-link")
        link.props["href"] = f"/columns/{work.stored.id}"
        return
    ui.on("population_taken", lambda: ui.navigate.reload())
    view = _Privacy(work, found)
    view.body = stack()
    view.draw()
    next_step("privacy", work.stored.id)


class _Privacy:
    """All guarantees of the draft."""

    def __init__(self, work: Work, found: Reach) -> None:
        self.work, self.reach = work, found
        self.body: ui.element
        self.more_shown = False
        self.names = [name for name in work.draft.having("sensitive") if name in found.columns]

    @property
    def asked(self) -> dict[str, Any]:
        return self.work.draft.section("privacy")

    def save(self) -> None:
        self.work.draft.save()

    def draw(self) -> None:
        """Everything anew: switching one guarantee may mend or make faults elsewhere."""
        self.work.draft.save()
        _, faults = self.work.draft.check()
        general = [f for f in faults if f.place in ("privacy", "columns", "the policy")]
        self.body.clear()
        with self.body:
            fault_notice(general)
            with ui.element("div").classes("pv-columns pv-two"):
                with stack():
                    self._crowd(faults)
                    if self.names:
                        self._diversity(faults)
                        self._suppression(faults)
                with stack():
                    if self.names:
                        self._closeness(faults)
                        self._joint(faults)
                        self._more(faults)
                    else:
                        notice(
                            "No column is sensitive, so only k can be required.",
                            "info",
                            remedy="Give columns that should stay private the role sensitive.",
                        )
                        self._suppression(faults)

    def _crowd(self, faults: Sequence[Fault]) -> None:
        bounds = self.reach.bounds(KAnonymity)
        if bounds is None:
            return
        note = f"The table has {self.reach.rows:,} rows."
        people = bool(self.work.draft.having("person"))
        if people:
            note += " People are counted, each with all their rows."
        guarantee(KAnonymity, self.asked, bounds, self, at_place(faults, "privacy.k"), note=note, in_people=people)
        self._any_columns(at_place(faults, "privacy.any"))
        of_risk = [fault for fault in faults if fault.place.startswith("privacy.risk")]
        risk_card(self.asked, self, of_risk, self.work.stored.id)

    def _any_columns(self, faults: Sequence[Fault]) -> None:
        """k for any few quasi-identifiers instead of all of them together."""
        k, most = self.asked.get("k"), len(self.work.draft.having("quasi")) - 1
        if "any" not in self.asked and (k is None or most < 1):
            return

        def turn(event: Any) -> None:
            if event.value:
                self.asked["any"] = min(KNOWN_COLUMNS, most)
            else:
                self.asked.pop("any", None)
            self.draw()

        with card(classes="pv-model"):
            with row("pv-between pv-nowrap"):
                text(ANY_COLUMNS, "h2", "pv-h2")
                switch = ui.switch(value="any" in self.asked, on_change=turn).mark("ask-any")
                switch.props["aria-label"] = f"Require {ANY_COLUMNS}"
            if isinstance(self.asked.get("any"), int):
                bounds = Bounds(1, max(most, 1), 1, KNOWN_COLUMNS, most=most + 1)
                slider(self.asked, "any", bounds, self.save, label=ANY_COLUMNS, shown=_about_any)
            text("k then does not count for all quasi-identifiers together. It loses less detail.", classes="pv-hint")
            explanation(AnyColumns)
            fault_notice(faults)

    def _closeness(self, faults: Sequence[Fault]) -> None:
        far = max(self.reach.columns[name].t for name in self.names)
        top = max(math.ceil(far * 100) / 100, 0.02)
        box = guarantee(
            TCloseness,
            self.asked,
            Bounds(0.01, top, 0.01, min(0.2, top)),
            self,
            at_place(faults, "privacy.t"),
            note=f"t = {top:g} or more has no effect on this table.",
        )
        with box:
            self._advice(top)
            text("For individual columns", "h3", "pv-h3")
            shown = self.names
            if len(self.names) > MANY:
                shown = [name for name in self.names if self.work.draft.columns[name].get("t") is not None]
                self._choose_own_t([name for name in self.names if name not in shown], top)
            for name in shown:
                self._own_t(name, faults)

    def _choose_own_t(self, names: Sequence[str], top: float) -> None:
        """Many columns: a choice instead of a list."""

        def add(event: Any) -> None:
            self.work.draft.columns[event.value]["t"] = min(self.asked.get("t") or 0.2, top)
            self.draw()

        label = f"Give one of {len(names):,} columns a t of its own"
        chosen = ui.select(list(names), label=label, on_change=add)
        chosen.props("outlined dense use-input fill-input hide-selected input-debounce=0").classes("pv-grow")

    def _advice(self, top: float) -> None:
        """What the table itself suggests for t."""
        advised, between = self.reach.advised_t, self.reach.advised_between
        if advised is None:
            return
        words = f"Advice: t = {advised:.2f}, from how much the sensitive columns overlap."
        decides = between is None or between[1] - between[0] <= WIDE_RANGE
        if between:
            words += f" Other ways to code the same values give t from {between[0]:.2f} to {between[1]:.2f}"
            words += "." if decides else ": too wide a range for the overlap alone to decide."
            words += " It says how alike the columns are, not how much protection people need."

        def take() -> None:
            self.asked["t"] = round(min(max(advised, 0.01), top), 2)
            self.draw()

        with row("pv-between"):
            text(words, "span", "pv-hint pv-grow")
            if decides:
                ui.button("Use it", on_click=take).props('outline dense no-caps aria-label="Use the advised t"')

    def _own_t(self, name: str, faults: Sequence[Fault]) -> None:
        column, support = self.work.draft.columns[name], self.reach.columns[name]
        top = max(math.ceil(support.t * 100) / 100, 0.02)

        def turn(event: Any) -> None:
            if event.value:
                column["t"] = min(self.asked.get("t") or 0.2, top)
            else:
                column.pop("t", None)
            self.draw()

        with ui.element("div").classes("pv-stack pv-tight"):
            with row("pv-between"):
                ui.switch(f"{name} has its own t", value=column.get("t") is not None, on_change=turn)
                text(f"{support.values:,} values, {support.distance} distance", "span", "pv-hint")
            if column.get("t") is not None:
                slider(column, "t", Bounds(0.01, top, 0.01, 0.2), self.save, label=f"t of {name}")
            fault_notice(at_place(faults, f"columns.{name}.t"))

    def _diversity(self, faults: Sequence[Fault]) -> None:
        kind = self.asked.get("diversity", "frequency")
        most = self.reach.most_l(kind)
        if isinstance(self.asked.get("l"), Mapping):
            self._by_level(faults)
            return
        own = [name for name in self.names if self.work.draft.columns[name].get("l") is not None]
        box = guarantee(
            chosen_kind("l", self.asked),
            self.asked,
            Bounds(2, max(most, 2), 1, min(2, max(most, 2))),
            self,
            at_place(faults, "privacy.l", "privacy.diversity"),
            note=f"The whole table has l = {most}. A larger l needs rows to be left out."
            if most >= 2
            else "One value is so common that l = 2 or more needs rows to be left out.",
        )
        with box:
            if self.asked.get("l") is not None:
                self._kind_of_diversity(kind)
            if own:
                text(f"{', '.join(own)}: an l of its own, by security level.", classes="pv-hint")

    def _kind_of_diversity(self, kind: str) -> None:
        def choose(event: Any) -> None:
            self.asked.pop("diversity", None)
            self.asked.pop("c", None)
            if event.value == "levels":
                self.asked["l"] = {0: 1, 1: 2, 2: 3}
            elif event.value != "frequency":
                self.asked["diversity"] = event.value
            self.draw()

        options = DIVERSITY | {"levels": "one l per security level"}
        select = ui.select(options, value=kind, on_change=choose, label="What l means").props("outlined dense")
        select.style("max-width: 340px")
        if kind == "recursive":
            self.asked.setdefault("c", 2.0)
            slider(self.asked, "c", Bounds(0.5, 10, 0.1, 2.0), self.save, label="c")

    def _by_level(self, faults: Sequence[Fault]) -> None:
        per_level = {int(level): int(least) for level, least in self.asked["l"].items()}
        with card("Several values, by security level", classes="pv-model"):
            text("No value makes up more than 1/l of a group, with the l of its level.", classes="pv-says")
            with row():
                for level in sorted({*per_level, 0, 1, 2}):

                    def keep(event: Any, at: int = level) -> None:
                        if event.value is not None and event.value >= 1:
                            self.asked["l"] = {**per_level, at: int(event.value)}
                            self.draw()

                    field = ui.number(f"l of level {level}", value=per_level.get(level, 1), min=1, on_change=keep)
                    field.props("outlined dense debounce=500").style("width: 130px")

            def single() -> None:
                self.asked["l"] = 2
                self.draw()

            ui.button("One l for all values", on_click=single).props("flat dense no-caps").style("align-self:start")
            explanation(LevelDiversity)
            fault_notice(at_place(faults, "privacy.l"))

    def _suppression(self, faults: Sequence[Fault]) -> None:
        with card("Rows that may be left out", classes="pv-model"):
            text("Unusual rows cost all others detail. Leaving a few rows out can help a lot.", classes="pv-hint")

            self.asked.setdefault("suppression_limit", 0.0)
            slider(
                self.asked, "suppression_limit", Bounds(0.0, 0.2, 0.005, 0.0, most=1.0), self.save,
                label="Largest share of rows left out", shown=lambda v: f"At most {percent(v)} of the rows.",
            )  # fmt: skip
            fault_notice(at_place(faults, "privacy.suppression_limit"))

    def _joint(self, faults: Sequence[Fault]) -> None:
        if len(self.names) < 2:
            return
        with card("Columns together", classes="pv-model"):
            text(
                "Sensitive columns that are each close to the whole table can still reveal much in combination.",
                classes="pv-hint",
            )
            for number, joint in enumerate(list(self.asked.get("joint", []))):
                self._one_joint(number, joint, faults)

            def more() -> None:
                self.asked.setdefault("joint", []).append({"columns": self.names[:2], "t": 0.3})
                self.draw()

            ui.button("Add a combination", on_click=more).props("outline no-caps dense").style("align-self: start")
            explanation(JointCloseness)

    def _one_joint(self, number: int, joint: dict[str, Any], faults: Sequence[Fault]) -> None:
        def choose(event: Any) -> None:
            joint["columns"] = list(event.value)
            self.draw()

        def drop() -> None:
            self.asked["joint"].pop(number)
            if not self.asked["joint"]:
                self.asked.pop("joint")
            self.draw()

        with row("pv-nowrap"):
            chosen = ui.select(self.names, value=list(joint["columns"]), multiple=True, on_change=choose)
            chosen.props('outlined dense use-chips aria-label="Columns judged together"').classes("pv-grow")
            ui.button(icon="close", on_click=drop).props('flat round dense aria-label="Remove the combination"')
        slider(joint, "t", Bounds(0.01, 1.0, 0.01, 0.3), self.save, label="t of the combination")
        fault_notice(at_place(faults, f"privacy.joint[{number}]"))

    def _more(self, faults: Sequence[Fault]) -> None:
        """Every other guarantee of single columns, those of installed packages included."""
        keys = [key for key in guarantee_keys(Privacy, "column") if key not in _OWN_CARD]
        self.more_shown = self.more_shown or any(self.asked.get(key) is not None for key in keys)

        def show(event: Any) -> None:
            self.more_shown = event.value

        box = ui.expansion("More guarantees", value=self.more_shown, on_value_change=show)
        with box.classes("pv-card").props("dense"), stack():
            for key in keys:
                kind = chosen_kind(key, self.asked)
                bounds = self.reach.bounds(kind)
                if bounds is not None:
                    note = _note(key, bounds, kind)
                    guarantee(kind, self.asked, bounds, self, at_place(faults, f"privacy.{key}"), note=note)


def _about_any(columns: float) -> str:
    return f"Whoever knows {counted(int(columns), 'quasi-identifier')} of a person finds k rows that fit, or none."


def _note(key: str, bounds: Bounds, kind: type[Model]) -> str:
    """What the table itself says about the ends of the slider."""
    if bounds.most is not None:
        return f"The whole table reaches {key} = {bounds.most:g}."
    if kind.form is not None and bounds.low > kind.form.low:
        return f"The whole table as one group has {bounds.low:g}: no release can be stricter."
    return f"{key} = {bounds.high:g} or more has no effect on this table." if _narrowed(bounds, kind) else ""


def _narrowed(bounds: Bounds, kind: type[Model]) -> bool:
    return kind.form is not None and bounds.high < kind.form.high
