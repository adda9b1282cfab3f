"""A package outside polyveil, installed in a folder of its own, from the code that a page of the docs shows."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from subprocess import CompletedProcess

import children

DEVELOP = Path(__file__).parents[1] / "docs" / "develop"


def install(folder: Path, page: str) -> None:
    """Write the one module and the entry points of a page as pip would install them."""
    text = (DEVELOP / page).read_text(encoding="utf-8")
    (group, name, module, item) = re.findall(
        r'^\[project\.entry-points\."(.+)"\]\n(\w+) = "(\w+):(\w+)"$', text, re.MULTILINE
    )[0]
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    about = folder / f"{module}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}:{item}\n")


def run_beside(folder: Path, code: str) -> CompletedProcess[str]:
    """Run Python code that sees the installed package."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return children.run([sys.executable, "-W", "error", "-c", code], cwd=folder, env=environment)
