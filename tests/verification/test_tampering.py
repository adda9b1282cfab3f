"""The verifier against someone who edits a release: each kind of edit has its own finding.

Edits come in two strengths: the file alone (its checksum tells), and the file with its checksum, row count and column
list repaired, so that only the content can tell.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polyveil
from polyveil.demo import write_example
from polyveil.policy import ReleaseChoice
from polyveil.verification import Verification, verify
from polyveil.verification.canonical import manifest_text


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("genuine")
    written = write_example("hospital", folder, rows=600)
    policy = polyveil.Policy.from_yaml(written.policy).model_copy(update={"release": ReleaseChoice(format="parquet")})
    polyveil.anonymize(written.data, policy, out=folder / "release", seed=1)
    return folder / "release"


@pytest.fixture
def release(genuine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(genuine, tmp_path / "release"))


def edit_table(release: Path, change: Callable[[pl.DataFrame], pl.DataFrame], *, repaired: bool) -> None:
    file = release / "table.parquet"
    frame = change(pl.read_parquet(file))
    frame.write_parquet(file)
    if repaired:
        edit_manifest(
            release,
            lambda m: m["files"].update(
                {
                    "table.parquet": {
                        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
                        "bytes": file.stat().st_size,
                        "rows": frame.height,
                        "columns": frame.columns,
                    }
                }
            ),
        )


def edit_manifest(release: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    file = release / "manifest.json"
    manifest = json.loads(file.read_text())
    change(manifest)
    file.write_text(manifest_text(manifest))


def seen(verification: Verification) -> set[str]:
    assert not verification.holds
    return {finding.check for finding in verification.failures}


def largest_class_first(frame: pl.DataFrame, quasi: list[str]) -> pl.DataFrame:
    return frame.with_columns(pl.len().over(quasi).alias("n")).sort("n", *quasi, descending=True).drop("n")


def quasi_of(release: Path) -> list[str]:
    return list(json.loads((release / "manifest.json").read_text())["quasi"])


def test_a_genuine_release_holds(genuine: Path) -> None:
    verification = verify(genuine)
    assert verification.holds
    assert verification.failures == ()
    assert {finding.outcome for finding in verification.findings} <= {"holds", "not checked"}


def test_a_changed_cell_changes_the_file(release: Path) -> None:
    edit_table(release, lambda f: f.with_columns(pl.lit("*").alias("age")), repaired=False)
    assert "changed file" in seen(verify(release))


def test_a_changed_quasi_cell_is_seen_even_with_a_repaired_checksum(release: Path) -> None:
    def change(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_row_index().with_columns(
            pl.when(pl.col("index") == 0).then(pl.lit("[18-19]")).otherwise(pl.col("age")).alias("age")
        ).drop("index")  # fmt: skip

    edit_table(release, change, repaired=True)
    found = seen(verify(release))
    assert "changed file" not in found
    assert "k-anonymity" in found


def test_a_removed_row_is_seen(release: Path) -> None:
    edit_table(release, lambda f: f[1:], repaired=False)
    assert {"changed file", "rows"} <= seen(verify(release))


def test_a_removed_row_is_seen_even_with_a_repaired_checksum(release: Path) -> None:
    edit_table(release, lambda f: f[1:], repaired=True)
    assert "rows" in seen(verify(release))


def test_a_class_below_k_is_seen(release: Path) -> None:
    quasi = quasi_of(release)

    def leave_two_of_the_largest_class(frame: pl.DataFrame) -> pl.DataFrame:
        ordered = largest_class_first(frame, quasi)
        first = ordered.select(quasi).row(0)
        size = ordered.select(quasi).rows().count(first)
        return ordered[size - 2 :]

    edit_table(release, leave_two_of_the_largest_class, repaired=True)
    assert "k-anonymity" in seen(verify(release))


def test_sensitive_values_moved_between_classes_are_seen(release: Path) -> None:
    quasi = quasi_of(release)

    def sort_diseases_into_classes(frame: pl.DataFrame) -> pl.DataFrame:
        ordered = frame.sort(quasi)
        return ordered.with_columns(ordered["disease"].sort())

    edit_table(release, sort_diseases_into_classes, repaired=True)
    found = seen(verify(release))
    assert "t-closeness of disease" in found
    assert "k-anonymity" not in found


def test_one_sensitive_value_swapped_between_two_classes_changes_the_mean_distance(release: Path) -> None:
    quasi = quasi_of(release)

    def swap_one_pair(frame: pl.DataFrame) -> pl.DataFrame:
        ordered = frame.sort(*quasi, "salary", nulls_last=True)
        values = ordered["salary"].to_list()
        first = ordered.select(quasi).row(0)
        other = next(
            i
            for i, row in enumerate(ordered.select(quasi).rows())
            if row != first and values[i] is not None and values[0] is not None and abs(values[i] - values[0]) > 5000
        )
        values[0], values[other] = values[other], values[0]
        return ordered.with_columns(pl.Series("salary", values, dtype=ordered["salary"].dtype))

    edit_table(release, swap_one_pair, repaired=True)
    assert "claim" in seen(verify(release))


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda m: m["privacy"].update(k=m["privacy"]["k"] + 1), "figure"),
        (lambda m: m["claims"][0].update(measured=99), "claim"),
        (lambda m: m["claims"][0].update(threshold=2), "claim"),
        (lambda m: m["claims"].pop(), "claim"),
        (lambda m: m["claims"][0].update(statement="every class has at least 99 rows"), "claim"),
        (lambda m: m["privacy"]["t"].update(ward=0.01), "figure"),
        (lambda m: m["privacy"].update(t=None), "figure"),
        (lambda m: m["files"]["table.parquet"].update(bytes=1), "figure"),
        (lambda m: m["policy"]["release"].update(form="sliced"), "form"),
        (lambda m: m.update(classes=m["classes"] + 1), "figure"),
        (lambda m: m.update(rows=m["rows"] + 1), "rows"),
        (lambda m: m["sensitive"]["disease"]["counts"].reverse(), "distribution of disease"),
        (lambda m: m["policy"]["privacy"].update(k=500), "k-anonymity"),
    ],
)
def test_an_edited_claim_is_seen(release: Path, change: Callable[[dict[str, Any]], Any], check: str) -> None:
    edit_manifest(release, change)
    assert check in seen(verify(release))


@pytest.fixture(scope="module")
def measurable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release whose cells all tell what they lost: ranges, nodes of a tree, sets, and a suppressed row."""
    rows = 24
    frame = pl.DataFrame(
        {
            "age": [*range(rows - 1), 90],
            "sex": ["f", "m"] * (rows // 2),
            "town": ["Bern", "Basel", "Paris", "Lyon"] * (rows // 4),
            "job": ["nurse", "cook", "baker"] * (rows // 3),
            "illness": ["a", "b"] * (rows // 2 - 1) + ["a", "rare"],
        }
    )
    towns = {"Europe": {"CH": ["Bern", "Basel"], "FR": {"North": ["Paris"], "South": ["Lyon"]}}, "Asia": ["Tokyo"]}
    policy = {
        "columns": {
            "age": {"role": "quasi"},
            "sex": {"role": "quasi"},
            "town": {"role": "quasi", "hierarchy": {"tree": towns}},
            "job": {"role": "quasi", "recode": "set"},
            "illness": {"role": "sensitive", "t": 0.3},
        },
        "privacy": {"k": 4, "suppression_limit": 0.1},
        "method": {"name": "sift", "effort": "fast"},
    }
    place = tmp_path_factory.mktemp("measurable") / "release"
    polyveil.anonymize(frame, policy, out=place, seed=1)
    return place


def test_every_loss_is_measured_where_cells_tell_it(measurable: Path) -> None:
    verification = verify(measurable)
    assert verification.holds
    loss = next(finding for finding in verification.findings if finding.check == "loss")
    assert loss.outcome == "holds"


@pytest.mark.parametrize(
    "name",
    [
        "information_loss",
        "normalized_loss",
        "discernibility",
        "precision",
        "average_class_size",
        "entropy",
        "suppression_ratio",
        "distortion",
        "by_attribute.age",
        "by_attribute.town",
        "by_attribute.job",
    ],
)
@pytest.mark.parametrize("value", [None, 0.0123, "removed", "0", True])
def test_an_edited_loss_is_seen_where_cells_tell_it(measurable: Path, tmp_path: Path, name: str, value: Any) -> None:
    place = Path(shutil.copytree(measurable, tmp_path / "release"))

    def change(manifest: dict[str, Any]) -> None:
        part = manifest["loss"]
        *steps, last = name.split(".")
        for step in steps:
            part = part[step]
        if value == "removed":
            del part[last]
        else:
            part[last] = value

    edit_manifest(place, change)
    assert "loss" in seen(verify(place))


def test_a_loss_that_cells_hide_must_still_add_up(release: Path) -> None:
    """The hospital's postcodes are masked: what they lost cannot be read off a cell, what the ages lost can."""
    edit_manifest(release, lambda m: m["loss"].update(information_loss=0.01))
    assert "loss" in seen(verify(release))


def test_a_loss_beside_one_that_cells_hide_is_measured(release: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        loss = manifest["loss"]
        loss["information_loss"] -= loss["by_attribute"]["age"]
        loss["normalized_loss"] = loss["information_loss"] / len(manifest["quasi"])
        loss["by_attribute"]["age"] = 0.0

    edit_manifest(release, change)
    assert "loss" in seen(verify(release))


def test_a_swapped_file_is_seen(release: Path) -> None:
    shutil.copy(release / "manifest.json", release / "table.parquet")
    assert {"changed file", "unreadable file"} <= seen(verify(release))


def test_a_missing_file_is_seen(release: Path) -> None:
    (release / "table.parquet").unlink()
    assert "missing file" in seen(verify(release))


def test_an_extra_file_is_seen(release: Path) -> None:
    (release / "notes.txt").write_text("hello")
    assert "extra file" in seen(verify(release))
