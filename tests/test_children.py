"""No test waits forever: every process that tests, tools and benchmarks start has a limit."""

from __future__ import annotations

import ast
import sys
import time
from pathlib import Path

import pytest

import children

ROOT = Path(__file__).parent.parent
FILES = sorted(
    file for folder in ("tests", "tools", "benchmarks", "experiments") for file in (ROOT / folder).rglob("*.py")
)
WITH_TIMEOUT = {"subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output"}
UNLIMITED = {"subprocess.Popen", "pty.openpty", "pty.spawn", "pty.fork", "os.fork", "os.system", "os.popen"} | {
    f"{module}.{name}"
    for module, names in {
        "multiprocessing": ("Process", "Pool", "get_context"),
        "asyncio": ("create_subprocess_exec", "create_subprocess_shell"),
        "subprocess": ("getoutput", "getstatusoutput"),
    }.items()
    for name in names
}
ALLOWED = {
    Path("tests/children.py"),
    Path("tests/firefox_bidi.py"),
    Path("tests/prepared.py"),
    Path("benchmarks/workbench.py"),
}
"""They end what they start with a timer, or, as `prepared` does, as soon as whoever asked for it is gone."""
SLEEPER = "import time; print('here', flush=True); time.sleep(600)"


def unlimited(code: str) -> list[tuple[int, str]]:
    """The line and the name of each call that starts a process which nothing ends."""
    tree = ast.parse(code)
    calls = [(each, ast.unparse(each.func)) for each in ast.walk(tree) if isinstance(each, ast.Call)]
    imported = [
        (each.lineno, f"from {each.module} import {name.name}")
        for each in ast.walk(tree)
        if isinstance(each, ast.ImportFrom)
        for name in each.names
        if f"{each.module}.{name.name}" in WITH_TIMEOUT | UNLIMITED
    ]
    return imported + [
        (call.lineno, name)
        for call, name in calls
        if name in UNLIMITED or (name in WITH_TIMEOUT and "timeout" not in {word.arg for word in call.keywords})
    ]


def test_every_child_process_has_a_limit() -> None:
    found = {file.relative_to(ROOT): unlimited(file.read_text(encoding="utf-8")) for file in FILES}
    assert {file: calls for file, calls in found.items() if calls and file not in ALLOWED} == {}, (
        "use `children.run` or `children.started`, or give subprocess.run a timeout"
    )


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess\nsubprocess.run(['x'], check=True)",
        "import subprocess\nwith subprocess.Popen(['x'], stdout=1) as p:\n    p.wait()",
        "import pty\na, b = pty.openpty()",
        "from subprocess import run",
    ],
)
def test_the_scan_finds_children_without_a_limit(code: str) -> None:
    assert unlimited(code)
    assert not unlimited("import subprocess\nsubprocess.run(['x'], timeout=3)")


def test_a_child_that_reaches_its_limit_ends_with_everything_it_started() -> None:
    start = time.monotonic()
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEPER!r}], timeout=600)"
    done = children.run([sys.executable, "-c", nested], limit=3)
    assert time.monotonic() - start < 60
    assert done.returncode == -9
    assert done.stdout in ("", "here\n")


def test_reading_from_a_child_ends_at_its_limit() -> None:
    with children.started([sys.executable, "-c", SLEEPER], limit=3, stdout=-1, text=True) as process:
        assert process.stdout
        assert process.stdout.read() in ("", "here\n")


def test_a_terminal_is_read_while_the_child_writes() -> None:
    """A megabyte is far more than a pseudo-terminal holds."""
    code = "import sys; sys.stderr.write('x' * 2**20); print('done')"
    exit_code, said, drawn = children.run_in_terminal([sys.executable, "-c", code], limit=60)
    assert (exit_code, said) == (0, "done\n")
    assert len(drawn) >= 2**20
