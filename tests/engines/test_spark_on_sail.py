"""Delta and Iceberg by name, with versions, on a server of Spark Connect that knows them: Sail, which is not Spark.

Sail 0.7.2 refuses clients of Spark 4.3, so POLYVEIL_SAIL_PYTHON may name the Python of another environment: one like
that of the tests, in which `pip uninstall pyspark` and `pip install pysail pyspark-client==4.2.0 py4j` were run.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import children
from engines.clinic import clinic
from engines.sail_script import FORMS

SCRIPT = Path(__file__).parent / "sail_script.py"
PYTHON = os.environ.get("POLYVEIL_SAIL_PYTHON", sys.executable)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if children.run([PYTHON, "-c", "import pysail"]).returncode:
        pytest.skip("pysail is not installed (pip install pysail)")
    folder = tmp_path_factory.mktemp("sail")
    done = children.run([PYTHON, SCRIPT, folder], limit=300, cwd=folder)  # where the server keeps its tables
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if "refused" in found:
        pytest.skip(f"Sail does not serve this client: {found['refused']}")
    return found


def test_deleted_rows_do_not_come_back_unless_their_version_is_asked_for(said: dict[str, Any]) -> None:
    ages, now, first = dict(said["read"]), [53, 64], [31, 42, 53, 64]
    for name in ("delta, long ago", "delta, no such version"):
        assert "Check the name, and that the version or time exists" in ages.pop(name)
    assert ages == {
        "delta": now,
        "delta, first version": first,
        "delta, in the future": now,
        "delta by name": now,
        "delta by name, second version": [42, 53, 64],
        "delta in a catalog": now,
        "delta in a catalog, first version": first,
        "delta in a catalog, in the future": now,
        "deletion vector": [42, 64],
        "deletion vector, renamed": [42, 64],
        "iceberg": now,
        "iceberg, first snapshot": first,
        "iceberg, in the future": now,
    }


def test_every_form_is_published_and_passes_both_verifiers(said: dict[str, Any]) -> None:
    assert said["released"] == {f"{form}{place}": [True, True] for form in FORMS for place in ("", ", in a catalog")}
    assert said["logs"] >= len(FORMS), "tables of the catalog are Delta tables"
    assert said["rows"] == clinic().height  # as of the version in which nobody was deleted
