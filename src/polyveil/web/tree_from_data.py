"""A first hierarchy from the data: values that go with similar sensitive values come into one group.

Merging two such values loses least of what the column tells about the sensitive ones (Ward's clustering of the square
roots of the shares, so of Hellinger distances). Rare values are drawn towards the whole table, whose shares count as
`PRIOR` rows more, so that chance does not place them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from scipy.cluster.hierarchy import fcluster, linkage

from polyveil.arrays import FloatArray, IntArray
from polyveil.errors import InputError
from polyveil.web.tree_edit import Node, NodeForest

MOST_VALUES = 2000
"""Values that are clustered."""
FEWER = 4
"""How many groups of one level make one of the next, on average."""
PRIOR = 5.0
PARTS = 10
"""Parts into which the numbers of a sensitive column are cut."""


def tree_from_data(frame: pl.DataFrame, column: str, sensitive: Sequence[str]) -> NodeForest:
    """Groups of the column's values, by the sensitive columns."""
    if not sensitive:
        raise InputError("there is no sensitive column to go by. Give a column the role sensitive first")
    counts = frame.get_column(column).cast(pl.String).drop_nulls().value_counts().sort("count", column, descending=True)
    values = counts.get_column(column).to_list()
    if not 3 <= len(values) <= MOST_VALUES:
        raise InputError(
            f"a tree from the data needs 3 to {MOST_VALUES:,} different values, and there are {len(values):,}"
        )
    profile = np.hstack([_profile(frame, column, name, values) for name in sensitive])
    steps = linkage(profile, method="ward")
    size, levels = len(values), []
    while (size := -(-size // FEWER)) > 1:
        levels.append(fcluster(steps, size, criterion="maxclust"))
    return _nested(values, levels)


def _profile(frame: pl.DataFrame, column: str, name: str, values: Sequence[str]) -> FloatArray:
    """The square roots of the shares of a sensitive column's values, one row per value of the column."""
    cells = frame.get_column(name)
    if cells.dtype.is_numeric() and cells.n_unique() > PARTS:
        cells = cells.rank("ordinal").cast(pl.Float64) * PARTS // (cells.len() + 1)
    pairs = pl.DataFrame({"value": frame.get_column(column).cast(pl.String), "other": cells.cast(pl.String)})
    found = pairs.drop_nulls("value").group_by("value", "other").len()
    place: Mapping[str, int] = {value: i for i, value in enumerate(values)}
    others = {other: i for i, other in enumerate(sorted(found.get_column("other").unique().to_list(), key=str))}
    table = np.zeros((len(values), len(others)))
    for value, other, rows in found.iter_rows():
        table[place[value], others[other]] = rows
    table += PRIOR * table.sum(axis=0) / table.sum()
    return np.asarray(np.sqrt(table / table.sum(axis=1, keepdims=True)))


def _nested(values: Sequence[str], levels: Sequence[IntArray]) -> NodeForest:
    """The levels as a tree, the finest first; a group that has one member only is that member."""
    nodes: dict[int, tuple[Node, list[str]]] = {i: (Node(value), [value]) for i, value in enumerate(values)}
    for cut in levels:
        grouped: dict[int, list[int]] = {}
        for i in nodes:
            grouped.setdefault(int(cut[i]), []).append(i)
        nodes = {members[0]: _group([nodes[i] for i in members]) for members in grouped.values()}
    return tuple(node for node, _ in nodes.values())


def _group(members: Sequence[tuple[Node, list[str]]]) -> tuple[Node, list[str]]:
    if len(members) == 1:
        return members[0]
    inside = [value for _, values in members for value in values]
    # The first is the most common; a name with the number of the others stands once in a tree.
    label = f"{inside[0]} and {len(inside) - 1} like it"
    return Node(label, tuple(node for node, _ in members)), inside
