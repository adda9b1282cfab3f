"""Linked tables: does the order of rows, or the name of a group, link more than the group ids are meant to?

- Order across tables: the rows of a group in the quasi-identifier table are expected in the same order as its records
  in the sensitive table.
- Group ids across slices: groups with the same place in the numbering of two slices are expected to be the same people.

Where tables are shuffled on their own and groups numbered at random, both are right as often as chance.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.crowds import Crowd
from polyveil.attacks.order import by_chance
from polyveil.attacks.result import Attack
from polyveil.attacks.scene import Scene

NEAR_RANK = 0.002


def slices(scene: Scene) -> list[Attack]:
    """Every sensitive table, and every pair of them."""
    if not scene.linked:
        return []
    found = [order_across(scene, crowd) for crowd in scene.crowds]
    return found + [ids_across(one, other) for one, other in combinations(scene.crowds, 2)]


def order_across(scene: Scene, crowd: Crowd) -> Attack:
    """The i-th row of a group in one table against the i-th record in the other, for people with one row that fits."""
    rank_of_row, rank_of_record = _ranks(crowd.group_of_row), _ranks(crowd.group_of_record)
    record = {
        (int(group), int(rank)): r
        for r, (group, rank) in enumerate(zip(crowd.group_of_record, rank_of_record, strict=True))
    }
    truth = np.stack([scene.truth(name) for name in crowd.attributes], axis=1)
    codes = np.stack([crowd.codes[name] for name in crowd.attributes], axis=1)
    begin, members = _by_group(crowd)
    hits, chance = [], []
    for i, row in _only_rows(scene, crowd):
        group = int(crowd.group_of_row[row])
        there = record[group, int(rank_of_row[row])]
        hits.append(bool((codes[there] == truth[i]).all()))
        chance.append(float((codes[members[begin[group] : begin[group + 1]]] == truth[i]).all(axis=1).mean()))
    adversary = "expects the rows of a group in the same order in the quasi-identifier table and in the sensitive one"
    name = " + ".join(crowd.attributes)
    return by_chance(
        "order across tables", name, adversary, np.array(hits, dtype=bool), np.array(chance), possible=scene.people.rows
    )


def ids_across(one: Crowd, other: Crowd) -> Attack:
    """Pairs of groups that share a person: have they the same place in the numbering of their slices?"""
    both = (one.group_of_row >= 0) & (other.group_of_row >= 0)
    pairs = np.unique(np.stack([one.group_of_row[both], other.group_of_row[both]], axis=1), axis=0)
    first, second = _places(one.ids), _places(other.ids)
    near = np.abs(first[pairs[:, 0], None] - second[None, :]) <= NEAR_RANK
    hits = near[np.arange(len(pairs)), pairs[:, 1]]
    share = np.bincount(pairs[:, 1], minlength=len(second)) / max(len(pairs), 1)
    name = f"{' + '.join(one.attributes)} | {' + '.join(other.attributes)}"
    adversary = "expects groups of the same number in two slices to be the same people"
    return by_chance("group ids across slices", name, adversary, hits, near @ share, unit="groups")


def _places(ids: tuple[str, ...]) -> FloatArray:
    """Where each id stands in the numbering, from 0 to 1: by number where ids are numbers, else by text."""
    numeric = all(text.isdigit() for text in ids)
    order = sorted(range(len(ids)), key=lambda i: (int(ids[i]), ids[i]) if numeric else (0, ids[i]))
    places = np.zeros(len(ids))
    places[order] = np.arange(len(ids)) / max(len(ids) - 1, 1)
    return places


def _ranks(groups: IntArray) -> IntArray:
    """The place of each row among those of its group."""
    order = np.argsort(groups, kind="stable")
    begin = np.searchsorted(groups[order], groups[order], side="left")
    ranks = np.zeros(len(groups), dtype=np.int64)
    ranks[order] = np.arange(len(groups)) - begin
    return ranks


def _by_group(crowd: Crowd) -> tuple[IntArray, IntArray]:
    members = np.argsort(crowd.group_of_record, kind="stable")
    return np.searchsorted(crowd.group_of_record[members], np.arange(crowd.groups + 1)), members


def _only_rows(scene: Scene, crowd: Crowd) -> list[tuple[int, int]]:
    """Targets with exactly one row of the quasi-identifier table, and that row."""
    rows = scene.row_fits
    found = []
    for i in np.flatnonzero(np.diff(rows.indptr) == 1):
        row = int(rows.indices[rows.indptr[i]])
        if crowd.group_of_row[row] >= 0:
            found.append((int(i), row))
    return found
