"""Takes docs/pictures/workbench-*.webp: every view of the workbench at four widths, light above dark.

    python tools/docs/workbench_pictures.py [FOLDER [HEIGHT]]

Needs the extra `web`, playwright, Pillow and Chromium, and takes a few minutes. A height other than that of the page's
pictures gives larger ones to look at. They are not compared by any test: two runs never give the same pixels.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
import httpx2 as httpx
from screenshot import policy

from workbench_server import TOKEN, browser, running
from workbench_steps import wait_for

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
WIDTHS, HEIGHT, SHOWN, GAP = (390, 768, 1280, 2560), 900, 330, 12
VIEWS = {
    "data": ("/", "Try an example"),
    "table": ("/?table={table}", "Loaded as you scroll"),
    "columns": ("/columns/{table}", "of the people"),
    "intervals": ("/columns/{table}/3", "the smallest with"),
    "tree": ("/columns/{table}/6", "Level by level"),
    "privacy": ("/privacy/{table}", "Hide among similar rows (k)"),
    "run": ("/run/{table}", "sift, t = 0.3"),
    "summary": ("/explore/{table}", "Detail lost by column"),
    "rows": ("/explore/{table}?tab=rows", "Original and release"),
    "before-and-after": ("/explore/{table}?tab=columns", "Before and after"),
    "groups": ("/explore/{table}?tab=groups", "Distance of each group"),
    "risk": ("/explore/{table}?tab=risk", "Groups closest to a limit"),
    "attacks": ("/explore/{table}?tab=attacks", "guessed from the table"),
    "analyses": ("/explore/{table}?tab=analyses", "same conclusion"),
    "download": ("/download/{table}", "Release folder"),
    "release": ("/release/{release}", "The release was verified"),
}


def prepared(url: str) -> dict[str, str]:
    """A table with two runs, attacks, an analysis and a release brought back."""
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=300) as client:
        table = str(client.post("/api/tables/example", json={"example": "hospital", "rows": 2000}).json()["id"])
        for title, method, t in (("mondrian, t = 0.3", "mondrian", 0.3), ("sift, t = 0.3", "sift", 0.3)):
            asked = {"table": table, "title": title, "policy": policy(method, t), "seed": 1}
            run = client.post("/api/runs", json=asked).json()["id"]
            wait_for(client, run)
        analyses = [{"linear": "salary", "on": ["age", "sex"]}]
        jobs = [client.post(f"/api/runs/{run}/attack").json()["id"]]
        jobs.append(client.post(f"/api/runs/{run}/analyses", json={"analyses": analyses}).json()["id"])
        bundle = client.get(f"/api/runs/{run}/bundle").content
        jobs.append(client.post("/api/bundles", files={"file": ("release.zip", bundle)}).json()["id"])
        for job in jobs:
            wait_for(client, job)
        draft = policy("sift", 0.3)
        draft["columns"]["age"]["hierarchy"] = {"intervals": {"width": 10, "levels": 3}}
        file = {"file": ("policy.json", httpx.Request("POST", url, json=draft).content)}
        client.post(f"/api/tables/{table}/draft", files=file).raise_for_status()
    return {"table": table, "release": jobs[-1]}


def sheet(page: Any, height: int) -> Image.Image:
    """The page as it is, at all widths and in both colour schemes."""
    scale = height / HEIGHT
    shots: list[list[Image.Image]] = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        shots.append([])
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            page.wait_for_timeout(700)
            shot = Image.open(io.BytesIO(page.screenshot()))
            shots[-1].append(shot.convert("RGB").resize((round(width * scale), height), Image.Resampling.LANCZOS))
    across = sum(shot.width for shot in shots[0]) + GAP * (len(WIDTHS) - 1)
    found = Image.new("RGB", (across, 2 * height + GAP), "#8a9a9d")
    for line, row in enumerate(shots):
        at = 0
        for shot in row:
            found.paste(shot, (at, line * (height + GAP)))
            at += shot.width + GAP
    return found


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    height = int(sys.argv[2]) if len(sys.argv) > 2 else SHOWN
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work, running(Path(work)) as server, browser() as chromium:
        names = prepared(server.url)
        page = chromium.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{server.url}/?token={TOKEN}")
        for view, (address, words) in VIEWS.items():
            page.goto(f"{server.url}{address.format(**names)}")
            page.get_by_text(words).first.wait_for()
            sheet(page, height).save(folder / f"workbench-{view}.webp", quality=55, method=6)


if __name__ == "__main__":
    main()
