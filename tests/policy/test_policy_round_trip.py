"""A policy written is the same policy when it is read back; so is a published one."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings

from policy.policy_strategies import AWKWARD, policies, trees
from polyveil.policy import Column, Policy, from_dict, from_public, from_text, public, to_dict, to_yaml


@settings(max_examples=150)
@given(policies())
def test_yaml_reads_back_to_the_same_policy(policy: Policy) -> None:
    again = from_text(to_yaml(policy))
    assert again == policy
    assert list(again.columns) == list(policy.columns)
    assert to_yaml(again) == to_yaml(policy)


@settings(max_examples=80)
@given(policies())
def test_plain_data_reads_back_to_the_same_policy(policy: Policy) -> None:
    assert from_dict(to_dict(policy)) == policy


@settings(max_examples=80)
@given(policies())
def test_a_published_policy_reads_back_without_its_identifiers(policy: Policy) -> None:
    published = public(policy)
    through_json = json.loads(json.dumps(published))
    assert through_json == published
    again = from_public(through_json)
    kept = {name: column for name, column in policy.columns.items() if column.role != "identifier"}
    assert again.columns == kept
    assert list(again.columns) == list(kept)
    assert again.privacy == policy.privacy
    assert again.release == policy.release
    assert public(again) == {**published, "identifiers": 0}


@settings(max_examples=60)
@given(trees())
def test_a_tree_keeps_its_leaves_and_groups(tree: object) -> None:
    column = Column.model_validate({"role": "quasi", "hierarchy": {"tree": tree}})
    policy = Policy.model_validate({"columns": {"c": column}, "privacy": {"k": 2}})
    rule, again = column.hierarchy, from_text(to_yaml(policy)).columns["c"].hierarchy
    assert rule is not None
    assert again == rule
    assert again.build().labels == rule.build().labels  # type: ignore[union-attr, call-arg]


EXAMPLE = """\
version: 1
columns:
  name:     {role: identifier}
  age:      {role: quasi, type: numeric, weight: 2.0}
  zip:      {role: quasi, hierarchy: {mask: 5}}
  town:     {role: quasi, recode: set, missing: ["?", n/a]}
  admitted: {role: quasi, hierarchy: {date: [month, year]}}
  disease:  {role: sensitive, hierarchy: {Viral: [HIV, Flu], Cancer: null}, t: 0.2, levels: {2: [HIV], 0: [Flu]}}
  ward no.: {role: insensitive}
privacy: {k: 5, l: {0: 1, 1: 2, 2: 3}}
method: {name: sift, strata: 12}
release: {format: csv}
missing: ["?"]
"""


def test_yaml_is_compact_with_one_line_per_column() -> None:
    assert to_yaml(from_text(EXAMPLE)) == EXAMPLE


def test_what_does_not_fit_a_line_is_written_in_blocks() -> None:
    values = [f"value number {i}" for i in range(30)]
    data = {
        "columns": {
            "q": {"role": "quasi", "hierarchy": {"order": values}},
            "r": {"role": "quasi", "hierarchy": {"A": values[:15], "B": [{"C": values[15:]}, "x"]}},
        },
        "privacy": {"k": 5},
    }
    text = to_yaml(from_dict(data))
    assert max(len(line) for line in text.splitlines()) <= 120
    assert "    hierarchy:\n      order:\n        [value number 0, value number 1," in text
    assert from_text(text) == from_dict(data)


def test_every_awkward_text_survives_as_value_name_and_marker() -> None:
    data = {
        "columns": {
            **{f"x{text}": {"role": "insensitive"} for text in AWKWARD},
            "q": {"role": "quasi", "hierarchy": {"order": AWKWARD}},
            "s": {"role": "sensitive", "levels": {2: AWKWARD}},
        },
        "privacy": {"k": 2},
        "missing": AWKWARD,
    }
    policy = from_dict(data)
    assert from_text(to_yaml(policy)) == policy
    assert list(policy.missing) == AWKWARD


def test_a_published_policy_embeds_files_and_hides_what_is_private(tmp_path: Path) -> None:
    (tmp_path / "disease.csv").write_text("HIV;Viral;Any\nFlu;Viral;Any\nGout;Gout;Any\n")
    file = tmp_path / "policy.yaml"
    file.write_text(
        "columns:\n  name: {role: identifier}\n  ssn: {role: identifier}\n  age: {role: quasi}\n"
        "  disease: {role: sensitive, hierarchy: disease.csv, levels: {2: [HIV]}}\n"
        "privacy: {k: 5}\nmethod: {name: sift, seed: 42, strata: 3}\n"
    )
    policy = Policy.from_yaml(file)
    published = public(policy)
    assert published["identifiers"] == 2
    assert list(published["columns"]) == ["age", "disease"]
    assert published["method"] == {"name": "sift", "strata": 3}
    assert published["columns"]["disease"]["hierarchy"] == {
        "tree": {"Viral": {"HIV": None, "Flu": None}, "Gout": None},
        "root": "Any",
    }
    assert published["privacy"]["suppression_limit"] == 0.0
    text = json.dumps(published)
    assert not any(secret in text for secret in ("ssn", 'name": {', "seed", "42", str(tmp_path), "disease.csv"))
    (tmp_path / "disease.csv").unlink()
    rule = from_public(published).columns["disease"].hierarchy
    assert rule is not None
    assert rule.build().labels == ("Any", "Viral", "HIV", "Flu", "Gout")  # type: ignore[union-attr, call-arg]


def test_plain_data_is_a_copy() -> None:
    policy = from_text("columns: {q: {role: quasi, hierarchy: {intervals: [0, 1, 2]}}}\nprivacy: {k: 2}\n")
    to_dict(policy)["columns"]["q"]["hierarchy"]["intervals"][0].append(9)
    assert from_text(to_yaml(policy)) == policy


def test_very_long_names_and_labels_survive() -> None:
    long = "ä" * 5000
    data = {
        "columns": {long: {"role": "quasi", "hierarchy": {"tree": {long + "1": [long + "2"]}}, "weight": 2.0}},
        "privacy": {"k": 2},
    }
    assert from_text(to_yaml(from_dict(data))) == from_dict(data)
