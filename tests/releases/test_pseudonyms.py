"""Random keys in place of identifiers: unique, new in every release, and never a link between rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError
from polyveil.verification import verify_tables

ROWS = 30


def people(**more: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(ROWS)],
            "age": [20 + i for i in range(ROWS)],
            "disease": [["flu", "asthma", "ulcer"][i % 3] for i in range(ROWS)],
            **more,
        }
    )


def policy(name: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    columns = {
        "name": name or {"role": "identifier", "replace": "pseudonym"},
        "age": {"role": "quasi", "type": "numeric"},
        "disease": {"role": "sensitive"},
    }
    return {
        "columns": {**columns, **more.pop("columns", {})},
        "privacy": {"k": 3},
        "method": {"name": "mondrian"},
        **more,
    }


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_every_row_has_a_key_of_its_own(tmp_path: Path, file_format: str) -> None:
    release = polyveil.anonymize(people(), policy(release={"format": file_format}), out=tmp_path / "release", seed=1)
    keys = release.table["name"]
    assert keys.n_unique() == ROWS
    assert keys.str.contains("^[0-9a-f]{16}$").all()
    found = polyveil.verify(tmp_path / "release")
    assert found.holds
    assert "pseudonyms of name" in {finding.check for finding in found.findings}
    assert "Person" not in "".join(file.read_bytes().decode("latin-1") for file in (tmp_path / "release").iterdir())
    assert any("They hide the name only" in note for note in release.notes)


def test_keys_are_new_in_every_release_and_follow_from_no_seed() -> None:
    first, second = (polyveil.anonymize(people(), policy(), seed=1).table["name"] for _ in range(2))
    assert not set(first) & set(second)


def test_a_missing_identifier_has_a_key_like_any_other() -> None:
    frame = people().with_columns(pl.when(pl.col("age") < 25).then(None).otherwise(pl.col("name")).alias("name"))
    release = polyveil.anonymize(frame, policy(), seed=1)
    assert release.table["name"].null_count() == 0
    assert release.table["name"].n_unique() == ROWS


def test_the_steward_may_keep_the_list(tmp_path: Path) -> None:
    release = polyveil.anonymize(people(), policy(), seed=1)
    release.save_private(tmp_path / "private")
    kept = pl.read_parquet(tmp_path / "private" / "pseudonyms.parquet")
    assert kept["row"].to_list() == list(range(1, ROWS + 1))
    assert set(kept["name"]) == set(release.table["name"])
    joined = kept.with_columns(disease=people()["disease"]).join(release.table, on="name")
    assert (joined["disease"] == joined["disease_right"]).all()


def test_an_identifier_that_repeats_would_link_rows() -> None:
    frame = people(name=[f"Person {i // 2}" for i in range(ROWS)])
    with pytest.raises(PolicyError, match="would see which rows belong together"):
        polyveil.anonymize(frame, policy())


def test_with_a_published_key_of_people_another_name_of_theirs_may_be_published() -> None:
    frame = people(name=[f"Person {i // 2}" for i in range(ROWS)], id=[i // 2 for i in range(ROWS)])
    asked = policy(columns={"id": {"role": "person"}}, release={"person": "pseudonym"}, privacy={"k": 2})
    release = polyveil.anonymize(frame, asked, seed=1)
    assert release.table["name"].n_unique() == release.table["id"].n_unique() == ROWS // 2
    assert not set(release.table["name"]) & set(release.table["id"])
    assert release.verify().holds
    with pytest.raises(PolicyError, match="would see which rows belong together"):
        polyveil.anonymize(frame, {**asked, "release": {}})


def test_the_verifier_finds_keys_that_link_rows() -> None:
    release = polyveil.anonymize(people(), policy(), seed=1)
    keys = release.frames["table"]["name"].to_list()
    frame = release.frames["table"].with_columns(pl.Series("name", [keys[1], *keys[1:]]))
    found = verify_tables(release.manifest, {"table": frame})
    assert "pseudonyms of name" in {finding.check for finding in found.failures}
    frame = release.frames["table"].with_columns(pl.Series("name", ["Person 0", *keys[1:]]))
    assert "text of name" in {finding.check for finding in verify_tables(release.manifest, {"table": frame}).failures}


def test_a_key_that_was_not_meant_is_told() -> None:
    release = polyveil.anonymize(people(), policy(), seed=1)
    found = polyveil.verify(release, policy=policy({"role": "identifier"}))
    assert "asked: role of name" in {finding.check for finding in found.failures}
    assert polyveil.verify(release, policy=policy()).holds


def test_pseudonyms_are_for_identifiers_and_generalized_releases() -> None:
    with pytest.raises(PolicyError, match="replace is for identifier columns"):
        polyveil.anonymize(people(), policy({"role": "insensitive", "replace": "pseudonym"}))
    linked = policy(release={"form": "anatomized"}, privacy={"l": 2}, method={"name": "mbf"})
    with pytest.raises(PolicyError, match="no pseudonyms"):
        polyveil.anonymize(people(), linked)


def test_a_release_with_keys_can_be_attacked_and_reported(tmp_path: Path) -> None:
    polyveil.anonymize(people(), policy(), out=tmp_path / "release", seed=1)
    assert polyveil.attack(tmp_path / "release", people(), trials=20, seed=1) is not None
    assert "name" in polyveil.report(tmp_path / "release")
