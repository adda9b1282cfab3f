"""How long a search will take: a guess before it begins, corrected by how far it is."""

from __future__ import annotations

import math

from polyveil.methods._search.clock import Clock
from polyveil.methods._search.rounds import CORES
from polyveil.methods._search.schedule import Effort, schedule_of, work_of
from polyveil.methods._search.start import SMALL
from polyveil.methods._search.stricter import FEW_ROWS

PER_WORK, USUAL_QUASI, USUAL_SENSITIVE = 3.6e-6, 8, 8
"""Seconds of one core for a unit of work on a row, about what a move takes with up to so many quasi-identifiers and
sensitive columns."""
SEARCHES = 2.0
"""Searches side by side, about, where stricter demands are searched as well."""
BEGINNING = 30.0
"""Units of work for each row to begin with."""


def seconds_for(effort: Effort | float, rows: int, quasi: int, sensitive: int = 1) -> float:
    """About how long a search of so many rows and columns takes on this machine's cores."""
    if isinstance(effort, (int, float)):
        return float(effort)
    work = BEGINNING + rounds_work(effort, rows)
    searches = SEARCHES if rows <= (FEW_ROWS if effort == "fast" else SMALL) else 1.0
    wide = max(quasi / USUAL_QUASI, 1.0) * max(sensitive / USUAL_SENSITIVE, 1.0)
    return PER_WORK * rows * work * wide * searches / CORES


def rounds_work(effort: Effort, rows: int) -> float:
    """Units of work for each row in the rounds of an effort."""
    return sum(work_of(plan) for plan in schedule_of(effort, rows))


def time_left(
    effort: Effort | float, rows: int, quasi: int, sensitive: int, done: float, begun: float, clock: Clock
) -> float:
    """Seconds until the search ends: by the clock, or by how far its rounds are, which began `begun` seconds after it.

    Before the first round is done, by a guess for this table, or by how long the beginning took if that is more.
    """
    if isinstance(effort, (int, float)):
        return max(clock.seconds - clock.passed, 0.0)
    if done > 0.0:
        return (1.0 - done) / done * (clock.passed - begun)
    work, dear = rounds_work(effort, rows), max(sensitive / USUAL_SENSITIVE, 1.0)
    usual = seconds_for(effort, rows, quasi, sensitive) * work / (BEGINNING + work)
    return max(usual, begun * dear * work / BEGINNING)


def in_words(seconds: float) -> str:
    """A time as people say it: in seconds up to a minute and a half, then minutes, then hours."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(math.ceil(seconds), 1)} s"
