"""The number of threads that read and sort a table changes nothing that is published."""

from __future__ import annotations

import os
import sys

import pytest

import children

SCRIPT = """
import hashlib, os, sys, tempfile
from pathlib import Path
import polyveil
from polyveil.demo import write_example

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
write_example("hospital", folder, rows=400, seed=1)
policy = polyveil.Policy.from_yaml(folder / "policy.yaml").model_dump(exclude_unset=True)
policy["method"] = {"name": sys.argv[1]}
profile = polyveil.profile(folder / "hospital.csv")
release = polyveil.anonymize(folder / "hospital.csv", policy, seed=3)
print([(column.name, column.role) for column in profile.columns])
rows = "\\n".join(sorted(release.table.write_csv().splitlines()))  # their order is the operating system's chance
print(hashlib.sha256(rows.encode()).hexdigest(), release.loss, release.privacy)
"""


@pytest.mark.parametrize("method", ["mondrian", "fcm"])
def test_a_release_is_the_same_with_any_number_of_threads(method: str) -> None:
    said = {}
    for threads in ("1", "4"):
        environment = {**os.environ, "POLARS_MAX_THREADS": threads}
        done = children.run([sys.executable, "-c", SCRIPT, method], env=environment)
        assert done.returncode == 0, done.stderr
        said[threads] = done.stdout
    assert said["1"] == said["4"]
