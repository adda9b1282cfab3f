"""What a person does in the workbench, step by step, and the table it is done with."""

from __future__ import annotations

import re
import time
import zipfile
from pathlib import Path
from typing import Any

import httpx2 as httpx
from playwright.sync_api import Page, expect

from workbench_server import TOKEN, Server

TOWNS, ILLNESSES = ("Cork", "Derry", "Galway", "Lisbon"), ("flu", "HIV", "cold", "gout", "asthma")
TABLE = "name,age,town,illness\n" + "\n".join(
    f"P{i},{20 + i % 50},{TOWNS[i % 4]},{ILLNESSES[i % 5]}" for i in range(200)
)
POLICY = """
columns:
  name: {role: identifier}
  age: {role: quasi, type: numeric}
  town: {role: quasi}
  illness: {role: sensitive, t: 0.4}
privacy: {k: 4}
"""
WAIT = 60_000
expect.set_options(timeout=WAIT)
RUN = 300_000
"""The first run of a fresh checkout compiles the kernels."""


def wait_for(client: Any, run: str) -> Any:
    """Follow a job to its end through the API; it must succeed."""
    for _ in range(RUN // 100):
        found = client.get(f"/api/runs/{run}").json()
        if found["state"] not in ("waiting", "running"):
            assert found["state"] == "done", found["outcome"]
            return found
        time.sleep(0.1)
    raise AssertionError("the run does not end")


def finish_run(server: Server, title: str) -> str:
    """A table of its own with a finished run, made through the API; returns the table's id."""
    policy = f"{POLICY}method: {{name: sift, effort: fast}}\n"
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as client:
        table = client.post("/api/tables/upload", files={"file": ("people.csv", TABLE.encode())}).json()["id"]
        run = client.post("/api/runs", json={"table": table, "policy": policy, "title": title}).json()
        wait_for(client, run["id"])
    return str(table)


def give(page: Page, server: Server, content: str | bytes = TABLE, name: str = "people.csv") -> None:
    page.goto(f"{server.url}/")
    data = content.encode() if isinstance(content, str) else content
    page.get_by_label("Choose a table to upload").set_input_files(
        files=[{"name": name, "mimeType": "text/csv", "buffer": data}]
    )


def upload(page: Page, server: Server) -> str:
    """Upload the table and choose the roles; returns its id."""
    give(page, server)
    page.wait_for_url(re.compile(r"table="))
    expect(page.get_by_role("heading", name="people.csv")).to_be_visible()
    found = re.search(r"table=(\w+)", page.url)
    assert found
    page.goto(f"{server.url}/columns/{found[1]}")
    choose_role(page, "illness", "Sensitive")
    return found[1]


def choose_role(page: Page, column: str, role: str) -> None:
    button = page.get_by_role("radiogroup", name=f"Role of {column}").get_by_role("radio", name=role, exact=True)
    button.click()
    expect(button).to_have_attribute("aria-checked", "true")
    expect(page.locator(".pv-window[aria-busy=true]")).to_have_count(0)  # shown at once, saved a moment later


def set_number(page: Page, label: str, value: str) -> None:
    field = page.get_by_label(f"{label}, as a number")
    field.fill(value)
    field.press("Tab")
    page.wait_for_timeout(600)


def ask(page: Page, server: Server, table: str, **thresholds: str) -> None:
    titles = {
        "k": "Hide among similar rows (k)",
        "t": "Stay close to the whole table (t)",
        "l": "Several values in every group (l)",
    }
    page.goto(f"{server.url}/privacy/{table}")
    for key, value in thresholds.items():
        switch = page.get_by_role("switch", name=f"Require {titles[key]}")
        expect(switch).to_be_visible()
        if switch.get_attribute("aria-checked") != "true":
            switch.click()
        set_number(page, titles[key], value)


def start(page: Page, server: Server, table: str, name: str) -> Any:
    """Start a run; returns its card."""
    page.goto(f"{server.url}/run/{table}")
    page.get_by_label("Name of the run").fill(name)
    page.get_by_role("button", name="Start the run").click()
    card = page.locator(".pv-run").filter(has=page.get_by_role("heading", name=name, exact=True))
    expect(card).to_be_visible()
    return card


def ended(card: Any) -> str:
    status = card.locator(".pv-tag")
    expect(status).to_have_text(re.compile("done|failed|crashed|cancelled|interrupted"), timeout=RUN)
    for alert in card.get_by_role("alert").all():
        print(alert.inner_text())  # pytest shows it where the run ended otherwise than expected
    return str(status.inner_text())


def release_of(page: Page, server: Server, table: str, run: str, folder: Path) -> Path:
    """Download a run's bundle from Download and unpack it."""
    page.goto(f"{server.url}/run/{table}")
    card = page.locator(".pv-run").filter(has=page.get_by_role("heading", name=run, exact=True))
    card.get_by_role("link", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download release.zip").click()
    packed = folder / f"{run}.zip"
    download.value.save_as(packed)
    zipfile.ZipFile(packed).extractall(folder / run)
    return folder / run / "release"
