"""How far the greedy extraction of sift is from the largest subset of a pool that keeps every model.

    python benchmarks/sift_gap.py [--data FOLDER] [--t 0.2] [--k 5] [--pools 60] [--least 10] [--most 2000]

The pools are those that nodes of the tree over Adult have when it is walked from the leaves up, drawn at random among
the pools of a size from `least` to `most` that do not hold as they are. An earth mover's distance is a sum over ranges
of values of weight * |rows inside - share * rows|, which is linear in how many rows of each sensitive tuple are taken
once each absolute value is a variable of its own: the largest subset is a linear program, but for whole numbers. Its
optimum is no less than that of any subset, so the gap shown is an upper bound.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
from adult import DATA, adult
from scipy.optimize import linprog
from scipy.sparse import coo_array
from sift_loss import adult_policy

from polyveil.methods._kernels.judge import compile_constraints
from polyveil.methods._search.extract import take_out
from polyveil.methods._search.space import Rows, Space, make_space
from polyveil.methods._search.tree import grow_tree
from polyveil.models import attributes_of, models_for
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read

Ints = npt.NDArray[np.int32]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--t", type=float, default=0.2)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--pools", type=int, default=60)
    parser.add_argument("--least", type=int, default=10)
    parser.add_argument("--most", type=int, default=2000)
    chosen = parser.parse_args()
    policy = adult_policy(chosen.data, chosen.t, chosen.k)
    table = encode(bind(policy, read(adult(chosen.data).select(*policy.columns))))
    attributes = attributes_of(table)
    space, rows = make_space(table, compile_constraints(models_for(policy, attributes), attributes, table))
    pools = [pool for pool in walked(space, rows, chosen.k) if chosen.least <= len(pool) <= chosen.most]
    drawn = np.random.default_rng(0).permutation(len(pools))
    sizes, found, best = [], [], []
    for i in drawn:
        taken = extracted(space, rows, pools[i], chosen.k).sum()
        if taken == len(pools[i]):
            continue
        sizes.append(len(pools[i]))
        found.append(int(taken))
        best.append(most_rows(space, rows, pools[i]))
        if len(sizes) == chosen.pools:
            break
    show(np.array(sizes), np.array(found), np.array(best), chosen.k)


def show(sizes: npt.NDArray[np.int64], found: npt.NDArray[np.int64], best: npt.NDArray[np.float64], k: int) -> None:
    """Sizes of pools, of what was taken out, and of the relaxed best (none where smaller than k)."""
    reachable = np.where(np.floor(best + 1e-6) >= k, np.floor(best + 1e-6), 0.0)
    print(f"{len(sizes)} pools of {sizes.mean():.0f} rows in the mean that do not hold as they are")
    taken, most = found.sum() / sizes.sum(), reachable.sum() / sizes.sum()
    print(f"greedy takes {taken:.1%} of their rows, the relaxation {most:.1%}")
    both = found > 0
    gap = 1.0 - found[both] / reachable[both]
    print(
        f"where greedy finds a class ({both.sum()} pools): gap {gap.mean():.1%} in the mean, {gap.max():.1%} at worst"
    )
    print(f"greedy finds none where the relaxation has one: {np.count_nonzero((found == 0) & (reachable > 0))} pools")


def walked(space: Space, rows: Rows, floor: int) -> list[Ints]:
    """The pools of all nodes, from the leaves up: each hands up what was not taken out."""
    order = np.arange(len(rows.tuple_of), dtype=np.int32)
    tree = grow_tree(space, rows.codes, order, 0.0)
    waiting: list[list[Ints]] = [[] for _ in tree.begin]
    pools = []
    for node in range(len(tree.begin) - 1, -1, -1):
        if tree.is_leaf[node]:
            waiting[node].append(order[tree.begin[node] : tree.end[node]])
        pool = np.concatenate(waiting[node]) if waiting[node] else np.zeros(0, dtype=np.int32)
        waiting[node] = []
        if len(pool) >= floor:
            pools.append(pool)
            kept = extracted(space, rows, pool, floor)
            pool = pool[~kept]
        if tree.parent[node] >= 0:
            waiting[tree.parent[node]].append(pool)
    return pools


def extracted(space: Space, rows: Rows, pool: Ints, floor: int) -> npt.NDArray[np.bool_]:
    """Which rows of a pool the greedy extraction takes."""
    kept = np.empty(len(pool), dtype=np.int32)
    size = take_out(space, rows.tuple_of, pool, floor, np.zeros(space.places.shape[0], dtype=np.int32), kept)
    return (kept == 1) & (size > 0)


def most_rows(space: Space, rows: Rows, pool: Ints) -> float:
    """The optimum of the relaxation: the most rows, in fractions, of the pool's tuples that are close."""
    tuples, counts = np.unique(rows.tuple_of[pool], return_counts=True)
    ranges, n = len(space.ranges), len(tuples)
    inside = np.zeros((ranges, n))
    for r, (start, stop, _) in enumerate(space.ranges):
        places = space.places[tuples]
        inside[r] = ((places >= start) & (places < stop)).any(axis=1)
    inside -= space.terms[:, 1][:, None]  # rows inside a range less its share of all rows taken
    apart = np.eye(ranges)
    over = np.hstack([inside, -apart])
    under = np.hstack([-inside, -apart])
    spent = np.zeros((len(space.limits), n + ranges))
    for r, (_, _, j) in enumerate(space.ranges):
        spent[j, n + r] = space.terms[r, 0]
    spent[:, :n] = -space.limits[:, None]
    bounds = [(0, int(c)) for c in counts] + [(0, None)] * ranges
    wanted = np.append(-np.ones(n), np.zeros(ranges))
    matrix = coo_array(np.vstack([over, under, spent]))
    return -float(linprog(wanted, A_ub=matrix, b_ub=np.zeros(matrix.shape[0]), bounds=bounds).fun)


if __name__ == "__main__":
    main()
