"""Sensitive numbers published rounded or as intervals: judged, measured and verified as published."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError
from polyveil.policy.publishing import Publish

PEOPLE = 60


def salaries() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    cents = rng.integers(100_000, 900_000, PEOPLE) / 100
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, PEOPLE),
            "salary": [None if i == 7 else float(value) for i, value in enumerate(cents)],
        }
    )


def policy(publish: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    salary = {"role": "sensitive", "type": "numeric", "t": 0.4, **({"publish": publish} if publish else {}), **more}
    return {
        "columns": {"age": {"role": "quasi", "type": "numeric"}, "salary": salary},
        "privacy": {"k": 5},
        "method": {"name": "mondrian"},
    }


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize(
    "publish",
    [{"round": 1000}, {"round": 0.1}, {"intervals": [0, 2500, 5000, "inf"]}],
    ids=["1000", "0.1", "intervals"],
)
def test_the_release_is_of_the_coarser_numbers(tmp_path: Path, publish: dict[str, Any], file_format: str) -> None:
    asked = {**policy(publish), "release": {"format": file_format}}
    release = polyveil.anonymize(salaries(), asked, out=tmp_path / "release", seed=1)
    rule = Publish.model_validate(publish)
    expected = [None if value is None else rule.of(value) for value in salaries()["salary"].to_list()]
    values, counts = (release.manifest["sensitive"]["salary"][key] for key in ("values", "counts"))
    assert dict(zip([*values, None], counts, strict=True)) == {
        value: expected.count(value) for value in sorted(set(expected), key=str)
    }
    published = release.table["salary"].to_list()
    wanted = expected if rule.intervals else [None if label is None else float(label) for label in expected]
    assert Counter(published) == Counter(wanted)
    assert polyveil.verify(tmp_path / "release").holds
    assert release.manifest["policy"]["columns"]["salary"]["publish"]
    assert polyveil.verify(tmp_path / "release", policy=asked).holds


def test_closeness_is_that_of_the_published_numbers() -> None:
    coarse = salaries().with_columns(pl.col("salary").map_elements(lambda v: float(round(v / 1000) * 1000)))
    by_hand = polyveil.anonymize(coarse, policy(None), seed=1)
    by_rule = polyveil.anonymize(salaries(), policy({"round": 1000}), seed=1)
    assert by_rule.privacy == by_hand.privacy
    assert by_rule.loss == by_hand.loss
    assert by_rule.manifest["sensitive"] == by_hand.manifest["sensitive"]


def test_intervals_are_compared_in_their_order() -> None:
    release = polyveil.anonymize(salaries(), policy({"intervals": [0, 2500, 5000, 7500, 10_000]}), seed=1)
    about = release.manifest["sensitive"]["salary"]
    assert (about["kind"], about["distance"]) == ("ordinal", "ordered")
    assert about["values"] == ["[0-2500)", "[2500-5000)", "[5000-7500)", "[7500-10000]"]


def test_the_verifier_finds_numbers_off_the_grid(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    polyveil.anonymize(salaries(), policy({"round": 1000}), out=folder, seed=1)
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["policy"]["columns"]["salary"]["publish"] = {"round": 3000.0}
    file.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    assert "published salary" in {finding.check for finding in polyveil.verify(folder).failures}


def test_a_release_that_is_finer_than_meant_is_told(tmp_path: Path) -> None:
    release = polyveil.anonymize(salaries(), policy(None), seed=1)
    found = polyveil.verify(release, policy=policy({"round": 1000}))
    assert "asked: published salary" in {finding.check for finding in found.failures}


def test_a_table_is_checked_as_it_stands() -> None:
    exact = polyveil.check(salaries(), policy(None))
    assert polyveil.check(salaries(), policy({"round": 1000})).to_dict() == exact.to_dict()


@pytest.mark.parametrize(
    ("publish", "more", "words"),
    [
        ({}, {}, "either round or intervals"),
        ({"round": 10, "intervals": [0, 1]}, {}, "either round or intervals"),
        ({"round": 0}, {}, "round must be more than 0"),
        ({"intervals": [5, 1]}, {}, "rising list"),
        ({"round": 10}, {"type": "categorical"}, "publish is for numbers"),
        ({"intervals": [0, 10_000]}, {"hierarchy": {"intervals": {"width": 10}}}, "values of its own"),
        ({"intervals": [0, 2000]}, {}, "lie outside the intervals"),
    ],
)
def test_faults(publish: dict[str, Any], more: dict[str, Any], words: str) -> None:
    asked = policy(None, **more)
    asked["columns"]["salary"]["publish"] = publish
    with pytest.raises(PolicyError, match=words):
        polyveil.anonymize(salaries(), asked)


def test_publish_is_for_sensitive_columns() -> None:
    asked = policy(None)
    asked["columns"]["age"]["publish"] = {"round": 10}
    with pytest.raises(PolicyError, match="publish is for sensitive columns"):
        polyveil.anonymize(salaries(), asked)


def test_rounding_is_exact() -> None:
    assert Publish(round=0.1).of(0.35000000000000003) == "0.4"
    assert Publish(round=100).of(-149.99) == "-100"
    assert Publish(round=100).of(-20.0) == "0"
    assert Publish(round=0.1).is_published("0.3")
    assert not Publish(round=0.1).is_published("0.35")
