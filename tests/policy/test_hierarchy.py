"""Hierarchies are trees: depth-first codes, one parent each, and clear faults where they are not."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.policy_strategies import trees
from policy.tree_shape import path_of
from polyveil.policy import HierarchyFault, Tree
from polyveil.policy.hierarchy import MAX_DEPTH, flat, from_paths, from_tree


def fault_of(paths: list[list[str]]) -> str:
    with pytest.raises(HierarchyFault) as caught:
        from_paths(paths)
    return caught.value.rule


def test_an_uneven_tree_by_hand() -> None:
    """Leaves a, b (below A below X), c (below X), d; heights count the longest way down."""
    tree = from_tree({"X": {"A": ["a", "b"], "c": None}, "d": None})
    assert tree.labels == ("*", "X", "A", "a", "b", "c", "d")
    assert tree.leaves == ("a", "b", "c", "d")
    assert tree.height.tolist() == [3, 2, 1, 0, 0, 0, 0]
    assert tree.start.tolist() == [0, 0, 0, 0, 1, 2, 3]
    assert tree.stop.tolist() == [4, 3, 2, 1, 2, 3, 4]
    assert tree.common_ancestor([0, 0, 0, 3], [1, 2, 3, 3]).tolist() == [2, 1, 0, 6]
    assert tree.loss_of_nodes() == pytest.approx([1, 2 / 3, 1 / 3, 0, 0, 0, 0])
    assert tree.to_nested() == {"X": {"A": {"a": None, "b": None}, "c": None}, "d": None}


def test_missing_values_are_a_last_leaf_below_the_root() -> None:
    tree = from_tree({"A": ["a", "b"]}, "Any").with_null()
    assert tree.leaves == ("a", "b", None)
    assert tree.parent[tree.leaf_node[2]] == 0
    assert tree.labels[0] == "Any"
    assert tree.to_nested() == {"A": {"a": None, "b": None}}


@settings(max_examples=100)
@given(trees())
def test_every_node_is_the_range_of_its_leaves(notation: Any) -> None:
    tree = Tree(tree=notation).build()
    assert tree.leaf_node.tolist() == np.setdiff1d(np.arange(len(tree.labels)), tree.parent).tolist()
    for node in range(1, len(tree.labels)):
        above = tree.parent[node]
        assert above < node
        assert tree.start[above] <= tree.start[node] < tree.stop[node] <= tree.stop[above]
        parts = np.count_nonzero(tree.parent == above) > 1
        assert tree.height[above] >= tree.height[node] + parts
    assert from_tree(tree.to_nested()).labels == tree.labels
    paths = [path_of(tree, str(leaf)) for leaf in tree.leaves]
    again = from_paths(paths)
    assert again.labels == tree.labels
    assert again.parent.tolist() == tree.parent.tolist()


@settings(max_examples=60)
@given(trees(), st.data())
def test_the_common_ancestor_is_the_lowest_node_over_both(notation: Any, data: st.DataObject) -> None:
    tree = Tree(tree=notation).build()
    low = data.draw(st.integers(0, tree.leaf_count - 1))
    high = data.draw(st.integers(low, tree.leaf_count - 1))
    over = [v for v in range(len(tree.labels)) if tree.start[v] <= low and high < tree.stop[v]]
    assert tree.common_ancestor([low], [high]).tolist() == [max(over)]


def test_a_tree_too_deep_is_a_fault_not_a_crash() -> None:
    deep: Any = "leaf"
    for level in range(5000):
        deep = {f"n{level}": deep}
    for build in (lambda: from_tree(deep), lambda: Tree(tree=deep)):
        with pytest.raises(ValueError, match=f"at most {MAX_DEPTH} levels"):
            build()
    loop: dict[str, Any] = {}
    loop["a"] = loop
    with pytest.raises(ValueError, match=f"at most {MAX_DEPTH} levels"):
        Tree(tree=loop)


def test_labels_of_a_tree_are_text_and_stand_once() -> None:
    assert Tree(tree={1: [2, 3.5, dt.date(2026, 1, 31)], "x": ()}).tree == {"1": ["2", "3.5", "2026-01-31"], "x": None}
    for tree in ({1: "a", "1": "b"}, [True], [None], [["a"]], [object()]):
        with pytest.raises(ValueError, match="Value error"):
            Tree(tree=tree)  # type: ignore[arg-type]
    with pytest.raises(HierarchyFault) as caught:
        Tree(tree={"A": ["x"], "B": [{"C": ["y", "x"]}]}).build()
    assert caught.value.path == ("B", 0, "C", 1)
    with pytest.raises(HierarchyFault):
        flat(["a", "*"])


def test_paths_meet_in_their_last_label() -> None:
    tree = from_paths([["a", "A", "All"], ["b", "B", "All"], ["c", "A", "All"]])
    assert tree.labels == ("All", "A", "a", "c", "B", "b")


def test_paths_without_a_common_end_get_a_root() -> None:
    assert from_paths([["a", "A"], ["b", "B"]]).labels == ("*", "A", "a", "B", "b")
    assert from_paths([["a"], ["b"]]).labels == ("*", "a", "b")
    assert from_paths([["a"]]).labels == ("*", "a")


def test_a_repeated_label_is_one_node() -> None:
    assert from_paths([["a", "a", "a", "*"], ["b", "B", "B", "*"]]).labels == ("*", "a", "B", "b")


def test_the_same_line_twice_is_no_fault() -> None:
    assert from_paths([["a", "A", "*"], ["a", "A", "*"]]).leaves == ("a",)


def test_one_value_under_two_parents_is_a_fault_with_its_line() -> None:
    assert fault_of([["a", "A", "*"], ["b", "B", "*"], ["a", "B", "*"]]) == "line 3 puts a value under a second parent"
    several = [["a", "A", "*"], *(["a", f"B{i}", "*"] for i in range(8))]
    assert fault_of(several) == "lines 2, 3, 4, 5, 6 and 3 more put values under a second parent"


def test_one_group_under_two_parents_is_a_fault() -> None:
    paths = [["a", "A", "X", "*"], ["b", "A", "Y", "*"]]
    assert fault_of(paths) == "line 2 puts a value or group under a second parent"


def test_a_value_with_the_name_of_a_group_is_a_fault_not_a_lost_value() -> None:
    assert fault_of([["A", "X", "*"], ["b", "A", "X", "*"]]) == "line 1 holds a value that is also the name of a group"
    assert fault_of([["Other", "Other", "*"], ["b", "Other", "*"]]).startswith("line 1 holds a value")


def test_a_value_or_group_with_the_name_of_the_root_is_a_fault() -> None:
    for paths in ([["a", "*"], ["*", "*"]], [["a", "A", "*"], ["b", "*", "B", "*"]], [["*", "x"], ["b", "y"]]):
        assert "like the top of the hierarchy" in fault_of(paths)


def test_no_paths_are_no_hierarchy() -> None:
    assert fault_of([]) == "a hierarchy has at least one value"
