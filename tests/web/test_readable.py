"""Every view for everybody: labels, roles and contrast as axe-core checks them, nothing wider than the window."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

import httpx2 as httpx
from playwright.sync_api import Page, expect

from workbench_server import TOKEN, Server
from workbench_steps import POLICY, finish_run, wait_for

ALL = {"runOnly": ["wcag2a", "wcag2aa"]}
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""What changes with the colours."""
WIDTHS = (390, 768, 2560)
TREE = {"Ireland": ["Cork", "Derry", "Galway"], "Portugal": ["Lisbon"]}
VIEWS = {
    "/": "Try an example",
    "/?table={table}": "Loaded as you scroll",
    "/columns/{table}": "of the people",
    "/columns/{table}/1": "Starting at",
    "/columns/{table}/2": "Level by level",
    "/columns/{table}/3": "Security levels",
    "/privacy/{table}": "Hide among similar rows (k)",
    "/run/{table}": "looked at",
    "/explore/{table}": "Detail lost by column",
    "/explore/{table}?tab=rows": "Original and release",
    "/explore/{table}?tab=columns": "Before and after",
    "/explore/{table}?tab=groups": "Distance of each group",
    "/explore/{table}?tab=risk": "Groups closest to a limit",
    "/explore/{table}?tab=attacks": "guessed from the table",
    "/explore/{table}?tab=analyses": "same conclusion",
    "/download/{table}": "Release folder",
    "/release/{release}": "The release was verified",
    "/release/0000": "no longer exists",
    "/nothing": "There is nothing at this address",
}
"""Every view, and words that stand there once it is drawn."""


@pytest.fixture(scope="session")
def ready(server: Server) -> dict[str, str]:
    """A finished table with all a view can show: hierarchies, attacks, an analysis, its release brought back."""
    table = finish_run(server, "looked at by everybody")
    policy = POLICY.replace("age: {", "age: {hierarchy: {intervals: {width: 10, levels: 2}}, ")
    policy = policy.replace("town: {", f"town: {{hierarchy: {{tree: {TREE}}}, ")
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as client:
        client.post(f"/api/tables/{table}/draft", files={"file": ("p.yaml", policy.encode())}).raise_for_status()
        (run,) = [each["id"] for each in client.get("/api/runs").json() if each["title"] == "looked at by everybody"]
        bundle = client.get(f"/api/runs/{run}/bundle").content
        release = client.post("/api/bundles", files={"file": ("release.zip", bundle)}).json()["id"]
        attack = client.post(f"/api/runs/{run}/attack").json()["id"]
        asked = {"analyses": [{"survival": "age", "event": "illness", "value": "flu", "by": "town"}]}
        analyses = client.post(f"/api/runs/{run}/analyses", json=asked).json()["id"]
        for job in (attack, release, analyses):
            wait_for(client, job)
    return {"table": table, "release": release}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_readable_for_everybody(page: Page, server: Server, ready: dict[str, str], view: str) -> None:
    """In light and dark, and nothing wider than a phone, a tablet, a screen or a wall."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed").Axe()
    page.goto(f"{server.url}{view.format(**ready)}")
    expect(page.get_by_text(VIEWS[view]).first).to_be_visible()
    page.add_style_tag(content="* { transition: none !important; }")  # colours are judged at rest
    found = violations(axe.run(page, options=ALL))
    page.emulate_media(color_scheme="dark")
    if page.locator("nav").count():  # the guard's own pages have no frame
        expect(page.locator("body.body--dark")).to_be_attached()
    found += violations(axe.run(page, options=CONTRAST))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(50)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"wider than {width}")
    assert found == []


def violations(results: Any) -> list[str]:
    return [f"{each['id']} {[node['target'] for node in each['nodes'][:3]]}" for each in results.response["violations"]]
