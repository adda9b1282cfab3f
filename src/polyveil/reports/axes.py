"""Scales and ticks of a chart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from polyveil.reports.markup import Markup, join, number, tag

WIDTH, HEIGHT = 720, 240
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 26, 42
LETTER = 7
"""About the width of a letter."""


@dataclass(frozen=True)
class Scale:
    """From values to places on the page."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        share = (value - self.low) / span if span > 0 else 0.5
        return round(self.start + share * (self.stop - self.start), 1)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between low and high, about as many as asked."""
    span = high - low
    if span <= 0:
        return [low]
    raw = span / max(about, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def plot_scales(x: tuple[float, float], y: tuple[float, float], height: int = HEIGHT) -> tuple[Scale, Scale]:
    """The scales of a chart of the usual size."""
    return Scale(*x, LEFT, WIDTH - RIGHT), Scale(*y, height - BOTTOM, TOP)


def frame(
    x: Scale,
    y: Scale,
    *,
    x_label: str,
    y_label: str,
    x_ticks: list[tuple[float, str]] | None = None,
    y_percent: bool = False,
) -> Markup:
    """Grid lines, axis, tick texts and axis titles."""
    along = [(t, number(t)) for t in ticks(x.low, x.high, 8)] if x_ticks is None else x_ticks
    parts = []
    for value in ticks(y.low, y.high, 4):
        place = y(value)
        parts.append(tag("line", class_="grid", x1=x.start, x2=x.stop, y1=place, y2=place))
        text = f"{number(100 * value)} %" if y_percent else number(value)
        parts.append(tag("text", text, x=x.start - 8, y=place + 4, text_anchor="end"))
    parts.append(tag("line", class_="axis", x1=x.start, x2=x.stop, y1=y.start, y2=y.start))
    parts += [_tick(x(value), text, y.start + 17) for value, text in along]
    parts.append(tag("text", x_label, x=(x.start + x.stop) / 2, y=y.start + 36, text_anchor="middle"))
    parts.append(tag("text", y_label, x=0, y=12))
    return join(parts)


def _tick(place: float, text: str, below: float) -> Markup:
    """A text below the axis; next to the edge it ends there instead of being cut."""
    if place + len(text) * LETTER / 2 > WIDTH:
        return tag("text", text, x=WIDTH, y=below, text_anchor="end")
    return tag("text", text, x=place, y=below, text_anchor="middle")


def drawing(title: str, *parts: Markup, height: int = HEIGHT) -> Markup:
    """The SVG; to a screen reader it is one image with a text, the numbers follow in a table."""
    view = f"0 0 {WIDTH} {height}"
    return tag(
        "div",
        tag("svg", *parts, viewBox=view, role="img", aria_label=title),
        class_="plot",
        tabindex="0",
        role="group",
        aria_label=title,
    )


def tip(text: str, x: Scale) -> Markup:
    """What is shown above the plot while the pointer is over a mark."""
    return tag("text", text, class_="tip", x=(x.start + x.stop) / 2, y=12, text_anchor="middle")
