"""Reading a hierarchy back as the groups and paths a person would write down."""

from __future__ import annotations

import numpy as np

from polyveil.policy import Hierarchy


def groups(tree: Hierarchy) -> dict[str, tuple[str | None, ...]]:
    """The values below each inner node."""
    inner = np.setdiff1d(np.arange(len(tree.labels)), tree.leaf_node)
    return {str(tree.labels[node]): tree.leaves[tree.start[node] : tree.stop[node]] for node in inner}


def path_of(tree: Hierarchy, value: str) -> list[str]:
    node = tree.leaf_node[tree.leaves.index(value)]
    path = []
    while node >= 0:
        path.append(str(tree.labels[node]))
        node = tree.parent[node]
    return path
