"""The pages in a real browser: the whole job, and what happens when things go wrong."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

import httpx2 as httpx
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import Error as PlaywrightError

from polyveil.policy.schema import DEFAULT_METHOD
from polyveil.table.writing import write_sheets
from polyveil.verification import verify
from polyveil.verification.files import read_manifest
from workbench_server import TOKEN, Server, browser, running

TOWNS, ILLNESSES = ("Cork", "Derry", "Galway", "Lisbon"), ("flu", "HIV", "cold", "gout", "asthma")
TABLE = "name,age,town,illness\n" + "\n".join(
    f"P{i},{20 + i % 50},{TOWNS[i % 4]},{ILLNESSES[i % 5]}" for i in range(200)
)
CONTRAST = ["color-contrast"]
HIERARCHY = b"Cork;Ireland;*\nDerry;Ireland;*\nGalway;Ireland;*\nLisbon;Portugal;*\n"
WAIT = 60_000
expect.set_options(timeout=WAIT)
RUN = 300_000
"""The first run of a fresh checkout compiles the kernels."""
POLICY = """
columns:
  name: {role: identifier}
  age: {role: quasi, type: numeric}
  town: {role: quasi}
  illness: {role: sensitive, t: 0.4}
privacy: {k: 4}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("workbench")) as server:
        yield server
        assert "P17" not in server.log, "a cell of the table is in the log"
        assert "Traceback" not in server.log


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def finished(server: Server) -> str:
    """A table with a finished run, made through the API; returns its id."""
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as client:
        table = client.post("/api/tables/upload", files={"file": ("people.csv", TABLE.encode())}).json()["id"]
        run = client.post("/api/runs", json={"table": table, "policy": POLICY, "title": "looked at"}).json()
        for _ in range(RUN // 200):
            state = client.get(f"/api/runs/{run['id']}").json()["state"]
            if state not in ("waiting", "running"):
                assert state == "done"
                return str(table)
            time.sleep(0.2)
    raise AssertionError("the run does not end")


@pytest.fixture
def page(server: Server, chromium: Browser) -> Iterator[Page]:
    """A fresh visitor with the address that `serve` printed. Nothing may be asked of another host."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(WAIT)
    asked: set[str] = set()
    problems: list[str] = []
    page.on("request", lambda request: asked.add(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{server.url}/?token={TOKEN}")
    yield page
    context.close()
    foreign = [
        url for url in asked if not url.startswith((server.url, "data:", "blob:", f"ws://127.0.0.1:{server.port}"))
    ]
    assert foreign == []
    assert problems == []
    # The token leaves the address at once, and no cell ever stands in one.
    assert [url for url in asked if "Lisbon" in url or "HIV" in url] == []


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


TABS = {
    "Summary": "Detail lost by column",
    "Groups": "Distance of each group",
    "Risk": "Groups closest to a limit",
    "Columns": "Before and after",
    "Attacks": "Attacks",
}


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


def test_explore_marks_the_class_of_a_row_on_both_sides(page: Page, server: Server, finished: str) -> None:
    page.goto(f"{server.url}/explore/{finished}?tab=rows")
    original = page.get_by_role("region", name="Rows of the original by group")
    released = page.get_by_role("region", name="Rows of the release by group")
    first = original.locator(".ag-row[row-index='0'] .ag-cell").nth(1)
    chosen = page.get_by_text("Group 1", exact=True)
    for _ in range(10):  # a click on a grid that is still loading its rows is lost
        first.click()
        page.wait_for_timeout(2_000)
        if chosen.is_visible():
            break
    expect(chosen).to_be_visible()
    for side in (original, released):
        expect(side.locator(".pv-chosen").first).to_be_visible()
    page.get_by_role("switch", name="Show only this group").click()
    expect(released.locator(".ag-row:not(.pv-chosen)")).to_have_count(0)
    for tab, heading in TABS.items():
        page.get_by_role("navigation", name="Parts of the results").get_by_role("link", name=tab, exact=True).click()
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    assert "tab=attacks" in page.url
    page.get_by_role("button", name="Attack this release").click()
    expect(page.get_by_text("No guarantee was broken")).to_be_visible(timeout=RUN)


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


def test_k_can_be_about_few_columns(page: Page, server: Server) -> None:
    table = upload(page, server)
    page.goto(f"{server.url}/privacy/{table}")
    page.get_by_role("switch", name="Require k in any few quasi-identifiers").click()
    expect(page.get_by_text(re.compile(r"Whoever knows \d+ quasi-identifiers? of a person"))).to_be_visible()
    expect(page.get_by_text(re.compile("about groups that share all quasi-identifiers"))).to_be_visible()
    page.get_by_role("switch", name="Require k in any few quasi-identifiers").click()
    expect(page.get_by_text(re.compile("about groups that share all quasi-identifiers"))).to_have_count(0)


MARKS = """() => [...document.querySelectorAll('.pv-chart')].map(el => {
  const chart = getElement(Number(el.id.slice(1))).chart, height = chart.getHeight();
  return {label: el.getAttribute('aria-label'), marks: chart.getModel().getSeries().map(one => {
    const data = one.getData();
    return {kind: one.subType, name: one.name, marks: [...Array(data.count()).keys()].map(i => {
      const layout = data.getItemLayout(i);
      if (!layout) return [null, null, null];
      const place = Array.isArray(layout) ? layout[1] : layout.y;
      return [data.get('y', i), Array.isArray(layout) ? null : Math.abs(layout.height), height - place];
    })};
  })};
})"""
"""Every chart with what was laid out to be drawn: the number of each mark, its height (bars) and its place."""


def test_charts_are_drawn_as_high_as_their_numbers(page: Page, server: Server, finished: str) -> None:
    """Drawn marks read back from the page: bars start at 0, and places and heights are on one scale."""
    seen = set()
    for tab in ("summary", "columns", "groups"):
        page.goto(f"{server.url}/explore/{finished}?tab={tab}")
        expect(page.locator(".pv-chart canvas, .pv-chart svg").first).to_be_visible()
        page.wait_for_timeout(600)
        for chart in page.evaluate(MARKS):
            marks = [mark for one in chart["marks"] for mark in one["marks"] if mark[0] is not None]
            seen |= {
                (tab, one["kind"], one["name"] if tab == "columns" else "") for one in chart["marks"] if one["marks"]
            }
            highest = max(marks, key=lambda mark: mark[0])
            lowest = min(marks, key=lambda mark: mark[0])
            spread = highest[0] - lowest[0]
            for value, height, place in marks:
                if height is not None and highest[0] > 0:
                    assert height == pytest.approx(highest[1] * value / highest[0], abs=1.5), chart["label"]
                if spread > 0:
                    expected = lowest[2] + (highest[2] - lowest[2]) * (value - lowest[0]) / spread
                    assert place == pytest.approx(expected, abs=1.5), chart["label"]
    assert {("columns", "bar", "before"), ("columns", "bar", "after"), ("groups", "bar", "")} <= seen
    assert ("groups", "scatter", "") in seen
    assert any(tab == "summary" for tab, _, _ in seen)
    page.goto(f"{server.url}/explore/{finished}?tab=summary")
    page.locator(".pv-bar").first.wait_for()
    bars = page.locator(".pv-bars .pv-bar").evaluate_all(
        "all => all.map(bar => [bar.querySelector('.pv-bar-rows').textContent,"
        " bar.querySelector('.pv-bar-track span').getBoundingClientRect().width"
        " / bar.querySelector('.pv-bar-track').getBoundingClientRect().width])"
    )
    assert bars
    for told, drawn in bars:
        assert drawn == pytest.approx(float(told.removesuffix(" %")) / 100, abs=0.01)


def test_every_view_is_readable_for_everybody(server: Server, chromium: Browser, finished: str) -> None:
    """Labels, roles and contrast as axe-core checks them, and nothing wider than the window."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed").Axe()
    found: list[str] = []
    for width, scheme in ((1280, "light"), (1280, "dark"), (820, "light")):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.goto(f"{server.url}/?token={TOKEN}")
        if (width, scheme) == (1280, "light"):  # once: where the tree stands already, nothing tells that it came anew
            import_hierarchy(page, server, finished)
        for address, words in views_of(finished).items():
            visit(page, f"{server.url}{address}")
            expect(page.get_by_text(words).first).to_be_visible()
            page.wait_for_timeout(500)
            if page.evaluate("document.documentElement.scrollWidth") > width:
                found.append(f"{address} is wider than {width}")
            # Everything once; what changes with the colours again in the dark.
            rules = (
                ["wcag2a", "wcag2aa"] if (width, scheme) == (1280, "light") else {"type": "rule", "values": CONTRAST}
            )
            results = axe.run(page, options={"runOnly": rules}) if width == 1280 else None
            if results is None:
                continue
            for violation in results.response["violations"]:
                places = [node["target"] for node in violation["nodes"][:3]]
                found.append(f"{address} {width} {scheme}: {violation['id']} {places}")
        context.close()
    assert found == []


def visit(page: Page, address: str) -> None:
    """Go there; a page that was itself still on its way somewhere may get in between once."""
    try:
        page.goto(address)
    except PlaywrightError as error:
        if "ERR_ABORTED" not in str(error):
            raise
        page.wait_for_load_state()
        page.goto(address)


def import_hierarchy(page: Page, server: Server, table: str) -> None:
    page.goto(f"{server.url}/columns/{table}/2")
    page.get_by_label("Choose a hierarchy file").set_input_files(
        files=[{"name": "town.csv", "mimeType": "text/csv", "buffer": HIERARCHY}]
    )
    expect(page.get_by_role("treeitem", name="Ireland, 150 rows")).to_be_visible()


def views_of(table: str) -> dict[str, str]:
    """Every view, and words that stand there once it is drawn."""
    return {
        "/": "Try an example",
        f"/?table={table}": "Loaded as you scroll",
        f"/columns/{table}": "of the people",
        f"/columns/{table}/2": "Level by level",
        f"/privacy/{table}": "Hide among similar rows (k)",
        f"/run/{table}": "looked at",
        f"/explore/{table}": "Detail lost by column",
        f"/explore/{table}?tab=rows": "Original and release",
        f"/explore/{table}?tab=columns": "Before and after",
        f"/explore/{table}?tab=groups": "Distance of each group",
        f"/explore/{table}?tab=risk": "Groups closest to a limit",
        f"/explore/{table}?tab=attacks": "Simulated attackers",
        f"/explore/{table}?tab=analyses": "Run the same analysis on the original",
        f"/download/{table}": "Release folder",
    }
