"""The overview of all verdicts, from the points that the scripts of the five papers wrote beside their pages.

    python experiments/as_printed.py [--out FOLDER]

Nothing is computed here: run the scripts of the papers first, as `make experiments` does.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from paper_page import PAGES, table_lines
from verdicts import read_points, summary

PAPERS = ("wang2018", "xiao2020", "roy2014", "bagai2023", "han2013")
HOW = """## How to read this page

`as_printed: true` runs an algorithm exactly as its paper prints it; the departures of our defaults are listed in the
[reference of methods](../reference/methods.md). Twins written from the papers' text alone confirm these runs on random
tables. The page of each paper has the tables and figures behind its points.
"""


def overview(folder: Path) -> str:
    points = {paper: read_points(folder / f"{paper}.json") for paper in PAPERS}
    rows = [
        [f"[{paper}]({paper}.md)", point.claim, point.found, f"**{point.verdict}**"]
        for paper, some in points.items()
        for point in some
    ]
    every = [point for some in points.values() for point in some]
    table = table_lines(["paper", "claim", "what came out", "verdict"], rows, left=4)
    parts = ["# The papers as printed, point by point\n", "## Verdicts\n", f"{summary(every)}\n", table, HOW]
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PAGES, help="where the pages are")
    out = parser.parse_args().out
    missing = [paper for paper in PAPERS if not (out / f"{paper}.json").is_file()]
    if missing:
        parser.error(f"no points of {', '.join(missing)} in {out}: run experiments/{missing[0]}.py first.")
    (out / "as_printed.md").write_text(overview(out), encoding="utf-8")


if __name__ == "__main__":
    main()
