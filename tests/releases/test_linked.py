"""Anatomized and sliced releases: what stands in which table, and that nothing but group ids links them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from paper_tables import HAN, HAN_COLUMNS, HAN_SLICES, LEVELS, XIAO, XIAO_COLUMNS, policy_of
from polyveil.errors import PolicyError
from polyveil.verification import verify

MSLF = policy_of(XIAO_COLUMNS, privacy={"l": LEVELS}, method={"name": "mbf-mslf"})
SLOMS = policy_of(HAN_COLUMNS, privacy={"k": 3, "l": 3}, method={"name": "sloms", "slices": HAN_SLICES, "restarts": 50})


def people(rows: int = 400, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, rows),
            "town": rng.choice(["Aix", "Bonn", "Cork", None], rows).tolist(),
            "illness": rng.choice(["flu", "cold", "ulcer", "asthma", None], rows).tolist(),
            "salary": rng.integers(1, 8, rows),
            "ward": rng.integers(1, 4, rows),
        }
    )


COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "town": {"role": "quasi"},
    "illness": {"role": "sensitive"},
    "salary": {"role": "sensitive", "type": "numeric"},
    "ward": {"role": "insensitive"},
}


def release_of(**parts: Any) -> polyveil.Release:
    policy = {"privacy": {"l": 3, "k": 3, "suppression_limit": 0.3}, "method": {"name": "mmdcf"}, **parts}
    return polyveil.anonymize(people(), policy_of(COLUMNS, **policy), seed=1)


def test_an_anatomized_release_has_two_tables_linked_by_a_group() -> None:
    release = polyveil.anonymize(XIAO, MSLF, seed=1)
    assert sorted(release.tables) == ["quasi", "sensitive_1"]
    assert release.tables["quasi"].columns == ["age", "sex", "group"]
    assert release.tables["sensitive_1"].columns == ["group", "physician", "disease"]
    assert sorted(release.tables["quasi"]["age"].to_list()) == sorted(XIAO["age"].to_list()), "published as they are"


def test_a_sliced_release_has_one_group_column_and_table_per_slice() -> None:
    release = polyveil.anonymize(HAN, SLOMS, seed=1)
    assert release.tables["quasi"].columns == ["gender", "zip", "age", "group_1", "group_2"]
    assert release.tables["sensitive_1"].columns == ["group_1", "occupation", "salary"]
    assert release.tables["sensitive_2"].columns == ["group_2", "physician", "disease"]
    joined = sorted(zip(*(release.tables["sensitive_1"][name].to_list() for name in HAN_SLICES[0]), strict=True))
    assert joined == sorted(zip(*(HAN[name].to_list() for name in HAN_SLICES[0]), strict=True))


def test_group_columns_never_take_the_name_of_another_column() -> None:
    columns = {**XIAO_COLUMNS, "group": {"role": "quasi"}, "count": {"role": "insensitive"}}
    frame = XIAO.with_columns(group=pl.lit("g"), count=pl.lit(1))
    policy = policy_of(columns, privacy={"l": LEVELS}, method={"name": "mbf-mslf"}, release={"counts": True})
    release = polyveil.anonymize(frame, policy, seed=1)
    assert release.tables["quasi"].columns == ["age", "sex", "group", "count", "group_"]
    assert release.tables["sensitive_1"].columns == ["group_", "physician", "disease", "count_"]
    assert release.verify().holds


def test_counts_add_up_to_the_rows() -> None:
    plain, counted = release_of(), release_of(release={"counts": True})
    assert counted.tables["sensitive_1"]["count"].sum() == plain.tables["sensitive_1"].height
    assert counted.verify().holds


def test_rows_and_group_numbers_do_not_follow_from_the_seed() -> None:
    first, second = (polyveil.anonymize(people(), policy_of(COLUMNS, **parts), seed=1) for parts in [_anatomized()] * 2)
    for name in ("quasi", "sensitive_1"):
        assert first.tables[name].height == second.tables[name].height
        assert not first.tables[name].equals(second.tables[name])


def _anatomized() -> dict[str, Any]:
    return {"privacy": {"l": 3, "suppression_limit": 0.3}, "method": {"name": "mmdcf"}}


def test_the_order_of_one_table_says_nothing_about_the_other() -> None:
    """Neither the places of a group's rows nor equal places go together, over many releases."""
    together = []
    for _ in range(20):
        release = release_of()
        quasi, sensitive = release.tables["quasi"]["group"], release.tables["sensitive_1"]["group"]
        together.append(int((quasi == sensitive).sum()))
        assert not quasi.cast(pl.Int64).is_sorted()
    sizes = np.bincount(release.tables["quasi"]["group"].cast(pl.Int64).to_numpy())
    expected = float((sizes**2).sum() / sizes.sum())
    assert abs(np.mean(together) - expected) < 6 * np.sqrt(expected / 20)


@pytest.mark.parametrize("generalize", ["none", "kaca", "range"])
@pytest.mark.parametrize("form", ["anatomized", "sliced"])
def test_any_partition_in_any_form(form: str, generalize: str) -> None:
    for method in ({"name": "mondrian"}, {"name": "kaca"}, {"name": "mmdcf"}):
        release = release_of(
            method=method,
            privacy={"k": 4, "l": 2, "suppression_limit": 0.3},
            release={"form": form, "generalize": generalize},
        )
        assert release.verify().holds


def test_a_t_close_partition_may_be_published_anatomized() -> None:
    release = release_of(
        method={"name": "mondrian"},
        privacy={"k": 4, "t": 0.3},
        release={"form": "anatomized", "generalize": "none"},
    )
    assert release.verify().holds
    assert max(release.privacy["t"].values()) <= 0.3
    assert release.loss["information_loss"] == 0.0
    assert release.loss["additional_information_loss"] is None, "no l is asked for, so no group has a least size"


def test_buckets_may_be_generalized() -> None:
    release = release_of(release={"form": "generalized"})
    assert release.form == "generalized"
    assert release.verify().holds


def test_the_manifest_says_what_k_means_where_quasi_identifiers_are_published_as_they_are() -> None:
    exact, alike = release_of(), release_of(release={"generalize": "kaca"})
    claim = {name: r.manifest["claims"][0] for name, r in (("exact", exact), ("alike", alike))}
    assert "not k-anonymity" in claim["exact"]["statement"]
    assert "can be found" in claim["exact"]["leaves_open"]
    assert "share every combination" in claim["alike"]["statement"]


def test_missing_values_are_values() -> None:
    release = release_of()
    published = release.tables["sensitive_1"]["illness"].null_count()
    assert published > 0
    assert release.tables["quasi"]["town"].null_count() > 0


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("name", ["mmdcf", "sloms"])
def test_bundles_on_disk_are_verified_from_their_files(tmp_path: Path, name: str, file_format: str) -> None:
    policy = policy_of(
        COLUMNS,
        privacy={"l": 3, "k": 3, "suppression_limit": 0.3},
        method={"name": name},
        release={"format": file_format, "counts": True},
    )
    polyveil.anonymize(people(), policy, out=tmp_path / "release", seed=1)
    verification = verify(tmp_path / "release")
    assert verification.holds, verification.failures
    assert sorted(entry.name for entry in (tmp_path / "release").glob(f"*.{file_format}"))[0].startswith("quasi")


@pytest.mark.parametrize("key", ["generalize", "counts"])
def test_settings_of_linked_forms_are_faults_for_generalized_ones(key: str) -> None:
    release = {"form": "generalized", key: "kaca" if key == "generalize" else True}
    with pytest.raises(PolicyError, match=rf"release\.{key}"):
        release_of(release=release)
