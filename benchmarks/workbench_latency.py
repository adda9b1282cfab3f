"""How long a person waits in the workbench, in real Chromium, beside a plain static page in the same run.

    python benchmarks/workbench_latency.py [--columns 20 200 500] [--rows 10000 1000000] [--times 15] [--write]

Measured from the click or key to the moment the result is laid out: a role click in the list of columns (and until it
is saved), the search in that list, the page of a table with its first 24 histograms opened again, a jump to a far row.
The static page is one HTML file with as many columns, which does the same with a few lines of script and files on disk:
it is what the machine and the browser need at least. `--write` puts the table into docs/workbench.md.
"""

from __future__ import annotations

import argparse
import http.server
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from playwright.sync_api import Page, sync_playwright
from workbench import ARGUMENTS, CHROMIUM, JUMP, WAIT, serving

PAGE = Path(__file__).parent.parent / "docs" / "workbench.md"
BEGIN, END = "<!-- latency -->", "<!-- /latency -->"
ACTIONS = ("role click", "role saved", "filter", "chart", "row jump")
ROLES = ("Drop", "Quasi", "Insensitive", "Sensitive")
SHARES = (0.1, 0.9, 0.37, 0.5, 0.77, 0.02, 0.63, 0.99, 0.25, 0.41, 0.83, 0.15, 0.7, 0.31, 0.57)
CLICK = """([name, role]) => {
  const list = document.querySelector("pv-columns"), begin = performance.now();
  const group = () => list.querySelector(`[aria-label="Role of ${name}"]`);
  [...group().children].find((button) => button.textContent === role).click();
  if (group().querySelector("[aria-checked=true]").textContent !== role) throw new Error("the click does not show");
  list.getBoundingClientRect();
  return performance.now() - begin;
}"""
SAVED = """async ([name, role]) => {
  const list = document.querySelector("pv-columns"), begin = performance.now();
  [...list.querySelector(`[aria-label="Role of ${name}"]`).children].find((each) => each.textContent === role).click();
  while (list.querySelector(".pv-window").getAttribute("aria-busy") === "true")
    await new Promise((done) => setTimeout(done, 2));
  return performance.now() - begin;
}"""
FILTER = """(words) => {
  const field = document.querySelector("pv-columns [aria-label='Search columns']"), begin = performance.now();
  field.value = words;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  const shown = [...document.querySelectorAll(".pv-column-row h2")].map((each) => each.textContent);
  if (!shown.length || !shown.every((name) => name.includes(words))) throw new Error("the list is not filtered");
  document.querySelector(".pv-window").getBoundingClientRect();
  return performance.now() - begin;
}"""
CHARTS = "cards => document.querySelectorAll('.pv-column-card svg, .pv-column-card .pv-bars').length >= cards"
CARDS = 24
STATIC = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Plain page</title>
<input id="search"><ul id="list"></ul><div id="charts"></div><table id="rows"></table><script>
const names = %s, list = document.getElementById("list");
for (const name of names) {
  const row = document.createElement("li");
  row.textContent = name;
  for (const role of ["Drop", "Quasi", "Insensitive", "Sensitive"]) {
    const button = document.createElement("button");
    button.textContent = role;
    button.onclick = () => { for (const one of row.children) one.ariaChecked = one === button; };
    row.append(button);
  }
  list.append(row);
}
const timed = async (work) => { const begin = performance.now(); await work(); document.body.getBoundingClientRect();
  return performance.now() - begin; };
const click = (name, role) => timed(() =>
  [...list.children[names.indexOf(name)].children].find((each) => each.textContent === role).click());
const filter = (words) => timed(() => {
  for (const row of list.children) row.hidden = !row.textContent.includes(words);
});
const chart = () => timed(async () => {
  const found = await (await fetch("bars.json", { cache: "no-store" })).json();
  charts.innerHTML = found.map((bars) => `<svg width=240 height=40>${bars.map((high, at) =>
    `<rect x=${10 * at} y=${40 - high} width=8 height=${high} />`).join("")}</svg>`).join("");
});
const jump = () => timed(async () => {
  const found = await (await fetch("rows.json", { cache: "no-store" })).json();
  rows.innerHTML = found.map((row) => `<tr>${row.map((cell) => `<td>${cell}`).join("")}`).join("");
});
</script></html>"""

Times = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="+", default=[20, 200, 500])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--times", type=int, default=len(SHARES))
    parser.add_argument("--write", action="store_true", help="Put the table into docs/workbench.md.")
    chosen = parser.parse_args()
    found: dict[tuple[str, str], Times] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        data = Path(folder) / "data"
        data.mkdir()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(WAIT)
        with serving(folder, "--data", str(data)) as url, files(Path(folder)) as plain:
            page.goto(url)
            home = url.split("?")[0]
            for columns in chosen.columns:
                found[f"{columns} columns", "static page"] = static(page, plain, Path(folder), columns, chosen.times)
                for rows in chosen.rows:
                    name = write_table(data, columns, rows)
                    found[f"{columns} columns", f"{rows:,} rows"] = workbench(page, home, name, columns, chosen.times)
                    (data / name).unlink()
                    print(table({key: times for key, times in found.items() if key[0] == f"{columns} columns"}))
        browser.close()
    if chosen.write:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table(found)}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


def write_table(folder: Path, columns: int, rows: int) -> str:
    """Mostly small whole numbers, as surveys have them."""
    rng = np.random.default_rng(1)
    few = [rng.integers(0, 41, rows).astype(np.int8) for _ in range(16)]
    known = {"age": rng.integers(18, 90, rows).astype(np.int8), "town": rng.choice(["Cork", "Derry", "Lisbon"], rows)}
    known["illness"] = rng.choice(["asthma", "cold", "flu", "gout"], rows)
    items = {f"item_{i:03}": np.roll(few[i % len(few)], i) for i in range(columns - len(known))}
    name = f"survey_{columns}_{rows}.parquet"
    pl.DataFrame({**known, **items}).write_parquet(folder / name)
    return name


def workbench(page: Page, home: str, name: str, columns: int, times: int) -> Times:
    """The five waits on one table."""
    answer = page.request.post(f"{home}api/tables/file", data={"path": name}, timeout=WAIT)
    table = answer.json()["id"]
    found: Times = {action: [] for action in ACTIONS}
    page.goto(f"{home}?table={table}")
    page.locator(".ag-row[row-index='0']").first.wait_for(timeout=10 * WAIT)
    for share in SHARES[:times]:
        found["row jump"].append(page.evaluate(JUMP, share))
    for _ in range(times):
        begin = time.perf_counter()
        page.goto(f"{home}?table={table}", wait_until="commit")
        page.wait_for_function(CHARTS, arg=min(columns, CARDS))
        found["chart"].append(1000 * (time.perf_counter() - begin))
    page.goto(f"{home}columns/{table}")
    page.get_by_text(f"{columns} columns").first.wait_for()
    for i in range(times):
        asked = [("age", "town")[i % 2], ROLES[i % len(ROLES)]]
        found["role click"].append(page.evaluate(CLICK, asked))
        page.locator(".pv-window[aria-busy=false]").wait_for()
        found["role saved"].append(page.evaluate(SAVED, [asked[0], ROLES[(i + 1) % len(ROLES)]]))
        found["filter"].append(page.evaluate(FILTER, f"item_0{i % 2}"))
        page.evaluate(FILTER, "")
    return found


def static(page: Page, plain: str, folder: Path, columns: int, times: int) -> Times:
    """The same on a plain page."""
    names = ["age", "town", "illness", *(f"item_{i:03}" for i in range(columns - 3))]
    (folder / "plain.html").write_text(STATIC % json.dumps(names))
    (folder / "bars.json").write_text(json.dumps([[(i * j) % 40 for i in range(24)] for j in range(24)]))
    (folder / "rows.json").write_text(json.dumps([[str((i * j) % 41) for i in range(columns)] for j in range(100)]))
    page.goto(f"{plain}/plain.html")
    found: Times = {action: [] for action in ACTIONS if action != "role saved"}
    for i in range(times):
        found["role click"].append(page.evaluate(f"click('age', '{ROLES[i % len(ROLES)]}')"))
        found["filter"].append(page.evaluate(f"filter('item_0{i % 2}')"))
        begin = time.perf_counter()
        page.goto(f"{plain}/plain.html", wait_until="load")
        page.evaluate("chart()")
        found["chart"].append(1000 * (time.perf_counter() - begin))
        found["row jump"].append(page.evaluate("jump()"))
    return found


@contextmanager
def files(folder: Path) -> Iterator[str]:
    """A server of plain files."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def table(found: dict[tuple[str, str], Times]) -> str:
    """Median and 95th percentile in milliseconds, a line per table."""
    lines = [f"| table | {' | '.join(ACTIONS)} |", f"| --- |{' ---: |' * len(ACTIONS)}"]
    cell: Callable[[list[float]], str] = lambda times: (  # noqa: E731
        f"{statistics.median(times):.1f} / {np.quantile(times, 0.95):.1f}" if times else "-"
    )
    for (columns, what), times in found.items():
        lines.append(f"| {columns}, {what} | {' | '.join(cell(times.get(action, [])) for action in ACTIONS)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
