"""Every experiment runs to its end on stand-ins, and its page is whole: verdicts on top, tables, plots."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

import children

ROOT = Path(__file__).parents[2]
EXPERIMENTS, PAGES = ROOT / "experiments", ROOT / "docs" / "experiments"
PAPERS = ("wang2018", "xiao2020", "roy2014", "bagai2023", "han2013")
PICTURE = re.compile(r"!\[([^\]]+)\]\(([^)]+\.svg)\)")
SVG = "{http://www.w3.org/2000/svg}"


def script(paper: str, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXPERIMENTS / f"{paper}.py"), *map(str, words)]
    return children.run(command)


VERDICTS = ("agrees", "differs", "cannot be told", "our improvement")


def assert_verdicts(page: Path) -> list[str]:
    """The verdicts of a page: first of its sections, each with a claim and a figure, counted in the sentence above."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE)[0] == "Verdicts"
    rows = re.findall(r"^\| (.+) \| (.+) \| \*\*([a-z ]+)\*\* \|$", text, re.MULTILINE)
    found = [verdict for _, _, verdict in rows]
    assert found
    assert set(found) <= set(VERDICTS)
    assert all(re.search(r"\d|refused", figure) for _, figure, _ in rows)
    counts = ", ".join(f"{verdict} {found.count(verdict)}" for verdict in VERDICTS)
    assert f"Of {len(found)} points: {counts}." in text
    return found


def assert_whole(page: Path) -> None:
    """Verdicts that are those of the points beside it, pictures that are well-formed, tables of equal rows."""
    points = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    assert assert_verdicts(page) == [point["verdict"] for point in points]
    text = page.read_text(encoding="utf-8")
    pictures = PICTURE.findall(text)
    assert pictures
    for title, name in pictures:
        drawn = ElementTree.parse(page.parent / name).getroot()
        assert drawn.tag == f"{SVG}svg"
        assert drawn.get("aria-label") == title
        assert len(drawn.findall(f".//{SVG}path[@class='curve']")) >= 2
    assert "nan" not in re.findall(r"[a-z]+", text)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


@pytest.mark.parametrize("paper", PAPERS)
def test_an_experiment_runs_without_the_real_tables(paper: str, tmp_path: Path) -> None:
    done = script(paper, "--quick", "--data", tmp_path / "absent", "--out", tmp_path / "pages")
    assert done.returncode == 0, done.stderr
    assert_whole(tmp_path / "pages" / f"{paper}.md")


@pytest.mark.parametrize("paper", PAPERS)
def test_the_published_page_is_whole(paper: str) -> None:
    assert_whole(PAGES / f"{paper}.md")
    assert f"({paper}.md)" in (PAGES / "index.md").read_text(encoding="utf-8")


def test_no_plot_is_left_over() -> None:
    shown = {name for page in PAGES.glob("*.md") for _, name in PICTURE.findall(page.read_text(encoding="utf-8"))}
    assert {file.name for file in PAGES.glob("*.svg")} == shown


def test_a_full_run_needs_the_tables_and_a_quick_one_another_folder(tmp_path: Path) -> None:
    absent = script("roy2014", "--data", tmp_path / "absent", "--out", tmp_path)
    assert absent.returncode == 2
    assert "--data" in absent.stderr
    careless = script("roy2014", "--quick")
    assert careless.returncode == 2
    assert "--out" in careless.stderr


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    place = importlib.util.spec_from_file_location("svg_plot", EXPERIMENTS / "svg_plot.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    sys.modules["svg_plot"] = module  # dataclasses look their module up
    place.loader.exec_module(module)
    return module


def curve_of(svg: str) -> list[tuple[float, float]]:
    """The places of the only line of the only panel."""
    root = ElementTree.fromstring(svg)
    curves = root.findall(f".//{SVG}g[@transform]//{SVG}path[@class='curve']")
    assert len(curves) == 1
    return [tuple(map(float, pair.split())) for pair in curves[0].attrib["d"][1:].split("L")]  # type: ignore[misc]


def test_values_stand_at_their_height(drawing: ModuleType) -> None:
    panel = drawing.Panel("one", "x", "y", [drawing.Line("a", [(0, 0), (1, 5), (2, 10)])], top=10.0)
    (x0, low), (x1, middle), (x2, high) = curve_of(drawing.plot("title", [panel]))
    assert low - middle == pytest.approx(middle - high, abs=0.2)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert low - high == pytest.approx(drawing.WIDE_HEIGHT - drawing.BOTTOM - drawing.TOP, abs=0.2)


def test_powers_of_ten_are_equally_far_apart_on_a_logarithmic_scale(drawing: ModuleType) -> None:
    panel = drawing.Panel("one", "x", "y", [drawing.Line("a", [(0, 1), (1, 10), (2, 100)])], log=True)
    (_, low), (_, middle), (_, high) = curve_of(drawing.plot("title", [panel]))
    assert low - middle == pytest.approx(middle - high, abs=0.2)
    assert low > high


def test_a_picture_has_its_own_ground_in_both_schemes(drawing: ModuleType) -> None:
    svg = drawing.plot("title", [drawing.Panel("one", "x", "y", [drawing.Line("<a>", [(0, 1), (1, 2)])])])
    assert svg.count("--paper: #") == 2
    assert "prefers-color-scheme: dark" in svg
    assert 'class="ground"' in svg
    assert "&lt;a&gt;" in svg


def test_the_overview_is_made_of_the_points_of_all_pages(tmp_path: Path) -> None:
    for paper in PAPERS:
        shutil.copy(PAGES / f"{paper}.json", tmp_path)
    done = script("as_printed", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    text = (PAGES / "as_printed.md").read_text(encoding="utf-8")
    assert (tmp_path / "as_printed.md").read_text(encoding="utf-8") == text
    points = [point for paper in PAPERS for point in json.loads((PAGES / f"{paper}.json").read_text(encoding="utf-8"))]
    assert len(assert_verdicts(PAGES / "as_printed.md")) == len(points)
    assert all(f"[{paper}]({paper}.md)" in text for paper in PAPERS)


def test_the_overview_needs_the_points(tmp_path: Path) -> None:
    absent = script("as_printed", "--out", tmp_path)
    assert absent.returncode == 2
    assert "wang2018" in absent.stderr
