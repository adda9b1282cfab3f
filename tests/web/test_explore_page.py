"""Explore in a browser: groups on both sides, and charts as high as their numbers."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

from playwright.sync_api import Page, expect

from workbench_server import Server
from workbench_steps import RUN

TABS = {
    "Summary": "Detail lost by column",
    "Groups": "Distance of each group",
    "Risk": "Groups closest to a limit",
    "Columns": "Before and after",
    "Attacks": "Attacks",
}


def test_explore_marks_the_class_of_a_row_on_both_sides(page: Page, server: Server, finished: str) -> None:
    page.goto(f"{server.url}/explore/{finished}?tab=rows")
    original = page.get_by_role("region", name="Rows of the original by group")
    released = page.get_by_role("region", name="Rows of the release by group")
    first = original.locator(".ag-row[row-index='0'] .ag-cell").nth(1)
    chosen = page.get_by_text("Group 1", exact=True)
    expect(first).not_to_be_empty()
    for _ in range(20):  # a click on a grid that draws its rows once more is lost
        first.click()
        try:
            expect(chosen).to_be_visible(timeout=1_000)
            break
        except AssertionError:
            continue
    expect(chosen).to_be_visible()
    for side in (original, released):
        expect(side.locator(".pv-chosen").first).to_be_visible()
    page.get_by_role("switch", name="Show only this group").click()
    expect(released.locator(".ag-row:not(.pv-chosen)")).to_have_count(0)
    for tab, heading in TABS.items():
        page.get_by_role("navigation", name="Parts of the results").get_by_role("link", name=tab, exact=True).click()
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    assert "tab=attacks" in page.url
    page.get_by_role("button", name="Attack this release").click()
    expect(page.get_by_text("No guarantee was broken")).to_be_visible(timeout=RUN)


def test_charts_tell_their_values_to_screen_readers(page: Page, server: Server, finished: str) -> None:
    """The description that Chromium computes has the numbers of the drawn bars, two of each column."""
    page.goto(f"{server.url}/explore/{finished}?tab=columns")
    expect(page.locator(".pv-chart canvas, .pv-chart svg").first).to_be_visible()
    page.wait_for_timeout(600)
    drawn = {chart["label"]: chart["marks"] for chart in page.evaluate(MARKS)}
    assert len(drawn) > 2
    for label, series in drawn.items():
        words = page.get_by_role("img", name=label, exact=True)
        for one in series:
            greatest = max(mark[0] for mark in one["marks"])
            expect(words).to_have_accessible_description(re.compile(rf": .*\b{100 * greatest:.1f} % {one['name']}\b"))
    page.goto(f"{server.url}/explore/{finished}?tab=groups")
    far = page.get_by_role("img", name="Distance per group").first
    expect(far).to_have_accessible_description(
        re.compile(r"groups of \d.* rows\. Distances from .* The limit is 0\.\d+\.")
    )


MARKS = """() => [...document.querySelectorAll('.pv-chart')].map(el => {
  const chart = getElement(Number(el.id.slice(1))).chart, height = chart.getHeight();
  return {label: el.getAttribute('aria-label'), marks: chart.getModel().getSeries().map(one => {
    const data = one.getData();
    return {kind: one.subType, name: one.name, marks: [...Array(data.count()).keys()].map(i => {
      const layout = data.getItemLayout(i);
      if (!layout) return [null, null, null];
      const place = Array.isArray(layout) ? layout[1] : layout.y;
      return [data.get('y', i), Array.isArray(layout) ? null : Math.abs(layout.height), height - place];
    })};
  })};
})"""
"""Every chart with what was laid out to be drawn: the number of each mark, its height (bars) and its place."""


def test_charts_are_drawn_as_high_as_their_numbers(page: Page, server: Server, finished: str) -> None:
    """Drawn marks read back from the page: bars start at 0, and places and heights are on one scale."""
    seen = set()
    for tab in ("summary", "columns", "groups"):
        page.goto(f"{server.url}/explore/{finished}?tab={tab}")
        expect(page.locator(".pv-chart canvas, .pv-chart svg").first).to_be_visible()
        page.wait_for_timeout(600)
        for chart in page.evaluate(MARKS):
            marks = [mark for one in chart["marks"] for mark in one["marks"] if mark[0] is not None]
            seen |= {
                (tab, one["kind"], one["name"] if tab == "columns" else "") for one in chart["marks"] if one["marks"]
            }
            highest = max(marks, key=lambda mark: mark[0])
            lowest = min(marks, key=lambda mark: mark[0])
            spread = highest[0] - lowest[0]
            for value, height, place in marks:
                if height is not None and highest[0] > 0:
                    assert height == pytest.approx(highest[1] * value / highest[0], abs=1.5), chart["label"]
                if spread > 0:
                    expected = lowest[2] + (highest[2] - lowest[2]) * (value - lowest[0]) / spread
                    assert place == pytest.approx(expected, abs=1.5), chart["label"]
    assert {("columns", "bar", "before"), ("columns", "bar", "after"), ("groups", "bar", "")} <= seen
    assert ("groups", "scatter", "") in seen
    assert any(tab == "summary" for tab, _, _ in seen)
    page.goto(f"{server.url}/explore/{finished}?tab=summary")
    page.locator(".pv-bar").first.wait_for()
    bars = page.locator(".pv-bars .pv-bar").evaluate_all(
        "all => all.map(bar => [bar.querySelector('.pv-bar-rows').textContent,"
        " bar.querySelector('.pv-bar-track span').getBoundingClientRect().width"
        " / bar.querySelector('.pv-bar-track').getBoundingClientRect().width])"
    )
    assert bars
    for told, drawn in bars:
        assert drawn == pytest.approx(float(told.removesuffix(" %")) / 100, abs=0.01)
