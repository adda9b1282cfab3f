"""Kills, full disks, two writers and folders that appear, at random: `python tests/bundle_stress.py --runs 200`.

Whatever happens, the place holds one whole release of those that said "published", or what somebody else put there;
nothing that was there is lost without `overwrite`, and nothing is left beside it once the next run has cleared up.
"""

from __future__ import annotations

import argparse
import errno
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import polars as pl

import children
from polyveil.errors import InputError
from polyveil.releases import bundle
from polyveil.verification.files import check_files

MANIFEST = {"format": "polyveil-release", "format_version": 1}
STEPS = ("_write_table", "_describe", "write_manifest", "sync")
WRITE = """
import sys, polars as pl
from pathlib import Path
from polyveil.releases.bundle import write_bundle
print("ready", flush=True)
frame = pl.DataFrame({"n": [int(sys.argv[2])] * 20000})
while True:
    manifest = {"format": "polyveil-release", "format_version": 1}
    write_bundle(Path(sys.argv[1]), {"table": frame}, manifest, overwrite=True)
"""


def written(place: Path, number: int, *, overwrite: bool, accept: Callable[[Path], None] = lambda _: None) -> bool:
    """Write a release that is known by its number; whether it says that it was published."""
    tables = {"table": pl.DataFrame({"n": [number] * 100})}
    try:
        bundle.write_bundle(place, tables, MANIFEST, overwrite=overwrite, accept=accept)
    except InputError as error:
        said = str(error)
    else:
        return True
    assert "None" not in said
    return False


def held(place: Path) -> int | None:
    """The number of the whole release at a place; None if there is nothing."""
    if not place.exists():
        return None
    manifest = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
    assert all(finding.outcome == "holds" for finding in check_files(place, manifest)), "the release is not whole"
    return int(pl.read_parquet(place / "table.parquet").item(0, 0))


def killed(place: Path, chance: random.Random, number: int) -> None:
    before = held(place)
    with children.started([sys.executable, "-c", WRITE, place, str(number)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.08))
    assert held(place) in (before, number)
    assert before is None or place.exists(), "an older release was destroyed"


def full_disk(place: Path, chance: random.Random, number: int) -> None:
    def full(*_: object) -> None:
        # Libraries that write by themselves raise errors that have words and no number.
        raise chance.choice([OSError(errno.ENOSPC, "No space left on device"), OSError("No space left on device")])

    before = held(place)
    with patch.object(bundle, chance.choice(STEPS), full):
        assert not written(place, number, overwrite=True)
    assert held(place) == before


def two_writers(place: Path, chance: random.Random, number: int) -> None:
    """Both begin with the same place; whoever comes second must not replace what the first has published."""
    before, overwrite = held(place), place.exists()
    with ThreadPoolExecutor(2) as pool:
        waits = [chance.uniform(0, 0.02) for _ in range(2)]

        def write(i: int) -> bool:
            return written(place, number + i, overwrite=overwrite, accept=lambda _: time.sleep(waits[i]))

        said = list(pool.map(write, range(2)))
    now = held(place)
    assert any(said), "nobody published"
    if all(said):  # allowed only one after the other, with overwrite
        assert overwrite
        assert now in (number, number + 1)
    else:
        assert now == number + said.index(True) != before


def appearing(place: Path, chance: random.Random, number: int) -> None:
    """Somebody's folder gets the name while the release is written: it stays."""
    place = place.with_name(f"other-{number}")

    def appear(_: Path) -> None:
        place.mkdir()
        if chance.random() < 0.5:
            (place / "thesis.txt").write_text("years of work")

    # Every other time on a disk that cannot rename with a flag.
    renamed = bundle._renamed if chance.random() < 0.5 else lambda *_: False
    with patch.object(bundle, "_renamed", renamed):
        assert not written(place, number, overwrite=False, accept=appear)
    assert {file.name for file in place.iterdir()} <= {"thesis.txt"}


SCENES = (killed, full_disk, two_writers, appearing)


def stress(folder: Path, runs: int, seed: int) -> Counter[str]:
    """How many runs of each kind nothing was lost in; an assertion fails in the first that loses something."""
    chance, done, place = random.Random(seed), Counter[str](), folder / "release"
    for run in range(runs):
        scene = SCENES[run % len(SCENES)]
        scene(place, chance, 10 * run)
        done[scene.__name__] += 1
    assert written(place, -1, overwrite=place.exists())
    beside = [entry.name for entry in folder.iterdir() if not entry.name.startswith("other-")]
    assert beside == ["release"], f"left behind: {beside}"
    return done


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        print(f"nothing lost: {dict(stress(Path(name), chosen.runs, chosen.seed))}")
