"""The Data view in a browser: a workbook's sheets, files that cannot be read."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

from playwright.sync_api import Page, expect

from polyveil.table.writing import write_sheets
from workbench_server import Server
from workbench_steps import TABLE, give, upload


def test_one_sheet_of_a_workbook_is_chosen(page: Page, server: Server, tmp_path: Path) -> None:
    people = pl.read_csv(io.StringIO(TABLE))
    write_sheets({"Notes": pl.DataFrame({"read": ["a"], "me": ["b"]}), "People": people}, tmp_path / "book.xlsx")
    content = (tmp_path / "book.xlsx").read_bytes()
    give(page, server, content, "book.xlsx")
    expect(page.get_by_role("heading", name="Which sheet is the table?")).to_be_visible()
    page.get_by_role("button", name="People").click()
    expect(page.get_by_role("heading", name="illness")).to_be_visible()
    page.get_by_role("button", name="Choose another sheet").click()
    page.get_by_role("button", name="Notes").click()
    expect(page.get_by_role("heading", name="read", exact=True)).to_be_visible()


def test_a_broken_file_shows_its_error_where_it_was_given(page: Page, server: Server) -> None:
    give(page, server, b"age,town\n1,Cork\n2\n3,Derry,too,many\n", "broken.csv")
    expect(page.get_by_role("alert")).to_contain_text("line")
    give(page, server, b"PK", "people.zip")
    expect(page.get_by_role("alert")).to_contain_text("people.zip was not taken")
    table = upload(page, server)
    page.get_by_role("link", name="Hierarchy of town").click()
    page.get_by_label("Choose a hierarchy file").set_input_files(
        files=[{"name": "town.csv", "mimeType": "text/csv", "buffer": b"Cork;Ireland;*\nCork;Iberia;*\n"}]
    )
    zone = page.locator(".pv-drop").filter(has=page.get_by_label("Choose a hierarchy file"))
    expect(zone.get_by_role("alert")).to_contain_text("line 2")
    page.goto(f"{server.url}/columns/{table}")
    page.get_by_label("Choose a policy file").set_input_files(
        files=[{"name": "p.yaml", "mimeType": "text/yaml", "buffer": b"columns:\n  age: {role: quasy}\n"}]
    )
    zone = page.locator(".pv-drop").filter(has=page.get_by_label("Choose a policy file"))
    expect(zone.get_by_role("alert")).to_contain_text("line 2")
