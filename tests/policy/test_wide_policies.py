"""Policies for wide tables: patterns, what is not named, defaults per role, other files, other words for the roles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError
from polyveil.policy import File, Policy, fitted, from_dict, from_file, from_text
from polyveil.schemas import policy_schema

WIDE = pl.DataFrame(
    {
        "id": range(12),
        "age": [30, 31, 32, 33, 40, 41, 42, 43, 50, 51, 52, 53],
        "sex": ["f", "m"] * 6,
        "lab_hdl": ["low", "high", "low"] * 4,
        "lab_ldl": ["high", "low", "low"] * 4,
        **{f"note_{i}": [f"text {i}"] * 12 for i in range(185)},
    }
)
POLICY = {
    "columns": {
        "age": {"role": "quasi", "type": "numeric"},
        "sex": {"role": "quasi-identifier", "type": "categorical"},
        "lab_*": {"role": "sensitive"},
    },
    "other_columns": "drop",
    "defaults": {"quasi": {"recode": "set"}},
    "privacy": {"k": 3, "t": 0.4},
    "method": {"name": "mondrian"},
}


def faults_of(text: str, **options: Any) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        from_text(text, **options)
    return [str(fault) for fault in caught.value.faults]


def test_a_wide_table_needs_a_short_policy(tmp_path: Path) -> None:
    release = polyveil.anonymize(WIDE, POLICY, out=tmp_path / "out")
    assert release.table.columns == ["age", "sex", "lab_hdl", "lab_ldl"]
    assert release.privacy["k"] >= 3
    assert polyveil.verify(tmp_path / "out").holds
    # The wide policy says the same of the release, of the table and to an attacker as the one written out.
    assert polyveil.verify(tmp_path / "out", policy=POLICY).holds
    assert polyveil.check(WIDE, POLICY).quasi == ("age", "sex")


def test_columns_that_are_left_out_are_one_line() -> None:
    with pytest.raises(PolicyError) as caught:
        polyveil.anonymize(WIDE, {**POLICY, "other_columns": "error"})
    (fault,) = caught.value.faults
    assert "186 columns are in the table but not in the policy: id, note_0" in fault.rule
    assert "other_columns: drop" in fault.remedy


def test_a_name_wins_over_patterns_and_the_first_pattern_over_later_ones() -> None:
    columns = {"a_*": {"role": "sensitive"}, "a_1": {"role": "quasi"}, "*": {"role": "drop"}}
    policy = fitted(from_dict({"columns": columns, "privacy": {"k": 2}}), ["a_1", "a_2", "b", "*x"])
    assert {name: column.role for name, column in policy.columns.items()} == {
        "a_2": "sensitive",
        "a_1": "quasi",
        "b": "drop",
        "*x": "drop",
    }


def test_a_column_may_be_named_like_a_pattern() -> None:
    policy = from_dict({"columns": {"a*": {"role": "quasi"}, "b": {"role": "drop"}}, "privacy": {"k": 2}})
    assert list(fitted(policy, ["a*", "b"]).columns) == ["a*", "b"]


def test_a_pattern_that_fits_nothing_is_a_fault() -> None:
    with pytest.raises(PolicyError, match="no column of the table fits it"):
        polyveil.anonymize(WIDE, {**POLICY, "columns": {**POLICY["columns"], "urine_*": {"role": "sensitive"}}})  # type: ignore[dict-item]


def test_joint_closeness_may_name_columns_of_a_pattern() -> None:
    joint = {**POLICY, "privacy": {"k": 3, "joint": [{"columns": ["lab_hdl", "lab_ldl"], "t": 0.9}]}}
    assert polyveil.anonymize(WIDE, joint).holds
    with pytest.raises(PolicyError, match="age is not"):
        from_dict({**POLICY, "privacy": {"joint": [{"columns": ["lab_hdl", "age"], "t": 0.9}]}})


def test_the_policy_survives_being_written() -> None:
    policy = from_dict(POLICY)
    assert Policy.from_dict(POLICY) == from_text(policy.to_yaml())
    assert "other_columns: drop" in policy.to_yaml()


@pytest.mark.parametrize(
    ("word", "role"),
    [
        ("quasi-identifier", "quasi"),
        ("Quasi Identifier", "quasi"),
        ("QI", "quasi"),
        ("direct identifier", "identifier"),
        ("confidential", "sensitive"),
        ("target", "sensitive"),
        ("sensitive attribute", "sensitive"),
        ("non-sensitive", "insensitive"),
        ("subject", "person"),
        ("exclude", "drop"),
    ],
)
def test_other_words_for_roles_are_understood(word: str, role: str) -> None:
    columns = {"x": {"role": word}, "q": {"role": "quasi"}, "s": {"role": "sensitive"}}
    assert from_dict({"columns": columns, "privacy": {"k": 2}}).columns["x"].role == role


def test_defaults_give_way_to_what_a_column_says() -> None:
    text = """
defaults:
  sensitive: {t: 0.3}
  quasi: {recode: set, weight: 2}
columns:
  sex: {role: quasi, type: categorical}
  age: {role: quasi, type: numeric, weight: 1}
  zip: {role: quasi, type: categorical, hierarchy: {mask: 5}}
  pay: {role: sensitive, type: numeric, t: 0.1}
  job: {role: sensitive}
privacy: {k: 5}
"""
    columns = from_text(text).columns
    assert [columns[name].recode for name in ("sex", "age", "zip")] == ["set", "hierarchy", "hierarchy"]
    assert [columns[name].weight for name in ("sex", "age", "zip")] == [2, 1, 2]
    assert [columns[name].t for name in ("pay", "job")] == [0.1, 0.3]


def test_a_changed_role_drops_what_was_set_for_the_other() -> None:
    text = """
columns:
  zip: {role: ROLE, type: categorical, for_quasi: {hierarchy: {mask: 5}, weight: 2}, for_sensitive: {t: 0.5}}
  age: {role: quasi}
privacy: {k: 5}
"""
    quasi = from_text(text.replace("ROLE", "quasi")).columns["zip"]
    sensitive = from_text(text.replace("ROLE", "sensitive")).columns["zip"]
    assert (quasi.hierarchy is not None, quasi.weight, quasi.t) == (True, 2, None)
    assert (sensitive.hierarchy, sensitive.weight, sensitive.t) == (None, 1, 0.5)


def test_included_files_are_laid_below_the_policy(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "common.yaml").write_text(
        "columns:\n  age: {role: quasi, type: numeric, weight: 3}\n"
        "  town: {role: quasi, type: categorical, hierarchy: towns.csv}\n"
        "  pay: {role: sensitive, t: 0.1}\nprivacy: {k: 10, l: 2}\n"
    )
    (tmp_path / "base" / "towns.csv").write_text("Ulm,South\nKiel,North\n")
    (tmp_path / "mine.yaml").write_text(
        "include: base/common.yaml\ncolumns:\n  age: {role: sensitive}\n  pay: {t: 0.2}\nprivacy: {k: 5}\n"
    )
    policy = from_file(tmp_path / "mine.yaml")
    assert (policy.privacy.k, policy.privacy.l) == (5, 2)
    assert policy.columns["age"].weight == 1  # another role, so nothing of the included column is left
    assert (policy.columns["pay"].role, policy.columns["pay"].t) == ("sensitive", 0.2)
    rule = policy.columns["town"].hierarchy
    assert isinstance(rule, File)
    assert (tmp_path / rule.csv).resolve() == (tmp_path / "base" / "towns.csv").resolve()


def test_a_policy_from_elsewhere_includes_no_file_of_this_machine(tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("privacy: {k: 7}\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "near.yaml").write_text("privacy: {k: 9}\n")
    (inner / "bridge.yaml").write_text("include: ../secret.yaml\n")
    columns = "columns: {a: {role: quasi}}\n"
    assert from_text(f"include: near.yaml\n{columns}", folder=inner, files="beside").privacy.k == 9
    for name in ("../secret.yaml", str(secret), "bridge.yaml"):
        found = faults_of(f"include: {name}\n{columns}", folder=inner, files="beside")
        assert any("must be in the folder of the policy" in fault for fault in found)
    assert any("no file can be read here" in each for each in faults_of(f"include: near.yaml\n{columns}", files="none"))


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("include: a.yaml\ncolumns: {a: {role: quasi}}\nprivacy: {k: 2}\n")
    with pytest.raises(PolicyError, match="include each other more than"):
        from_file(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("include: nowhere.yaml", "nowhere.yaml: it does not exist"),
        ("include: [1, [2]]", "include must be a file name"),
        ("other_columns: keep", "other_columns must be drop or error"),
        ("defaults: {quasy: {recode: set}}", "Did you mean 'quasi'?"),
        ("defaults: {quasi: {t: 0.2}}", "t is for sensitive columns"),
        ("defaults: {quasi: set}", "must be keys of a column"),
        ("defaults: set", "defaults must map roles"),
    ],
)
def test_faults_of_the_wide_keys(text: str, part: str, tmp_path: Path) -> None:
    found = faults_of(f"{text}\ncolumns: {{a: {{role: quasi}}}}\nprivacy: {{k: 2}}\n", folder=tmp_path)
    assert any(part in fault for fault in found), found


def test_the_schema_knows_the_wide_keys() -> None:
    schema = policy_schema()
    assert {"include", "defaults", "other_columns"} <= set(schema["properties"])
    assert {"for_quasi", "for_sensitive"} <= set(schema["$defs"]["Column"]["properties"])
