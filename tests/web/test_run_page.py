"""The Run view in a browser: percent, time passed and left, detail lost on one scale, stopping with the best so far."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

import httpx2 as httpx
from playwright.sync_api import BrowserContext, Page, expect

from polyveil.policy.schema import DEFAULT_METHOD
from workbench_server import TOKEN, Server
from workbench_steps import RUN, ended, start, upload

POLICY = """
columns:
  age: {role: quasi, type: numeric}
  weight: {role: quasi, type: numeric}
  height: {role: quasi, type: numeric}
  illness: {role: sensitive, t: 0.3}
privacy: {k: 4}
method: {name: sift, effort: 600}
"""
TABLE = "age,weight,height,illness\n" + "\n".join(
    f"{20 + i % 60},{50 + (i * 7) % 51},{150 + (i * 13) % 41},{('flu', 'HIV', 'cold', 'gout')[i % 4]}"
    for i in range(1200)
)
FIRST, SECOND = "age", "illness"


def test_a_run_tells_how_far_it_is_and_stops_with_the_best_so_far(server: Server, visitors: BrowserContext) -> None:
    client = httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)
    table = client.post("/api/tables/upload", files={"file": ("people.csv", TABLE.encode())}).json()["id"]
    run = client.post("/api/runs", json={"table": table, "policy": POLICY, "title": "long"}).json()["id"]
    page = visitors.new_page()
    page.goto(f"{server.url}/?token={TOKEN}")
    page.goto(f"{server.url}/run/{table}")
    card = page.locator(".pv-run")
    words = card.locator(".pv-progress-words")
    expect(words).to_have_text(re.compile(r"^\d+ %, \d+ (s|min) passed, about \d+ (s|min) left$"), timeout=RUN)
    expect(card.get_by_text(re.compile(r"% → .* % of the detail lost"))).to_be_visible(timeout=RUN)
    bar = card.get_by_role("progressbar", name="Progress of the run")
    assert 0 < int(bar.get_attribute("aria-valuenow") or 0) < 100
    card.get_by_role("button", name="Stop the run long and keep the best groups").click()
    expect(card.locator(".pv-tag")).to_have_text("done", timeout=RUN)
    answer = client.get(f"/api/runs/{run}").json()
    lost = 100 * answer["outcome"]["summary"]["loss"]["normalized_loss"]
    told = [
        float(found[1]) for _, note in answer["progress"]["history"] if (found := re.search(r"([\d.]+) % lost", note))
    ]
    assert told[-1] == pytest.approx(lost, abs=2.0), "the card and the result have one scale"
    expect(card).to_contain_text(f"{lost:.1f} % of the detail lost")
    page.goto(f"{server.url}/explore/{table}?run={run}&tab=attacks")
    page.get_by_role("button", name="Attack this release").click()
    expect(page.get_by_role("progressbar", name="Progress of the attacks")).to_be_visible()
    expect(page.get_by_role("region", name="Attacks")).to_be_visible(timeout=RUN)
    _analyses_survive(page, f"{server.url}/explore/{table}?run={run}&tab=analyses", client, run)
    page.close()
    client.close()


def _analyses_survive(page: Page, address: str, client: httpx.Client, run: str) -> None:
    """What is not filled in is named; a cross table is compared, with the figures of the library."""
    page.goto(address)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("Choose: Outcome, Explained by")).to_be_visible()
    page.get_by_role("button", name="Cross table").click()
    for label, name in (("First column", FIRST), ("Second column", SECOND)):
        field = page.get_by_label(label, exact=True)
        field.fill(name)
        page.get_by_role("option", name=name, exact=True).click()
    page.get_by_role("button", name="Compare").click()
    region = page.get_by_role("region", name=f"{FIRST} × {SECOND}")
    expect(region).to_be_visible(timeout=RUN)
    shown = region.locator("tbody tr").first.locator("th,td").all_inner_texts()
    assert shown[-1] in ("yes", "no")
    assert re.fullmatch(r"\d+ %", shown[5])
    whole = sum(float(row.locator("td").first.inner_text()) for row in region.locator("tbody tr").all())
    assert whole == pytest.approx(1, abs=0.01), "the shares of all cells"


def test_a_run_is_cancelled_and_a_reload_in_the_middle_loses_nothing(page: Page, server: Server) -> None:
    page.get_by_role("button", name="Open the example census").click()
    page.wait_for_url(re.compile(r"table="))
    found = re.search(r"table=(\w+)", page.url)
    assert found
    page.goto(f"{server.url}/run/{found[1]}")
    page.get_by_role("combobox", name="Method").click()
    page.get_by_role("option", name=re.compile("^pca", re.IGNORECASE)).click()
    card = start(page, server, found[1], "long")
    expect(card.get_by_role("progressbar")).to_be_visible()
    page.reload()
    card = page.locator(".pv-run").filter(has=page.get_by_role("heading", name="long", exact=True))
    expect(card.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("combobox", name="Method")).to_have_value(re.compile("^pca", re.IGNORECASE))
    card.get_by_role("button", name="Cancel").click()
    assert ended(card) == "cancelled"


def test_the_default_method_and_its_effort_are_offered_at_once(page: Page, server: Server) -> None:
    table = upload(page, server)
    page.goto(f"{server.url}/run/{table}")
    expect(page.get_by_role("combobox", name="Method")).to_have_value(re.compile(f"^{DEFAULT_METHOD}"))
    effort = page.get_by_role("combobox", name=re.compile("^effort"))
    expect(effort).to_have_value("balanced")
    for entered, outcome in (("soon", "or a number"), ("7", None)):
        effort.fill(entered)
        effort.press("Enter")
        if outcome:
            expect(page.get_by_role("alert").filter(has_text=outcome)).to_be_visible()
    page.reload()
    expect(effort).to_have_value("7.0")


def test_a_policy_that_cannot_be_reached_is_explained(page: Page, server: Server) -> None:
    table = upload(page, server)
    policy = "columns:\n  name: {role: identifier}\n  age: {role: quasi, type: numeric}\n  town: {role: insensitive}\n"
    policy += "  illness: {role: sensitive, l: 6}\nprivacy: {k: 2}\n"
    page.get_by_label("Choose a policy file").set_input_files(
        files=[{"name": "p.yaml", "mimeType": "text/yaml", "buffer": policy.encode()}]
    )
    expect(
        page.get_by_role("radiogroup", name="Role of town").get_by_role("radio", name="Insensitive")
    ).to_have_attribute("aria-checked", "true")
    card = start(page, server, table, "too much")
    assert ended(card) == "failed"
    expect(card.get_by_role("alert")).to_contain_text("This policy cannot be met")
    expect(card.get_by_role("alert")).to_contain_text("Nearest reachable")
