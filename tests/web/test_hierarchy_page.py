"""Hierarchies in a browser: drawn with the mouse, by keyboard, and what they do to a release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

from playwright.sync_api import Page, expect

from polyveil.verification import verify
from polyveil.verification.files import read_manifest
from workbench_server import Server
from workbench_steps import ask, ended, release_of, start, upload


def test_a_hierarchy_edit_changes_the_outcome(page: Page, server: Server, tmp_path: Path) -> None:
    table = upload(page, server)
    ask(page, server, table, k="20", t="1")
    assert ended(start(page, server, table, "before")) == "done"
    page.goto(f"{server.url}/columns/{table}")
    page.get_by_role("link", name="Hierarchy of town").click()
    page.get_by_role("combobox", name="How values are generalized").click()
    page.get_by_role("option", name="A tree of groups").click()
    tree = page.get_by_role("tree")
    for value in ("Cork", "Derry"):
        item = tree.get_by_role("treeitem", name=re.compile(f"^{value},"))
        item.click()
        expect(item).to_have_attribute("aria-selected", "true")
    page.get_by_label("Name of the group").fill("Ireland")
    page.get_by_role("button", name="Group", exact=True).click()
    ireland = tree.get_by_role("treeitem", name=re.compile("^Ireland, 100 rows"))
    expect(ireland).to_be_visible()
    tree.get_by_role("treeitem", name=re.compile("^Galway,")).drag_to(ireland)
    expect(tree.get_by_role("treeitem", name=re.compile("^Ireland, 150 rows"))).to_be_visible()
    expect(page.locator(".pv-level").filter(has_text="Level 1")).to_contain_text("Ireland")
    assert ended(start(page, server, table, "after")) == "done"
    cells = {}
    for run in ("before", "after"):
        bundle = release_of(page, server, table, run, tmp_path)
        assert verify(bundle).holds
        cells[run] = (bundle / "manifest.json").read_text()
    assert "Ireland" in cells["after"]
    assert "Ireland" not in cells["before"]
    losses = [read_manifest(tmp_path / run / "release")["loss"]["information_loss"] for run in ("before", "after")]
    assert losses[0] != losses[1]


def test_the_tree_is_edited_by_keyboard_alone(page: Page, server: Server) -> None:
    page.get_by_role("button", name="Open the example hospital").click()
    page.wait_for_url(re.compile(r"table="))
    found = re.search(r"table=(\w+)", page.url)
    assert found
    page.goto(f"{server.url}/columns/{found[1]}/6")
    page.get_by_role("treeitem", name=re.compile("^Circulatory")).focus()
    page.keyboard.press("ArrowRight")
    heart = page.get_by_role("treeitem", name=re.compile("^Heart,"))
    expect(heart).to_be_visible()
    expect(page.get_by_role("treeitem", name=re.compile("^Circulatory"))).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(heart).to_be_focused()
    page.keyboard.press("Enter")
    expect(heart).to_have_attribute("aria-selected", "true")
    page.get_by_label("Name of the group").fill("Heart and more")
    page.get_by_role("button", name="Rename").press("Enter")
    expect(page.get_by_role("treeitem", name=re.compile("^Heart and more, "))).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).press("Enter")
    expect(heart).to_be_visible()
    with page.expect_download() as exported:
        page.get_by_role("button", name="Export as CSV").press("Enter")
    assert ",Heart,Circulatory,*\n" in Path(exported.value.path()).read_text()
    page.get_by_role("button", name="Make a tree from the data").press("Enter")
    expect(page.get_by_role("treeitem", name=re.compile(r"and \d+ like it, ")).first).to_be_visible()
