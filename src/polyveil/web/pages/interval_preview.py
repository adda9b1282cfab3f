"""Intervals as they are typed: how many rows each of them would have, level by level, before anything is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from polyveil.errors import InputError
from polyveil.policy.rules import Intervals
from polyveil.web.pages.parts import bars, row, stack, text, trusted
from polyveil.web.tables import ColumnSketch

MOST_VALUES = 20_000
"""More distinct numbers are not counted while somebody types."""
CHIPS = 40

Level = tuple[tuple[str, int], ...]


def counted_intervals(rule: Mapping[str, Any], counts: Mapping[str, int]) -> list[Level]:
    """Per level, the intervals that have rows, in rising order. Raises InputError if there are none to show."""
    numbers = sorted((number, rows) for label, rows in counts.items() if (number := as_number(label)) is not None)
    if not numbers or len(numbers) > MOST_VALUES:
        what = f"more than {MOST_VALUES:,} different numbers" if numbers else "no numbers"
        raise InputError(f"No preview: the column has {what}.")
    try:
        intervals = Intervals.model_validate({"intervals": rule})
    except ValidationError:
        raise InputError("No preview: these numbers do not make intervals yet.") from None
    whole = all(number.is_integer() for number, _ in numbers)
    found: list[dict[str, int]] = []
    for number, rows in numbers:
        for level, label in enumerate(intervals.groups(number, f"{number:g}", whole)):
            if level == len(found):
                found.append({})
            found[level][label] = found[level].get(label, 0) + rows
    return [tuple(level.items()) for level in found]


def as_number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None


def show_intervals(levels: list[Level]) -> None:
    """A small histogram for each level, and the narrowest intervals with their rows."""
    for number, level in enumerate(levels, start=1):
        least = min(rows for _, rows in level)
        many = f"{len(level):,} interval{'s' if len(level) != 1 else ''}"
        with stack("pv-tight"):
            text(f"Level {number}: {many}, the smallest with {least:,} rows", classes="pv-hint")
            trusted(bars(ColumnSketch(True, level), f"level {number}"))
    with row("pv-chips"):
        for label, rows in levels[0][:CHIPS]:
            with text("", "span", "pv-chip"):
                text(label, "span")
                text(f"{rows:,}", "b")
        if len(levels[0]) > CHIPS:
            text(f"{len(levels[0]) - CHIPS:,} more", "span", "pv-hint")
