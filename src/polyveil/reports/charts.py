"""Charts as inline SVG: a few kilobytes each, no script. Hovering a mark shows its figures; a table holds them all.

(A charting library would put close to a megabyte of program into every report, for charts this simple.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polyveil.reports.axes import Scale, drawing, frame, plot_scales, tip
from polyveil.reports.language import say
from polyveil.reports.markup import Markup, number, percent, table, tag

SERIES = 8
"""Colours there are; more series share them."""


@dataclass(frozen=True)
class Bin:
    """One column of a histogram: from `low` to `high`, `share` of all rows; `text` says it in words."""

    low: float
    high: float
    share: float
    text: str


def colour(number: int) -> str:
    """The style attribute that gives a series its colour."""
    return f"--c:var(--s{number % SERIES})"


def histogram(
    title: str,
    bins: Sequence[Bin],
    *,
    x_label: str,
    y_label: str | None = None,
    note: str = "",
    limit: tuple[float, str] | None = None,
    x_ticks: list[tuple[float, str]] | None = None,
    headers: tuple[str, str] | None = None,
) -> Markup:
    """Columns over a number line, with an optional limit drawn as a dashed line."""
    high = max([b.high for b in bins] + ([limit[0]] if limit else []))
    top = max((b.share for b in bins), default=0.0)
    x, y = plot_scales((bins[0].low, high * 1.02 if limit else high), (0.0, top * 1.05 or 1.0))
    marks = [_column(b, x, y) for b in bins]
    rows = say("share of rows")
    parts = [frame(x, y, x_label=x_label, y_label=y_label or rows, x_ticks=x_ticks, y_percent=True), *marks]
    if limit:
        parts.append(_limit(limit, x, y))
    data = table(
        headers or (say("range"), rows),
        [(b.text.split(":")[0], percent(b.share)) for b in bins],
        caption=title,
        numbers=[1],
    )
    return figure(title, note, drawing(title, *parts), data)


def _column(b: Bin, x: Scale, y: Scale) -> Markup:
    left, right = x(b.low), x(b.high)
    gap = 1.0 if right - left > 4 else 0.0
    height = max(round(y.start - y(b.share), 1), 1.0 if b.share > 0 else 0.0)
    bar = tag(
        "rect",
        class_="fill",
        x=left + gap / 2,
        y=round(y.start - height, 1),
        width=max(round(right - left - gap, 1), 0.8),
        height=height,
    )
    hit = tag(
        "rect",
        class_="hit",
        x=left,
        y=y.stop,
        width=max(round(right - left, 1), 0.8),
        height=round(y.start - y.stop, 1),
    )
    return tag("g", bar, hit, tip(b.text, x), class_="mark")


def _limit(limit: tuple[float, str], x: Scale, y: Scale) -> Markup:
    place = x(limit[0])
    line = tag("line", class_="limit", x1=place, x2=place, y1=y.start, y2=y.stop)
    beside = ("end", place) if place > (x.start + x.stop) / 2 else ("start", place)
    return tag("g", line, tag("text", limit[1], class_="limit-text", x=beside[1], y=12, text_anchor=beside[0]))


@dataclass(frozen=True)
class Curve:
    """A line through points; `marks` draws the points as well."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    marks: bool = False


def curves(
    title: str,
    lines: Sequence[Curve],
    *,
    x_label: str,
    y_label: str,
    note: str = "",
    filled: bool = False,
    data: Markup | None = None,
    limit: tuple[float, str] | None = None,
    from_zero: bool = True,
    y_percent: bool = False,
) -> Markup:
    """Lines over a common axis, each with its colour in the key."""
    every_x = [value for line in lines for value in line.x] + ([limit[0]] if limit else [])
    every_y = [value for line in lines for value in line.y]
    low = 0.0 if from_zero else min(every_y)
    x, y = plot_scales((min(every_x), max(every_x)), (low, max(every_y) * 1.05 or 1.0), 280)
    parts = [frame(x, y, x_label=x_label, y_label=y_label, y_percent=y_percent)]
    for i, line in enumerate(lines):
        parts.append(_curve(line, i, x, y, filled))
    if limit:
        parts.append(_limit(limit, x, y))
    key = tag("p", *(tag("span", line.name, style=colour(i)) for i, line in enumerate(lines)), class_="key")
    return figure(title, note, Markup(key + drawing(title, *parts, height=280)), data)


def _curve(line: Curve, i: int, x: Scale, y: Scale, filled: bool) -> Markup:
    points = [(x(a), y(b)) for a, b in zip(line.x, line.y, strict=True)]
    path = "M" + "L".join(f"{a:g} {b:g}" for a, b in points)
    area = (
        tag("path", class_="area", d=f"{path}L{points[-1][0]:g} {y.start:g}L{points[0][0]:g} {y.start:g}Z")
        if filled
        else None
    )
    dots = [
        tag(
            "g",
            tag("circle", class_="fill", cx=px, cy=py, r=4),
            tag("circle", class_="hit", cx=px, cy=py, r=11),
            tip(f"{line.name}: {number(a)} → {number(b)}", x),
            class_="mark",
        )
        for (px, py), a, b in zip(points, line.x, line.y, strict=True)
        if line.marks
    ]
    curve = tag("path", class_="curve", d=path)
    # Without points of its own a curve names itself when the pointer is on it.
    named = curve if line.marks else tag("g", curve, tip(line.name, x), class_="mark")
    return tag("g", area, named, *dots, style=colour(i))


def figure(title: str, note: str, picture: Markup, data: Markup | None) -> Markup:
    """A picture with its caption, and its numbers as a table that opens."""
    behind = tag("details", tag("summary", say("The numbers behind this chart")), data) if data else None
    caption = tag("figcaption", tag("strong", title), f". {note}" if note else None)
    return tag("figure", caption, picture, behind)
