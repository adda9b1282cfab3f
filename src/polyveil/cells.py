"""The grammar of released quasi-identifier cells: how a generalized value is written, and how it is read back.

A range is `[20-29]`, `[2026-01-01/2026-01-31]` for dates and `[low..high]` for ordered categories; a set is
`{Austria, Spain}`; one value alone is written as it is. `*` means anything, and among the values of a set "missing".
Labels that contain the grammar's own marks are put in double quotes, with `""` for a quote inside.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

ANYTHING = "*"
_BETWEEN = {"numeric": "-", "date": "/", "ordinal": ".."}
_QUOTED = r'"(?:[^"]|"")*"'
_NUMBER = r"-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf)"
_DAY = r"\d{4,}-\d\d-\d\d"
_LABEL = rf'{_QUOTED}|(?!")(?:(?!\.\.).)+'
_RANGE = {
    "numeric": re.compile(rf"\[({_NUMBER})-({_NUMBER})\]", re.IGNORECASE),
    "date": re.compile(rf"\[({_DAY})/({_DAY})\]"),
    "ordinal": re.compile(rf"\[({_LABEL})\.\.({_LABEL})\]", re.DOTALL),
}
_MEMBER = re.compile(rf'({_QUOTED}|[^{{}},"]+)(?:, |$)')
_PLAIN_MEMBER = re.compile(r'[^{},"]+')
_EPOCH = dt.date(1970, 1, 1).toordinal()


def write_range(kind: str, low: str, high: str) -> str:
    """The cell of the values from `low` to `high` of a column of numbers, dates or ordered categories."""
    if low == high and (kind != "ordinal" or not _looks_generalized(low)):
        return low
    if kind == "ordinal":
        low, high = (_quote(label) if _breaks_range(label) else label for label in (low, high))
    return f"[{low}{_BETWEEN[kind]}{high}]"


def read_range(kind: str, cell: str) -> tuple[str, str]:
    """The lowest and the highest value of a cell that is not `*`; the same twice for one value alone."""
    found = _RANGE[kind].fullmatch(cell)
    if not found:
        return cell, cell
    return (found[1], found[2]) if kind != "ordinal" else (_unquote(found[1]), _unquote(found[2]))


def write_set(members: Sequence[str | None]) -> str | None:
    """The cell of a set of values, in their order; None is "missing"."""
    if len(members) == 1 and (members[0] is None or not _looks_generalized(members[0])):
        return members[0]
    return "{" + ", ".join(ANYTHING if label is None else _member(label) for label in members) + "}"


def read_set(cell: str | None) -> list[str | None]:
    """The values of a set's cell. Raises ValueError for a cell in braces that is not a set."""
    if cell is None or not (cell.startswith("{") and cell.endswith("}")):
        return [cell]
    inside, found, at = cell[1:-1], [], 0
    while match := _MEMBER.match(inside, at):
        found.append(None if match[1] == ANYTHING else _unquote(match[1]))
        at = match.end()
    if at != len(inside) or not found or inside.endswith(", "):
        raise ValueError("a cell in braces is not a set of values")
    return found


def place_of(kind: str, value: str) -> float:
    """Where a number or a date lies on its axis; a date by its days since 1970."""
    return float(value) if kind == "numeric" else float(dt.date.fromisoformat(value).toordinal() - _EPOCH)


def day_at(place: float) -> str:
    """The date that many days after 1970 began; a place beyond the calendar is its first or last day."""
    return dt.date.fromordinal(min(max(int(place) + _EPOCH, 1), dt.date.max.toordinal())).isoformat()


def _looks_generalized(label: str) -> bool:
    """Whether a value alone would be read as something else than itself."""
    return label == ANYTHING or (label[:1], label[-1:]) in (("[", "]"), ("{", "}"))


def _breaks_range(label: str) -> bool:
    return not label or ".." in label or label[0] in '."' or label[-1] == "."


def _member(label: str) -> str:
    plain = _PLAIN_MEMBER.fullmatch(label) and label == label.strip() and label != ANYTHING
    return label if plain else _quote(label)


def _quote(label: str) -> str:
    return '"' + label.replace('"', '""') + '"'


def _unquote(text: str) -> str:
    return text[1:-1].replace('""', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text
