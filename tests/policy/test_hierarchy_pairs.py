"""Trees of codes from pairs, parent and child or ancestor and descendant: one tree, whatever else the list holds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError
from polyveil.policy import HierarchyFault
from polyveil.policy.hierarchy_pairs import tree_from_pairs

STEPS = [("heart", "angina"), ("heart", "infarct"), ("body", "heart"), ("body", "lung"), ("lung", "asthma")]
"""Code and parent."""
CLOSURE = [*STEPS, ("body", "angina"), ("body", "infarct"), ("body", "asthma"), ("asthma", "asthma")]
"""Code and every ancestor, itself among them, as OMOP's concept_ancestor has it."""
TREE = {"heart": {"angina": None, "infarct": None}, "asthma": None}


@pytest.mark.parametrize("pairs", [STEPS, CLOSURE, CLOSURE[::-1]])
def test_steps_and_closure_give_the_same_tree(pairs: list[tuple[str, str]]) -> None:
    assert tree_from_pairs(pairs, ["asthma", "infarct", "angina"]) == TREE


def test_values_that_nobody_has_and_groups_of_one_are_not_in_the_tree() -> None:
    assert tree_from_pairs(CLOSURE, ["angina", "asthma"]) == {"angina": None, "asthma": None}


def test_of_groups_that_cut_across_each_other_the_larger_is_kept_and_of_equals_the_first() -> None:
    crossing = [("big", "a"), ("big", "b"), ("big", "c"), ("small", "c"), ("small", "d")]
    assert tree_from_pairs(crossing, list("abcd")) == {"big": {"a": None, "b": None, "c": None}, "d": None}
    equal = [("y", "a"), ("y", "b"), ("x", "b"), ("x", "c")]
    assert tree_from_pairs(equal, list("abc")) == {"x": {"b": None, "c": None}, "a": None}


def test_a_code_that_is_also_a_group_stands_in_it() -> None:
    found = tree_from_pairs([("sinusitis", "chronic")], ["sinusitis", "chronic", "flu"])
    assert found == {"sinusitis and below": {"chronic": None, "sinusitis": None}, "flu": None}


def test_a_circle_is_refused() -> None:
    with pytest.raises(HierarchyFault, match="its own ancestor"):
        tree_from_pairs([("a", "b"), ("b", "a")], ["a", "b"])


def test_closeness_takes_its_distance_from_the_tree(tmp_path: Path) -> None:
    """Two of three levels apart: moving a value within `heart` costs half as much as moving it out."""
    (tmp_path / "pairs.csv").write_text("up,down\n" + "\n".join(f"{up},{down}" for up, down in STEPS))
    codes = ["angina", "infarct"] * 6 + ["asthma"] * 6
    frame = pl.DataFrame({"age": list(range(30, 48)), "code": codes})
    policy = {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "code": {
                "role": "sensitive",
                "hierarchy": {"pairs": str(tmp_path / "pairs.csv"), "parent": "up", "child": "down"},
            },
        },
        "privacy": {"k": 6, "t": 0.5},
        "method": {"name": "mondrian"},
    }
    release = polyveil.anonymize(frame, policy)
    stated = release.manifest["policy"]["columns"]["code"]
    assert stated["hierarchy"] == {"heart": {"angina": None, "infarct": None}, "asthma": None}
    assert release.manifest["sensitive"]["code"]["distance"] == "hierarchical"
    assert release.verification is not None
    assert release.verification.holds
    wrong = {**policy["columns"]["code"], "hierarchy": {"pairs": str(tmp_path / "pairs.csv")}}  # type: ignore[dict-item]
    with pytest.raises(PolicyError, match="columns parent and child"):
        polyveil.anonymize(frame, {**policy, "columns": {**policy["columns"], "code": wrong}})  # type: ignore[dict-item]
