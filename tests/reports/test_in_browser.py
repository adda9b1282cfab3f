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
from workbench_server import browser as opened_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened_browser() as found:
        yield found


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
