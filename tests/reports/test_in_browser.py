"""The pages as a browser shows them: no request leaves the file; screen readers, phones and paper are served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import polyveil
from polyveil.advice.cases import Case, CaseOutcome
from polyveil.advice.compare import Comparison
from polyveil.advice.compare_page import comparison_page
from polyveil.demo import write_example

pytest.importorskip("playwright", reason="the pages are opened with playwright")


@pytest.fixture(scope="module")
def browser(chromium: Any) -> Iterator[Any]:
    yield chromium
    for context in chromium.contexts:
        context.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    written = write_example("hospital", folder, rows=600)
    about = "about: {title: Patients of 2025, purpose: Teaching, controller: City Hospital, reasons: The board's}\n"
    written.policy.write_text(written.policy.read_text() + about)
    polyveil.anonymize(written.data, written.policy, out=folder / "release", seed=1)
    outcomes = tuple(
        CaseOutcome(
            *(Case(method, k, t), "generalized", "done", 1.0),
            classes=9,
            class_size={"min": k, "mean": 20.0, "max": 40},
            privacy={"k": k, "t": {"x": t * 0.9}},
            loss={"normalized_loss": 0.1 / t + k / 100, "information_loss": 1.0},
        )
        for method in ("mondrian", "fcm")
        for k in (2, 5)
        for t in (0.1, 0.2)
    )
    (folder / "comparison.html").write_text(comparison_page(Comparison(outcomes, 600, 5)))
    return {"report": folder / "release" / "report.html", "comparison": folder / "comparison.html"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["report", "comparison"])
def test_no_request_leaves_the_file_and_nothing_is_said_in_the_console(
    browser: Any, pages: dict[str, Path], name: str, scheme: str
) -> None:
    page = browser.new_context(color_scheme=scheme).new_page()
    requests: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(pages[name].as_uri())
    assert requests == [pages[name].as_uri()]
    assert said == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(16, 20, 24)") is (scheme == "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["report", "comparison"])
def test_an_accessibility_check_finds_nothing(browser: Any, pages: dict[str, Path], name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed").Axe()
    page = browser.new_context(color_scheme=scheme, bypass_csp=True).new_page()
    page.goto(pages[name].as_uri())
    for details in page.query_selector_all("details"):
        details.evaluate("each => each.open = true")
    found = axe.run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_a_phone_shows_it_without_moving_sideways(browser: Any, pages: dict[str, Path], name: str) -> None:
    page = browser.new_context(viewport={"width": 360, "height": 740}).new_page()
    page.goto(pages[name].as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_paper_is_white_whatever_the_screen(browser: Any, pages: dict[str, Path], name: str) -> None:
    page = browser.new_context(color_scheme="dark").new_page()
    page.goto(pages[name].as_uri())
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_pointing_at_a_column_shows_its_figures(browser: Any, pages: dict[str, Path]) -> None:
    page = browser.new_page()
    page.goto(pages["report"].as_uri())
    mark = page.locator("svg .mark").first
    tip = mark.locator(".tip")
    assert tip.evaluate("each => getComputedStyle(each).visibility") == "hidden"
    mark.locator(".hit").hover()
    assert tip.evaluate("each => getComputedStyle(each).visibility") == "visible"
    assert "rows" in tip.text_content()


def test_a_method_can_be_hidden_and_shown_without_a_script(browser: Any, pages: dict[str, Path]) -> None:
    page = browser.new_page()
    page.goto(pages["comparison"].as_uri())
    assert page.locator(".series-1").first.is_visible()
    page.uncheck("#show-1")
    assert not page.locator(".series-1").first.is_visible()
    assert page.locator(".series-0").first.is_visible()


def test_every_chart_has_its_numbers_in_a_table(browser: Any, pages: dict[str, Path]) -> None:
    page = browser.new_page()
    page.goto(pages["report"].as_uri())
    assert page.locator("figure").count() == page.locator("figure details table").count() > 3


FIGURES = """() => [...document.querySelectorAll('figure')].filter(f => f.querySelector('rect.fill')).map(f => ({
  title: f.querySelector('strong').textContent,
  heights: [...f.querySelectorAll('rect.fill')].map(r => r.getBoundingClientRect().height),
  figures: [...f.querySelectorAll('tbody td')].map(d => d.textContent)}))"""
BARS = """() => [...document.querySelectorAll('table.bars')].map(t => ({
  title: t.querySelector('caption').textContent,
  widths: [...t.querySelectorAll('tbody tr')].map(r => [...r.querySelectorAll('td.bar i')].map(
    i => i.getBoundingClientRect().width)),
  figures: [...t.querySelectorAll('tbody tr')].map(r => [...r.querySelectorAll('td.num')].map(d => d.textContent))}))"""
METERS = """() => [...document.querySelectorAll('.meter')].map(m => [
  m.querySelector('i').getBoundingClientRect().width / m.getBoundingClientRect().width,
  [...m.closest('tr').querySelectorAll('td.num')].map(d => d.textContent)])"""


def share(text: str) -> float:
    """What `12.3 %` says; `< 0.1 %` may be anything up to it."""
    return float(text.removeprefix("< ").removesuffix(" %")) / 100


def drawn_like(marks: list[float], told: list[float], off: float) -> None:
    """Marks are as long as their figures say, on one scale, but for rounding (one decimal) and `off` pixels."""
    longest = max(range(len(told)), key=told.__getitem__)
    scale = marks[longest] / told[longest]
    for mark, figure in zip(marks, told, strict=True):
        assert mark == pytest.approx(scale * figure, abs=off + scale * 0.0006)


def test_what_is_drawn_is_what_the_numbers_say(browser: Any, pages: dict[str, Path]) -> None:
    """Drawn marks read back: columns of histograms, bars, pairs of bars, meters and points of a frontier."""
    page = browser.new_page()
    page.goto(pages["report"].as_uri())
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
    histograms = page.evaluate(FIGURES)
    titles = " ".join(each["title"] for each in histograms)
    assert all(kind in titles for kind in ("size of their group", "Distance of", "as released"))
    for each in histograms:
        drawn_like(each["heights"], [share(text) for text in each["figures"]], 1.2)
    bars = page.evaluate(BARS)
    assert {"Detail", "Values"} <= {each["title"].split()[0] for each in bars}
    for each in bars:
        rows = [(w, f) for w, f in zip(each["widths"], each["figures"], strict=True) if w]
        drawn_like([w for widths, _ in rows for w in widths], [share(f) for _, figures in rows for f in figures], 1.0)
    meters = page.evaluate(METERS)
    assert meters
    for used, (required, weakest) in meters:
        sign, limit = required.split()
        value, most = float(weakest.replace(",", "")), float(limit.replace(",", ""))
        assert used == pytest.approx(most / value if sign == "≥" else value / most, abs=0.02)
    page.goto(pages["comparison"].as_uri())
    points = page.evaluate(
        "() => [...document.querySelectorAll('svg g.mark')].map(g => [g.querySelector('.tip').textContent,"
        " g.querySelector('circle,path,rect').getBoundingClientRect().toJSON()])"
    )
    losses = sorted(0.1 / t + k / 100 for k in (2, 5) for t in (0.1, 0.2) for _ in "ab")
    heights = sorted(-(box["top"] + box["bottom"]) / 2 for _, box in points)
    assert len(heights) == len(losses)
    step = (heights[-1] - heights[0]) / (losses[-1] - losses[0])
    assert heights == pytest.approx([heights[0] + step * (loss - losses[0]) for loss in losses], abs=1.5)
    page.close()
