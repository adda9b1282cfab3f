"""Commands of a prepared process say, return and end as real ones do."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import children


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print('said')", (0, "said\n", "")),
        ("import sys; sys.exit(3)", (3, "", "")),
        ("import sys; sys.exit('no')", (1, "", "no\n")),
        ("import os; print(os.getcwd(), os.environ['GREETING'], end='')", (0, "{folder} hello", "")),
        ("import atexit; atexit.register(print, 'last'); print('first')", (0, "first\nlast\n", "")),
    ],
)
def test_code_has_its_own_folder_environment_output_and_exit_code(
    prepared_commands: Path, tmp_path: Path, code: str, expected: tuple[int, str, str]
) -> None:
    environment = {**os.environ, "GREETING": "hello"}
    done = children.run([prepared_commands / "python", "-c", code], cwd=tmp_path, env=environment)
    code_expected, said, complaints = expected
    assert (done.returncode, done.stdout, done.stderr) == (code_expected, said.format(folder=tmp_path), complaints)


def test_an_exception_is_a_failure_with_a_traceback(prepared_commands: Path) -> None:
    done = children.run([prepared_commands / "python", "-c", "1 / 0"])
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_wrong_use_of_the_command_has_its_exit_code(prepared_commands: Path) -> None:
    assert children.run([prepared_commands / "polyveil", "verify"]).returncode == 2


def test_a_command_ends_with_whoever_started_it(prepared_commands: Path, tmp_path: Path) -> None:
    code = "import os, pathlib, time; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(60)"
    done = children.run([prepared_commands / "python", "-c", code], cwd=tmp_path, limit=5)
    assert done.returncode == -9
    pid = int((tmp_path / "pid").read_text())
    end = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}").exists()
