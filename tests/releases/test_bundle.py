"""A bundle is whole or absent: kills, full disks, unwritable places, older releases."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import children
from polyveil.errors import InputError, VerificationFailed
from polyveil.releases import bundle
from polyveil.releases.bundle import write_bundle
from polyveil.verification.files import check_files

TABLES = {"table": pl.DataFrame({"a": ["x", "y"]})}
MANIFEST = {"format": "polyveil-release", "format_version": 1}


def whole(folder: Path) -> bool:
    manifest = json.loads((folder / "manifest.json").read_text())
    return all(finding.outcome == "holds" for finding in check_files(folder, manifest))


def test_a_written_bundle_is_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    write_bundle(tmp_path / "release", TABLES, MANIFEST)
    assert whole(tmp_path / "release")
    assert [entry.name for entry in tmp_path.iterdir()] == ["release"]


def test_an_existing_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    with pytest.raises(InputError, match="exists already"):
        write_bundle(tmp_path / "release", TABLES, MANIFEST)


def test_overwriting_replaces_a_release_but_nothing_else(tmp_path: Path) -> None:
    write_bundle(tmp_path / "release", TABLES, MANIFEST)
    write_bundle(tmp_path / "release", {"table": pl.DataFrame({"b": [1]})}, MANIFEST, overwrite=True)
    assert pl.read_parquet(tmp_path / "release" / "table.parquet").columns == ["b"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["release"]
    (tmp_path / "photos").mkdir()
    with pytest.raises(InputError, match="not a release"):
        write_bundle(tmp_path / "photos", TABLES, MANIFEST, overwrite=True)


def test_overwriting_works_where_names_cannot_be_exchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "_exchange", lambda *_: False)
    write_bundle(tmp_path / "release", TABLES, MANIFEST)
    write_bundle(tmp_path / "release", {"table": pl.DataFrame({"b": [1]})}, MANIFEST, overwrite=True)
    assert pl.read_parquet(tmp_path / "release" / "table.parquet").columns == ["b"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["release"]


def test_a_missing_parent_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        write_bundle(tmp_path / "nowhere" / "release", TABLES, MANIFEST)


def test_a_refused_release_leaves_the_older_one(tmp_path: Path) -> None:
    write_bundle(tmp_path / "release", TABLES, MANIFEST)

    def refuse(_: Path) -> None:
        raise VerificationFailed("no")

    with pytest.raises(VerificationFailed):
        write_bundle(tmp_path / "release", {"table": pl.DataFrame()}, MANIFEST, overwrite=True, accept=refuse)
    assert whole(tmp_path / "release")
    assert [entry.name for entry in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("step", ["_write_table", "sync", "_describe"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(bundle, step, full)
    with pytest.raises(InputError, match="is full"):
        write_bundle(tmp_path / "release", TABLES, MANIFEST)
    assert list(tmp_path.iterdir()) == []


LOOP = """
import sys, polars as pl
from pathlib import Path
from polyveil.releases.bundle import write_bundle
target = Path(sys.argv[1])
frame = pl.DataFrame({"a": range(20000)})
print("ready", flush=True)
number = 0
while True:
    number += 1
    write_bundle(target, {"table": frame.with_columns(n=pl.lit(number))}, {"format": "polyveil-release",
                 "format_version": 1}, overwrite=target.exists())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killing_at_random_moments_leaves_a_whole_bundle_or_none(tmp_path: Path) -> None:
    target = tmp_path / "release"
    chance = random.Random(7)
    older_seen = False
    for attempt in range(12):
        with children.started([sys.executable, "-c", LOOP, target], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            while attempt == 6 and not target.exists():  # half of the kills meet an older bundle, on a slow machine too
                assert process.poll() is None
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.06))
        assert not older_seen or target.exists(), "an older bundle was destroyed"
        if target.exists():
            older_seen = True
            assert whole(target)
    assert older_seen
    # The next run clears what the killed ones left.
    write_bundle(target, TABLES, MANIFEST, overwrite=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["release"]


def test_an_unwritable_parent_is_named(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        tmp_path = Path("/proc")
    else:
        tmp_path.chmod(0o500)
    with pytest.raises(InputError, match=r"not writable|cannot be written"):
        write_bundle(tmp_path / "release", TABLES, MANIFEST)
    if tmp_path != Path("/proc"):
        tmp_path.chmod(0o700)
        shutil.rmtree(tmp_path)
