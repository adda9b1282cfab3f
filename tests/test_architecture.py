"""The arrows between the parts, and what importing polyveil costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "polyveil"

FORBIDDEN = {
    "policy": ["table", "models", "methods", "release", "measure", "verify", "engines", "cli", "pipeline", "web"],
    "models": ["methods", "release", "measure", "verify", "engines", "cli", "pipeline", "web"],
    "table": ["methods", "models", "release", "verify", "engines", "cli", "pipeline", "web"],
    "verify": ["methods", "release", "measure", "engines", "cli", "pipeline", "web", "table.bind", "table.encode"],
    "methods": ["release", "verify", "cli", "pipeline", "web", "engines"],
    "measure": ["release", "verify", "cli", "pipeline", "web", "engines"],
    "report": ["release", "cli", "pipeline", "web", "engines", "advise"],
    "advise": ["cli", "web", "engines"],
    "release": ["cli", "pipeline", "web", "engines"],
    "engines": ["cli", "web", "attack", "advise"],
}


def imports_of(part: str) -> Iterator[tuple[Path, str]]:
    for file in sorted((SOURCE / part).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield file, node.module
                yield from ((file, f"{node.module}.{alias.name}") for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from ((file, alias.name) for alias in node.names)


@pytest.mark.parametrize("part", sorted(FORBIDDEN))
def test_a_part_imports_nothing_above_it(part: str) -> None:
    forbidden = tuple(f"polyveil.{name}" for name in FORBIDDEN[part])
    crossings = [
        f"{file.relative_to(SOURCE)} imports {module}"
        for file, module in imports_of(part)
        if module in forbidden or module.startswith(tuple(f"{name}." for name in forbidden))
    ]
    assert not crossings


def test_engines_know_no_particular_method() -> None:
    used = {module for _, module in imports_of("engines") if module.startswith("polyveil.methods.")}
    assert {module.split(".")[2] for module in used} <= {"base", "make_method"}


@pytest.mark.parametrize("module", ["polyveil", "polyveil.cli"])
def test_importing_stays_light(module: str) -> None:
    heavy = ["numba", "scipy", "sklearn", "pandas", "pyspark", "nicegui", "altair", "duckdb"]
    code = f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
