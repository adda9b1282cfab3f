"""How quick the workbench is with a million rows: first page, table page, jumps and steady scrolling, in real Chromium.

    python benchmarks/workbench.py [--rows 1000000] [--small 1000]

Scrolling is smooth where a frame takes no longer with a million rows than with a thousand in the same grid, measured in
the same run: rows come from the server in slices, so the browser never holds more than a few. Slices are also asked for
while a run works on the million rows, beside the same slices with nothing going on. Frames of a headless browser
without a graphics card are slower than those a person sees.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import APIRequestContext, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
JUMPS = (0.1, 0.9, 0.37, 0.5, 0.77, 0.02, 0.63, 0.99, 0.25, 0.41)
WAIT = 120_000
LIMIT = 3600.0  # seconds the workbench may run
JUMP = """async share => {
  const view = [...document.querySelectorAll('.ag-body-viewport')].at(-1), begin = performance.now();
  view.scrollTop = Math.round((view.scrollHeight - view.clientHeight) * share);
  for (;;) {
    await new Promise(requestAnimationFrame);
    const rows = [...document.querySelectorAll('.ag-center-cols-container .ag-row')];
    const passed = performance.now() - begin;
    if (passed > 30 && rows.filter(row => row.innerText.trim().length > 5).length >= 8) return passed;
    if (passed > 20000) throw new Error('the rows do not come');
  }
}"""
SCROLL = """async () => {
  const view = [...document.querySelectorAll('.ag-body-viewport')].at(-1), frames = [];
  view.scrollTop = 0;
  let last = performance.now();
  for (let i = 0; i < 200; i++) {
    view.scrollTop += 96;
    await new Promise(requestAnimationFrame);
    const now = performance.now(); frames.push(now - last); last = now;
  }
  return frames;
}"""
QUASI, SENSITIVE = ("age", "sex", "race"), ("occupation", "hours-per-week")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--small", type=int, default=1000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(folder) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(WAIT)
        start = time.perf_counter()
        page.goto(url)
        page.get_by_label("Choose a table to upload").wait_for(state="attached")
        print(f"first page ready to use {time.perf_counter() - start:.2f} s after the server was up", flush=True)
        home = url.split("?")[0]
        frames = {
            rows: scroll(page, home, example(page.request, home, rows), rows) for rows in (chosen.small, chosen.rows)
        }
        ratio = statistics.median(frames[chosen.rows]) / statistics.median(frames[chosen.small])
        print(f"a frame with {chosen.rows:,} rows takes {ratio:.2f} times one with {chosen.small:,}", flush=True)
        slices(page.request, home, chosen.rows)
        browser.close()


@contextmanager
def serving(folder: str, *more: str) -> Iterator[str]:
    """The workbench as a person starts it; gives the address it prints."""
    command = [sys.executable, "-m", "polyveil", "serve", "--no-open", "--port", "0", "--folder", folder, *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    clock = threading.Timer(LIMIT, process.kill)
    clock.start()
    assert process.stdout
    try:
        for line in process.stdout:
            if "http://" in line:
                yield line[line.index("http://") :].split()[0]
                return
        raise SystemExit("the workbench did not start")
    finally:
        clock.cancel()
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def example(request: APIRequestContext, home: str, rows: int) -> str:
    answer = request.post(f"{home}api/tables/example", data={"example": "census", "rows": rows}, timeout=WAIT)
    return str(answer.json()["id"])


def scroll(page: Page, home: str, table: str, rows: int) -> list[float]:
    """Open the table's page, jump about, then scroll steadily; the milliseconds of each frame."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        page.goto(f"{home}?table={table}")
        page.locator(".ag-row[row-index='0']").first.wait_for()
        seconds.append(time.perf_counter() - start)
    print(f"{rows:,} rows: page {seconds[0]:.2f} s the first time, {seconds[1]:.2f} s again", flush=True)
    if rows > 10_000:
        jumps = [float(page.evaluate(JUMP, share)) for share in JUMPS]
        print(
            f"  jump to a far place: median {statistics.median(jumps):.0f} ms, longest {max(jumps):.0f} ms", flush=True
        )
    page.evaluate(SCROLL)
    frames: list[float] = page.evaluate(SCROLL)
    late = sorted(frames)[int(len(frames) * 0.95)]
    print(f"  steady scrolling: frame median {statistics.median(frames):.1f} ms, 95 % within {late:.1f} ms", flush=True)
    return frames


def slices(request: APIRequestContext, home: str, rows: int) -> None:
    """The time of a slice of 100 rows from the middle, with nothing going on and while a run works on all rows."""
    table = example(request, home, rows)

    def ask() -> float:
        start = time.perf_counter()
        request.get(f"{home}api/tables/{table}/rows?start={rows // 2}&stop={rows // 2 + 100}", timeout=WAIT)
        return 1000 * (time.perf_counter() - start)

    names = request.get(f"{home}api/tables/{table}/rows?start=0&stop=1", timeout=WAIT).json()["columns"]
    roles = {name: "quasi" if name in QUASI else "sensitive" if name in SENSITIVE else "insensitive" for name in names}
    policy = {
        "columns": {name: {"role": role} for name, role in roles.items()},
        "privacy": {"k": 5, "t": 0.3},
        "method": {"name": "mondrian"},
    }
    ask()
    idle = [ask() for _ in range(20)]
    run: dict[str, Any] = request.post(f"{home}api/runs", data={"table": table, "policy": policy}, timeout=WAIT).json()
    busy, state = [], "waiting"
    while state in ("waiting", "running"):
        busy.append(ask())
        time.sleep(0.2)
        state = request.get(f"{home}api/runs/{run['id']}", timeout=WAIT).json()["state"]
    print(
        f"slice of 100 rows: {statistics.median(idle):.0f} ms alone, {statistics.median(busy):.0f} ms while a run "
        f"({state}) works on all rows, longest {max(busy):.0f} ms",
        flush=True,
    )


if __name__ == "__main__":
    main()
