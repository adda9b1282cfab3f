"""Charts of the Explore view, as options for ECharts; colours that serve light and dark alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polyveil.web.pages.runs import least_l, worst_t
from polyveil.web.store import StoredRun

INK = "#7d9296"
LINE = "rgba(125,146,150,.28)"
ACCENT = "#2f8f9a"
BEFORE = "#a9b8bb"
WARN = "#c2473d"
BASE: Mapping[str, Any] = {
    "animation": False,
    "textStyle": {"fontFamily": "system-ui, Segoe UI, Roboto, Arial, sans-serif", "color": INK},
    "grid": {"left": 12, "right": 18, "top": 34, "bottom": 30, "containLabel": True},
    "aria": {"enabled": False},  # chart_words.py describes them
}
AXES = {"k": "k, smallest group", "t": "greatest distance t", "l": "least l"}


def _axis(name: str = "", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "nameLocation": "middle",
        "nameGap": 30,
        "nameTextStyle": {"color": INK},
        "axisLabel": {"color": INK, "hideOverlap": True},
        "axisLine": {"lineStyle": {"color": LINE}},
        "axisTick": {"show": False},
        "splitLine": {"lineStyle": {"color": LINE}},
        **more,
    }


def protection_of(run: StoredRun, axis: str) -> float | None:
    """The measured protection of a finished run."""
    privacy = run.outcome["summary"]["privacy"]
    if axis == "k":
        return float(privacy["k"])
    return worst_t(privacy) if axis == "t" else least_l(privacy)


def frontier(runs: Sequence[StoredRun], axis: str, chosen: str) -> dict[str, Any]:
    """All runs, loss against protection; those that no other run beats in both are joined by a line."""
    points = [
        (protection, 100 * float(run.outcome["summary"]["loss"]["normalized_loss"]), run)
        for run in runs
        if (protection := protection_of(run, axis)) is not None
    ]
    best = sorted(unbeaten([(p, loss) for p, loss, _ in points], lower=axis == "t"))
    data = [
        {
            "value": [protection, loss],
            "name": run.title,
            "id": run.id,
            "symbolSize": 18 if run.id == chosen else 12,
            "itemStyle": {"color": WARN if run.id == chosen else ACCENT},
        }
        for protection, loss, run in points
    ]
    return {
        **BASE,
        "grid": {"left": 34, "right": 24, "top": 24, "bottom": 40, "containLabel": True},
        "tooltip": {"trigger": "item", ":formatter": "p => tooltipOfRun(p)"},
        "xAxis": _axis(AXES[axis], type="value", **_room([p for p, *_ in points], 1.0 if axis == "k" else 0.02)),
        "yAxis": _axis("detail lost, %", type="value", nameGap=42, **_room([loss for _, loss, _ in points], 2.0)),
        "series": [
            {"type": "line", "data": [list(point) for point in best], "symbol": "none", "silent": True,
             "lineStyle": {"color": ACCENT, "type": "dashed", "width": 1.5}},
            {"type": "scatter", "data": data},
        ],
    }  # fmt: skip


def _room(values: Sequence[float], least: float) -> dict[str, Any]:
    """Ends of an axis that leave some room around the points; labels stand at round numbers, not at the ends."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(0.12 * (high - low), least)
    digits = 0 if least >= 1 else 2
    label = {"color": INK, "hideOverlap": True, "showMinLabel": False, "showMaxLabel": False}
    return {"min": max(0.0, round(low - room, digits)), "max": round(high + room, digits), "axisLabel": label}


def unbeaten(points: Sequence[tuple[float, float]], *, lower: bool) -> list[tuple[float, float]]:
    """Points for which no other has less loss and at least as much protection (`lower`: a small number protects)."""
    sign = 1.0 if lower else -1.0
    return [
        (p, loss)
        for p, loss in points
        if not any(
            (sign * q <= sign * p and other < loss) or (sign * q < sign * p and other <= loss) for q, other in points
        )
    ]


def shares(bins: Sequence[Sequence[Any]], name: str) -> dict[str, Any]:
    """A histogram: the share of classes or rows per bin."""
    return {
        **BASE,
        "tooltip": {"trigger": "axis", ":valueFormatter": "v => (100 * v).toFixed(1) + ' %'"},
        "xAxis": _axis(name, type="category", data=[label for label, _ in bins]),
        "yAxis": _axis(type="value", axisLabel={"color": INK, ":formatter": "v => (100 * v).toFixed(0) + ' %'"}),
        "series": [
            {
                "type": "bar",
                "data": [share for _, share in bins],
                "barCategoryGap": "12%",
                "itemStyle": {"color": ACCENT},
            }
        ],
    }


def distances(about: Mapping[str, Any]) -> dict[str, Any]:
    """Every class as a point: its rows against its distance, with the limit as a line."""
    limit = about["limit"]
    return {
        **BASE,
        "grid": {"left": 34, "right": 20, "top": 20, "bottom": 40, "containLabel": True},
        "tooltip": {":formatter": "p => p.value[0] + ' rows, distance ' + p.value[1].toFixed(3)"},
        "xAxis": _axis("rows in the group", type="log" if _wide(about["classes"]) else "value"),
        "yAxis": _axis("distance", type="value", nameGap=42, min=0, max=round(max(limit, about["worst"]) * 1.1, 3)),
        "series": [
            {
                "type": "scatter",
                "symbolSize": 6,
                "itemStyle": {"color": ACCENT, "opacity": 0.55},
                "data": [[max(rows, 1), value] for value, rows in about["classes"]],
                "markLine": {
                    "symbol": "none",
                    "silent": True,
                    "lineStyle": {"color": WARN},
                    "label": {"formatter": f"limit {limit:g}", "color": WARN, "position": "insideEndTop"},
                    "data": [{"yAxis": limit}],
                },
            }
        ],
    }


def _wide(classes: Sequence[Sequence[float]]) -> bool:
    rows = [each[1] for each in classes if each[1] > 0]
    return bool(rows) and max(rows) > 50 * min(rows)


def survival(curve: Sequence[Any]) -> dict[str, Any]:
    """The share that survives each time, in the original and in the release."""
    _, times, before, after = curve
    lines = (("original", before, BEFORE), ("release", after, ACCENT))
    return {
        **BASE,
        "legend": {"right": 4, "top": 0, "textStyle": {"color": INK}, "itemHeight": 10, "itemWidth": 14},
        "tooltip": {"trigger": "axis", ":valueFormatter": "v => (100 * v).toFixed(1) + ' %'"},
        "xAxis": _axis("time", type="value", min=0, max=max(times)),
        "yAxis": _axis(
            type="value", min=0, max=1, axisLabel={"color": INK, ":formatter": "v => (100 * v).toFixed(0) + ' %'"}
        ),
        "series": [
            {
                "name": name,
                "type": "line",
                "step": "end",
                "showSymbol": False,
                "data": [list(point) for point in zip(times, shares, strict=True)],
                "lineStyle": {"color": colour},
                "itemStyle": {"color": colour},
            }
            for name, shares, colour in lines
        ],
    }


def before_after(about: Mapping[str, Any]) -> dict[str, Any]:
    """Shares in the input and in the release."""
    series = []
    if about.get("before"):
        series.append({"name": "before", "type": "bar", "data": about["before"], "itemStyle": {"color": BEFORE}})
    series.append({"name": "after", "type": "bar", "data": about["after"], "itemStyle": {"color": ACCENT}})
    return {
        **BASE,
        "legend": {"right": 4, "top": 0, "textStyle": {"color": INK}, "itemHeight": 10, "itemWidth": 14},
        "tooltip": {"trigger": "axis", ":valueFormatter": "v => (100 * v).toFixed(1) + ' %'"},
        "xAxis": _axis(type="category", data=about["labels"]),
        "yAxis": _axis(type="value", axisLabel={"color": INK, ":formatter": "v => (100 * v).toFixed(0) + ' %'"}),
        "series": series,
    }
