"""The examples for schedulers: what their steps run ends well, can be repeated, and fails where it should."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import polars as pl
import pytest

import children
from polyveil.demo import write_example
from polyveil.errors import InputError

EXAMPLES = Path(__file__).parent.parent / "examples" / "scheduling"
QUICK = "\nmethod: {name: mondrian}\n"


def commands() -> list[str]:
    """What the steps of the DAG run, in order."""
    tree = ast.parse((EXAMPLES / "airflow_release.py").read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "bash_command"]
    return [str(ast.literal_eval(each.value)) for each in sorted(found, key=lambda each: each.lineno)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_example("hospital", tmp_path, rows=200, seed=1)
    (tmp_path / "hospital.csv").rename(tmp_path / "visits.csv")
    policy = (tmp_path / "policy.yaml").read_text(encoding="utf-8").splitlines()
    quick = "\n".join(line for line in policy if not line.startswith("method:")) + QUICK
    (tmp_path / "policy.yaml").write_text(quick, encoding="utf-8")
    return tmp_path


def step(command: str, folder: Path, commands: Path) -> int:
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    return children.run(["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path}).returncode


def loaded(file: Path) -> Any:
    """An example, imported from where it is."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def test_the_steps_of_the_dag_can_be_repeated_and_fail_where_they_should(folder: Path, prepared_commands: Path) -> None:
    anonymize, verify = commands()

    def codes(*steps: str) -> list[int]:
        return [step(each, folder, prepared_commands) for each in steps]

    assert codes(anonymize, anonymize, verify) == [0, 0, 0]
    made = next(file for file in (folder / "release").iterdir() if file.stem == "table")
    made.write_bytes(made.read_bytes()[:-40])
    assert codes(verify, anonymize) == [1, 0], "a retry replaces what is damaged"
    (folder / "visits.csv").unlink()
    assert codes(anonymize, verify) == [2, 0], "the older release stays"


def test_the_dbt_test_fails_for_what_a_table_does_not_meet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The model's function, and the query of the test by DuckDB: what dbt-duckdb runs."""
    example = loaded(EXAMPLES / "dbt" / "models" / "visits_checked.py")
    query = (EXAMPLES / "dbt" / "tests" / "visits_are_protected.sql").read_text(encoding="utf-8")
    monkeypatch.setenv("POLICY", str(tmp_path / "policy.yaml"))

    (tmp_path / "policy.yaml").write_text(
        "columns: {town: {role: quasi}, ill: {role: sensitive}}\nprivacy: {k: 2}\n", encoding="utf-8"
    )

    def failing(towns: list[str]) -> int:
        frame = pl.DataFrame({"town": towns, "ill": ["flu"] * len(towns)})
        dbt = SimpleNamespace(config=lambda **_: None, source=lambda *_: SimpleNamespace(pl=lambda: frame))
        visits_checked = example.model(dbt, None)
        assert visits_checked.height > 1
        with duckdb.connect() as connection:
            connection.register("visits_checked", visits_checked)
            return len(connection.execute(query.replace("{{ ref('visits_checked') }}", "visits_checked")).fetchall())

    assert failing(["Cork", "Cork", "Derry", "Derry"]) == 0
    assert failing(["Cork", "Cork", "Derry"]) == 1


def undecorated(*functions: Any, **_: Any) -> Any:
    """A decorator that changes nothing, with or without arguments."""
    return functions[0] if functions else lambda function: function


def test_the_asset_of_dagster_can_be_made_again_and_its_check_blocks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a stand-in for Dagster that calls the functions: what these do is what it retries."""
    made = {name: lambda **given: SimpleNamespace(**given) for name in ("MaterializeResult", "AssetCheckResult")}
    rest = {name: lambda *_, **__: None for name in ("RetryPolicy", "define_asset_job", "Definitions")}
    dagster = SimpleNamespace(asset=undecorated, asset_check=undecorated, **made, **rest)
    monkeypatch.setitem(sys.modules, "dagster", dagster)  # type: ignore[arg-type]
    monkeypatch.setenv("RELEASES", str(folder))
    example = loaded(EXAMPLES / "dagster_release.py")
    first = example.release().metadata["lost"]
    before = (folder / "release" / "manifest.json").read_bytes()
    assert 0 < first <= 1
    example.release()
    assert (folder / "release" / "manifest.json").read_bytes() != before
    assert example.holds().passed
    table = next(file for file in (folder / "release").iterdir() if file.stem == "table")
    table.write_bytes(table.read_bytes()[:-40])
    assert not example.holds().passed
    (folder / "visits.csv").unlink()
    with pytest.raises(InputError, match="does not exist"):
        example.release()


def test_every_example_is_python_that_can_be_read() -> None:
    files = sorted(EXAMPLES.rglob("*.py"))
    assert [file.name for file in files] == ["airflow_release.py", "dagster_release.py", "visits_checked.py"]
    for file in files:
        compile(file.read_text(encoding="utf-8"), file.name, "exec")
