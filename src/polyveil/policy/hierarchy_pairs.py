"""Trees of codes from pairs: a table with one line per code and one of its parents, or of its ancestors.

ICD, SNOMED CT, ATC and OMOP's `concept_ancestor` come this way. In such lists a code may have several parents, and a
tree has one. Groups are therefore taken from the largest to the smallest (of equals, the first by its text); a group
that shares only part of its values with one taken before is left out. Every group of the tree is a group of the list,
and the same list and values give the same tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from polyveil.policy.hierarchy import MAX_DEPTH, HierarchyFault


def tree_from_pairs(pairs: Iterable[tuple[str, str]], values: Sequence[str]) -> dict[str, Any]:
    """The tree, as nested mappings, of the values that occur; `pairs` are parent or ancestor, and child."""
    parents: dict[str, set[str]] = {}
    for parent, child in pairs:
        if parent != child:
            parents.setdefault(child, set()).add(parent)
    below: dict[str, set[str]] = {}
    for value in values:
        for group in _above(value, parents):
            below.setdefault(group, set()).add(value)
    taken = _nested(below, set(values))
    return _as_tree(taken, sorted(set(values)))


def _above(value: str, parents: dict[str, set[str]]) -> set[str]:
    """The value and all its ancestors, be they listed step by step or all at once."""
    found, left = {value}, [value]
    while left:
        for parent in parents.get(left.pop(), ()):
            if parent == value:
                raise HierarchyFault("a code is its own ancestor", "Remove the pair that closes the circle")
            if parent not in found:
                found.add(parent)
                left.append(parent)
    return found


def _nested(below: dict[str, set[str]], everything: set[str]) -> list[tuple[str, frozenset[str]]]:
    """Groups of two values or more, largest first, each within or apart from every other."""
    taken: list[tuple[str, frozenset[str]]] = []
    seen = {frozenset(everything)}
    for label, members in sorted(below.items(), key=lambda item: (-len(item[1]), item[0])):
        group = frozenset(members)
        if len(group) < 2 or group in seen:
            continue
        if all(group <= other or not group & other for _, other in taken):
            seen.add(group)
            taken.append((label, group))
    return taken


def _as_tree(groups: Sequence[tuple[str, frozenset[str]]], values: Sequence[str]) -> dict[str, Any]:
    """Nested mappings; a group that is also a value is called `value and below`."""
    tree: dict[str, Any] = {}
    home: dict[str, tuple[dict[str, Any], int]] = dict.fromkeys(values, (tree, 0))
    for label, members in groups:  # from large to small: the home of the members is the smallest group so far
        parent, depth = home[next(iter(members))]
        if depth < MAX_DEPTH - 3:
            inner: dict[str, Any] = {}
            parent[f"{label} and below" if label in home else label] = inner
            home.update(dict.fromkeys(members, (inner, depth + 1)))
    for value in values:
        home[value][0][value] = None
    return tree
