"""A scatter plot with its frontier; series can be shown and hidden by check boxes, without a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polyveil.reports.axes import Scale, drawing, frame, plot_scales, tip
from polyveil.reports.charts import colour, figure
from polyveil.reports.markup import Markup, join, tag

HEIGHT = 360
LINE, LABEL = 13, 130
"""Room that a label takes, down and across."""


@dataclass(frozen=True)
class Point:
    """One mark: its series by number, a text for the pointer, and whether it stands on the frontier."""

    x: float
    y: float
    series: int
    text: str
    best: bool
    label: str = ""


def scatter(
    title: str,
    points: Sequence[Point],
    steps: Sequence[tuple[float, float]],
    *,
    x_label: str,
    y_label: str,
    y_percent: bool = False,
    note: str = "",
) -> Markup:
    """Points over two measures that are both better when small; a stepped line joins what nothing beats."""
    x_top = max(point.x for point in points) * 1.08 or 1.0
    x, y = plot_scales((-0.02 * x_top, x_top), (0.0, max(point.y for point in points) * 1.12 or 1.0), HEIGHT)
    parts = [
        frame(x, y, x_label=x_label, y_label=y_label, y_percent=y_percent),
        _steps(steps, x, y),
        *_marks(points, x, y),
    ]
    return figure(title, note, drawing(title, *parts, height=HEIGHT), None)


def _steps(steps: Sequence[tuple[float, float]], x: Scale, y: Scale) -> Markup:
    if not steps:
        return Markup("")
    path = f"M{x(steps[0][0]):g} {y.stop:g}V{y(steps[0][1]):g}"
    path += "".join(f"H{x(a):g}V{y(b):g}" for a, b in steps[1:])
    return tag("path", class_="frontier", d=f"{path}H{x.stop:g}")


def _marks(points: Sequence[Point], x: Scale, y: Scale) -> list[Markup]:
    """All marks from top to bottom; a label moves down until it is clear of the ones before it."""
    taken: list[tuple[float, float]] = []
    marks = []
    for point in sorted(points, key=lambda one: (y(one.y), one.x)):
        place = y(point.y) + 4
        while any(abs(place - py) < LINE and abs(x(point.x) - px) < LABEL for px, py in taken):
            place += 1
        if point.label:
            taken.append((x(point.x), place))
        marks.append(_mark(point, x, y, round(place, 1)))
    return marks


def _mark(point: Point, x: Scale, y: Scale, label_place: float) -> Markup:
    place = {"cx": x(point.x), "cy": y(point.y)}
    left = place["cx"] > x.stop - LABEL
    beside = place["cx"] + (-11 if left else 11)
    label = tag("text", point.label, x=beside, y=label_place, text_anchor="end" if left else "start")
    return tag(
        "g",
        tag("circle", class_="ring", r=8, **place) if point.best else None,
        tag("circle", class_="fill", r=5, **place),
        label if point.label else None,
        tag("circle", class_="hit", r=13, **place),
        tip(point.text, x),
        class_=f"mark series-{point.series}",
        style=colour(point.series),
    )


def choice(legend: str, names: Sequence[str]) -> tuple[Markup, str]:
    """Check boxes that show and hide series, and the style rules that make them work."""
    boxes = [
        tag("label", tag("input", type="checkbox", id=f"show-{i}", checked=""), tag("span", name), style=colour(i))
        for i, name in enumerate(names)
    ]
    rules = "".join(f"body:has(#show-{i}:not(:checked)) .series-{i}{{display:none}}\n" for i in range(len(names)))
    return tag("fieldset", tag("legend", legend), join(boxes), class_="choose"), rules
