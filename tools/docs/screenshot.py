"""Takes docs/pictures/workbench.png: the Explore view of the workbench after a few runs on the hospital example.

    python tools/docs/screenshot.py [FILE]

Needs the extra `web`, playwright and Chromium, and takes a minute or two. The picture is not compared by any test: two
runs never give the same pixels.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
import httpx2 as httpx

from polyveil.demo import EXAMPLES
from workbench_server import TOKEN, browser, running

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "workbench.png"
RUNS = (("mondrian, t = 0.2", "mondrian", 0.2), ("mondrian, t = 0.3", "mondrian", 0.3),
        ("mondrian, t = 0.4", "mondrian", 0.4), ("sift, t = 0.2", "sift", 0.2), ("sift, t = 0.4", "sift", 0.4),
        ("sift, t = 0.3", "sift", 0.3))  # fmt: skip
WIDTH, HEIGHT = 1240, 760


def diseases() -> dict[str, Any]:
    """The example's hierarchy as a tree in the policy."""
    tree: dict[str, Any] = {}
    for line in EXAMPLES["hospital"].hierarchies["disease.csv"].splitlines():
        value, group, branch, _ = line.split(";")
        below = tree.setdefault(branch, {})
        below.setdefault(group if group != value else f"other {branch.lower()}", []).append(value)
    return tree


def policy(method: str, t: float) -> dict[str, Any]:
    quasi: dict[str, Any] = {"age": {"role": "quasi", "type": "numeric"}, "sex": {"role": "quasi"}}
    quasi["zip"] = {"role": "quasi", "hierarchy": {"mask": 5}}
    dropped = {name: {"role": "identifier"} for name in ("patient", "admitted", "nationality")}
    sensitive = {
        "disease": {"role": "sensitive", "hierarchy": diseases()},
        "salary": {"role": "sensitive", "type": "numeric"},
    }
    kept = {name: {"role": "insensitive"} for name in ("religion", "ward")}
    options = {"effort": "fast"} if method == "sift" else {}
    columns = {**dropped, **quasi, **sensitive, **kept}
    return {"columns": columns, "privacy": {"k": 5, "t": t}, "method": {"name": method, **options}}


def finished_runs(url: str) -> str:
    """Make the runs through the API; returns the table's id."""
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=300) as client:
        table = str(client.post("/api/tables/example", json={"example": "hospital", "rows": 2000}).json()["id"])
        for title, method, t in RUNS:
            asked = {"table": table, "title": title, "policy": policy(method, t), "seed": 1}
            run = client.post("/api/runs", json=asked).json()["id"]
            while client.get(f"/api/runs/{run}").json()["state"] in ("waiting", "running"):
                time.sleep(0.5)
    return table


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as server, browser() as chromium:
        table = finished_runs(server.url)
        page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.set_default_timeout(120_000)
        page.goto(f"{server.url}/?token={TOKEN}")
        page.goto(f"{server.url}/explore/{table}")
        page.get_by_text("Detail lost by column").first.wait_for()
        page.wait_for_timeout(4000)
        page.screenshot(path=out)


if __name__ == "__main__":
    main()
