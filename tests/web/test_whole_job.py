"""The whole job in a browser, from a file to a release folder that verifies."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

from playwright.sync_api import Page, expect

from polyveil.verification import verify
from polyveil.verification.files import read_manifest
from workbench_server import Server
from workbench_steps import ask, ended, release_of, start, upload


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
