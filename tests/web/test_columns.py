"""The list of columns in a browser: 500 columns are as quick as five, many are set at once, all can be undone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

import httpx2 as httpx
from playwright.sync_api import BrowserContext, Locator, Page, expect

from polyveil.web.draft import Draft
from workbench_server import TOKEN, Server
from workbench_steps import WAIT

WIDE = 500
QUICK = 100.0
"""Milliseconds until a click shows."""
CLICK = """([name, role]) => {
  const list = document.querySelector("pv-columns"), begin = performance.now();
  const group = () => list.querySelector(`[aria-label="Role of ${name}"]`);
  [...group().children].find((button) => button.textContent === role).click();
  if (group().querySelector("[aria-checked=true]").textContent !== role) throw new Error("the click does not show");
  list.getBoundingClientRect(); // layout included
  return performance.now() - begin;
}"""


def wide_table(columns: int = WIDE, rows: int = 60) -> bytes:
    names = ["age", "town", "illness", *(f"item_{i:03}" for i in range(columns - 3))]
    lines = [",".join(names)]
    for i in range(rows):
        own = [str(20 + i % 40), "Cork" if i % 3 else "Derry", ("flu", "gout", "HIV")[i % 3]]
        lines.append(",".join([*own, *(str((i * (3 + j)) % 41) for j in range(columns - 3))]))
    return "\n".join(lines).encode()


@pytest.fixture(scope="module")
def wide(server: Server) -> Iterator[str]:
    """The name of a file of 500 columns that the workbench may open; its folder is empty again afterwards."""
    file = server.folder / "data" / "survey" / "wide.csv"
    file.parent.mkdir()
    file.write_bytes(wide_table())
    (server.folder / "data" / "notes.md").write_text("no table")
    yield "survey/wide.csv"
    file.unlink()
    file.parent.rmdir()


@pytest.fixture
def page(server: Server, visitors: BrowserContext, wide: str) -> Iterator[Page]:
    """A fresh table of 500 columns, at its columns."""
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as client:
        table = client.post("/api/tables/file", json={"path": wide}).json()["id"]
    page = visitors.new_page()
    page.set_default_timeout(WAIT)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{server.url}/?token={TOKEN}")
    page.goto(f"{server.url}/columns/{table}")
    expect(page.get_by_text(f"{WIDE} columns")).to_be_visible()
    yield page
    for each in visitors.pages:
        each.close()
    visitors.clear_cookies()
    assert problems == []


def role(page: Page, column: str, name: str) -> Locator:
    return page.get_by_role("radiogroup", name=f"Role of {column}").get_by_role("radio", name=name, exact=True)


def look_for(page: Page, words: str, number: int) -> None:
    page.get_by_label("Search columns").fill(words)
    expect(page.get_by_text(f"{number} of {WIDE} columns")).to_be_visible()


def test_a_page_of_500_columns_is_short_and_a_role_click_shows_at_once(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollHeight") < 2000
    assert page.locator(".pv-column-row").count() < 40
    taken = [page.evaluate(CLICK, [name, to]) for name in ("age", "town", "illness") for to in ("Drop", "Sensitive")]
    assert sorted(taken)[len(taken) // 2] < QUICK, taken
    expect(page.locator(".pv-window[aria-busy=true]")).to_have_count(0)
    page.reload()
    expect(role(page, "illness", "Sensitive")).to_have_attribute("aria-checked", "true")


def test_search_and_filters_find_columns(page: Page) -> None:
    look_for(page, "item_49", 7)
    page.get_by_label("Search columns").fill("")
    page.get_by_label("Filter by role").select_option("quasi")
    shown = page.locator(".pv-column-row [aria-checked=true]")
    expect(page.get_by_role("radiogroup", name="Role of item_100")).to_have_count(0)
    assert {each.inner_text() for each in shown.all()} == {"Quasi"}
    page.get_by_label("Filter by role").select_option("undecided")
    page.get_by_label("Filter by type").select_option("numeric")
    listed = page.get_by_role("listitem").filter(has_text="undecided")
    expect(listed.first).to_be_visible()
    assert listed.count() == page.locator(".pv-column-row").count()
    # What is decided stays where it is until the filter changes, and then it is gone.
    first = page.locator(".pv-column-row h2").first.inner_text()
    role(page, first, "Drop").click()
    expect(role(page, first, "Drop")).to_have_attribute("aria-checked", "true")
    page.get_by_label("Filter by type").select_option("")
    expect(page.get_by_role("radiogroup", name=f"Role of {first}", exact=True)).to_have_count(0)


def test_many_columns_get_a_role_at_once_and_undo_takes_it_back(page: Page) -> None:
    look_for(page, "item_4", 97)
    before = page.locator("[aria-label='Role of item_400'] [aria-checked=true]").inner_text()
    page.get_by_label("Select all shown").check()
    expect(page.get_by_text("97 selected")).to_be_visible()
    page.get_by_role("group", name="Role of the selected columns").get_by_role("button", name="Insensitive").click()
    page.get_by_label("Search columns").fill("")
    page.get_by_label("Filter by role").select_option("insensitive")
    expect(page.get_by_text(f"97 of {WIDE} columns")).to_be_visible()
    undo, redo = (page.get_by_role("button", name=name) for name in ("Undo the last change", "Redo the change"))
    expect(undo).to_be_enabled()
    page.get_by_role("heading", name="What do the columns contain?").click()
    page.keyboard.press("Control+z")
    page.get_by_label("Filter by role").select_option("")
    look_for(page, "item_400", 1)
    expect(role(page, "item_400", before)).to_have_attribute("aria-checked", "true")
    redo.click()
    expect(role(page, "item_400", "Insensitive")).to_have_attribute("aria-checked", "true")


def test_roles_are_chosen_by_keyboard_alone(page: Page) -> None:
    page.get_by_label("Search columns").focus()
    role(page, "age", page.locator("[aria-label='Role of age'] [aria-checked=true]").inner_text()).focus()
    page.keyboard.press("3")
    expect(role(page, "age", "Quasi")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(role(page, "age", "Sensitive")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("6")
    expect(role(page, "town", "Drop")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("1")
    expect(role(page, "item_496", "Person")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Home")
    expect(page.get_by_label("Select age")).to_be_focused()
    page.keyboard.press("Control+a")
    expect(page.get_by_text(f"{WIDE} selected")).to_be_visible()


def test_two_tabs_work_on_one_draft(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    role(other, "town", "Insensitive").click()
    expect(role(page, "town", "Insensitive")).to_have_attribute("aria-checked", "true")
    role(page, "age", "Drop").click()
    expect(role(other, "age", "Drop")).to_have_attribute("aria-checked", "true")
    expect(role(other, "town", "Insensitive")).to_have_attribute("aria-checked", "true")


def test_the_files_that_may_be_opened_are_listed(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/")
    field = page.get_by_role("combobox", name="File")
    expect(field).to_have_value(re.compile(r"^survey/wide\.csv \(\d"))
    page.get_by_role("button", name="Open the file").click()
    expect(page.get_by_role("heading", name="wide.csv")).to_be_visible()
    expect(page.get_by_role("button", name=f"Show more ({WIDE - 24} columns are not shown)")).to_be_visible()


def test_every_saved_change_of_a_draft_can_be_undone(tmp_path: Path) -> None:
    draft = Draft(tmp_path, {"columns": {"age": {"role": "quasi"}}, "privacy": {"k": 2}})
    draft.save()
    assert not draft.can_undo
    draft.section("privacy")["k"] = 5
    draft.save()
    draft.choose_roles(["age"], "drop", {})
    draft.undo()
    assert (draft.columns["age"]["role"], draft.section("privacy")["k"], draft.decided) == ("quasi", 5, set())
    draft.undo()
    assert draft.section("privacy")["k"] == 2
    draft.undo()
    assert not draft.can_undo
    draft.redo()
    draft.redo()
    assert (draft.columns["age"]["role"], draft.decided) == ("drop", {"age"})
    draft.undo()
    draft.section("privacy")["k"] = 9
    draft.save()
    assert not draft.can_redo
