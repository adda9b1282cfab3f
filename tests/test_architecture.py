"""Who may know whom, and what importing polyveil costs.

`LAYERS` is the list of all parts, each of which may import from the layers above it and from its own only. A part that
is not in the list fails the test, so none can be forgotten. Imports inside functions count as well, and so do modules
that a registry names in a text, to be imported when somebody asks for them.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "polyveil"

LAYERS = (
    ("version", "errors", "progress", "arrays", "cells", "processes"),
    ("plugins", "stopping"),
    ("frames",),
    ("results",),
    ("policy",),
    ("table",),
    ("partition",),
    ("models",),
    ("measure",),
    ("methods",),
    ("bounds",),
    ("verification",),
    ("schemas",),
    ("attacks",),
    ("analyses",),
    ("reports",),
    ("releases",),
    ("engines",),
    ("pipeline",),
    ("checkup",),
    ("testing",),
    ("advice",),
    ("demo",),
    ("web",),
    ("cli",),
    ("__main__", "__init__"),
)

EXCEPTIONS = {
    ("policy.forms", "releases"): "a policy is read by the names of forms; a form itself is imported when one is made",
    ("table.databases.registry", "releases"): "lakes are opened by their address, to write releases",
    ("table.databases.registry", "engines"): "the tables of Spark's catalogs are opened by the engine that has them",
}
"""Modules that name parts from below, each with its reason."""

DOORS = {
    ("policy.schema", "policy.load"): "Policy.from_yaml and from_dict are the loader's doors",
    ("policy.schema", "policy.to_yaml"): "Policy.to_yaml is the writer's door",
    ("advice.compare", "advice.compare_page"): "a comparison shows itself as a page",
}
"""Imports inside a function towards a module that knows this one, each with its reason."""

NOT_FOR_THE_VERIFIER = ("partition", "measure", "methods", "table.bind", "table.bound", "table.encode")
"""The verifier shares nothing with what made a release."""


def modules() -> dict[str, Path]:
    """Every module by its dotted name below polyveil."""
    found = {}
    for file in sorted(SOURCE.rglob("*.py")):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        found[name] = file
    return found


MODULES = modules()


def imports_of(module: str) -> Iterator[str]:
    """The modules of polyveil that a module imports, at the top or inside a function."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "polyveil":
            base = node.module.removeprefix("polyveil").removeprefix(".")
            for alias in node.names:
                longer = f"{base}.{alias.name}".removeprefix(".")
                yield longer if longer in MODULES else base or "__init__"
        elif isinstance(node, ast.Import):
            yield from (
                alias.name.removeprefix("polyveil").removeprefix(".") or "__init__"
                for alias in node.names
                if alias.name.split(".")[0] == "polyveil"
            )


def named_in(module: str) -> Iterator[str]:
    """The modules that a module names in texts such as `polyveil.methods.kaca:Kaca`, for a registry to import."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.fullmatch(r"polyveil\.([\w.]+):\w+", node.value)
            if found:
                yield found[1]


def part(module: str) -> str:
    return module.split(".")[0]


def test_every_part_has_its_layer() -> None:
    assert {part(module) for module in MODULES} == {name for layer in LAYERS for name in layer}


def test_a_part_imports_only_from_the_layers_above_it() -> None:
    depth = {name: i for i, layer in enumerate(LAYERS) for name in layer}
    crossings = {
        f"{module} imports {used}"
        for module in MODULES
        for used in (*imports_of(module), *named_in(module))
        if depth[part(used)] >= depth[part(module)] and part(used) != part(module)
        if (module, part(used)) not in EXCEPTIONS
    }
    assert not crossings


def test_every_exception_is_used() -> None:
    used = {(module, part(other)) for module in MODULES for other in named_in(module)}
    assert set(EXCEPTIONS) <= used


def test_what_a_registry_names_is_there() -> None:
    assert {other for module in MODULES for other in named_in(module)} <= set(MODULES)


def test_no_module_needs_one_that_needs_it() -> None:
    uses = {
        module: {used for used in imports_of(module) if used != module and (module, used) not in DOORS}
        for module in MODULES
    }
    try:
        cycle = []
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        cycle = error.args[1]
    assert cycle == []


def test_private_folders_are_used_by_their_own_package_only() -> None:
    crossings = []
    for module in MODULES:
        for used in imports_of(module):
            steps = used.split(".")
            private = next((i for i, step in enumerate(steps) if step.startswith("_") and step != "__main__"), None)
            if private is not None and steps[0] != "__init__" and module.split(".")[:private] != steps[:private]:
                crossings.append(f"{module} imports {used}")
    assert not crossings


def test_the_verifier_shares_nothing_with_what_made_a_release() -> None:
    crossings = [
        f"{module} imports {used}"
        for module in MODULES
        if part(module) == "verification"
        for used in imports_of(module)
        if used.startswith(NOT_FOR_THE_VERIFIER)
    ]
    assert not crossings


def test_engines_know_no_particular_method() -> None:
    used = {name for module in MODULES if part(module) == "engines" for name in imports_of(module)}
    assert {name for name in used if part(name) == "methods"} <= {"methods", "methods.base"}


def test_the_modules_of_the_architecture_page_exist() -> None:
    page = (SOURCE.parents[1] / "docs" / "develop" / "architecture.md").read_text(encoding="utf-8")
    walks = page[page.index("## One row") :]
    named = {name for name in re.findall(r"`([a-z_]+(?:\.[a-z_]+)*)`", walks) if part(name) in map(part, MODULES)}
    functions = {"pipeline.anonymize"}
    assert len(named) > 50
    assert named - set(MODULES) <= functions
    files = re.findall(r"`((?:tests|src)/[\w/]+\.py)`", page)
    assert [file for file in files if not (SOURCE.parents[1] / file).is_file()] == []


@pytest.mark.parametrize("module", ["polyveil", "polyveil.cli"])
def test_importing_stays_light(module: str) -> None:
    heavy = ["numba", "scipy", "sklearn", "pandas", "pyspark", "nicegui", "altair", "duckdb"]
    code = f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout == "[]\n"
