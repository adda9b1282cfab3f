"""What every experiment shares: its command line, and the page it writes.

    python experiments/wang2018.py [--data FOLDER] [--out FOLDER] [--quick]

A page begins with verdicts on the paper's claims, each computed by the script, and goes on with the tables and plots of
the run. The points are written beside the page (`wang2018.json`): the overview is made from them. `--quick` runs
a few small cells, on a stand-in made from the built-in census if the real tables are absent.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stand_in import write_stand_in
from svg_plot import Panel, plot
from verdicts import Point, summary, write_points

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "experiments"


@dataclass(frozen=True)
class Asked:
    """What the command line asks for; `data` holds the real tables, or with `quick` perhaps their stand-ins."""

    data: Path
    out: Path
    quick: bool


def run(about: str | None, experiment: Callable[[Asked], Page]) -> None:
    """Parse the command line, run one experiment and write its page."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = Path(os.environ.get("POLYVEIL_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=usual, help="the folder of real tables")
    parser.add_argument("--out", type=Path, default=PAGES, help="where the page goes")
    parser.add_argument("--quick", action="store_true", help="a few small cells; for --out elsewhere")
    given = parser.parse_args()
    if given.quick and given.out == parser.get_default("out"):
        parser.error("--quick would overwrite the page of the full run: name another folder with --out.")
    if not given.data.is_dir() and not given.quick:
        parser.error("the real tables are not here: name their folder with --data, or try --quick.")
    with tempfile.TemporaryDirectory() as folder:
        data = given.data if given.data.is_dir() else write_stand_in(Path(folder))
        # The tables of the benchmarks are read from the folder that this names.
        os.environ["POLYVEIL_DATA"] = str(data)
        began = time.process_time()
        page = experiment(Asked(data, given.out, given.quick))
        page.write(time.process_time() - began)


def table_lines(headers: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A Markdown table; the first `left` columns hold words, the others numbers."""
    rule = [":--" if i < left else "--:" for i in range(len(headers))]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in [headers, rule, *rows]) + "\n"


class Page:
    """A page in the making: its points, and its parts in order."""

    def __init__(self, asked: Asked, key: str, title: str) -> None:
        self.asked, self.key, self.title = asked, key, title
        self.points: list[Point] = []
        self._parts: list[str] = []
        asked.out.mkdir(parents=True, exist_ok=True)

    def point(self, claim: str, found: str, verdict: str) -> None:
        self.points.append(Point(claim, found, verdict))
        say(f"{claim}: {found} ({verdict})")

    def text(self, *paragraphs: str) -> None:
        self._parts += [f"{paragraph}\n" for paragraph in paragraphs]

    def heading(self, words: str) -> None:
        self._parts.append(f"## {words}\n")

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> None:
        self._parts.append(table_lines(headers, rows, left))

    def plot(self, name: str, title: str, panels: Sequence[Panel], columns: int = 2) -> None:
        """Draw panels into `<paper>-<name>.svg` and show them here."""
        file = f"{self.key}-{name}.svg"
        (self.asked.out / file).write_text(plot(title, panels, columns) + "\n", encoding="utf-8")
        self._parts.append(f"![{title}]({file})\n\n*{title}*\n")

    def write(self, seconds: float) -> None:
        """Write the points, and the page with them on top."""
        write_points(self.points, self.asked.out / f"{self.key}.json")
        rows = [[point.claim, point.found, f"**{point.verdict}**"] for point in self.points]
        table = table_lines(["claim", "what came out", "verdict"], rows, left=3)
        top = [f"# {self.title}\n", "## Verdicts\n", f"{summary(self.points)}\n", table]
        made = f"Made by `experiments/{self.key}.py` in {seconds:.0f} seconds of processor time.\n"
        page = self.asked.out / f"{self.key}.md"
        page.write_text("\n".join([*top, *self._parts, made]), encoding="utf-8")
        say(f"{page}: {seconds:.0f} s of processor time")


def say(words: str) -> None:
    """Progress, for whoever waits."""
    print(words, file=sys.stderr, flush=True)
