"""The pages on platforms: every command is run or said to be not run, every promise names the test that shows it."""

from __future__ import annotations

import ast
import re
import shlex
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import deltalake
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from polyveil.cli import app

ROOT = Path(__file__).parents[1]
PLATFORMS = ROOT / "docs" / "platforms"
PAGES = [ROOT / "docs" / "spark.md", *sorted(page for page in PLATFORMS.glob("*.md") if page.stem != "index")]
CONSOLE = re.compile(r"^```(console|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUN_BY = {
    "polyveil anonymize /data/register --policy policy.yaml --out /shared/release --engine spark --master 'local[8]'": (
        "conformance/test_releases.py"
    ),
    "polyveil anonymize catalog.health.visits --policy policy.yaml --out /shared/release --engine spark --master "
    "sc://host:15002": "engines/test_spark_places.py",
    "polyveil verify /shared/release --engine spark": "verification/forgeries/test_forgeries_on_spark.py",
    "polyveil anonymize spark://catalog.health.visits --policy policy.yaml --out catalog.release_2026": (
        "engines/test_spark_catalog.py"
    ),
    "polyveil verify spark://catalog.release_2026": "engines/test_spark_catalog.py",
    "polyveil verify spark://catalog.release_2026 --engine spark": "engines/test_spark_catalog.py",
    "polyveil anonymize /shared/register --policy policy.yaml --out /shared/release --engine spark --master "
    "sc://host:15002": "engines/test_spark_places.py",
    "polyveil verify /shared/release --engine spark --master sc://host:15002": "engines/test_spark_on_sail.py",
}
"""The commands that need Spark, and the tests that run the same with other names of tables, folders and hosts."""
RUN = re.compile(r"run here|run by API|run on demand")


def commands(page: Path) -> list[str]:
    """What stands after a prompt, with lines that go on joined."""
    found = []
    for kind, block in CONSOLE.findall(page.read_text(encoding="utf-8")):
        if kind == "console":
            lines = re.sub(r"\\\n\s*", "", block).splitlines()
            found += [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return found


@cache
def known(name: str) -> set[str]:
    """The options of a command."""
    command: Any = typer.main.get_command(app)
    return {option for one in command.commands[name].params for option in one.opts}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_is_run_or_said_to_be_not_run(page: Path) -> None:
    first = page.read_text(encoding="utf-8").split("\n## ")[0].replace("\n", " ")
    not_run = re.search(r"Not run\b", first) is not None
    for command in commands(page):
        words = shlex.split(command)
        if words[0] != "polyveil":
            continue
        assert {word for word in words if word.startswith("--")} <= known(words[1]), command
        if not not_run and page.stem != "lakes":
            assert (ROOT / "tests" / RUN_BY[command]).is_file(), command
    others = [kind for kind, _ in CONSOLE.findall(page.read_text(encoding="utf-8")) if kind == "text"]
    assert not_run or not others or page.stem == "spark", "a block that nobody runs"


def test_every_command_of_the_page_on_lakes_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With /lake in a folder of this test: a Delta table with thirteen versions, and a catalog of Iceberg."""
    import pyiceberg.catalog
    from pyiceberg.utils.config import Config

    lake = tmp_path / "lake"
    people = pl.DataFrame({"age": [30 + i % 20 for i in range(60)], "disease": ["flu", "asthma", "cold"] * 20})
    for _ in range(13):
        deltalake.write_deltalake(str(lake / "patients"), people.to_arrow(), mode="overwrite")
    (lake / "warehouse").mkdir()
    (tmp_path / "policy.yaml").write_text(
        "columns: {age: {role: quasi}, disease: {role: sensitive}}\nprivacy: {k: 3, l: 2}\n"
    )
    monkeypatch.chdir(tmp_path)
    run = []
    for command in commands(PLATFORMS / "lakes.md"):
        words = shlex.split(command.replace("/lake", str(lake)))
        if words[0] == "export":
            monkeypatch.setenv(*words[1].split("=", 1))
            continue
        if any("iceberg://clinic.health" in word for word in words):
            monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
            with pyiceberg.catalog.load_catalog("clinic") as catalog:
                catalog.create_namespace("health")
                catalog.create_table("health.patients", schema=people.to_arrow().schema).append(people.to_arrow())
        done = CliRunner().invoke(app, words[1:])
        assert done.exit_code == 0, (command, done.output)
        run.append(words[1])
    assert run.count("anonymize") == 3
    assert run.count("verify") == 2


def rows(heading: str) -> list[list[str]]:
    """The rows of the table below a heading, or of the first table."""
    text = (PLATFORMS / "index.md").read_text(encoding="utf-8").split(heading, 1)[1]
    lines = text[text.index("| --- |") :].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in takewhile(str.strip, lines)]


def named_tests(cell: str) -> list[str]:
    return re.findall(r"`([\w/]+\.py(?:::\w+)?)`", cell)


def exists(test: str) -> bool:
    file, _, function = test.partition("::")
    path = ROOT / "tests" / file
    if not path.is_file():
        return False
    defined = {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}
    return not function or function in defined


def test_every_place_names_a_test_that_shows_what_is_promised() -> None:
    found = rows("# Where your tables are")
    assert len(found) >= 15
    for place, read, publish, how in found:
        promised = [promise for promise in (read, publish) if RUN.search(promise)]
        assert all(promise == "not run" or RUN.search(promise) for promise in (read, publish)), place
        assert bool(named_tests(how)) == bool(promised), f"{place}: name a test, or promise nothing"
        assert all(map(exists, named_tests(how))), place


def test_every_refusal_names_a_test_that_provokes_it() -> None:
    found = rows("## If something is missing")
    assert len(found) >= 10
    for what, _, how in found:
        assert named_tests(how), what
        assert all(map(exists, named_tests(how))), what


def test_every_promise_to_readers_names_a_test_that_shows_it() -> None:
    found = rows("## What a reader sees")
    assert len(found) >= 6
    for place, _, _, how in found:
        assert named_tests(how), place
        assert all(map(exists, named_tests(how))), place


def test_the_commands_that_are_run_elsewhere_are_on_a_page() -> None:
    on_pages = {command for page in PAGES for command in commands(page)}
    assert set(RUN_BY) <= on_pages
