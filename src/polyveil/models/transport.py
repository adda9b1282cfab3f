"""The cost of moving a class's tuples onto the whole table's: along a tree for many classes, or at best for one.

Both take whole numbers: the surplus of a cell is (rows of the class there) * N - (rows of the table there) * n, so the
plans are feasible to the last row and their cost is never below the true distance.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.clusters import Clusters
from polyveil.models.space import TupleSpace


def tree_costs(surplus: IntArray, tree: Clusters, cells: TupleSpace) -> FloatArray:
    """The cost of each class's plan along the tree (`surplus` is classes x cells, in depth-first order of the cells).

    From the deepest level up, what is too much in a node goes to what is missing in the same node, in the order of
    the cells; the rest waits for the next level. Costs are true distances of the pairs, not lengths along the tree.
    """
    rest = surplus.copy()
    costs = np.zeros(len(rest))
    owner, cell = np.nonzero(rest > 0)
    below = np.full(len(cell), -1, dtype=np.int64)  # the node in which a cell was settled last
    for level in tree.levels[::-1]:
        waiting = rest[owner, cell] > 0
        owner, cell, below = owner[waiting], cell[waiting], below[waiting]
        node = level[cell]
        new = node != below
        give = owner[new] * len(tree.start) + node[new]
        lacking, empty, take = _missing(rest, np.unique(give), tree)
        giving = np.flatnonzero(new)[_present(give, take)]
        below = node
        if len(giving) == 0:
            continue
        o, c = owner[giving], cell[giving]
        i, j, amount = _match(o * len(tree.start) + node[giving], rest[o, c], take, -rest[lacking, empty])
        costs += np.bincount(o[i], weights=amount * cells.between(c[i], empty[j]), minlength=len(costs))
        np.subtract.at(rest, (o[i], c[i]), amount)
        np.add.at(rest, (lacking[j], empty[j]), amount)
    return costs


def _missing(rest: IntArray, groups: IntArray, tree: Clusters) -> tuple[IntArray, IntArray, IntArray]:
    """The cells of some nodes of some classes where something is missing: class, cell, and number of the group."""
    owner, node = groups // len(tree.start), groups % len(tree.start)
    length = tree.stop[node] - tree.start[node]
    group = np.repeat(np.arange(len(groups)), length)
    cell = np.arange(len(group)) - np.repeat(np.cumsum(length) - length, length) + tree.start[node][group]
    lacks = rest[owner[group], cell] < 0
    group, cell = group[lacks], cell[lacks]
    return owner[group], cell, groups[group]


def _present(keys: IntArray, others: IntArray) -> IntArray:
    """Positions of the keys that are among the others; the others rise."""
    if len(others) == 0:
        return np.zeros(0, dtype=np.int64)
    at = np.minimum(np.searchsorted(others, keys), len(others) - 1)
    return np.flatnonzero(others[at] == keys)


def _match(give: IntArray, much: IntArray, take: IntArray, little: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Pair amounts of the same key in order, as far as the smaller side reaches: (giver, taker, amount)."""
    keys, first = np.unique(give, return_index=True)
    first_taker = np.searchsorted(take, keys)
    given, taken = np.add.reduceat(much, first), np.add.reduceat(little, first_taker)
    both = np.minimum(given, taken)
    base = np.cumsum(both) - both
    ends = _ends(give, much, first, keys, both, base), _ends(take, little, first_taker, keys, both, base)
    marks = np.unique(np.concatenate(ends))
    amount = np.diff(marks, prepend=0)
    marks, amount = marks[amount > 0], amount[amount > 0]
    return np.searchsorted(ends[0], marks), np.searchsorted(ends[1], marks), amount


def _ends(
    items: IntArray, amounts: IntArray, first: IntArray, keys: IntArray, both: IntArray, base: IntArray
) -> IntArray:
    """Where each item's stretch ends when all matched amounts are laid end to end, key by key."""
    group = np.searchsorted(keys, items)
    upto = np.cumsum(amounts)
    before = upto[first] - amounts[first]
    return base[group] + np.minimum(upto - before[group], both[group])


def best_cost(surplus: IntArray, cells: TupleSpace, total: float) -> float:
    """The cost of the best plan of one class, by linear programming; mass that both have stays where it is.

    What the solver leaves undone by rounding is charged at the greatest distance there is, so that the result is not
    below the true distance, and the result is rounded up to 1e-7.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    much, little = np.flatnonzero(surplus > 0), np.flatnonzero(surplus < 0)
    if len(much) == 0:
        return 0.0
    cost = cells.between(much[:, None], little[None, :])
    give, take = surplus[much] / total, -surplus[little] / total
    rows = sparse.kron(sparse.eye(len(much)), np.ones((1, len(little))))
    columns = sparse.kron(np.ones((1, len(much))), sparse.eye(len(little)))
    solved = linprog(
        cost.ravel(),
        A_eq=sparse.vstack([rows, columns]).tocsr(),
        b_eq=np.concatenate([give, take]),
        method="highs",
    )
    if solved.x is None:
        return float(np.inf)
    plan = np.maximum(solved.x, 0.0).reshape(cost.shape)
    undone = np.abs(plan.sum(axis=1) - give).sum() + np.abs(plan.sum(axis=0) - take).sum()
    return float(np.ceil(((plan * cost).sum() + undone) * 1e7) / 1e7)
