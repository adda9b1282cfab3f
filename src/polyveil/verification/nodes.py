"""Cells of a column with a rule instead of a hierarchy are groups that the rule makes, in the rule's own words.

A masked code, an interval or a part of a date that no rule makes would be a place for words.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from contextlib import suppress

from polyveil.cells import ANYTHING
from polyveil.policy.hierarchy import HierarchyFault
from polyveil.policy.rules import DateParts, Intervals, Mask
from polyveil.policy.scalars import number_label

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")
_DECADE, _QUARTER = re.compile(r"(\d{3}0)s"), re.compile(r"(\d{4})-Q([1-4])")


def are_nodes_of(rule: Mask | Intervals | DateParts, cells: Sequence[str]) -> bool:
    """Whether a rule can have made all these cells of a column together."""
    cells = [cell for cell in cells if cell != ANYTHING]
    if isinstance(rule, Mask):
        return _are_masked(rule, cells)
    if isinstance(rule, DateParts):
        return all(_is_part(rule, cell) for cell in cells)
    return any(all(_is_interval(rule, cell, whole) for cell in cells) for whole in (True, False))


def _are_masked(rule: Mask, cells: Sequence[str]) -> bool:
    """Hidden characters on one side alone, no more than the mask has, in cells that are as long as the longest."""
    masked = [cell for cell in cells if rule.char in cell]
    kept = [cell.rstrip(rule.char) if rule.side == "right" else cell.lstrip(rule.char) for cell in masked]
    within = all(rule.char not in text and len(text) > 0 for text in kept)
    hidden = max((len(cell) - len(text) for cell, text in zip(masked, kept, strict=True)), default=0)
    longest = max(map(len, cells), default=0)
    return within and hidden <= rule.mask and all(len(cell) == longest for cell in masked)


def _is_interval(rule: Intervals, cell: str, whole: bool) -> bool:
    """A number alone, or an interval to which the number belongs that it begins or ends with."""
    found = _NUMBER.search(cell)
    if found is None:
        return False
    number = float(found[0])
    below = number - 1 if whole else float(f"{number - abs(number) * 1e-9 - 1e-9:.12g}")
    for value in (number, below):  # an end that is not part of its interval has a neighbour that is
        with suppress(HierarchyFault, ValueError, OverflowError):
            if cell in (number_label(number), *rule.groups(value, number_label(value), whole)):
                return True
    return False


def _is_part(rule: DateParts, cell: str) -> bool:
    """A day, or the part of one that the rule has."""
    with suppress(ValueError):
        if found := _QUARTER.fullmatch(cell):
            day = dt.date(int(found[1]), 3 * int(found[2]) - 2, 1)
        elif found := _DECADE.fullmatch(cell):
            day = dt.date(max(int(found[1]), 1), 1, 1)
        else:
            day = dt.date.fromisoformat((cell + "-01-01")[:10])
        return cell in (day.isoformat(), *rule.groups(day))
    return False
