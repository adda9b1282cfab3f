"""Runs as figures, in one line and side by side, and the choice of a finished one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from polyveil.reports.markup import Markup, number, percent, table
from polyveil.web.pages.layout import next_step
from polyveil.web.pages.page_context import Work
from polyveil.web.pages.parts import notice
from polyveil.web.store import StoredRun


def choose_run(work: Work, step: str, wanted: str | None, address: str) -> tuple[list[StoredRun], StoredRun | None]:
    """The finished runs, and the wanted or newest of them, with a list that opens another at `address` and its id."""
    done = [run for run in work.bench.store.runs(table=work.stored.id) if run.state == "done"]
    if not done:
        notice("There is no finished run yet.", "info", remedy="Start one in the step Run.")
        next_step(step, work.stored.id)
        return [], None
    chosen = next((run for run in done if run.id == wanted), done[0])
    names = {run.id: f"{run.title}: {figures_of(run)}" for run in done}
    select = ui.select(
        names, value=chosen.id, label="Run", on_change=lambda event: ui.navigate.to(f"{address}{event.value}")
    )
    select.props("outlined dense").style("max-width: 760px; width: 100%")
    return done, chosen


def figures_of(run: StoredRun) -> str:
    """One line about a finished run."""
    about = run.outcome.get("summary", {})
    if not about:
        return ""
    loss = about["loss"]["normalized_loss"]
    parts = [f"{about['classes']:,} groups", f"k {number(about['privacy']['k'])}"]
    worst = worst_t(about["privacy"])
    if worst is not None:
        parts.append(f"t {worst:.3f}")
    parts.append(f"{percent(loss)} of the detail lost")
    if about["suppressed"]:
        parts.append(f"{about['suppressed']:,} rows left out")
    parts.append(f"{about.get('seconds', {}).get('total', 0.0):.1f} s")
    return ", ".join(parts)


def worst_t(privacy: Mapping[str, Any]) -> float | None:
    """The greatest measured distance of any sensitive column."""
    measured = [value for value in privacy.get("t", {}).values() if value is not None]
    return max(measured) if measured else None


def least_l(privacy: Mapping[str, Any]) -> float | None:
    """The smallest measured l of any sensitive column."""
    measured = [value for value in privacy.get("l", {}).values() if value is not None]
    return min(measured) if measured else None


def comparison(runs: Sequence[StoredRun]) -> Markup:
    """A table with one row per run: what was asked, what was reached, what it cost."""
    headers = ["run", "method", "options", "k", "least l", "largest t", "detail lost", "groups", "left out", "seconds"]
    rows = [_cells(run) for run in runs]
    return table(headers, rows, caption="Measured on the releases.",
                 numbers=range(3, 10))  # fmt: skip


def _cells(run: StoredRun) -> list[str]:
    about = run.outcome["summary"]
    privacy, method = about["privacy"], about["method"]
    least, worst = least_l(privacy), worst_t(privacy)
    options = {**method.get("parameters", {}), **method.get("found", {})}
    return [
        run.title,
        method["name"],
        ", ".join(f"{key} {value}" for key, value in options.items() if not isinstance(value, dict | list)) or "-",
        number(privacy["k"]),
        "-" if least is None else f"{least:.2f}",
        "-" if worst is None else f"{worst:.3f}",
        percent(about["loss"]["normalized_loss"]),
        number(about["classes"]),
        number(about["suppressed"]),
        f"{about.get('seconds', {}).get('total', 0.0):.1f}",
    ]
