"""Hierarchies in a browser: drawn with the mouse, by keyboard, and what they do to a release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

from playwright.sync_api import Page, expect

from polyveil.errors import InputError
from polyveil.verification import verify
from polyveil.verification.files import read_manifest
from polyveil.web.pages.interval_preview import MOST_VALUES, counted_intervals
from workbench_server import Server
from workbench_steps import TOWNS, ask, choose_role, ended, release_of, start, upload


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


def test_a_hierarchy_file_is_imported_and_exported_again(page: Page, server: Server) -> None:
    """In ARX's format, with semicolons; a file without one of the values is refused, and nothing changes."""
    upload(page, server)
    page.get_by_role("link", name="Hierarchy of town").click()
    file, tree = page.get_by_label("Choose a hierarchy file"), page.get_by_role("tree")

    def give_hierarchy(lines: list[str]) -> None:
        content = "\n".join(lines).encode()
        file.set_input_files(files=[{"name": "town.csv", "mimeType": "text/csv", "buffer": content}])

    known = [f"{town};Ireland;Europe" for town in TOWNS[:3]]
    give_hierarchy(known)
    expect(page.get_by_role("alert").filter(has_text="1 of the column's 4 values")).to_be_visible()
    expect(tree).to_have_count(0)
    give_hierarchy([*known, f"{TOWNS[3]};Portugal;Europe"])
    expect(tree.get_by_role("treeitem", name=re.compile("^Ireland, 150 rows"))).to_be_visible()
    expect(tree.get_by_role("treeitem", name=re.compile("^Portugal, 50 rows"))).to_be_visible()
    expect(page.locator(".pv-level").filter(has_text="Level 1")).to_contain_text("rarest in 50 rows")
    page.reload()
    expect(tree.get_by_role("treeitem", name=re.compile("^Ireland, 150 rows"))).to_be_visible()
    with page.expect_download() as exported:
        page.get_by_role("button", name="Export as CSV").click()
    text = Path(exported.value.path()).read_text()
    assert sorted(line.split(",")[:2] for line in text.splitlines()) == sorted(
        [town, "Portugal" if town == "Lisbon" else "Ireland"] for town in TOWNS
    )
    page.get_by_role("combobox", name="How values are generalized").click()
    page.get_by_role("option").first.click()
    expect(tree).to_have_count(0)
    give_hierarchy(text.splitlines())
    expect(tree.get_by_role("treeitem", name=re.compile("^Ireland, 150 rows"))).to_be_visible()


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


def test_intervals_are_counted_while_they_are_typed(page: Page, server: Server) -> None:
    """Each key shows the intervals, the field keeps the focus, and what was typed last is saved."""
    table = upload(page, server)
    choose_role(page, "age", "Quasi")
    page.goto(f"{server.url}/columns/{table}/1")
    page.get_by_role("combobox", name="How values are generalized").click()
    page.get_by_role("option", name="Intervals of numbers").click()
    width, preview = page.get_by_label("Width"), page.get_by_role("region", name="Preview of the intervals")
    expect(preview).to_contain_text("Level 1: 5 intervals, the smallest with 40 rows")  # 20-29 to 60-69, 200 rows
    width.press("Control+a")
    width.press("2")
    expect(preview).to_contain_text("Level 1: 25 intervals, the smallest with 8 rows")
    width.press("5")
    expect(preview).to_contain_text("Level 1: 3 intervals, the smallest with 20 rows")  # 0-24, 25-49, 50-74
    expect(preview.locator(".pv-chip").first).to_have_text("[0-24]20")
    expect(width).to_be_focused()
    expect(page.locator(".pv-level").filter(has_text="Level 1")).to_contain_text("3 groups, rarest in 20 rows")
    page.reload()
    expect(width).to_have_value("25")


def test_the_preview_counts_as_the_hierarchy_does() -> None:
    """Decimals as they are written: 0.3 belongs to the interval that starts at 0.3."""
    counts = {"0.1": 1, "0.2": 2, "0.3": 4, "-0.1": 8, "unknown": 16}
    levels = counted_intervals({"width": 0.1, "levels": 2, "fanout": 2}, counts)
    assert [rows for _, rows in levels[0]] == [8, 1, 2, 4]
    assert [rows for _, rows in levels[1]] == [8, 1, 6]
    for rule, numbers in (({"width": 0}, counts), ({"width": 1}, {"a": 1}), ({"width": 1}, many_numbers())):
        with pytest.raises(InputError, match="No preview"):
            counted_intervals(rule, numbers)


def many_numbers() -> dict[str, int]:
    return {str(i): 1 for i in range(MOST_VALUES + 1)}
