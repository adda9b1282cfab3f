"""What the verifier says about people: what files alone can contradict, and what the source and the row map show."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.errors import InputError, PolicyError
from polyveil.verification.people import PER_GROUP
from polyveil.verification.source import _fewest

K = 3


def visits(people: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rng.integers(1, 4, people))
    rows = len(person)
    return pl.DataFrame(
        {
            "patient_id": person,
            "age": rng.integers(20, 60, people)[person] + rng.integers(0, 2, rows),
            "zip": [f"47{n:03d}" for n in rng.integers(600, 660, rows)],
            "town": rng.choice(["a", "b", "c"], rows),
            "seen": pl.date_range(pl.date(2026, 1, 1), pl.date(2026, 12, 31), eager=True).sample(
                rows, with_replacement=True, seed=seed
            ),
            "illness": rng.choice(list("uvwxyz"), rows),
        }
    )


POLICY: dict[str, Any] = {
    "columns": {
        "patient_id": {"role": "person"},
        "age": {"role": "quasi", "type": "numeric"},
        "zip": {"role": "quasi", "hierarchy": {"mask": 5}},
        "town": {"role": "quasi", "recode": "set"},
        "seen": {"role": "quasi", "type": "date"},
        "illness": {"role": "sensitive"},
    },
    "privacy": {"k": K, "l": 2, "t": 0.5},
    "method": {"name": "mondrian"},
}


@dataclass(frozen=True)
class Made:
    frame: pl.DataFrame
    release: Any
    folder: Path
    row_map: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    place = tmp_path_factory.mktemp("people")
    frame = visits(120, 1)
    release = polyveil.anonymize(frame, POLICY, out=place / "release", seed=1)
    release.save_private(place / "private")
    return Made(frame, release, place / "release", place / "private" / "row_map.parquet")


def outcome(verification: Any, check: str) -> str:
    return next(str(finding.outcome) for finding in verification.findings if finding.check == check)


def test_without_keys_people_per_group_are_not_checked_and_the_release_holds(made: Made) -> None:
    found = polyveil.verify(made.folder)
    assert found.holds
    assert outcome(found, "people") == "holds"
    assert outcome(found, PER_GROUP) == "not checked"
    assert "--source TABLE" in next(f.message for f in found.findings if f.check == PER_GROUP)
    assert "people per group" in found.answer()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("count",), 10_000),
        (("released",), 119),
        (("class_size", "min"), 2),
        (("class_size", "max"), 10_000),
        (("class_size", "mean"), 4.5),
        (("privacy", "k"), 77),
        (("claims", 0, "measured"), 2),
        (("claims", 2, "measured"), 0.9),
        (("claims", 0, "model"), "p-sensitivity"),
        (("claims", 0, "statement"), "every group has at least 30 people"),
        (("hidden",), 1),
    ],
)
def test_figures_in_people_that_the_files_contradict_fail(made: Made, path: tuple[Any, ...], value: Any) -> None:
    manifest = copy.deepcopy(dict(made.release.manifest))
    part = manifest["people"]
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    assert polyveil.verify(replace(made.release, manifest=manifest)).outcome == "fails"


def test_the_row_map_counts_people_exactly(made: Made) -> None:
    found = polyveil.verify(made.folder, source=made.frame, row_map=made.row_map)
    assert found.holds
    assert outcome(found, PER_GROUP) == "holds"
    assert outcome(found, "k-anonymity in people") == "holds"
    assert outcome(found, "t-closeness of illness in people") == "holds"


def test_where_people_are_counted_statements_say_people(made: Made) -> None:
    said = f"every group has at least {K} people"
    assert made.release.manifest["people"]["claims"][0]["statement"] == said
    found = polyveil.verify(made.folder, source=made.frame, row_map=made.row_map)
    assert said in next(f.message for f in found.findings if f.check == "k-anonymity in people")
    assert said in (made.folder / "report.html").read_text(encoding="utf-8")
    attacked = polyveil.attack(made.release, made.frame, policy=POLICY, trials=20)
    assert said in {attack.promise for attack in attacked.attacks if attack.name == "prosecutor linkage of all rows"}


def test_a_row_map_of_another_release_fails(made: Made, tmp_path: Path) -> None:
    other = pl.read_parquet(made.row_map)
    classes = other.get_column("class").shuffle(seed=1)
    other.with_columns(classes).write_parquet(tmp_path / "map.parquet")
    found = polyveil.verify(made.folder, source=made.frame, row_map=tmp_path / "map.parquet")
    assert outcome(found, "row map") == "fails"


def test_people_that_only_rows_protect_are_found_out(made: Made, tmp_path: Path) -> None:
    """A release that counts rows and claims to count people: the row map shows it, and so may the source."""
    asked = copy.deepcopy(POLICY)
    asked["columns"]["patient_id"] = {"role": "identifier"}
    asked["privacy"] = {"k": K}
    frame = pl.concat([visits(40, 2).filter(pl.col("patient_id") < 20)] * 3)  # everything three times
    honest = polyveil.anonymize(frame, asked, seed=1)
    manifest = copy.deepcopy(dict(honest.manifest))
    manifest["policy"]["unit"] = "person"
    manifest["policy"]["identifiers"] = 0
    count = frame["patient_id"].n_unique()
    sizes = {"min": K, "mean": count / manifest["classes"], "max": manifest["class_size"]["max"]}
    claims = [{"model": "k-anonymity", "attribute": None, "measured": float(K)}]
    manifest["people"] = {
        "count": count,
        "released": count,
        "class_size": sizes,
        "privacy": {"k": K, "l": {}, "t": {}},
        "claims": claims,
    }
    honest.save_private(tmp_path)
    lying = replace(honest, manifest=manifest)
    found = polyveil.verify(lying, source=frame, row_map=tmp_path / "row_map.parquet")
    assert found.outcome == "fails"
    by_source = polyveil.verify(lying, source=frame)
    assert outcome(by_source, PER_GROUP) == "not checked"
    assert "--row-map" in next(f.message for f in by_source.findings if f.check == PER_GROUP)


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_from_the_source_never_promises_more_than_there_is(seed: int) -> None:
    frame = visits(60, seed)
    asked = {**copy.deepcopy(POLICY), "privacy": {"k": 4}}
    release = polyveil.anonymize(frame, asked, seed=seed)
    found = polyveil.verify(release, source=frame)
    least = frame.with_columns(c=pl.Series(release.class_of_row)).group_by("c").agg(pl.col("patient_id").n_unique())
    finding = next(f for f in found.findings if f.check == PER_GROUP)
    if finding.outcome == "holds":
        said = int(finding.message.split("at least ")[1].split()[0])
        assert 4 <= said <= least["patient_id"].min()  # type: ignore[operator]


def test_the_fewest_people_who_can_have_so_many_rows() -> None:
    who = np.array([1, 1, 1, 2, 2, 3])
    assert [_fewest(size, who) for size in (1, 3, 4, 5, 6, 7)] == [1, 1, 2, 2, 3, -1]


def test_another_table_is_no_source(made: Made) -> None:
    assert outcome(polyveil.verify(made.folder, source=visits(120, 9)), "source") == "fails"
    with pytest.raises(InputError, match="--person"):
        polyveil.verify(made.folder, source=made.frame.rename({"patient_id": "x"}))


def test_forms_that_cannot_keep_people_together_refuse_them() -> None:
    for form in ("anatomized", "sliced"):
        asked = {**copy.deepcopy(POLICY), "method": {"name": "mbf"}, "release": {"form": form}}
        with pytest.raises(PolicyError, match=r"rows of a person together|does not make"):
            polyveil.anonymize(visits(40, 3), asked)


def with_people_left_out(illness: list[str], person: Any, method: str, key: str, **asked: float) -> Any:
    """A release that tells the counts of those released, because the input's would tell of those left out."""
    frame = pl.DataFrame(
        {"patient_id": person, "age": 20 + person % 7, "illness": np.array(illness)[person], "pay": person % 3}
    )
    columns = {
        "patient_id": {"role": "person"},
        "age": {"role": "quasi"},
        "illness": {"role": "sensitive", **asked},
        "pay": {"role": "sensitive", "type": "numeric", "t": 0.9},
    }
    policy = {
        "columns": columns,
        "privacy": {"k": 2, "suppression_limit": 0.5, "joint": [{"columns": ["illness", "pay"], "t": 1.0}]},
        "method": {"name": method},
        "release": {"person": key},
    }
    release = polyveil.anonymize(frame, policy, seed=1)
    assert release.manifest["suppressed"]
    assert release.manifest["counts_of"] == "released"
    return frame, release


@pytest.mark.parametrize("method", ["fcm", "pca"])
def test_figures_by_key_are_those_of_the_people_who_are_released(method: str) -> None:
    """Of people left out only the input's counts could tell; if these are not told, no figure depends on them."""
    two_rows_each = np.concatenate([np.arange(50), np.arange(40, 50)])  # for those from 40 on
    illness = ["u"] * 24 + ["v"] * 16 + ["u"] + ["v"] * 9
    _, release = with_people_left_out(illness, two_rows_each, method, "pseudonym", t=0.42)
    assert polyveil.verify(release).holds


@pytest.mark.parametrize("method", ["fcm", "pca", "sift"])
def test_figures_by_row_map_are_those_of_the_people_who_are_released(method: str, tmp_path: Path) -> None:
    illness = ["u"] * 24 + ["v"] * 9 + ["w"] * 7
    frame, release = with_people_left_out(illness, np.arange(80) % 40, method, "none", l=2, t=0.9)
    release.save_private(tmp_path)
    counted = polyveil.verify(release, source=frame, row_map=tmp_path / "row_map.parquet")
    assert not counted.failures
    assert outcome(counted, PER_GROUP) == "holds"
