"""Editing a hierarchy: every edit keeps all values, and says no to what is not a tree."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.errors import InputError
from polyveil.policy.hierarchy import from_tree
from polyveil.policy.hierarchy_file import read_hierarchy
from polyveil.web import tree_edit as edit
from polyveil.web.tree_from_data import tree_from_data

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


def test_an_exported_tree_is_imported_as_it_was(tmp_path: Path) -> None:
    tree = edit.from_nested(
        {"north, far": {"a": None, 'b "x"': None}, "south": {"s": {"c": None, "e": None}, "d": None}}
    )
    (tmp_path / "tree.csv").write_text(edit.to_csv(tree))
    read = edit.from_hierarchy(read_hierarchy(tmp_path / "tree.csv", "tree"))
    assert edit.to_nested(read) == edit.to_nested(tree)


def test_a_tree_from_the_data_puts_values_together_that_go_with_similar_sensitive_values() -> None:
    """Towns by the sea have flu, towns inland gout; pay tells the two towns of the rich apart."""
    sea, inland = [f"sea {i}" for i in range(4)], [f"inland {i}" for i in range(4)]
    rows = [(town, "flu" if i % 10 else "gout", 1000 + i) for town in sea for i in range(40)]
    rows += [(town, "gout" if i % 10 else "flu", 1000 + i) for town in inland for i in range(40)]
    frame = pl.DataFrame(rows, schema=["town", "ill", "pay"], orient="row")
    forest = tree_from_data(frame, "town", ["ill", "pay"])
    assert sorted(edit.leaves(forest)) == sorted([*sea, *inland])
    assert [sorted(edit.leaves((node,))) for node in forest] in (
        [sea, inland],
        [inland, sea],
        [sorted(inland), sorted(sea)],
    )
    assert len({node.label for node in edit.walk(forest)}) == len(list(edit.walk(forest)))
    from_tree(edit.to_nested(forest))
    with pytest.raises(InputError, match="no sensitive column"):
        tree_from_data(frame, "town", [])
    with pytest.raises(InputError, match="3 to 2,000 different values"):
        tree_from_data(frame.head(40), "town", ["ill"])
