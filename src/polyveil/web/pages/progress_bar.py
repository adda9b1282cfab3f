"""How a run, an attack or a check of a release stands: percent, time passed, time left, and the loss as it falls."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from nicegui import ui

from polyveil.reports.markup import Markup, percent, tag
from polyveil.web.pages.parts import text, trusted
from polyveil.web.store import FINISHED, StoredRun

NAMES = {
    "read": "Read the table",
    "encode": "Prepare the columns",
    "partition": "Find groups",
    "compiling": "Compile for this machine, once",
    "searching": "Find groups",
    "refine": "Improve the groups",
    "release": "Make the tables",
    "measure": "Measure protection and detail",
    "write": "Write the files",
    "verify": "Verify the files",
    "views": "Prepare the charts",
    "attack": "Attack the release",
}
_LOSS = re.compile(r"(\d+(?:\.\d+)?) % lost")
_LEFT = re.compile(r"about [^,]* left(, )?")
Cancel = Callable[[str], Awaitable[None]]


def stamp_of(run: StoredRun) -> str:
    """Changes whenever the bar has something new to show, at least once a second."""
    progress = run.progress
    return f"{run.state} {progress.get('at')} {int(time.time()) if run.state == 'running' else ''}"


def follow_job(
    place: ui.element,
    what: str,
    find: Callable[[], StoredRun | None],
    show: Callable[[StoredRun | None], None],
    cancel: Cancel | None = None,
) -> Callable[[], None]:
    """Draw a job's bar into a place while it works, and `show` it when it has ended or there is none.

    Nothing is drawn again before something changes. Gives the function that looks at once.
    """
    drawn = ""

    def look() -> None:
        nonlocal drawn
        job = find()
        stamp = "none" if job is None else f"{job.id} {stamp_of(job)}"
        if stamp == drawn:
            return
        drawn = stamp
        place.clear()
        with place:
            if job is None or job.state in FINISHED:
                show(job)
                return
            progress_bar(job, f"Progress of the {what}")
            if cancel is not None:
                button = ui.button("Cancel", icon="stop", on_click=partial(cancel, job.id)).props(
                    "outline dense no-caps"
                )
                button.style("align-self: start; padding: 4px 12px").props["aria-label"] = f"Cancel the {what}"

    look()
    ui.timer(0.5, look)
    return look


def progress_bar(run: StoredRun, label: str) -> None:
    """The bar with its words."""
    progress = run.progress
    if run.state != "running" or "began" not in progress:
        _bar(0.0, label)
        text("Waiting for a free worker" if run.state == "waiting" else "Starting", classes="pv-hint")
        return
    share = float(progress["share"])
    _bar(share, label)
    text(f"{percent(share, 0)}, {_times(progress)}", classes="pv-progress-words")
    note = _LEFT.sub("", str(progress["note"]))
    stage = NAMES.get(progress["stage"], progress["stage"])
    text(f"{stage}{': ' + note if note else ''}", classes="pv-hint")
    falling = [(at, float(found[1])) for at, words in progress["history"] if (found := _LOSS.search(words))]
    if len(falling) > 1:
        trusted(falling_line(falling))


def _bar(share: float, label: str) -> None:
    with ui.element("div").classes("pv-progress").props("role=progressbar aria-valuemin=0 aria-valuemax=100") as bar:
        bar.props["aria-valuenow"], bar.props["aria-label"] = f"{100 * share:.0f}", label
        ui.element("div").style(f"width: {100 * share:.1f}%")


def _times(progress: Mapping[str, Any]) -> str:
    now = time.time()
    passed = f"{in_words(now - progress['began'])} passed"
    if progress["left"] is None:
        return f"{passed}, time left not known yet"
    left = max(float(progress["left"]) - (now - progress["at"]), 1.0)
    return f"{passed}, about {in_words(left)} left"


def in_words(seconds: float) -> str:
    """Seconds below two minutes, minutes below two hours."""
    if seconds < 120:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def falling_line(points: list[tuple[float, float]]) -> Markup:
    """The detail lost so far, over time."""
    start, end = points[0][0], max(points[-1][0], points[0][0] + 1e-9)
    most = max(loss for _, loss in points)
    least = min(loss for _, loss in points)
    span = max(most - least, 1e-9)
    path = " ".join(
        f"{100 * (at - start) / (end - start):.2f},{3 + 34 * (1 - (loss - least) / span):.2f}" for at, loss in points
    )
    line = tag("polyline", points=path, fill="none", stroke="currentColor", stroke_width="2",
               vector_effect="non-scaling-stroke")  # fmt: skip
    drawn = tag("svg", line, viewBox="0 0 100 40", preserveAspectRatio="none", class_="pv-spark", role="img",
                aria_label=f"Detail lost so far, from {most:.3g} % down to {least:.3g} %")  # fmt: skip
    words = f"{most:.1f} % → {points[-1][1]:.1f} % of the detail lost"
    return tag("div", drawn, tag("p", words, class_="pv-hint"))
