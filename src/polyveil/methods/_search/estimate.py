"""How long a search will take: a guess before it begins, corrected by how far it is."""

from __future__ import annotations

import math

from polyveil.methods._search.clock import Clock
from polyveil.methods._search.rounds import CORES
from polyveil.methods._search.schedule import Effort, schedule_of
from polyveil.methods._search.start import SMALL
from polyveil.methods._search.stricter import FEW_ROWS

PER_WORK, USUAL_QUASI = 5.5e-6, 8
"""Seconds of one core for a unit of work on a row, about what a move takes with up to so many quasi-identifiers."""
SEARCHES = 2.0
"""Searches side by side, about, where stricter demands are searched as well."""
BEGINNING = 30.0
"""Units of work for each row to begin with."""
TRUSTED = 0.3
"""From this share of the work on, the time it took tells alone how long the rest takes."""


def seconds_for(effort: Effort | float, rows: int, quasi: int) -> float:
    """About how long a search of so many rows and quasi-identifiers takes on this machine's cores."""
    if isinstance(effort, (int, float)):
        return float(effort)
    work = BEGINNING + rounds_work(effort, rows)
    searches = SEARCHES if rows <= (FEW_ROWS if effort == "fast" else SMALL) else 1.0
    return PER_WORK * rows * work * max(quasi / USUAL_QUASI, 1.0) * searches / CORES


def rounds_work(effort: Effort, rows: int) -> float:
    """Units of work for each row in the rounds of an effort."""
    return sum(plan.moves_per_row + 10.0 * plan.passes for plan in schedule_of(effort, rows))


def time_left(effort: Effort | float, rows: int, quasi: int, done: float, clock: Clock) -> float:
    """Seconds until the search ends, by the clock, or by the guess and how far it is; `done` is of the rounds alone."""
    if isinstance(effort, (int, float)):
        return max(clock.seconds - clock.passed, 0.0)
    work = rounds_work(effort, rows)
    share = (BEGINNING + done * work) / (BEGINNING + work)
    trust = min(share / TRUSTED, 1.0)
    return (1.0 - share) * (trust * clock.passed / share + (1.0 - trust) * seconds_for(effort, rows, quasi))


def in_words(seconds: float) -> str:
    """A time as people say it: in seconds up to a minute and a half, then minutes, then hours."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(math.ceil(seconds), 1)} s"
