"""What all results share: an outcome with three values, one sentence, a table, HTML for notebooks, no truth value.

`outcome` is "holds", "fails" or "not checked". `holds` is True for the first alone: what was not checked is no pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal, NoReturn, TypeVar

import polars as pl

from polyveil.frames import FrameKind, as_kind

Outcome = Literal["holds", "fails", "not checked"]
Row = Mapping[str, Any]
Each = TypeVar("Each")
MANY = 40
"""Lines that a person still reads; of a longer list, one of each kind is shown."""
MOST_PRINTED = 200
"""Lines of a table in a report or dossier: pages that are still leafed through."""
MOST_ROWS = 30
"""Rows shown in a notebook; `to_frame()` has all of them."""


@dataclass(frozen=True, eq=False, repr=False)
class Result(ABC):
    """What a function of polyveil found out. Its tables are frames of the kind that went in, polars otherwise."""

    frame_kind: FrameKind = field(default="polars", kw_only=True, compare=False)

    @property
    def outcome(self) -> Outcome:
        """holds, fails, or not checked, which is what a result says that judges nothing."""
        return "not checked"

    @property
    def holds(self) -> bool:
        """Whether everything that was asked for was checked and holds."""
        return self.outcome == "holds"

    @abstractmethod
    def answer(self) -> str:
        """The result in one plain sentence."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain data, as the command prints it with --json."""

    @abstractmethod
    def records(self) -> Sequence[Row]:
        """The rows of the result's table."""

    def to_frame(self) -> Any:
        """The result as a table: a polars, pandas or Arrow one, like the table that went in."""
        return as_kind(pl.DataFrame(list(self.records()), infer_schema_length=None), self.frame_kind)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} is neither true nor false, because it may also be 'not checked'. "
            "Use .holds, or compare .outcome"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.answer()}>"

    def _repr_html_(self) -> str:
        return fragment(self.outcome, self.answer(), table_html(self.records()))


def fragment(outcome: Outcome, answer: str, *parts: str) -> str:
    """HTML that takes its colours from the notebook around it, so that it reads on light and on dark."""
    mark = outcome.replace(" ", "-")
    badge = "" if outcome == "not checked" else f'<span class="polyveil-{mark}">{outcome}</span> '
    head = f'<p class="polyveil-answer">{badge}{escape(answer)}</p>'
    return f'<div class="polyveil"><style>{STYLE}</style>{head}{"".join(parts)}</div>'


def table_html(rows: Sequence[Row], *, most: int = MOST_ROWS) -> str:
    """The first rows as an HTML table, and how many there are beside them."""
    if not rows:
        return ""
    names = list(rows[0])
    numeric = {name for name in names if all(_is_number(row[name]) for row in rows)}
    head = "".join(f"<th{_aligned(name in numeric)}>{escape(name.replace('_', ' '))}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td{_aligned(name in numeric)}>{_cell(row[name])}</td>" for name in names) + "</tr>"
        for row in rows[:most]
    )
    more = len(rows) - most
    note = f'<p class="polyveil-more">and {more:,} more rows, all in .to_frame()</p>' if more > 0 else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="polyveil-scroll">{table}</div>{note}'


def figure(value: float) -> str:
    """Four significant digits; whole numbers whole."""
    if value in (float("inf"), float("-inf")):
        return "∞"
    if value != value:
        return "–"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.4g}"


def counted(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float, digits: int = 1) -> str:
    """A share as people write it: `12.3 %`, and never 0 % for something that is there."""
    least = 10.0**-digits
    return f"< {least:.{digits}f} %" if 0 < 100 * share < least / 2 else f"{100 * share:.{digits}f} %"


def worst_of_each(
    found: Sequence[Each], kind: Callable[[Each], Any], rank: Callable[[Each], Any], *, most: float = MANY
) -> list[tuple[Each, int]]:
    """What to show of a list, and how many of its kind each stands for: of a long one the least rank of each kind."""
    if len(found) <= most:
        return [(each, 1) for each in found]
    kinds: dict[Any, list[Each]] = {}
    for each in found:
        kinds.setdefault(kind(each), []).append(each)
    return [(min(some, key=rank), len(some)) for some in kinds.values()]


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _aligned(right: bool) -> str:
    return ' class="polyveil-number"' if right else ""


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return figure(value)
    text = escape(str(value))
    known = {"holds": "holds", "fails": "fails", "broken": "fails", "within bound": "holds"}.get(str(value))
    return f'<span class="polyveil-{known}">{text}</span>' if known else text


STYLE = """
.polyveil {font: 14px/1.45 system-ui, sans-serif; color: inherit; max-width: 72em; margin: .4em 0}
.polyveil p {margin: 0 0 .7em}
.polyveil .polyveil-answer {font-size: 15px; font-weight: 600}
.polyveil .polyveil-more {opacity: .75; font-size: 13px; margin: .5em 0 0}
.polyveil .polyveil-scroll {overflow-x: auto; max-width: 100%}
.polyveil table {border-collapse: collapse; border: 0; font-size: 13px; margin: 0; color: inherit; background: none}
.polyveil th, .polyveil td {text-align: left; vertical-align: top; padding: .35em 1.1em .35em 0; border: 0;
  white-space: normal; max-width: 36em; background: none; color: inherit}
.polyveil thead th {font-weight: 600; opacity: .75; border-bottom: 1px solid currentColor}
.polyveil tbody tr {background: none; border-bottom: 1px solid color-mix(in srgb, currentColor 16%, transparent)}
.polyveil .polyveil-number {text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap}
.polyveil .polyveil-holds, .polyveil .polyveil-fails {display: inline-block; padding: 0 .55em; border-radius: 999px;
  font-size: 12px; font-weight: 600; white-space: nowrap; color: #fff}
.polyveil .polyveil-holds {background: #1a7f45}
.polyveil .polyveil-fails {background: #b3261e}
""".strip()
