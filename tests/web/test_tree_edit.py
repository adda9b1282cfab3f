"""Editing a hierarchy: every edit keeps all values, and says no to what is not a tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.errors import InputError
from polyveil.policy.hierarchy import from_tree
from polyveil.web import tree_edit as edit

TREE = edit.from_nested({"north": {"a": None, "b": None}, "south": {"c": None}, "d": None})


def test_moving_a_value_leaves_no_empty_group() -> None:
    assert edit.to_nested(edit.move(TREE, ["c"], "north")) == {"north": {"a": None, "b": None, "c": None}, "d": None}
    assert edit.to_nested(edit.move(TREE, ["a"], None))["a"] is None


def test_a_group_moves_with_what_it_holds_but_not_into_itself() -> None:
    moved = edit.to_nested(edit.move(TREE, ["south"], "north"))
    assert moved == {"north": {"a": None, "b": None, "south": {"c": None}}, "d": None}
    with pytest.raises(InputError, match="into itself"):
        edit.move(TREE, ["north"], "north")
    with pytest.raises(InputError, match="choose a group"):
        edit.move(TREE, ["a"], "d")


def test_grouping_merging_dissolving_and_renaming() -> None:
    assert edit.to_nested(edit.group(TREE, ["a", "d"], "new")) == {
        "north": {"new": {"a": None, "d": None}, "b": None},
        "south": {"c": None},
    }
    assert edit.to_nested(edit.merge(TREE, ["north", "south"])) == {"north": dict.fromkeys("abc"), "d": None}
    assert edit.to_nested(edit.dissolve(TREE, "south")) == {"north": dict.fromkeys("ab"), "c": None, "d": None}
    assert "far north" in edit.to_nested(edit.rename(TREE, "north", "far north"))
    for name in ("south", "a", "*", " "):
        with pytest.raises(InputError):
            edit.rename(TREE, "north", name)
    with pytest.raises(InputError, match="keep the name"):
        edit.rename(TREE, "a", "x")


def test_levels_count_the_rows_of_every_step() -> None:
    tree = from_tree({"north": {"a": None, "b": None}, "c": None})
    found = edit.levels(tree, {"a": 3, "b": 2, "c": 5})
    assert [dict(level.groups) for level in found] == [{"c": 5, "a": 3, "b": 2}, {"north": 5, "c": 5}, {"*": 10}]
    assert found[0].smallest == 2


def edited(forest: edit.NodeForest, kind: str, one: str, other: str, number: int) -> edit.NodeForest:
    if kind == "m":
        return edit.move(forest, [one], other)
    if kind == "g":
        return edit.group(forest, [one, other], f"new {number}")
    if kind == "r":
        return edit.rename(forest, one, f"name {number}")
    return edit.merge(forest, [one, other]) if kind == "x" else edit.dissolve(forest, one)


@given(st.lists(st.tuples(st.sampled_from("mgrxd"), st.integers(0, 9), st.integers(0, 9)), max_size=12))
@settings(max_examples=60)
def test_no_edit_ever_loses_a_value(steps: list[tuple[str, int, int]]) -> None:
    forest = TREE
    for number, (kind, first, second) in enumerate(steps):
        labels = [node.label for node in edit.walk(forest)]
        one, other = labels[first % len(labels)], labels[second % len(labels)]
        try:
            forest = edited(forest, kind, one, other, number)
        except InputError:
            continue
        assert sorted(edit.leaves(forest)) == ["a", "b", "c", "d"]
        from_tree(edit.to_nested(forest))  # still a tree in which every label stands once
