"""Charts with their values in words, for those who hear a page: made from what is drawn, so both say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from nicegui import ui

from polyveil.results import percent
from polyveil.web.pages.parts import text

MOST = 30
"""Values that are read out one by one; of more, the greatest."""
TIMES = 10
"""Points of a curve that are read out."""


def chart(options: dict[str, Any], label: str, classes: str = "pv-chart", **more: Any) -> ui.echart:
    """A chart with a name and a description, as screen readers read them."""
    drawn = ui.echart(options, **more).classes(classes)
    words = text(in_words(options)).props("hidden")
    drawn.props["role"], drawn.props["aria-label"] = "img", label
    drawn.props["aria-describedby"] = words.html_id
    return drawn


def in_words(options: Mapping[str, Any]) -> str:
    """The values that a chart draws."""
    series = [one for one in options["series"] if not one.get("silent")]
    if series[0]["type"] == "bar":
        return _bars(options["xAxis"]["data"], series)
    if series[0]["type"] == "line":
        return _curves(series)
    named = series[0]["data"] and isinstance(series[0]["data"][0], Mapping)
    return _runs(options, series[0]["data"]) if named else _groups(series[0])


def _bars(labels: Sequence[Any], series: Sequence[Mapping[str, Any]]) -> str:
    told = sorted(range(len(labels)), key=lambda i: -max(one["data"][i] for one in series))
    shown, rest = sorted(told[:MOST]), told[MOST:]
    said = []
    for i in shown:
        shares = [f"{percent(one['data'][i])} {one.get('name', '')}".strip() for one in series]
        said.append(f"{labels[i]}: {', '.join(shares)}")
    if rest:
        most = max(one["data"][i] for one in series for i in rest)
        said.append(f"{len(rest):,} more with at most {percent(most)} each")
    return "; ".join(said) + "."


def _runs(options: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> str:
    best = [tuple(point) for one in options["series"] if one.get("silent") for point in one["data"]]
    axis = options["xAxis"]["name"]
    said = []
    for point in points:
        protection, loss = point["value"]
        line = ", on the dashed line" if (protection, loss) in best else ""
        said.append(f"{point['name']}: {axis} {protection:.3g}, {percent(loss / 100)} of the detail lost{line}")
    return "; ".join(said) + "."


def _groups(series: Mapping[str, Any]) -> str:
    rows, far = zip(*series["data"], strict=True) if series["data"] else ((0,), (0.0,))
    limit = series["markLine"]["data"][0]["yAxis"]
    return (
        f"{len(series['data']):,} groups of {min(rows):,} to {max(rows):,} rows. Distances from {min(far):.3f} to "
        f"{max(far):.3f}; half of them are at most {median(far):.3f}. The limit is {limit:g}."
    )


def _curves(series: Sequence[Mapping[str, Any]]) -> str:
    last = len(series[0]["data"]) - 1
    places = sorted({round(i * last / (TIMES - 1)) for i in range(TIMES)})
    said = []
    for place in places:
        shares = ", ".join(f"{percent(one['data'][place][1])} {one['name']}" for one in series)
        said.append(f"time {series[0]['data'][place][0]:g}: {shares}")
    return "; ".join(said) + "."
