"""A generalization hierarchy: a tree whose leaves are numbered depth-first, so that every node is a range of codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

ROOT_LABEL = "*"


class HierarchyFault(ValueError):
    """The tree is not one: says which rule is broken and how to mend it, without naming any value."""

    def __init__(self, rule: str, remedy: str) -> None:
        self.rule, self.remedy = rule, remedy
        super().__init__(f"{rule}. {remedy}")


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Nodes in preorder (the root is node 0); node v covers the leaf codes `start[v]` to `stop[v] - 1`.

    `height` is 0 for a leaf and 1 + the greatest height of its children otherwise, so uneven trees are well defined.
    The label of the leaf that stands for missing values is None.
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

    def loss_of_nodes(self) -> FloatArray:
        """(leaves below - 1) / (all leaves - 1) for each node: the categorical half of eq. (1) of wang2018."""
        covered = (self.stop - self.start).astype(np.float64)
        return (covered - 1.0) / max(self.leaf_count - 1, 1)

    def with_null(self) -> Hierarchy:
        """The same tree with one more leaf, below the root and last, that stands for missing values."""
        return from_tree(_nested(self, 0), self.labels[0] or ROOT_LABEL, null=True)

    def to_nested(self) -> dict[str, Any]:
        """Nested mappings with None for leaves, as written to a manifest; the null leaf is left out."""
        return _nested(self, 0)


def _nested(tree: Hierarchy, root: int) -> dict[str, Any]:
    # Preorder is walked backwards, so every node's children are complete, last child first, when it is reached.
    children: list[list[tuple[str, Any]]] = [[] for _ in tree.labels]
    for node in range(len(tree.labels) - 1, 0, -1):
        label = tree.labels[node]
        if label is not None:
            children[tree.parent[node]].append((label, dict(reversed(children[node])) or None))
    return dict(reversed(children[root]))


def from_tree(tree: Mapping[str, Any] | Sequence[Any], root: str = ROOT_LABEL, *, null: bool = False) -> Hierarchy:
    """Build from nested mappings and lists: a mapping's keys are nodes, a list's items and empty nodes are leaves."""
    labels: list[str | None] = [root]
    parent: list[int] = [-1]
    is_leaf: list[bool] = [False]

    def add(children: Any, above: int) -> None:
        for label, below in _children(children):
            labels.append(label)
            parent.append(above)
            is_leaf.append(not below)
            if below:
                add(below, len(labels) - 1)

    add(tree, 0)
    if null:
        labels.append(None)
        parent.append(0)
        is_leaf.append(True)
    if not any(is_leaf):
        raise HierarchyFault("a hierarchy has at least one value", "List the column's values below the root")
    if len(set(labels)) != len(labels):
        raise HierarchyFault(
            "the same label stands at two places of the hierarchy, so one value has two parents "
            "or a group has the name of a value",
            "Give every value one place and every group a name of its own",
        )
    return _number(labels, parent, is_leaf)


def _children(children: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(children, Mapping):
        for label, below in children.items():
            yield str(label), below
    elif isinstance(children, str) or not isinstance(children, Sequence):
        yield str(children), None
    else:
        for item in children:
            if isinstance(item, Mapping):
                yield from _children(item)
            else:
                yield str(item), None


def _number(labels: list[str | None], parent: list[int], is_leaf: list[bool]) -> Hierarchy:
    count = len(labels)
    start = np.zeros(count, dtype=np.int64)
    stop = np.zeros(count, dtype=np.int64)
    height = np.zeros(count, dtype=np.int64)
    leaf_node = np.flatnonzero(np.array(is_leaf))
    code = 0
    for node in range(count):
        start[node] = code
        code += is_leaf[node]
    stop[leaf_node] = start[leaf_node] + 1
    for node in range(count - 1, 0, -1):
        above = parent[node]
        stop[above] = max(stop[above], stop[node])
        height[above] = max(height[above], height[node] + 1)
    return Hierarchy(
        labels=tuple(labels),
        parent=np.array(parent, dtype=np.int64),
        start=start,
        stop=stop,
        height=height,
        leaf_node=leaf_node.astype(np.int64),
    )


def from_paths(paths: Iterable[Sequence[str]]) -> Hierarchy:
    """Build from one path per value, value first and root last (the rows of an ARX hierarchy file).

    A label repeated along a path ("Other;Other;*") stands for one node, which is how ARX writes uneven trees.
    """
    tree: dict[str, Any] = {}
    roots: set[str] = set()
    seen: dict[str, tuple[str, ...]] = {}
    cleaned: list[tuple[str, ...]] = []
    for number, path in enumerate(paths, start=1):
        steps = tuple(label for i, label in enumerate(path) if i == 0 or label != path[i - 1])
        if steps[0] in seen:
            if seen[steps[0]] != steps:
                raise HierarchyFault(
                    f"line {number} puts a value under a second parent",
                    "Keep one line per value and give every group one parent",
                )
            continue
        seen[steps[0]] = steps
        cleaned.append(steps)
        roots.add(steps[-1])
    if not cleaned:
        raise HierarchyFault("a hierarchy has at least one value", "Write one line per value")
    single_root = len(roots) == 1 and all(len(steps) > 1 for steps in cleaned)
    above: dict[str, str] = {}
    for number, steps in enumerate(cleaned, start=1):
        inner = steps[1:-1] if single_root else steps[1:]
        _check_parents(number, (steps[0], *inner), above)
        node = tree
        for label in reversed(inner):
            node = node.setdefault(label, {})
        node.setdefault(steps[0], {})
    return from_tree(tree, next(iter(roots)) if single_root else ROOT_LABEL)


def _check_parents(number: int, chain: Sequence[str], above: dict[str, str]) -> None:
    for label, parent in zip(chain, (*chain[1:], ""), strict=True):
        if above.setdefault(label, parent) != parent:
            raise HierarchyFault(
                f"line {number} puts a value or group under a second parent",
                "Give every group one parent, and a name that no value and no other group has",
            )


def flat(values: Iterable[str], root: str = ROOT_LABEL) -> Hierarchy:
    """All values directly below the root: equal distance between any two."""
    return from_tree(dict.fromkeys(values), root)
