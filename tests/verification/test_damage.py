"""The verifier against damage of any kind: it says what it sees, or that the release is damaged, and never breaks."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import polyveil
from polyveil.demo import write_example
from polyveil.errors import InputError, PolicyError
from polyveil.verification import Verification, verify
from polyveil.verification.canonical import manifest_text

RELEASES = {
    "generalized": {"release": {"format": "parquet"}},
    "generalized as csv": {"release": {"format": "csv"}},
    "anatomized": {"release": {"format": "csv", "counts": True}, "method": {"name": "mbf"}},
    "sliced": {"release": {"format": "parquet"}, "method": {"name": "sloms"}},
}
REPLACEMENTS = [
    None,
    "x",
    "",
    "*",
    "1/2",
    -1,
    0,
    1,
    2,
    1e308,
    float("inf"),
    float("nan"),
    True,
    [],
    {},
    [1],
    {"a": 1},
    10**30,
]


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The hospital released in every form."""
    places = {}
    for name, changes in RELEASES.items():
        folder = tmp_path_factory.mktemp("genuine")
        written = write_example("hospital", folder, rows=400)
        policy = yaml.safe_load(written.policy.read_text())
        if "method" in changes:  # the bucket methods, which give no t
            policy["privacy"] = {"l": 2, "suppression_limit": 1.0}
            for column in policy["columns"].values():
                column.pop("t", None)
        chosen = polyveil.Policy.from_dict({**policy, **changes}, folder=folder)
        polyveil.anonymize(written.data, chosen, out=folder / "release", seed=1)
        places[name] = folder / "release"
        assert verify(places[name]).holds
    return places


def rewritten(release: Path, name: str, content: bytes, *, repaired: bool = False) -> None:
    """Another content for a file; `repaired`, with the manifest's checksum and size to match."""
    (release / name).write_bytes(content)
    if repaired:
        manifest = json.loads((release / "manifest.json").read_text())
        manifest["files"][name] |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        (release / "manifest.json").write_text(manifest_text(manifest))


def failed(verification: Verification) -> set[str]:
    assert not verification.holds
    return {finding.check for finding in verification.failures}


@settings(max_examples=150)
@given(kind=st.sampled_from(sorted(RELEASES)), data=st.data())
def test_any_flipped_byte_is_seen(releases: dict[str, Path], kind: str, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        release = Path(shutil.copytree(releases[kind], Path(folder) / "release"))
        file = data.draw(st.sampled_from(sorted(f for f in release.iterdir() if f.suffix in (".csv", ".parquet"))))
        content = bytearray(file.read_bytes())
        # Half of the flips near the end, where a Parquet file says what its bytes mean.
        first = data.draw(st.sampled_from([0, max(len(content) - 3000, 0)]))
        content[data.draw(st.integers(first, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        rewritten(release, file.name, bytes(content))
        assert "changed file" in failed(verify(release))


@settings(max_examples=60)
@given(kind=st.sampled_from(["generalized", "sliced"]), data=st.data())
def test_a_flipped_byte_with_a_repaired_checksum_breaks_nothing(
    releases: dict[str, Path], kind: str, data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        release = Path(shutil.copytree(releases[kind], Path(folder) / "release"))
        file = data.draw(st.sampled_from(sorted(f for f in release.iterdir() if f.suffix == ".parquet")))
        content = bytearray(file.read_bytes())
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        rewritten(release, file.name, bytes(content), repaired=True)
        verify(release)


def test_a_folder_named_like_a_partition_adds_no_column(releases: dict[str, Path], tmp_path: Path) -> None:
    place = tmp_path / "year=2020" / "release"
    shutil.copytree(releases["generalized"], place)
    assert verify(place).holds


@settings(max_examples=60)
@given(kind=st.sampled_from(["generalized as csv", "anatomized"]), data=st.data())
def test_a_changed_text_with_a_repaired_checksum_breaks_nothing(
    releases: dict[str, Path], kind: str, data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        release = Path(shutil.copytree(releases[kind], Path(folder) / "release"))
        file = data.draw(st.sampled_from(sorted(f for f in release.iterdir() if f.suffix == ".csv")))
        lines = file.read_text().splitlines(keepends=True)
        number = data.draw(st.integers(0, len(lines) - 1))
        cells = lines[number].rstrip("\n").split(",")
        cells[data.draw(st.integers(0, len(cells) - 1))] = data.draw(
            st.sampled_from(
                ["", "x", "-1", "0", "99999999999999999999", "1e999", "nan", "NA", "2025-01-01", '"', "a,b"]
            )
        )
        lines[number] = ",".join(cells) + "\n"
        rewritten(release, file.name, "".join(lines).encode(), repaired=True)
        with suppress(InputError):
            verify(release)


@settings(max_examples=150)
@given(kind=st.sampled_from(sorted(RELEASES)), data=st.data())
def test_a_manifest_with_any_part_replaced_is_refused_or_judged(
    releases: dict[str, Path], kind: str, data: st.DataObject
) -> None:
    manifest = json.loads((releases[kind] / "manifest.json").read_text())
    part: Any = manifest
    key: Any = data.draw(st.sampled_from(sorted(manifest)))
    while isinstance(part[key], dict | list) and part[key] and data.draw(st.integers(0, 3)):
        part = part[key]
        key = data.draw(st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part))))
    change = data.draw(st.sampled_from(["remove", "repeat", "replace", "replace"]))
    if change == "remove":
        del part[key]
    elif change == "repeat" and isinstance(part, list):
        part.append(part[key])
    else:
        part[key] = data.draw(st.sampled_from(REPLACEMENTS))
    with TemporaryDirectory() as folder:
        release = Path(shutil.copytree(releases[kind], Path(folder) / "release"))
        (release / "manifest.json").write_text(json.dumps(manifest))
        with suppress(InputError, PolicyError):  # refused as wrong input; any other exception is a fault
            verify(release)


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series("salary", [dt.timedelta(days=1)] * 400),
        pl.Series("salary", [[1, 2]] * 400),
        pl.Series("salary", [b"x"] * 400),
        pl.Series("salary", [{"a": 1}] * 400),
    ],
    ids=lambda cells: str(cells.dtype),
)
def test_columns_that_hold_no_plain_values_are_seen(
    releases: dict[str, Path], tmp_path: Path, cells: pl.Series
) -> None:
    release = Path(shutil.copytree(releases["generalized"], tmp_path / "release"))
    file = release / "table.parquet"
    pl.read_parquet(file).with_columns(cells).write_parquet(file)
    rewritten(release, file.name, file.read_bytes(), repaired=True)
    assert {"columns", "table"} <= failed(verify(release))


@pytest.mark.parametrize("value", ["private words", "1_0x", "2025-01-01", "nan", "inf"])
def test_a_cell_that_is_no_number_is_seen_and_not_repeated(
    releases: dict[str, Path], tmp_path: Path, value: str
) -> None:
    release = Path(shutil.copytree(releases["generalized as csv"], tmp_path / "release"))
    file = release / "table.csv"
    frame = pl.read_csv(file, infer_schema=False)
    frame = frame.with_columns(pl.Series("salary", [value, *frame["salary"][1:]]))
    frame.write_csv(file)
    rewritten(release, file.name, file.read_bytes(), repaired=True)
    verification = verify(release)
    assert "values of salary" in failed(verification)
    assert all(value not in finding.message for finding in verification.findings)


@pytest.mark.parametrize("value", [None, "x", "0", "-3", "999999", "99999999999999999999"])
def test_a_count_that_is_none_is_seen(releases: dict[str, Path], tmp_path: Path, value: str | None) -> None:
    release = Path(shutil.copytree(releases["anatomized"], tmp_path / "release"))
    file = release / "sensitive_1.csv"
    frame = pl.read_csv(file, infer_schema=False)
    frame.with_columns(pl.Series("count", [value, *frame["count"][1:]])).write_csv(file)
    rewritten(release, file.name, file.read_bytes(), repaired=True)
    assert "groups of sensitive_1" in failed(verify(release))


def test_a_row_without_a_group_is_seen(releases: dict[str, Path], tmp_path: Path) -> None:
    release = Path(shutil.copytree(releases["sliced"], tmp_path / "release"))
    file = release / "sensitive_2.parquet"
    frame = pl.read_parquet(file)
    frame.with_columns(pl.Series("group_2", [None, *frame["group_2"][1:]])).write_parquet(file)
    rewritten(release, file.name, file.read_bytes(), repaired=True)
    assert "groups of sensitive_2" in failed(verify(release))


@pytest.mark.parametrize("kind", sorted(RELEASES))
@pytest.mark.parametrize("change", ["remove", "add"])
def test_quasi_identifiers_that_are_not_the_policys_are_seen(
    releases: dict[str, Path], tmp_path: Path, kind: str, change: str
) -> None:
    release = Path(shutil.copytree(releases[kind], tmp_path / "release"))
    manifest = json.loads((release / "manifest.json").read_text())
    if change == "remove":
        del manifest["quasi"]["age"]
    else:
        manifest["quasi"]["more"] = manifest["quasi"]["age"]
    (release / "manifest.json").write_text(manifest_text(manifest))
    assert "loss" in failed(verify(release))
