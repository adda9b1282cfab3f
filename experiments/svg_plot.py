"""Line plots as SVG files for the pages: small panels side by side, one key for all, light and dark.

Scales, ticks and colours are those of the reports. A picture carries its own ground, so that it is readable whatever
the page around it chose; series differ by colour and by mark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from polyveil.reports.axes import Scale, ticks
from polyveil.reports.charts import SERIES
from polyveil.reports.markup import Markup, join, number, tag

WIDTH, HEIGHT, WIDE_HEIGHT = 760, 250, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 50, 46
KEY_LINE, LETTER, MARGIN = 20, 7.0, 12
FEW = 12
"""Up to so many different places on an axis are all named."""

STYLE = """
.ground { fill: var(--paper); }
text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: var(--soft); }
.title { font-weight: 600; fill: var(--ink); }
.grid { stroke: var(--line); } .axis { stroke: var(--soft); }
.curve { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
.dashed { stroke-dasharray: 6 4; }
.fill { fill: var(--c); stroke: var(--paper); stroke-width: 1; }
"""


@dataclass(frozen=True)
class Line:
    """One series of a panel; `dashed` is for what stands behind the others: a bound, or a run of less interest."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """One pair of axes. `bottom` and `top` fix the ends of y, so that panels compare; `log` is for wide ranges."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log: bool = False
    bottom: float = 0.0
    top: float | None = None


def plot(title: str, panels: Sequence[Panel], columns: int = 2) -> str:
    """The text of an SVG file."""
    columns = min(columns, len(panels))
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    dashed = {line.name for panel in panels for line in panel.lines if line.dashed}
    key, key_height = _key(names, dashed)
    width, height = (WIDTH - MARGIN) / columns, WIDE_HEIGHT if columns == 1 else HEIGHT
    rows = math.ceil(len(panels) / columns)
    total = key_height + rows * height + MARGIN
    drawn = [
        tag(
            "g",
            _panel(panel, width, height, names),
            transform=f"translate({i % columns * width:g} {key_height + i // columns * height:g})",
        )
        for i, panel in enumerate(panels)
    ]
    return tag(
        "svg",
        tag("title", title),
        Markup(f"<style>{_colours()}{STYLE}</style>"),
        tag("rect", class_="ground", width=WIDTH, height=total, rx=8),
        key,
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:g} {total:g}",
        width=WIDTH,
        height=f"{total:g}",
        role="img",
        aria_label=title,
    )


def _colours() -> str:
    """The colour variables of the reports, for both schemes: all that stands before the first general rule."""
    return files("polyveil.reports").joinpath("style.css").read_text(encoding="utf-8").split("* {")[0]


def _key(names: Sequence[str], dashed: set[str]) -> tuple[Markup, int]:
    parts, x, y = [], float(MARGIN + 4), 22.0
    for i, name in enumerate(names):
        room = 46 + LETTER * len(name)
        if x + room > WIDTH - MARGIN and x > MARGIN + 4:
            x, y = float(MARGIN + 4), y + KEY_LINE
        stroke = tag("path", class_="curve dashed" if name in dashed else "curve", d=f"M{x:g} {y - 4:g}h22")
        shown = tag("g", stroke, None if name in dashed else _mark(i, x + 11, y - 4), style=_colour(i))
        parts += [shown, tag("text", name, x=x + 28, y=y)]
        x += room
    return join(parts), int(y) + 10


def _colour(series: int) -> str:
    return f"--c:var(--s{series % SERIES})"


def _mark(series: int, x: float, y: float) -> Markup:
    """Circle, square, triangle, diamond, then again."""
    shape = series % 4
    if shape == 0:
        return tag("circle", class_="fill", cx=x, cy=y, r=4)
    corners = {
        1: ((-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)),
        2: ((0, -4.8), (4.6, 3.6), (-4.6, 3.6)),
        3: ((0, -5), (5, 0), (0, 5), (-5, 0)),
    }[shape]
    return tag("path", class_="fill", d="M" + "L".join(f"{x + a:g} {y + b:g}" for a, b in corners) + "Z")


def _panel(panel: Panel, width: float, height: float, names: Sequence[str]) -> Markup:
    every_x = sorted({x for line in panel.lines for x, _ in line.points})
    every_y = [y for line in panel.lines for _, y in line.points]
    pad = (every_x[-1] - every_x[0]) * 0.03
    x = Scale(every_x[0] - pad, every_x[-1] + pad, LEFT, width - RIGHT)
    y, marks = _upright(panel, every_y, height)
    parts = [tag("text", panel.title, class_="title", x=LEFT - 46, y=16), tag("text", panel.y_label, x=LEFT - 46, y=34)]
    for value, text in marks:
        parts.append(tag("line", class_="grid", x1=x.start, x2=x.stop, y1=y(value), y2=y(value)))
        parts.append(tag("text", text, x=x.start - 7, y=y(value) + 4, text_anchor="end"))
    parts.append(tag("line", class_="axis", x1=x.start, x2=x.stop, y1=y.start, y2=y.start))
    places = every_x if len(every_x) <= FEW else ticks(every_x[0], every_x[-1], 6)
    parts += [
        tag("text", number(value), x=x(value), y=y.start + 17, text_anchor="middle") for value in _uncrowded(places, x)
    ]
    parts.append(tag("text", panel.x_label, x=(x.start + x.stop) / 2, y=y.start + 36, text_anchor="middle"))
    behind_first = sorted(panel.lines, key=lambda line: not line.dashed)
    return join([*parts, *(_line(line, names.index(line.name), x, y, panel.log) for line in behind_first)])


def _uncrowded(places: Sequence[float], x: Scale) -> list[float]:
    """The places whose texts do not run into the one before."""
    kept: list[float] = []
    for value in places:
        room = LETTER * (len(number(value)) + len(number(kept[-1]))) / 2 + 6 if kept else 0.0
        if not kept or x(value) - x(kept[-1]) > room:
            kept.append(value)
    return kept


def _upright(panel: Panel, values: Sequence[float], height: float) -> tuple[Scale, list[tuple[float, str]]]:
    """The y scale and its ticks; on a logarithmic one values are placed by their logarithm."""
    start, stop = height - BOTTOM, float(TOP)
    if not panel.log:
        top = panel.top or max(values) * 1.05 or 1.0
        return Scale(panel.bottom, top, start, stop), [(v, _short(v)) for v in ticks(panel.bottom, top, 4)]
    low, high = math.log10(min(values)), math.log10(panel.top or max(values))
    low, high = math.floor(low + 1e-9), max(math.ceil(high - 1e-9), math.floor(low + 1e-9) + 1)
    return Scale(low, high, start, stop), [(float(p), _short(10.0**p)) for p in range(low, high + 1)]


def _short(value: float) -> str:
    """A number that fits beside the axis."""
    return f"{value / 1e6:,g} M" if value >= 1e6 else number(value)


def _line(line: Line, series: int, x: Scale, y: Scale, log: bool) -> Markup:
    places = [(x(a), y(math.log10(b) if log else b)) for a, b in line.points]
    path = "M" + "L".join(f"{a:g} {b:g}" for a, b in places)
    if line.dashed:
        return tag("path", tag("title", line.name), class_="curve dashed", d=path, style=_colour(series))
    curve = tag("path", class_="curve", d=path)
    marks = [
        tag("g", tag("title", f"{line.name}: {number(a)}, {number(b)}"), _mark(series, *place))
        for place, (a, b) in zip(places, line.points, strict=True)
    ]
    return tag("g", curve, *marks, style=_colour(series))
