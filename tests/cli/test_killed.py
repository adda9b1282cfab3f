"""Killing `polyveil anonymize` at any moment leaves the older release whole, or the new one in its place."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import children
from polyveil.verification import verify

POLICY = "columns:\n  age: {role: quasi}\n  illness: {role: sensitive}\nprivacy: {k: 3}\nmethod: {name: mondrian}\n"


def test_a_killed_command_never_destroys_the_older_release(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,illness\n" + "".join(f"{i},i{i % 5}\n" for i in range(300)))
    (tmp_path / "p.yaml").write_text(POLICY)
    command = [sys.executable, "-m", "polyveil", "anonymize", str(tmp_path / "t.csv"), "-p", str(tmp_path / "p.yaml")]
    command += ["-o", str(tmp_path / "release"), "--overwrite", "--quiet"]
    start = time.monotonic()
    assert children.run(command).returncode == 0
    took = time.monotonic() - start
    chance = random.Random(3)
    for _ in range(5):
        with children.started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            time.sleep(chance.uniform(0.3, 1.1) * took)
        assert verify(tmp_path / "release").holds
        assert {entry.name for entry in tmp_path.iterdir() if not entry.name.startswith(".")} == {
            "t.csv",
            "p.yaml",
            "release",
        }


def test_a_command_that_is_asked_to_end_leaves_no_temporary_files(tmp_path: Path) -> None:
    """As schedulers ask: what is half written has been seen by no verifier."""
    (tmp_path / "t.csv").write_text("age,illness\n" + "".join(f"{i % 900},i{i % 5}\n" for i in range(20_000)))
    (tmp_path / "p.yaml").write_text(POLICY)
    before = {entry.name for entry in tmp_path.iterdir()}
    command = [sys.executable, "-m", "polyveil", "anonymize", str(tmp_path / "t.csv"), "-p", str(tmp_path / "p.yaml")]
    codes = []
    while 143 not in codes and len(codes) < 5:  # it may be done just before it is asked
        shutil.rmtree(tmp_path / "release", ignore_errors=True)
        with children.started([*command, "-o", str(tmp_path / "release")], limit=60, stderr=subprocess.PIPE) as running:
            while not list(tmp_path.glob(".release.*.partial")) and running.poll() is None:
                time.sleep(0.002)
            running.terminate()
            assert running.stderr is not None
            said = running.stderr.read().decode()
            codes.append(running.wait())
        assert {entry.name for entry in tmp_path.iterdir()} - {"release"} == before
    assert codes[-1] == 143
    assert "Traceback" not in said
    assert "stopped; " in said
