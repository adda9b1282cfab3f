"""The Privacy view in a browser: requirements with the limits of the table."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

from playwright.sync_api import Page, expect

from workbench_server import Server
from workbench_steps import ask, upload


def test_sliders_end_where_the_table_does(page: Page, server: Server) -> None:
    table = upload(page, server)
    ask(page, server, table, l="2")
    slider = page.get_by_role("slider", name="Several values in every group (l)")
    # Five illnesses, equally common: no l above 5 can be kept.
    expect(slider).to_have_attribute("aria-valuemax", "5")
    slider.locator("[tabindex='0']").press("ArrowRight")
    expect(page.get_by_text("No value of a sensitive column makes up more than 1/3 of any group.")).to_be_visible()


def test_risk_is_asked_for_by_its_attacker(page: Page, server: Server) -> None:
    table = upload(page, server)
    page.goto(f"{server.url}/privacy/{table}")
    page.get_by_role("switch", name="Require Risk of being found").click()
    expect(page.get_by_label("Greatest risk")).to_have_value("0.09")
    page.get_by_label("Attacker").click()
    page.get_by_role("option", name=re.compile("Journalist")).click()
    expect(page.get_by_label("Share of the population in the table")).to_have_value("0.01")
    page.get_by_label("The population is known by").click()
    page.get_by_role("option", name="A table with everybody in it").click()
    expect(page.get_by_text("Upload one row per person, with all quasi-identifiers.")).to_be_visible()
    people = {"name": "register.csv", "mimeType": "text/csv", "buffer": b"age\n1\n"}
    page.get_by_label("Choose a table of the population").set_input_files(people)  # type: ignore[arg-type]
    expect(page.get_by_text("Counted in population.csv.")).to_be_visible()


def test_k_can_be_about_few_columns(page: Page, server: Server) -> None:
    table = upload(page, server)
    page.goto(f"{server.url}/privacy/{table}")
    page.get_by_role("switch", name="Require k in any few quasi-identifiers").click()
    expect(page.get_by_text(re.compile(r"Whoever knows \d+ quasi-identifiers? of a person"))).to_be_visible()
    expect(page.get_by_text(re.compile("about groups that share all quasi-identifiers"))).to_be_visible()
    page.get_by_role("switch", name="Require k in any few quasi-identifiers").click()
    expect(page.get_by_text(re.compile("about groups that share all quasi-identifiers"))).to_have_count(0)
