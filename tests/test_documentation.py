"""README and docs are run: every `sh` and `python` block of a page, in order, in one fresh folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(
    r"(?<!!)\[[^\]]+\]\((?!https?://|mailto:)([^)#\s]+)(?:#[^)]*)?\)|!\[[^\]]*\]\((?!https?://)([^)\s]+)\)"
)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(language, code) for language, code in BLOCK.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_snippets_of_a_page_run(page: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for language, code in blocks(page):
        # `make` sets up a checkout of its own; the continuous integration runs it.
        lines = "\n".join(line for line in code.splitlines() if not line.startswith("make "))
        command = ["bash", "-euo", "pipefail", "-c", lines] if language == "sh" else [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = [first or second for first, second in LINK.findall(page.read_text(encoding="utf-8"))]
    assert [link for link in links if not (page.parent / link).exists()] == []
