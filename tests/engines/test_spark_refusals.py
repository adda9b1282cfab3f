"""What the operating system refuses Spark, by a process that it refuses things: one line says what to grant."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

import children
from spark_session import require_spark

SCRIPT = Path(__file__).parent / "refusals_script.py"
PASSES_OVER = "-dac_override,-dac_read_search"
"""What lets an administrator open what is closed; without it, nobody can."""
READING = "Spark is not allowed there. Grant its account reading, writing and listing"
EXPECTED = {
    "a folder to read": READING,
    "a file to read": READING,
    "a schema to write": "Grant its account writing to the folder of that schema",
    "a table to verify": READING,
    "a table to verify on Spark": READING,
    "a release to verify": "may not be read. Grant this user reading it",
    "a folder for a release": "is not writable. Change its permissions",
}


def test_what_the_operating_system_forbids_is_said_with_what_to_grant(tmp_path: Path) -> None:
    require_spark()
    command: list[str | Path] = [sys.executable, SCRIPT, tmp_path]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("an administrator is forbidden nothing, unless setpriv is installed (util-linux)")
        command = ["setpriv", f"--bounding-set={PASSES_OVER}", f"--inh-caps={PASSES_OVER}", *command]
    done = children.run(command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said.pop("nothing") == "done"
    assert set(said) == set(EXPECTED)
    for what, words in EXPECTED.items():
        assert said[what].startswith("InputError: "), (what, said[what])
        assert words in said[what], (what, said[what])
        assert "\n" not in said[what], what
