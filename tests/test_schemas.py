"""The published JSON schemas take every policy and manifest that polyveil takes, and refuse what it refuses."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.demo import write_example
from polyveil.schemas import SCHEMAS, manifest_schema, policy_schema
from test_documentation import PAGES, YAML_BLOCK, completed

FRAME = pl.DataFrame(
    {
        "age": [n % 23 for n in range(120)],
        "zip": [f"{10 + n % 7}" for n in range(120)],
        "disease": [("flu", "asthma", "ulcer", "gout")[n % 4] for n in range(120)],
        "salary": [1000 + 100 * (n % 9) for n in range(120)],
    }
)
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi"},
    "zip": {"role": "quasi", "hierarchy": {"mask": 2}},
    "disease": {"role": "sensitive", "t": 0.4},
    "salary": {"role": "sensitive", "l": 2},
}
POLICIES: dict[str, dict[str, Any]] = {
    "generalized": {"columns": COLUMNS, "privacy": {"k": 4}},
    "csv with joint t": {
        "columns": COLUMNS,
        "privacy": {"k": 4, "joint": [{"columns": ["disease", "salary"], "t": 0.8}]},
        "method": {"name": "mondrian"},
        "release": {"format": "csv", "numbers": "mean"},
    },
    "anatomized": {
        "columns": {**COLUMNS, "disease": {"role": "sensitive", "l": 2}},
        "privacy": {},
        "method": {"name": "mbf"},
        "release": {"counts": True},
    },
    "sliced": {
        "columns": {**COLUMNS, "disease": {"role": "sensitive", "l": 2}},
        "method": {"name": "sloms"},
        "privacy": {"k": 3},
    },
}


def faults(instance: Any, schema: dict[str, Any]) -> list[str]:
    return [error.message[:300] for error in jsonschema.Draft202012Validator(schema).iter_errors(instance)]


def as_json(written: Any) -> Any:
    return json.loads(json.dumps(written, default=str))


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_and_the_command_prints_it(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name]())
    assert json.loads(CliRunner().invoke(app, ["schema", name]).stdout) == as_json(SCHEMAS[name]())


@pytest.mark.parametrize("example", ["hospital", "census"])
def test_the_policies_of_the_examples_are_valid(example: str, tmp_path: Path) -> None:
    write_example(example, tmp_path, rows=20, seed=1)
    written = YAML(typ="safe", pure=True).load((tmp_path / "policy.yaml").read_text(encoding="utf-8"))
    assert faults(as_json(written), policy_schema()) == []


def test_the_policies_of_the_pages_are_valid() -> None:
    schema = policy_schema()
    for page in PAGES:
        for text in YAML_BLOCK.findall(page.read_text(encoding="utf-8")):
            written = completed(YAML(typ="safe", pure=True).load(text))
            assert faults(as_json(written), schema) == [], f"{page.name}:\n{text}"


def test_a_policy_may_take_its_columns_from_an_included_one() -> None:
    assert faults({"include": "base.yaml"}, policy_schema()) == []


@pytest.mark.parametrize(
    "written",
    [
        {},
        {"columns": {}},
        {"columns": {"age": {"role": "quasy"}}},
        {"columns": {"age": {"role": "quasi", "wish": 1}}},
        {"columns": COLUMNS, "privacy": {"k": 1}},
        {"columns": COLUMNS, "privacy": {"k": "5"}},
        {"columns": COLUMNS, "privacy": {"t": 1.5}},
        {"columns": COLUMNS, "folder": "/"},
        {"columns": COLUMNS, "release": {"form": "wish"}},
    ],
)
def test_what_a_policy_may_not_say_is_invalid(written: dict[str, Any]) -> None:
    assert faults(written, policy_schema())


@pytest.fixture(scope="module", params=POLICIES)
def manifest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("release") / "r"
    polyveil.anonymize(FRAME, POLICIES[request.param], out=out)
    found: dict[str, Any] = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return found


def test_manifests_are_valid(manifest: dict[str, Any]) -> None:
    assert faults(manifest, manifest_schema()) == []


def test_a_key_too_many_anywhere_is_invalid(manifest: dict[str, Any]) -> None:
    schema = manifest_schema()
    for path in ([], ["policy"], ["method"], ["class_size"], ["loss"], ["claims", 0], ["files", "manifest"]):
        changed = copy.deepcopy(manifest)
        part = changed
        for step in path:
            part = part[next(iter(part)) if step == "manifest" else step]
        part["wish"] = "hidden"
        assert faults(changed, schema), path
