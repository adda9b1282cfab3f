"""A promise that is weaker than meant, or none at all, does not pass in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from polyveil.cli import app
from polyveil.errors import PolicyError
from polyveil.pipeline import anonymize
from polyveil.policy import from_public
from polyveil.verification import verify, verify_tables
from polyveil.verification.attributes import declared_attributes
from releases.test_relational import clinic
from releases.test_relational import policy as linked_policy

TREE = {"tree": {"a": {"a1": None, "a2": None}, "b": {"b1": None, "b2": None}}}

OTHER = {"tree": {"x": {"a1": None, "b1": None}, "y": {"a2": None, "b2": None}}}


def people() -> pl.DataFrame:
    rows = 24
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": list(range(rows)),
            "disease": [("a1", "b1", "a2", "b2")[i % 4] for i in range(rows)],
            "pay": [i % 6 for i in range(rows)],
        }
    )


def policy_of(**columns: Any) -> dict[str, Any]:
    return {
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi"},
            "disease": {"role": "sensitive", "hierarchy": TREE, "t": 0.4},
            "pay": {"role": "sensitive", "t": 0.5},
            **columns,
        },
        "privacy": {"k": 3},
        "method": {"name": "mondrian"},
    }


MEANT = policy_of()
WEAKER = {
    "an identifier is published as insensitive": (policy_of(name={"role": "insensitive"}), "role of name"),
    "a quasi-identifier is published as insensitive": (
        policy_of(age={"role": "insensitive"}, pay={"role": "quasi"}),
        "role of age",
    ),
    "a sensitive column is published as insensitive": (policy_of(pay={"role": "insensitive"}), "role of pay"),
    "another hierarchy": (
        policy_of(disease={"role": "sensitive", "t": 0.4, "hierarchy": OTHER}),
        "hierarchy of disease",
    ),
}


@pytest.mark.parametrize("kind", WEAKER)
def test_a_release_that_declares_less_than_meant_fails_against_the_policy(kind: str) -> None:
    given, check = WEAKER[kind]
    release = anonymize(people(), given, seed=1)
    assert verify(release).holds
    assert f"asked: {check}" in {finding.check for finding in verify(release, policy=MEANT).failures}


def test_what_the_policy_does_not_mention_fails() -> None:
    release = anonymize(people(), policy_of(name={"role": "insensitive"}), seed=1)
    meant = {"columns": {k: v for k, v in MEANT["columns"].items() if k != "name"}, "privacy": MEANT["privacy"]}
    assert [f.check for f in verify(release, policy=meant).failures] == ["asked: role of name"]


def test_rows_counted_where_people_are_meant_fail() -> None:
    release = anonymize(people(), MEANT, seed=1)
    meant = policy_of(name={"role": "person"})
    assert [f.check for f in verify(release, policy=meant).failures] == ["asked: people"]


def test_a_number_where_a_category_is_meant_fails() -> None:
    release = anonymize(people(), MEANT, seed=1)
    meant = policy_of(pay={"role": "sensitive", "t": 0.5, "type": "categorical"})
    assert [f.check for f in verify(release, policy=meant).failures] == ["asked: distance of pay"]


def test_exact_quasi_identifiers_where_groups_of_alike_rows_are_meant_fail() -> None:
    linked = {**policy_of(disease={"role": "sensitive", "l": 2}, pay={"role": "drop"}), "method": {"name": "mbf"}}
    release = anonymize(people(), {**linked, "release": {"form": "anatomized", "generalize": "none"}}, seed=1)
    assert release.verify().holds
    meant = {**linked, "method": {"name": "mondrian"}}
    assert [f.check for f in verify(release, policy=meant).failures] == ["asked: form"]
    assert verify(release, policy=linked).holds


def test_another_distance_than_meant_fails() -> None:
    release = anonymize(people(), policy_of(pay={"role": "sensitive", "t": 0.5, "distance": "ordered"}), seed=1)
    meant = policy_of(pay={"role": "sensitive", "t": 0.5, "distance": "equal"})
    assert [f.check for f in verify(release, policy=meant).failures] == ["asked: distance of pay"]


def test_a_weaker_threshold_fails_where_the_tables_do_not_keep_the_meant_one() -> None:
    release = anonymize(people(), policy_of(disease={"role": "sensitive", "hierarchy": TREE, "t": 1}), seed=1)
    meant = policy_of(disease={"role": "sensitive", "hierarchy": TREE, "t": 0.01})
    assert "asked: t-closeness of disease" in {f.check for f in verify(release, policy=meant).failures}


def test_the_same_policy_holds() -> None:
    assert verify(anonymize(people(), MEANT, seed=1), policy=MEANT).holds


def marks_of(policy: dict[str, Any]) -> dict[str, list[str]]:
    return {about["name"]: about["marks"] for about in verify(anonymize(people(), policy, seed=1)).columns}


def test_columns_without_a_guarantee_are_marked() -> None:
    marks = marks_of(policy_of(pay={"role": "sensitive"}, name={"role": "insensitive"}))
    assert marks["pay"] == ["sensitive, and no guarantee protects it"]
    assert marks["name"] == ["every value is unique: it may identify people although it is published as insensitive"]
    assert marks["age"] == marks["disease"] == []


def test_a_threshold_without_effect_is_said_to_have_none() -> None:
    marks = marks_of(policy_of(pay={"role": "sensitive", "t": 1}))
    assert marks["pay"] == [
        "t = 1 has no effect: no group of this table could break it",
        "sensitive, and no guarantee protects it",
    ]


def test_every_statement_of_t_names_its_distance() -> None:
    columns = {about["name"]: about for about in verify(anonymize(people(), MEANT, seed=1)).columns}
    assert "t-closeness by hierarchical distance" in columns["disease"]["guarantees"][0]
    assert "t-closeness by ordered distance" in columns["pay"]["guarantees"][0]
    assert "at least 3" in columns["age"]["guarantees"][0]


def test_the_command_compares_and_lists_columns(tmp_path: Path) -> None:
    given, check = WEAKER["an identifier is published as insensitive"]
    anonymize(people(), given, seed=1, out=tmp_path / "release")
    (tmp_path / "mine.json").write_text(json.dumps(MEANT))
    runner = CliRunner()
    shown = runner.invoke(app, ["verify", str(tmp_path / "release"), "--policy", str(tmp_path / "mine.json"), "--json"])
    answer = json.loads(shown.stdout)
    assert shown.exit_code == 1
    assert f"asked: {check}" in {finding["check"] for finding in answer["findings"]}
    assert {about["name"]: about["role"] for about in answer["columns"]}["name"] == "insensitive"
    plain = runner.invoke(app, ["verify", str(tmp_path / "release")])
    assert plain.exit_code == 0
    assert "every value is" in plain.stdout


@pytest.mark.parametrize("field", ["kind", "distance"])
def test_what_the_manifest_states_twice_must_agree(field: str) -> None:
    release = anonymize(people(), MEANT, seed=1)
    manifest = json.loads(json.dumps(release.manifest))
    manifest["sensitive"]["pay"][field] = {"kind": "categorical", "distance": "equal"}[field]
    assert "policy" in {finding.check for finding in verify_tables(manifest, release.frames).failures}


@pytest.mark.parametrize("more", [1, 50, 5000])
def test_values_that_nobody_has_stretch_no_ordered_range(more: int) -> None:
    """5,000 values with count 0 made 0.298 read 0.006; the claim no longer follows them."""
    release = anonymize(people(), MEANT, seed=1)
    manifest = json.loads(json.dumps(release.manifest))
    plain = declared_attributes(manifest, from_public(manifest["policy"]))["pay"].attribute
    manifest["sensitive"]["pay"]["values"] += [str(1000 + i) for i in range(more)]
    manifest["sensitive"]["pay"]["counts"] += [0] * more
    padded = declared_attributes(manifest, from_public(manifest["policy"]))["pay"].attribute
    assert padded.ground.weight.tolist() == plain.ground.weight.tolist()


@pytest.mark.parametrize(
    ("t", "mark"),
    [(0.999999, "no effect"), (0.75, "no effect"), (0.74, "hardly any effect"), (0.6, None)],
)
def test_a_threshold_that_no_group_could_break_is_marked(t: float, mark: str | None) -> None:
    """Of four values as frequent as each other none can be farther than 3/4 from the table, at equal distances."""
    asked = policy_of(disease={"role": "sensitive", "distance": "equal", "t": t})
    marks = next(
        about["marks"] for about in verify(anonymize(people(), asked, seed=1)).columns if about["name"] == "disease"
    )
    assert (mark is None and not marks) or any(mark in word for word in marks if mark)
    assert ("sensitive, and no guarantee protects it" in marks) == (mark == "no effect")


def released_with_marks(frame: pl.DataFrame, columns: dict[str, Any]) -> tuple[Any, dict[str, list[str]]]:
    asked = {"columns": {"age": {"role": "quasi"}, **columns}, "privacy": {"k": 4}, "method": {"name": "mondrian"}}
    release = anonymize(frame, asked, seed=1)
    return release, {about["name"]: about["marks"] for about in verify(release).columns}


def test_sensitive_values_that_are_hardly_different_are_marked() -> None:
    """Diversity that capitals, spaces, other alphabets or the last digit make is none."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 200),
            "illness": rng.choice(["flu", "Flu", " flu", "\u0441old", "cold", "asthma"], 200),
            "pay": rng.choice([10.0, 10.0000000001, 20.0, 30.0], 200),
        }
    )
    about = {"role": "sensitive", "l": 2}
    release, marks = released_with_marks(frame, {"illness": about, "pay": {**about, "type": "numeric"}})
    assert "3 of its 6 values differ from another only in capitals" in marks["illness"][0]
    assert "1 of its 4 values are within a millionth" in marks["pay"][0]
    assert any("write them in one way" in note for note in release.notes)
    plain = frame.filter(pl.col("illness").is_in(["flu", "cold", "asthma"])).drop("pay")
    release, marks = released_with_marks(plain, {"illness": about})
    assert not marks["illness"]
    assert not release.notes


def test_insensitive_columns_that_identify_people_together_are_marked() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"age": rng.integers(20, 60, 200), **{name: rng.integers(0, 31, 200) for name in "abc"}})
    harmless = {"role": "insensitive"}
    _, marks = released_with_marks(frame, dict.fromkeys("abc", harmless))
    assert "alone with their values of the 3 insensitive columns" in marks["a"][0]
    _, marks = released_with_marks(frame.select("age", "a"), {"a": harmless})
    assert not marks["a"]


def marks_in(release: Any) -> dict[str, str]:
    return {column["name"]: "; ".join(column["marks"]) for column in verify(release).columns}


def test_a_quasi_identifier_in_disguise_is_marked() -> None:
    """Its values, published as they are, always lie within the cells that should hide them."""
    rows = 60
    frame = pl.DataFrame(
        {
            "age": [i % 40 for i in range(rows)],
            "town": [("Bern", "Basel", "Genf")[i % 3] for i in range(rows)],
            "pay": [i * 7 % 11 for i in range(rows)],
            "years": [i % 40 for i in range(rows)],
            "place": [("Bern", "Basel", "Genf")[i % 3] for i in range(rows)],
            "shoe": [36 + i * 5 % 9 for i in range(rows)],
        }
    )
    asked = {
        "columns": {
            **{name: {"role": "quasi"} for name in ("age", "town")},
            "pay": {"role": "sensitive", "t": 0.5},
            **{name: {"role": "insensitive"} for name in ("years", "place", "shoe")},
        },
        "defaults": {"quasi": {"recode": "set"}},
        "privacy": {"k": 3},
        "method": {"name": "mondrian"},
    }
    found = marks_in(anonymize(frame, asked, seed=1))
    assert "within the cells of age" in found["years"]
    assert "within the cells of town" in found["place"]
    assert "within the cells" not in found["shoe"]


def test_columns_of_linked_tables_are_marked_as_those_of_one_table() -> None:
    tables = clinic(60)
    tables["visit"] = tables["visit"].with_columns(pl.Series("ticket", range(tables["visit"].height)))
    asked = linked_policy()
    asked["columns"]["visit.ticket"] = {"role": "insensitive"}
    assert "every value is unique" in marks_in(anonymize(tables, asked, seed=1))["visit.ticket"]


def test_infinite_numbers_are_refused_before_anything_is_published() -> None:
    asked = policy_of(pay={"role": "insensitive"})
    frame = people().with_columns(pl.Series("pay", [float("inf"), *range(23)], dtype=pl.Float64, strict=False))
    with pytest.raises(PolicyError, match="infinite numbers"):
        anonymize(frame, asked)


def test_a_key_in_disguise_that_joins_linked_tables_is_marked() -> None:
    tables = clinic(60)
    number = pl.col("^id|who$").str.slice(1).cast(pl.Int64) + 790_000
    tables |= {name: tables[name].with_columns(number.alias("phone")) for name in ("person", "visit")}
    asked = linked_policy()
    asked["columns"] |= {f"{name}.phone": {"role": "insensitive"} for name in ("person", "visit")}
    found = marks_in(anonymize(tables, asked, seed=1))
    assert "those of visit.phone: rows can be joined" in found["person.phone"]
    assert "those of person.phone: rows can be joined" in found["visit.phone"]
    assert "joined" not in found["visit.ward"]


def test_keys_and_rows_of_people_that_were_not_meant_fail() -> None:
    frame = people().with_columns(pl.Series("name", [f"person {i // 2}" for i in range(24)]))
    asked = policy_of(name={"role": "person"})
    for person, meant, wrong in (("pseudonym", "none", True), ("pseudonym", "pseudonym", False)):
        release = anonymize(frame, {**asked, "release": {"person": person}}, seed=1)
        found = verify(release, policy={**asked, "release": {"person": meant}})
        assert ("asked: people" in {finding.check for finding in found.failures}) == wrong
    limit = {**asked, "privacy": {"k": 3, "rows_per_person": {"at_most": 1}}}
    release = anonymize(frame, asked, seed=1)
    assert "asked: people" in {finding.check for finding in verify(release, policy=limit).failures}
    assert not verify(anonymize(frame, limit, seed=1), policy=limit).failures
