"""The whole job in a browser, from a file to a report and a release folder that verifies.

The small table is for every day. `POLYVEIL_WIDE_JOB=300x50000` does the job on a table of that size, by keyboard and by
mouse in Chromium and in Firefox.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

from playwright.sync_api import Page, expect

from firefox_bidi import FIREFOX, firefox
from polyveil.verification import verify
from polyveil.verification.files import read_manifest
from workbench_hands import HANDS, Mouse
from workbench_server import TOKEN, Server
from workbench_steps import RUN, ask, ended, release_of, start, upload

WIDE = os.environ.get("POLYVEIL_WIDE_JOB")
COLUMNS, ROWS = (int(part) for part in (WIDE or "40x400").split("x"))
EVERY = [(browser, hand) for browser in ("chromium", "firefox") for hand in ("keyboard", "mouse")]
DONE = EVERY if WIDE else [("chromium", "keyboard"), ("firefox", "mouse")]
SLOW, LONG = (300_000, 1_500_000) if WIDE else (60_000, RUN)
expect.set_options(timeout=SLOW)
QUASI, SENSITIVE = 3, 4
"""The roles' numbers on the keyboard."""


def test_the_whole_job_from_upload_to_a_bundle_that_verifies(page: Page, server: Server, tmp_path: Path) -> None:
    table = upload(page, server)
    ask(page, server, table, k="4", t="0.3")
    assert ended(start(page, server, table, "first")) == "done"
    bundle = release_of(page, server, table, "first", tmp_path)
    assert verify(bundle).holds
    manifest = read_manifest(bundle)
    assert manifest["privacy"]["k"] >= 4
    assert manifest["privacy"]["t"]["illness"] <= 0.3
    assert "name" not in manifest["policy"]["columns"]
    assert (bundle / "report.html").is_file()
    # What was downloaded can be looked at again.
    page.goto(f"{server.url}/")
    page.get_by_label("Choose a packed release").set_input_files(tmp_path / "first.zip")
    expect(page.get_by_text("The release was verified")).to_be_visible()
    page.get_by_role("link", name="Groups", exact=True).click()
    expect(page.get_by_role("heading", name="Group sizes")).to_be_visible()


@pytest.fixture(scope="module")
def wide(server: Server) -> Iterator[str]:
    """A wide table in the folder that the workbench may read; gives its name."""
    rng = np.random.default_rng(5)
    known = {
        "age": rng.integers(18, 90, ROWS),
        "town": rng.choice(["Cork", "Derry", "Galway", "Lisbon"], ROWS),
        "illness": rng.choice(["asthma", "cold", "flu", "gout"], ROWS),
        **{f"score_{i}": rng.integers(0, 20, ROWS) for i in range(3)},
    }
    items = {f"item_{i:03}": rng.integers(0, 41, ROWS) for i in range(COLUMNS - len(known))}
    path = server.folder / "data" / f"survey_{COLUMNS}.csv"
    pl.DataFrame({**known, **items}).write_csv(path)
    yield path.name
    path.unlink()


@pytest.fixture
def visitor(
    request: pytest.FixtureRequest, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mouse]:
    """A fresh visitor at the first page, in a browser and with a hand."""
    name, hand = request.param
    if name == "chromium":
        with opened(request.getfixturevalue("chromium"), server) as page:
            yield HANDS[hand](page)
        return
    if not FIREFOX:
        pytest.skip("the whole job is done in Firefox too, which is absent")
    with (
        firefox(request.getfixturevalue("playwright"), tmp_path_factory.mktemp("firefox")) as browser,
        opened(browser, server) as page,
    ):
        yield HANDS[hand](page)


@contextmanager
def opened(browser: Any, server: Server) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True) as context:
        page = context.new_page()
        page.set_default_timeout(SLOW)
        page.goto(f"{server.url}/?token={TOKEN}")
        yield page


@pytest.mark.timeout(3600 if WIDE else 600)
@pytest.mark.parametrize("visitor", DONE, indirect=True, ids="-".join)
def test_the_whole_job_by_one_hand(visitor: Mouse, wide: str, tmp_path: Path) -> None:
    page = visitor.page
    visitor.choose(page.get_by_role("combobox", name="File"), wide)
    visitor.press(page.get_by_role("button", name="Open the file"))
    expect(page.get_by_role("heading", name=wide)).to_be_visible()
    choose_roles(visitor)
    draw_intervals(visitor)
    go(visitor, "Privacy")
    number = page.get_by_label("Hide among similar rows (k), as a number")
    visitor.write(number, "7")
    page.keyboard.press("Tab")
    expect(page.get_by_text("7 rows").first).to_be_visible()
    go(visitor, "Run")
    visitor.write(page.get_by_label("Name of the run"), "by hand")
    visitor.press(page.get_by_role("button", name="Start the run"))
    card = page.locator(".pv-run")
    expect(card.locator(".pv-tag")).to_have_text(re.compile("done|failed|crashed"), timeout=LONG)
    assert card.locator(".pv-tag").inner_text() == "done"
    go(visitor, "Explore")
    visitor.press(page.get_by_role("link", name="Attacks", exact=True))
    visitor.press(page.get_by_role("button", name="Attack this release"))
    expect(page.get_by_role("region", name="Attacks")).to_be_visible(timeout=LONG)
    go(visitor, "Download")
    report = download(visitor, "report.html", tmp_path).read_text(encoding="utf-8")
    assert "by hand" not in report, "the name of a run is the steward's own"
    assert f"{ROWS:,} rows" in report
    zipfile.ZipFile(download(visitor, "release.zip", tmp_path)).extractall(tmp_path)
    assert verify(tmp_path / "release").holds
    manifest = read_manifest(tmp_path / "release")
    assert manifest["privacy"]["k"] >= 7
    assert set(manifest["quasi"]) == {"age", "town", "score_0", "score_1", "score_2"}
    assert len(manifest["policy"]["columns"]) == 6 + 10


def go(visitor: Mouse, step: str) -> None:
    """To a step, by the list at the top."""
    visitor.press(visitor.page.get_by_role("navigation", name="Steps").get_by_role("link", name=step))


def choose_roles(visitor: Mouse) -> None:
    """Many columns at once, then one by one."""
    page = visitor.page
    go(visitor, "Columns")
    expect(page.get_by_text(f"{COLUMNS} columns")).to_be_visible()
    roles = page.get_by_role("group", name="Role of the selected columns")
    for words, found, role in (
        ("item_", COLUMNS - 6, "Drop"),
        ("item_00", 10, "Insensitive"),
        ("score_", 3, "Quasi"),
    ):
        visitor.write(page.get_by_label("Search columns"), words)
        expect(page.get_by_text(f"{found} of {COLUMNS} columns")).to_be_visible()
        visitor.press(page.get_by_label("Select all shown"))
        expect(page.get_by_text(f"{found} selected")).to_be_visible()
        visitor.press(roles.get_by_role("button", name=role))
        visitor.press(page.get_by_role("button", name="Clear the selection"))
        expect(page.locator(".pv-window[aria-busy=true]")).to_have_count(0)
    for column, number in (("age", QUASI), ("town", QUASI), ("illness", SENSITIVE)):
        visitor.write(page.get_by_label("Search columns"), column)
        visitor.choose_role(column, number)
    expect(page.locator(".pv-window[aria-busy=true]")).to_have_count(0)


def draw_intervals(visitor: Mouse) -> None:
    """Ages in intervals, with their counts."""
    page = visitor.page
    visitor.write(page.get_by_label("Search columns"), "age")
    visitor.press(page.get_by_role("link", name="Hierarchy of age", exact=True))
    visitor.choose(page.get_by_role("combobox", name="How values are generalized"), "Intervals of numbers")
    visitor.write(page.get_by_label("Width"), "20")
    preview = page.get_by_role("region", name="Preview of the intervals")
    expect(preview).to_contain_text("Level 1: 5 intervals")  # 0-19 to 80-99
    expect(page.get_by_label("Width")).to_be_focused()
    expect(page.locator(".pv-level").filter(has_text="Level 1")).to_contain_text("5 groups")


def download(visitor: Mouse, name: str, folder: Path) -> Path:
    with visitor.page.expect_download() as found:
        visitor.press(visitor.page.get_by_role("link", name=f"Download {name}"))
    found.value.save_as(folder / name)
    return folder / name
