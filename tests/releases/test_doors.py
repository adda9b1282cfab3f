"""Doors that stay shut: what others put at the place, what others write beside it, what only the owner may read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import polars as pl
import pytest

import polyveil
from bundle_stress import MANIFEST, SCENES, held, stress, written
from polyveil.errors import InputError
from polyveil.releases import bundle
from polyveil.releases.bundle import write_bundle

TABLES = {"table": pl.DataFrame({"n": [1, 2]})}


def test_nothing_is_lost_whatever_happens(tmp_path: Path) -> None:
    """200 runs: `python tests/bundle_stress.py`."""
    assert sum(stress(tmp_path, 16, seed=5).values()) == 16
    assert len(SCENES) == 4


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_folder_that_appears_during_the_run_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_one_step: bool
) -> None:
    place = tmp_path / "release"
    if not in_one_step:
        monkeypatch.setattr(bundle, "_renamed", lambda *_: False)

    def appear(_: Path) -> None:
        place.mkdir()
        (place / "thesis.txt").write_text("years of work")

    with pytest.raises(InputError, match="changed by somebody else"):
        write_bundle(place, TABLES, MANIFEST, accept=appear)
    assert [entry.name for entry in tmp_path.rglob("*")] == ["release", "thesis.txt"]


@pytest.mark.parametrize("in_one_step", [True, False])
def test_of_two_writers_the_second_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_one_step: bool) -> None:
    place = tmp_path / "release"
    if not in_one_step:
        monkeypatch.setattr(bundle, "_renamed", lambda *_: False)
    assert written(place, 1, overwrite=False)

    def overtaken(_: Path) -> None:
        assert written(place, 2, overwrite=True)

    assert not written(place, 3, overwrite=True, accept=overtaken)
    assert held(place) == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["release"]


def test_what_another_machine_writes_on_a_shared_disk_stays(tmp_path: Path) -> None:
    running = tmp_path / ".release.another-host-4026531836.999999999.0a1b2c3d.partial"
    killed_here = tmp_path / f".release.{bundle._host()}.999999999.0a1b2c3d.partial"
    not_ours = tmp_path / ".release.2.notes.partial"
    for folder in (running, killed_here, not_ours):
        folder.mkdir()
    write_bundle(tmp_path / "release", TABLES, MANIFEST)
    assert running.is_dir()
    assert not_ours.is_dir()
    assert not killed_here.exists()


@pytest.mark.parametrize("error", [OSError("No space left on device (os error 28)"), OSError(28, "No space left")])
def test_a_full_disk_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr(bundle, "_write_table", full)
    with pytest.raises(InputError, match="is full"):
        write_bundle(tmp_path / "release", TABLES, MANIFEST)


def test_an_error_without_words_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(bundle, "_write_table", fails)
    with pytest.raises(InputError, match=r"\(OSError\)"):
        write_bundle(tmp_path / "release", TABLES, MANIFEST)


def test_the_row_map_is_for_its_owner_alone_in_any_folder(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [n % 5 for n in range(30)], "ill": ["flu", "gout"] * 15})
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    release = polyveil.anonymize(frame, {"columns": columns, "privacy": {"k": 3}, "method": {"name": "mondrian"}})
    tmp_path.chmod(0o755)
    (tmp_path / "row_map.parquet").write_text("an older one that all may read")
    (tmp_path / "row_map.parquet").chmod(0o644)
    before = os.umask(0)
    try:
        release.save_private(tmp_path)
    finally:
        os.umask(before)
    assert [entry.name for entry in tmp_path.iterdir()] == ["row_map.parquet"]
    assert stat.S_IMODE((tmp_path / "row_map.parquet").stat().st_mode) == 0o600
    assert pl.read_parquet(tmp_path / "row_map.parquet").height == 30
