"""Class generation: Pseudocode 1 of wang2018 and GENERATE-CLASSES of bagai2023, for strata of any sizes.

Every class takes from every stratum its share of rows, those nearest to the class's seed by eq. (2). With n_i rows in
stratum i and c classes, a class takes floor(n_i / c) or one more. Who takes one more is settled by dealing: the strata
are laid end to end and place m goes to class m mod c. So class sizes differ by at most one, and rows left over from
neighbouring strata go to different classes. (Pseudocode 1 gives all left-over rows to the first classes formed, which
for equal strata means one class of nearly double size; the shares are the same otherwise.)

Seeds come from the stratum with the fewest rows among those that give every class a row (C_1 of the paper), else from
the largest. `random`: in random order, the paper's rule; `farthest`: those farthest from the centre of the table
first, so that rows at the rim find neighbours before these are used up.

Cost: one nearest-row query for each row.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.row_index import RowForest, nearest, take
from polyveil.table.coded import CodedTable
from polyveil.table.domain import OrderedDomain

SeedOrder = Literal["random", "farthest"]


def seed_sequence(table: CodedTable, order: SeedOrder, rng: np.random.Generator) -> IntArray:
    """All rows in the order in which they may become seeds."""
    shuffled = rng.permutation(table.rows)
    if order == "random":
        return shuffled
    away = distance_to_centre(table)
    return shuffled[np.argsort(-away[shuffled], kind="stable")]


def distance_to_centre(table: CodedTable) -> FloatArray:
    """Squared distance of each row to the centroid of all rows in the Euclidean embedding, without building it."""
    away = np.zeros(table.rows)
    for column in table.quasi:
        domain = column.domain
        share = np.bincount(column.codes, minlength=domain.size) / max(table.rows, 1)
        if isinstance(domain, OrderedDomain):
            values = len(domain.labels)
            rank = np.append(np.arange(values) / max(values - 1, 1), [0.5] * domain.has_null)
            middle = float(share @ rank)
            per_code = (rank - middle) ** 2
            if domain.has_null:  # "missing" stands aside: as far as an end of the line
                per_code[domain.null_code] = 0.25
        else:
            tree = domain.hierarchy
            height = tree.height / max(tree.depth, 1)
            upto = np.append(0.0, np.cumsum(share))
            inside = upto[tree.stop] - upto[tree.start]
            square = np.zeros(len(height))
            square[1:] = (height[tree.parent[1:]] ** 2 - height[1:] ** 2) / 2
            step = square * (1.0 - 2.0 * inside)
            for node in range(1, len(step)):  # preorder: a parent's sum is complete before its children's
                step[node] += step[tree.parent[node]]
            per_code = step[tree.leaf_node] + float(square @ inside**2)
        away += column.weight * per_code[column.codes]
    return away


def generate(forest: RowForest, sizes: IntArray, classes: int, seeds: IntArray) -> IntArray:
    """The class of each row: `classes` classes with every stratum's share in each. Uses the forest up.

    Group i of the forest is stratum i with `sizes[i]` rows; `seeds` are all rows in the order to try them.
    """
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    enough = sizes >= classes
    seeding = int(np.argmin(np.where(enough, sizes, np.iinfo(np.int64).max)) if enough.any() else np.argmax(sizes))
    labels = np.full(len(forest.item_of_row), -1, dtype=np.int64)
    _generate(forest, begin, classes, seeds, seeding, labels)
    return labels


@njit
def share_of_class(begin: IntArray, stratum: int, number: int, classes: int) -> int:
    """How many rows of the stratum the class takes: the places m of the stratum with m mod classes = number."""
    upto_end = (begin[stratum + 1] - number + classes - 1) // classes
    upto_begin = (begin[stratum] - number + classes - 1) // classes
    return upto_end - upto_begin


@njit
def _generate(
    forest: RowForest, begin: IntArray, classes: int, seeds: IntArray, seeding: int, labels: IntArray
) -> None:
    strata = len(begin) - 1
    pointer = np.zeros(strata, dtype=np.int64)
    for number in range(classes):
        stratum = seeding
        if share_of_class(begin, seeding, number, classes) == 0:
            for i in range(strata):  # a small stratum gives nothing to some classes: the largest that gives serves
                gives = share_of_class(begin, i, number, classes) > 0
                serves = share_of_class(begin, stratum, number, classes) > 0
                if gives and (not serves or begin[i + 1] - begin[i] > begin[stratum + 1] - begin[stratum]):
                    stratum = i
        item = next_seed(forest, seeds, stratum, pointer)
        point = forest.codes[item]
        labels[take(forest, item)] = number
        for i in range(strata):
            for _ in range(share_of_class(begin, i, number, classes) - (1 if i == stratum else 0)):
                labels[take(forest, nearest(forest, i, point))] = number


@njit
def next_seed(forest: RowForest, seeds: IntArray, stratum: int, pointer: IntArray) -> int:
    """The next row of the stratum in seed order that is unused; equal rows of a stratum stand for each other."""
    while True:
        item = forest.item_of_row[seeds[pointer[stratum]]]
        if item >= 0 and forest.group[item] == stratum and forest.unused[item] > 0:
            return item
        pointer[stratum] += 1
