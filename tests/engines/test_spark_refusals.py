"""What the operating system refuses Spark, and what Spark refuses to verify: one line says what to do."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import children
import polyveil
from polyveil.engines.spark import verify as on_spark
from polyveil.errors import InputError
from releases.test_relational import clinic as several_tables
from releases.test_relational import policy as about_people
from spark_session import require_spark
from verification.forgeries.forger import people, policy

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


def test_a_release_that_spark_does_not_verify_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    """No session is needed to say so."""
    require_spark()
    nothing: Any = None
    polyveil.anonymize(several_tables(), about_people(l=2), out=tmp_path / "several", seed=1)
    with pytest.raises(InputError, match=r"several tables about people.*Leave --engine out") as refused:
        on_spark(tmp_path / "several", nothing)
    assert "\n" not in str(refused.value)
    keyed = policy("generalized", "parquet")
    keyed["columns"] |= {"who": {"role": "identifier", "replace": "pseudonym"}}
    rows = people().with_row_index("who")
    polyveil.anonymize(rows, keyed, out=tmp_path / "keyed", seed=1)
    with pytest.raises(InputError, match=r"does not verify random keys.*Leave --engine out"):
        on_spark(tmp_path / "keyed", nothing)
