"""After a restart an old tab shows its view again, or one clear sentence; never raw JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

import httpx2 as httpx
from playwright.sync_api import Browser, expect

from workbench_server import TOKEN, running
from workbench_steps import WAIT


def test_an_old_tab_says_what_to_do_and_comes_back_to_its_view(tmp_path: Path, chromium: Browser) -> None:
    with chromium.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(WAIT)
        with running(tmp_path) as server:
            upload = {"file": ("people.csv", b"age,ill\n30,flu\n31,gout\n")}
            headers = {"Authorization": f"Bearer {TOKEN}"}
            table = httpx.post(f"{server.url}/api/tables/upload", files=upload, headers=headers, timeout=60).json()[
                "id"
            ]
            page.goto(f"{server.url}/?token={TOKEN}")
            page.goto(f"{server.url}/columns/{table}")
            heading = page.get_by_role("heading", name="What do the columns contain?")
            expect(heading).to_be_visible()
            for wrong in (f"/columns/{table}/first", "/api/tables/none/rows", "/nothing"):
                page.goto(f"{server.url}{wrong}")
                assert "{" not in page.locator("body").inner_text()
            page.goto(f"{server.url}/columns/{table}")
            expect(heading).to_be_visible()
        with running(tmp_path, port=server.port, token="another") as again:
            expect(page.get_by_text("Open the address that polyveil serve printed last")).to_be_visible()
            context.new_page().goto(f"{again.url}/?token=another")
            expect(heading).to_be_visible()
            assert page.url.endswith(f"/columns/{table}")
