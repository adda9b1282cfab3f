"""Takes docs/pictures/notebook.png: results as a light and a dark notebook show them.

    python tools/docs/notebook.py [FILE]

Needs playwright and Chromium. The picture is not compared by any test: fonts differ between machines.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import polyveil

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from workbench_server import browser

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "notebook.png"
PATIENTS = pl.DataFrame(
    {
        "age": [23, 25, 28, 31, 34, 38, 41, 47, 52, 55, 58, 63],
        "sex": ["f", "m"] * 6,
        "disease": ["flu", "asthma", "ulcer"] * 4,
    }
)
COLUMNS = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "disease": {"role": "sensitive", "t": 0.4}}
POLICY = {"columns": COLUMNS, "privacy": {"k": 3}}
THEMES = {"light": ("#ffffff", "#1f2328"), "dark": ("#111317", "#e6e8eb")}


def cells(*, every: bool) -> str:
    """Calls and what they show; the picture has the most used ones, `every` has all."""
    release = polyveil.anonymize(PATIENTS, POLICY, seed=1)
    shown = {
        "polyveil.check(patients, policy)": polyveil.check(PATIENTS, POLICY),
        "release": release,
        "polyveil.verify(release)": polyveil.verify(release),
        "polyveil.attack(release, patients)": polyveil.attack(release, PATIENTS),
    }
    if every:
        shown["polyveil.profile(patients)"] = polyveil.profile(PATIENTS)
        shown["polyveil.compare(patients, policy)"] = polyveil.compare(PATIENTS, POLICY, methods=["mondrian", "pca"])
        shown["polyveil.advise(patients, policy)"] = polyveil.advise(PATIENTS, POLICY, methods="mondrian", draws=0)
    return "".join(f"<pre>{call}</pre>{result._repr_html_()}" for call, result in shown.items())


def document(inside: str) -> str:
    themes = "".join(
        f'<section style="background:{paper};color:{ink};padding:24px;min-width:0">{inside}</section>'
        for paper, ink in THEMES.values()
    )
    rules = "body{margin:0;display:grid;grid-template-columns:1fr 1fr} pre{opacity:.8;font-size:13px;margin:20px 0 8px}"
    return f"<!doctype html><html lang=en><title>Results</title><style>{rules}</style>{themes}</html>"


def main() -> None:
    every = "--every" in sys.argv
    named = [Path(text) for text in sys.argv[1:] if not text.startswith("--")]
    with browser() as chromium:
        page = chromium.new_page(viewport={"width": 1640, "height": 900})
        page.set_content(document(cells(every=every)))
        page.screenshot(path=str(named[0] if named else PICTURE), full_page=True)


if __name__ == "__main__":
    main()
