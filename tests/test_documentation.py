"""README and docs are run and looked through: snippets, policies, links, pictures, what is made from the code.

Every `sh` and `python` block of a page runs, in order, in one fresh folder; every `yaml` block is a policy or a part of
one; every link leads to a file, and to a heading in it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import children
from polyveil.demo import write_example
from polyveil.methods import METHODS, make_method
from polyveil.policy import Policy
from polyveil.policy.schema import DEFAULT_METHOD

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
YAML_BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?!https?://|mailto:)([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NOT_A_HEADING = re.compile(r"[^\w\- ]")
BASE = {
    "age": {"role": "quasi", "type": "numeric"},
    **{name: {"role": "sensitive"} for name in ("disease", "salary", "religion")},
}
"""Columns for a part of a policy that has none."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(language, code) for language, code in BLOCK.findall(page.read_text(encoding="utf-8"))]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=named)
def test_the_snippets_of_a_page_run(page: Path, tmp_path: Path, prepared_commands: Path) -> None:
    """The first page that people try starts real processes; the others begin with what is imported already."""
    installed = Path(sys.executable).parent
    folder = installed if named(page) == "README.md" else prepared_commands
    environment = {**os.environ, "PATH": os.pathsep.join([str(folder), str(installed), os.environ["PATH"]])}
    for language, code in blocks(page):
        # `make` sets up a checkout of its own; the continuous integration runs it.
        lines = "\n".join(line for line in code.splitlines() if not line.startswith("make "))
        command = ["bash", "-euo", "pipefail", "-c", lines] if language == "sh" else [folder / "python", "-c", code]
        done = children.run(command, cwd=tmp_path, env=environment)
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the hierarchy files that pages name."""
    folder = tmp_path_factory.mktemp("hospital")
    write_example("hospital", folder, rows=20, seed=1)
    return folder


@pytest.mark.parametrize("page", [page for page in PAGES if YAML_BLOCK.search(page.read_text("utf-8"))], ids=named)
def test_the_policies_of_a_page_load(page: Path, hospital: Path) -> None:
    for text in YAML_BLOCK.findall(page.read_text(encoding="utf-8")):
        written = YAML(typ="safe", pure=True).load(text)
        policy = Policy.from_dict(completed(written), folder=hospital)
        made = make_method(policy.method)
        asked = written.get("method", {})
        assert made.name == asked.get("name", DEFAULT_METHOD)
        assert {key: getattr(made.options, key) for key in asked if key in type(made.options).model_fields} == {
            key: value for key, value in asked.items() if key not in ("name", "refine")
        }


def completed(part: Mapping[str, Any]) -> dict[str, Any]:
    """A policy around a part of one: its columns, its demands, or the entries of some columns."""
    if "columns" in part:
        return dict(part)
    if set(part) <= set(Policy.model_fields):
        return {"columns": BASE, "privacy": {"k": 2}, **part}
    return {"columns": {**BASE, **part}, "privacy": {"k": 2}}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    astray = []
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        name, _, heading = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.is_file() or (heading and heading not in headings(target)):
            astray.append(link)
    assert astray == []


def headings(page: Path) -> set[str]:
    """The names that a page's headings can be linked by, as Markdown's table of contents makes them."""
    found = HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[-\s]+", "-", NOT_A_HEADING.sub("", words).strip().lower()) for words in found}


def test_every_page_is_in_the_navigation_once() -> None:
    config = YAML(typ="safe", pure=True).load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = list(leaves(config["nav"]))
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES[1:])


def leaves(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for each in nav.values() if isinstance(nav, dict) else nav:
            yield from leaves(each)


def test_every_method_has_a_page_with_a_picture() -> None:
    pages = {page.stem: page.read_text(encoding="utf-8") for page in (DOCS / "methods").glob("*.md")}
    families = {"mbf": "buckets", "msdcf": "buckets", "mmdcf": "buckets"}
    for name in METHODS:
        text = pages[families.get(name.split("-")[0], name)]
        assert name.split("-")[0] in text
        assert re.search(r"!\[[^\]]+\]\(\.\./pictures/\w+\.svg\)", text), name


@pytest.mark.parametrize("script", ["pictures", "reference", "schemas"])
def test_what_is_made_by_a_script_is_current(script: str, tmp_path: Path) -> None:
    """Run in a process of its own, as `make docs` does."""
    code = f"import sys; sys.path.insert(0, 'tools/docs'); import {script}; from pathlib import Path; "
    code += f"{script}.FOLDER = Path({str(tmp_path)!r}); {script}.main()"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=300)
    made = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    assert made
    stale = [name for name in made if (DOCS / script / name).read_text(encoding="utf-8") != made[name]]
    assert stale == [], "run `make docs` and commit what changed"
    assert sorted(file.name for file in (DOCS / script).iterdir() if file.suffix in (".md", ".svg", ".json")) == sorted(
        made
    )


def test_every_picture_is_shown_on_some_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [file.name for file in (DOCS / "pictures").iterdir() if f"pictures/{file.name})" not in text] == []


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    zensical = Path(sys.executable).with_name("zensical")
    done = subprocess.run([zensical, "build"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "No issues found" in done.stdout + done.stderr
    built = {page.relative_to(DOCS).with_suffix("") for page in PAGES[1:]}
    folders = {page.parent if page.name == "index" else page for page in built}
    assert [folder for folder in folders if not (tmp_path / "site" / folder / "index.html").is_file()] == []
