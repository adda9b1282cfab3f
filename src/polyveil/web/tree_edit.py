"""Editing a hierarchy as a tree: move, group, rename, merge, dissolve. Pure functions; the page only calls them.

A tree is a tuple of nodes below an unnamed root. Every label stands once, which all functions keep or refuse.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

from polyveil.errors import InputError
from polyveil.policy.hierarchy import Hierarchy


@dataclass(frozen=True)
class Node:
    """A value (no children) or a group."""

    label: str
    children: tuple[Node, ...] = ()

    @property
    def is_group(self) -> bool:
        return bool(self.children)


NodeForest = tuple[Node, ...]


def from_hierarchy(tree: Hierarchy) -> NodeForest:
    """The nodes below the root."""
    return from_nested(tree.to_nested())


def from_nested(tree: Mapping[str, Any]) -> NodeForest:
    return tuple(Node(label, from_nested(below) if below else ()) for label, below in tree.items())


def flat(values: Iterable[str]) -> NodeForest:
    """Every value by itself."""
    return tuple(Node(value) for value in values)


def to_nested(forest: NodeForest) -> dict[str, Any]:
    """The notation of the policy file."""
    return {node.label: to_nested(node.children) if node.children else None for node in forest}


def to_csv(forest: NodeForest) -> str:
    """One line per value, then its groups from the smallest up, as `hierarchy: FILE.csv` reads it."""
    deepest = max((len(path) for path in _paths(forest)), default=1)
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for path in _paths(forest):
        # A value with fewer groups than others stays in its own for the levels that are left.
        writer.writerow([*path, *[path[-1]] * (deepest - len(path)), "*"])
    return out.getvalue()


def _paths(forest: NodeForest, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for node in forest:
        path = (node.label, *above)
        yield from _paths(node.children, path) if node.children else (path,)


def walk(forest: NodeForest) -> Iterator[Node]:
    """Every node, groups before what they hold."""
    for node in forest:
        yield node
        yield from walk(node.children)


def leaves(forest: NodeForest) -> list[str]:
    return [node.label for node in walk(forest) if not node.is_group]


def groups(forest: NodeForest) -> list[str]:
    return [node.label for node in walk(forest) if node.is_group]


def find(forest: NodeForest, label: str) -> Node:
    """The node of that label."""
    found = next((node for node in walk(forest) if node.label == label), None)
    if found is None:
        raise InputError("this value or group is no longer in the tree")
    return found


def move(forest: NodeForest, labels: Sequence[str], target: str | None) -> NodeForest:
    """Put nodes into a group, or (None) directly below the top. Groups that are left empty go."""
    moved = _outermost(forest, labels)
    if target is not None:
        if not find(forest, target).is_group:
            raise InputError("values go into groups: choose a group, or make one from the selection")
        if any(target in {inner.label for inner in walk((node,))} for node in moved):
            raise InputError("a group cannot be put into itself")
    rest = _without(forest, {node.label for node in moved}, keep=target)
    if target is None:
        return (*rest, *moved)
    return _changed(rest, target, lambda node: (replace(node, children=(*node.children, *moved)),))


def group(forest: NodeForest, labels: Sequence[str], name: str) -> NodeForest:
    """Make a group of nodes, where the first of them stood."""
    name = _free(forest, name)
    moved = _outermost(forest, labels)
    if not moved:
        raise InputError("select the values or groups that belong together first")
    first, others = moved[0].label, {node.label for node in moved[1:]}
    put = _changed(forest, first, lambda _: (Node(name, tuple(moved)),))
    return _without_inside(put, others, name)


def rename(forest: NodeForest, label: str, name: str) -> NodeForest:
    """Give a group another name; values are the table's own words and keep theirs."""
    if not find(forest, label).is_group:
        raise InputError("values keep the name they have in the table; groups can be renamed")
    if name.strip() == label:
        return forest
    name = _free(forest, name)
    return _changed(forest, label, lambda node: (replace(node, label=name),))


def merge(forest: NodeForest, labels: Sequence[str]) -> NodeForest:
    """Join groups into the first of them."""
    chosen = [node for node in _outermost(forest, labels) if node.is_group]
    if len(chosen) < 2:
        raise InputError("select two groups or more to merge them")
    first, *others = chosen
    joined = replace(first, children=tuple(child for node in chosen for child in node.children))
    rest = _without(forest, {node.label for node in others}, keep=first.label)
    return _changed(rest, first.label, lambda _: (joined,))


def dissolve(forest: NodeForest, label: str) -> NodeForest:
    """Take a group away; what it held moves up."""
    if not find(forest, label).is_group:
        raise InputError("only a group can be dissolved")
    return _changed(forest, label, lambda node: node.children)


def with_values(forest: NodeForest, values: Iterable[str]) -> NodeForest:
    """Add the values that are missing, below the top."""
    known = {node.label for node in walk(forest)}
    return (*forest, *(Node(value) for value in values if value not in known))


def rows_below(forest: NodeForest, counts: Mapping[str, int]) -> dict[str, int]:
    """Rows of every node."""
    found: dict[str, int] = {}

    def count(node: Node) -> int:
        rows = sum(map(count, node.children)) if node.is_group else counts.get(node.label, 0)
        found[node.label] = rows
        return rows

    for node in forest:
        count(node)
    return found


@dataclass(frozen=True)
class Level:
    """One step of generalization: what the column's cells become, with their rows."""

    number: int
    groups: tuple[tuple[str, int], ...]

    @property
    def smallest(self) -> int:
        """Rows of the rarest cell that occurs."""
        return min((rows for _, rows in self.groups if rows), default=0)


def levels(tree: Hierarchy, counts: Mapping[str, int]) -> list[Level]:
    """The hierarchy level by level, values first, the top last; short branches keep their highest group."""
    paths: list[tuple[str, list[str]]] = []
    for node in tree.leaf_node:
        label, path, above = tree.labels[node], [], int(node)
        while above >= 0:
            path.append(tree.labels[above] or "missing")
            above = int(tree.parent[above])
        paths.append((label or "missing", path))
    found = []
    longest = max(len(path) for _, path in paths)
    for number in range(longest):
        rows: dict[str, int] = {}
        for label, path in paths:
            # The top comes last for all: a short branch waits below it.
            step = path[min(number, len(path) - 2)] if number < longest - 1 and len(path) > 1 else path[-1]
            rows[step] = rows.get(step, 0) + counts.get(label, 0)
        found.append(Level(number, tuple(sorted(rows.items(), key=lambda item: -item[1]))))
    return found


def _outermost(forest: NodeForest, labels: Sequence[str]) -> list[Node]:
    """The chosen nodes in tree order, without those inside another chosen one."""
    wanted = set(labels)
    found: list[Node] = []

    def look(nodes: NodeForest) -> None:
        for node in nodes:
            if node.label in wanted:
                found.append(node)
            else:
                look(node.children)

    look(forest)
    return found


def _changed(forest: NodeForest, label: str, change: Any) -> NodeForest:
    """The tree with one node replaced by what `change` makes of it."""
    result: list[Node] = []
    for node in forest:
        if node.label == label:
            result.extend(change(node))
        else:
            result.append(replace(node, children=_changed(node.children, label, change)) if node.children else node)
    return tuple(result)


def _without(forest: NodeForest, labels: set[str], keep: str | None = None) -> NodeForest:
    """The tree without some nodes, and without the groups that this empties (but for `keep`)."""
    result: list[Node] = []
    for node in forest:
        if node.label in labels:
            continue
        if not node.is_group:
            result.append(node)
            continue
        inner = _without(node.children, labels, keep)
        if inner or node.label == keep:
            result.append(replace(node, children=inner))
    return tuple(result)


def _without_inside(forest: NodeForest, labels: set[str], spared: str) -> NodeForest:
    """As `_without`, but leaving one group's content alone."""
    result: list[Node] = []
    for node in forest:
        if node.label == spared:
            result.append(node)
        elif node.label not in labels:
            inner = _without_inside(node.children, labels, spared)
            if inner or not node.is_group:
                result.append(replace(node, children=inner))
    return tuple(result)


def _free(forest: NodeForest, name: str) -> str:
    name = name.strip()
    if not name:
        raise InputError("give the group a name")
    if name == "*" or any(node.label == name for node in walk(forest)):
        raise InputError("another group or value already has this name. Names must be unique")
    return name
