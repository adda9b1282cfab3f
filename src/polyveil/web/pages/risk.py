"""Re-identification risk as a control: the attacker, the greatest and the mean risk, and the population."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from polyveil.errors import Fault
from polyveil.models import Model
from polyveil.models.risk import JournalistRisk, MarketerRisk, ProsecutorRisk, RegisterRisk
from polyveil.models.weighted import WeightedRisk
from polyveil.web.pages.guarantee import View, explanation
from polyveil.web.pages.parts import card, drop_zone, fault_notice, row, text
from polyveil.web.store import ENDINGS

TITLE = "Risk of being found"
ATTACKERS = {
    "prosecutor": "Prosecutor: knows who is in the table",
    "journalist": "Journalist: knows the population, looks for anybody",
    "marketer": "Marketer: knows the population, looks for everybody",
}
KINDS: dict[str, type[Model]] = {"prosecutor": ProsecutorRisk, "journalist": JournalistRisk, "marketer": MarketerRisk}
KNOWN_BY = {
    "fraction": "The table is a random sample of a share of it",
    "table": "A table with everybody in it",
    "weights": "The sampling weights of the rows",
}
BY_POPULATION: dict[str, type[Model]] = {"table": RegisterRisk, "weights": WeightedRisk}
START = 0.09
FIELDS = {
    "max": "Greatest risk",
    "average": "Average risk",
    "strict_k": "Smallest group",
}


def risk_card(asked: dict[str, Any], view: View, faults: Sequence[Fault], table_id: str) -> None:
    """One card for `privacy.risk`, which is absent while it is not asked for."""
    risk = asked.get("risk")

    def turn(event: Any) -> None:
        if event.value:
            asked["risk"] = {"max": START}
        else:
            asked.pop("risk", None)
        view.draw()

    with card(classes="pv-model"):
        with row("pv-between pv-nowrap"):
            text(TITLE, "h2", "pv-h2")
            switch = ui.switch(value=isinstance(risk, dict), on_change=turn).mark("ask-risk")
            switch.props["aria-label"] = f"Require {TITLE}"
        if isinstance(risk, dict):
            _settings(risk, view, table_id)
        explanation(_kind(risk if isinstance(risk, dict) else {}))
        fault_notice(faults)


def _kind(risk: dict[str, Any]) -> type[Model]:
    attacker = str(risk.get("attacker", "prosecutor"))
    known = BY_POPULATION.get(_known_by(risk)) if attacker == "journalist" else None
    return known or KINDS[attacker]


def _known_by(risk: dict[str, Any]) -> str:
    """How the population is given."""
    given = risk.get("population") or {}
    return next((key for key in ("table", "weights") if given.get(key)), "fraction")


def _settings(risk: dict[str, Any], view: View, table_id: str) -> None:
    attacker = risk.get("attacker", "prosecutor")

    def choose(event: Any) -> None:
        risk["attacker"] = event.value
        if event.value == "prosecutor":
            risk.pop("population", None)
            risk.pop("unique_in_population", None)
        else:
            risk.setdefault("population", {"fraction": 0.01})
        if event.value == "marketer" and "max" in risk:
            risk.setdefault("average", risk.pop("max"))
        view.draw()

    select = ui.select(ATTACKERS, value=attacker, on_change=choose, label="Attacker").props("outlined dense")
    select.style("max-width: 420px").mark("risk-attacker")
    with row():
        for key, title in FIELDS.items():
            if (key == "max" and attacker == "marketer") or (key == "strict_k" and "average" not in risk):
                continue
            _number(risk, key, title, view, whole=key == "strict_k")
        if attacker != "prosecutor" and _known_by(risk) == "fraction":
            _number(risk["population"], "fraction", "Share of the population in the table", view, whole=False)
            _number(risk, "unique_in_population", "Unique in the population", view, whole=False)
    if attacker == "journalist":
        _population(risk, view, table_id)


def _population(risk: dict[str, Any], view: View, table_id: str) -> None:
    """How many people of the population look alike: estimated from a share, counted in a table, or by weights."""

    def choose(event: Any) -> None:
        given = {"fraction": {"fraction": 0.01}, "table": {"table": ""}, "weights": {"weights": True}}
        risk["population"] = given[event.value]
        if event.value != "fraction":  # these limit the greatest risk only
            for key in ("average", "strict_k", "unique_in_population"):
                risk.pop(key, None)
            risk.setdefault("max", START)
        view.draw()

    known = "table" if "table" in risk["population"] else _known_by(risk)
    select = ui.select(KNOWN_BY, value=known, on_change=choose, label="The population is known by")
    select.props("outlined dense").style("max-width: 420px").mark("risk-population")
    if known == "table":
        file = risk["population"]["table"]
        words = f"Counted in {file}." if file else "Upload one row per person, with all quasi-identifiers."
        text(words, classes="pv-hint")
        zone = drop_zone(
            f"/api/tables/{table_id}/population",
            "Drop the table of the population",
            "or choose a file",
            ",".join(ENDINGS),
            done="population_taken",
            label="Choose a table of the population",
        )
        zone.classes("pv-small")


def _number(place: dict[str, Any], key: str, title: str, view: View, *, whole: bool) -> None:
    def keep(event: Any) -> None:
        if event.value is None:
            place.pop(key, None)
        else:
            place[key] = int(event.value) if whole else float(event.value)
        view.draw()

    field = ui.number(title, value=place.get(key), min=0, step=1 if whole else 0.01, on_change=keep)
    field.props("outlined dense debounce=600").style("width: 170px").mark(f"risk-{key}")
