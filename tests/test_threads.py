"""The number of threads that read and sort a table changes nothing that is published."""

from __future__ import annotations

import os
import sys

import children

SCRIPT = """
import hashlib, os, tempfile
from pathlib import Path
import polyveil
from polyveil.demo import write_example

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
write_example("hospital", folder, rows=400, seed=1)
policy = polyveil.Policy.from_yaml(folder / "policy.yaml").model_dump(exclude_unset=True)
profile = polyveil.profile(folder / "hospital.csv")
print([(column.name, column.role) for column in profile.columns])
for name in ("mondrian", "fcm"):
    release = polyveil.anonymize(folder / "hospital.csv", policy | {"method": {"name": name}}, seed=3)
    rows = "\\n".join(sorted(release.table.write_csv().splitlines()))  # their order is the operating system's chance
    print(hashlib.sha256(rows.encode()).hexdigest(), release.loss, release.privacy)
"""


def test_a_release_is_the_same_with_any_number_of_threads() -> None:
    said = {}
    for threads in ("1", "4"):
        environment = os.environ | dict.fromkeys(("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"), threads)
        done = children.run([sys.executable, "-c", SCRIPT], env=environment)
        assert done.returncode == 0, done.stderr
        said[threads] = done.stdout
    assert said["1"] == said["4"] != ""
