"""A generalization hierarchy: a tree whose leaves are numbered depth-first, so that every node is a range of codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.errors import listed
from polyveil.policy.broken import BrokenRule, Path

ROOT_LABEL = "*"
MAX_DEPTH = 100


class HierarchyFault(BrokenRule):
    """The tree is not one: says which rule is broken and how to mend it, without naming any value."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Nodes in preorder (the root is node 0); node v covers the leaf codes `start[v]` to `stop[v] - 1`.

    `height` counts the levels below a node at which values part, on the longest way down: a group with a single child
    adds none, so a level that files repeat or fill up stretches no distance. Uneven trees are well defined. The label
    of the leaf that stands for missing values is None; it hangs below the root and adds no height of its own.
    """

    labels: tuple[str | None, ...]
    parent: IntArray
    start: IntArray
    stop: IntArray
    height: IntArray
    leaf_node: IntArray

    @cached_property
    def leaves(self) -> tuple[str | None, ...]:
        return tuple(self.labels[node] for node in self.leaf_node)

    @property
    def leaf_count(self) -> int:
        return len(self.leaf_node)

    @property
    def root(self) -> str:
        """The label of the root."""
        return self.labels[0] or ROOT_LABEL

    @property
    def depth(self) -> int:
        """Height of the root."""
        return int(self.height[0])

    def common_ancestor(self, low: npt.ArrayLike, high: npt.ArrayLike) -> IntArray:
        """The lowest node that covers the codes `low` to `high`, element by element."""
        node = self.leaf_node[np.asarray(low, dtype=np.int64)]
        high = np.asarray(high, dtype=np.int64)
        while True:
            short = self.stop[node] <= high
            if not short.any():
                return node
            node = np.where(short, self.parent[node], node)

    def used_by(self, present: BoolArray) -> Hierarchy:
        """The same tree with the heights of the values that are present: the others add no distance."""
        return replace(self, height=_heights(self.labels, self.parent, self.leaf_node, present))

    @cached_property
    def level(self) -> IntArray:
        """Levels below each node on the longest way down, every one as it was written: what losses are about."""
        found = np.zeros(len(self.labels), dtype=np.int64)
        for node in range(len(found) - 1, 0, -1):
            found[self.parent[node]] = max(found[self.parent[node]], found[node] + 1)
        return found

    @cached_property
    def is_stretched(self) -> bool:
        """Whether distances by level, also of groups with a single child, would be smaller than those by height."""
        children = np.bincount(self.parent[1:], minlength=len(self.labels))
        parts = (children > 1) | (np.arange(len(self.labels)) == 0)
        own = _heights(self.labels, self.parent, self.leaf_node, np.ones(self.leaf_count, dtype=np.bool_))
        return bool((self.level[parts] != np.maximum(own[parts], 1)).any())

    def loss_of_nodes(self) -> FloatArray:
        """(leaves below - 1) / (all leaves - 1) for each node: the categorical half of eq. (1) of wang2018."""
        covered = (self.stop - self.start).astype(np.float64)
        return (covered - 1.0) / max(self.leaf_count - 1, 1)

    def with_null(self) -> Hierarchy:
        """The same tree with one more leaf, below the root and last, that stands for missing values."""
        return from_tree(self.to_nested(), self.root, null=True)

    def to_nested(self) -> dict[str, Any]:
        """Nested mappings with None for leaves, as written to a manifest; the null leaf is left out."""
        # Preorder is walked backwards, so every node's children are complete, last child first, when it is reached.
        children: list[list[tuple[str, Any]]] = [[] for _ in self.labels]
        for node in range(len(self.labels) - 1, 0, -1):
            label = self.labels[node]
            if label is not None:
                children[self.parent[node]].append((label, dict(reversed(children[node])) or None))
        return dict(reversed(children[0]))


def from_tree(tree: Mapping[str, Any] | Sequence[Any], root: str = ROOT_LABEL, *, null: bool = False) -> Hierarchy:
    """Build from nested mappings and lists: a mapping's keys are nodes, a list's items and empty nodes are leaves."""
    labels: list[str | None] = [root]
    parent: list[int] = [-1]
    is_leaf: list[bool] = [False]
    seen = {root}
    open_nodes: list[tuple[int, Path, Iterator[tuple[Path, str, Any]]]] = [(0, (), _children(tree))]
    while open_nodes:
        above, path, children = open_nodes[-1]
        child = next(children, None)
        if child is None:
            open_nodes.pop()
            continue
        step, label, below = child
        if label in seen:
            raise _twice((*path, *step))
        seen.add(label)
        labels.append(label)
        parent.append(above)
        is_leaf.append(not below)
        if below:
            if len(open_nodes) >= MAX_DEPTH:
                raise HierarchyFault(f"a hierarchy has at most {MAX_DEPTH} levels", "Join some levels")
            open_nodes.append((len(labels) - 1, (*path, *step), _children(below)))
    if null:
        labels.append(None)
        parent.append(0)
        is_leaf.append(True)
    if not any(is_leaf):
        raise HierarchyFault("a hierarchy has at least one value", "List the column's values below the root")
    return _number(labels, parent, is_leaf)


def _twice(path: Path) -> HierarchyFault:
    return HierarchyFault(
        "the same label appears in two places of the hierarchy, so one value has two parents "
        "or a group has the name of a value",
        f"Put every value in one place and give every group its own name (the top is called {ROOT_LABEL!r})",
        path,
    )


def _children(children: Any) -> Iterator[tuple[Path, str, Any]]:
    if isinstance(children, Mapping):
        for label, below in children.items():
            yield (label,), str(label), below
    elif isinstance(children, str) or not isinstance(children, Sequence):
        yield (), str(children), None
    else:
        for position, item in enumerate(children):
            if isinstance(item, Mapping):
                for label, below in item.items():
                    yield (position, label), str(label), below
            else:
                yield (position,), str(item), None


def _number(labels: list[str | None], parent: list[int], is_leaf: list[bool]) -> Hierarchy:
    count = len(labels)
    start = np.zeros(count, dtype=np.int64)
    stop = np.zeros(count, dtype=np.int64)
    leaf_node = np.flatnonzero(np.array(is_leaf))
    code = 0
    for node in range(count):
        start[node] = code
        code += is_leaf[node]
    stop[leaf_node] = start[leaf_node] + 1
    for node in range(count - 1, 0, -1):
        above = parent[node]
        stop[above] = max(stop[above], stop[node])
    above_of = np.array(parent, dtype=np.int64)
    return Hierarchy(
        labels=tuple(labels),
        parent=above_of,
        start=start,
        stop=stop,
        height=_heights(labels, above_of, leaf_node, np.ones(len(leaf_node), dtype=np.bool_)),
        leaf_node=leaf_node.astype(np.int64),
    )


def _heights(labels: Sequence[str | None], parent: IntArray, leaf_node: IntArray, present: BoolArray) -> IntArray:
    """Levels at which present values part, below each node; missing is 1 away from every value, whatever the tree."""
    height = np.zeros(len(labels), dtype=np.int64)
    used = np.zeros(len(labels), dtype=np.bool_)
    used[leaf_node] = present
    branches = np.zeros(len(labels), dtype=np.int64)
    for node in range(len(labels) - 1, 0, -1):  # preorder backwards: a node's children are complete when it is reached
        height[node] += branches[node] > 1
        if used[node] and labels[node] is not None:
            above = parent[node]
            used[above] = True
            branches[above] += 1
            height[above] = max(height[above], height[node])
    height[0] += branches[0] > 1
    if labels[-1] is None:
        height[0] = max(height[0], 1)
    return height


def from_paths(paths: Iterable[Sequence[str]], lines: Sequence[int] | None = None) -> Hierarchy:
    """Build from one path per value, value first and root last (the rows of an ARX hierarchy file).

    A label repeated along a path ("Other;Other;*") stands for one node, which is how ARX writes uneven trees. Where
    the paths do not all end in one label, a root `*` is put above them. `lines` says where each path was written.
    """
    rows: dict[str, tuple[int, tuple[str, ...]]] = {}
    clashes = []
    for number, path in enumerate(paths):
        steps = tuple(label for i, label in enumerate(path) if i == 0 or label != path[i - 1])
        line = lines[number] if lines else number + 1
        if rows.setdefault(steps[0], (line, steps))[1] != steps:
            clashes.append(line)
    if clashes:
        rule = "puts a value under a second parent" if len(clashes) == 1 else "put values under a second parent"
        raise HierarchyFault(f"{_at(clashes)} {rule}", "Keep one line per value and give every group one parent")
    if not rows:
        raise HierarchyFault("a hierarchy has at least one value", "Write one line per value")
    root, chains = _below_root(list(rows.values()))
    _check_chains(root, chains)
    tree: dict[str, Any] = {}
    for _, steps in chains:
        node = tree
        for label in reversed(steps):
            node = node.setdefault(label, {})
    return from_tree(tree, root)


Chain = tuple[int, tuple[str, ...]]


def _below_root(rows: list[Chain]) -> tuple[str, list[Chain]]:
    """The root's label and the paths up to it."""
    tops = {steps[-1] for _, steps in rows}
    if len(tops) > 1 or all(len(steps) == 1 for _, steps in rows):
        return ROOT_LABEL, rows
    # A path of one step is the root itself; it stays, so that the check below can name its line.
    return tops.pop(), [(line, steps[:-1] or steps) for line, steps in rows]


def _check_chains(root: str, chains: list[Chain]) -> None:
    above: dict[str, str | None] = {}
    clashes = [line for line, steps in chains if root in steps]
    if clashes:
        remedy = f"Give the value or group another name than {root!r}"
        raise HierarchyFault(f"{_at(clashes)} name{_s(clashes)} a value or group like the top of the hierarchy", remedy)
    for line, steps in chains:
        for label, parent in zip(steps, (*steps[1:], None), strict=True):
            if above.setdefault(label, parent) != parent:
                clashes.append(line)
                break
    if clashes:
        remedy = "Give every group one parent, and a name that no value and no other group has"
        raise HierarchyFault(f"{_at(clashes)} put{_s(clashes)} a value or group under a second parent", remedy)
    groups = {label for _, steps in chains for label in steps[1:]}
    clashes = [line for line, steps in chains if steps[0] in groups]
    if clashes:
        remedy = "Give the group a name of its own, for example with the word 'all' in front"
        raise HierarchyFault(f"{_at(clashes)} hold{_s(clashes)} a value that is also the name of a group", remedy)


def _s(lines: Sequence[int]) -> str:
    return "s" if len(lines) == 1 else ""


def _at(lines: Sequence[int]) -> str:
    return f"line {lines[0]}" if len(lines) == 1 else f"lines {listed(lines, most=5)}"


def flat(values: Iterable[str], root: str = ROOT_LABEL) -> Hierarchy:
    """All values directly below the root: equal distance between any two."""
    return from_tree(dict.fromkeys(values), root)
