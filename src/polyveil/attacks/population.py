"""What other people tell: the same guesses, learned from people of the same population who are not attacked.

A forest is grown on the raw rows of others; the people who share a leaf with a target, weighed by how often they do,
are the target's like (the weights of Meinshausen 2006). Every guess that is made from a group can then be made from
them: any value, branch or combination. A release that tells no more than this tells nothing about the person.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.branches import label_of_value
from polyveil.attacks.crowds import Weights
from polyveil.attacks.scene import Scene
from polyveil.table.coded import CodedTable

MOST_ROWS = 20_000
TREES = 40
LEAF = 20
"""Fewer people than this are no sample of a population."""
LEAST_PEOPLE = 40
"""With fewer others, nothing is learned."""


@dataclass(frozen=True, eq=False)
class Population:
    """The others of a scene; `like(name)` gives a row of weights over the original's rows for each target."""

    scene: Scene
    _found: dict[str, Weights | None] = field(default_factory=dict)

    def like(self, name: str) -> Weights | None:
        """Who is like each target, for guesses about one sensitive column; None if there are no others."""
        if name not in self._found:
            self._found[name] = _like(self.scene, name)
        return self._found[name]

    def belief(self, name: str, codes: IntArray, size: int) -> Weights | None:
        """What the others tell of each target: a distribution over any coding of the original's rows."""
        like = self.like(name)
        if like is None:
            return None
        rows = np.arange(len(codes))
        return sparse.csr_array(like @ sparse.csr_array((np.ones(len(codes)), (rows, codes)), shape=(len(codes), size)))


def people_features(people: CodedTable, rows: IntArray) -> FloatArray:
    """Each person's place in every quasi-identifier's order of codes, from 0 to 1."""
    columns = [column.codes[rows] / max(column.domain.size - 1, 1) for column in people.quasi]
    return np.stack(columns, axis=1).astype(np.float64)


def grow(features: FloatArray, labels: IntArray, leaf: int = 1) -> Any:
    """A random forest."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators=TREES, min_samples_leaf=leaf, random_state=0, n_jobs=1)
    return forest.fit(features, labels)


def strangers(scene: Scene) -> list[tuple[IntArray, IntArray]]:
    """Rows of others, and the numbers of the targets asked about with them; nobody is learned from about themselves.

    Where nearly everybody is attacked, each half of the targets is asked about with everybody but that half.
    """
    own = scene.person_of_row
    halves = [np.arange(len(scene.targets))]
    if len(scene.targets) > 0.8 * scene.people.people:
        halves = np.array_split(scene.rng.permutation(len(scene.targets)), 2)
    return [
        (scene.rng.permutation(np.flatnonzero(~np.isin(own, own[scene.targets[half]])))[:MOST_ROWS], half)
        for half in halves
    ]


def _like(scene: Scene, name: str) -> Weights | None:
    if not scene.people.quasi:
        return None
    labels = label_of_value(scene.attributes[name])[scene.secrets[name]]
    parts = [(others, half) for others, half in strangers(scene) if len(half)]
    if min(len(others) for others, _ in parts) < LEAST_PEOPLE:
        return None
    found = [_shared_leaves(scene, labels, others, half) for others, half in parts]
    order = np.argsort(np.concatenate([half for _, half in parts]))
    return sparse.csr_array(sparse.vstack(found).tocsr()[order])


def _shared_leaves(scene: Scene, labels: IntArray, others: IntArray, half: IntArray) -> Weights:
    known = people_features(scene.people, others)
    forest = grow(known, labels[others], LEAF)
    theirs, asked = forest.apply(known), forest.apply(people_features(scene.people, scene.targets[half]))
    span = int(max(theirs.max(), asked.max())) + 1
    place = np.arange(theirs.shape[1]) * span
    members = _of_leaves(theirs + place, span)
    sizes = np.asarray(members.sum(axis=0)).ravel()
    members.data /= sizes[members.indices] * theirs.shape[1]
    near = sparse.csr_array(_of_leaves(asked + place, span) @ members.T)
    return sparse.csr_array((near.data, others[near.indices], near.indptr), shape=(len(half), scene.people.rows))


def _of_leaves(leaves: IntArray, span: int) -> Weights:
    rows, trees = leaves.shape
    begin = np.arange(rows + 1) * trees
    return sparse.csr_array((np.ones(rows * trees), leaves.ravel(), begin), shape=(rows, trees * span))
