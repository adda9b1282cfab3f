"""Order of rows: does the place of a record tell whose it is?

An adversary who has the people in the order of the original expects the records in the same order: over the whole
table, and among the people of each group. A record at the expected place is a hit if it fits the person and has their
sensitive values. In a release whose order is random, hits are as frequent as chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.crowds import Crowd, group_fits
from polyveil.attacks.result import Attack, Promise, attack_of
from polyveil.attacks.scene import Scene, tuples_of

MOST_GROUPS = 200
RANDOM = "rows and groups are in random order"
SURE = 6.0
"""Standard deviations above chance that call an order a link: releases are many, and chance has its days."""


def order(scene: Scene) -> list[Attack]:
    """Over the whole table, and within groups."""
    if scene.linked or not scene.crowds[0].attributes:  # without sensitive columns, records of a group are all alike
        return []
    crowd = scene.crowds[0]
    return [whole_order(scene, crowd), group_order(scene, crowd)]


def whole_order(scene: Scene, crowd: Crowd) -> Attack:
    """The i-th of N people is expected at place i * M / N of M records."""
    records, persons, count = tuples_of(scene, crowd)
    released = len(records)
    place = np.minimum(scene.targets * released // scene.people.rows, released - 1)
    fits = np.asarray(crowd.weights[np.arange(len(place)), crowd.group_of_record[place]]).ravel() > 0
    hits = fits & (records[place] == persons)
    mixed = crowd.weights.astype(bool).astype(np.float64) @ crowd.histogram(records, count)
    chance = np.asarray(mixed[np.arange(len(persons)), persons]).ravel() / released
    return by_chance(
        "order of rows",
        None,
        "has the people in the original order; expects the records in it",
        hits,
        chance,
        possible=scene.people.rows,
        unit=scene.unit,
    )


def group_order(scene: Scene, crowd: Crowd) -> Attack:
    """The people who fit a group, in the original order, against its records in the released order."""
    everyone = np.arange(scene.people.rows)
    chosen = scene.rng.permutation(crowd.groups)[:MOST_GROUPS]
    columns = [np.asarray(scene.secrets[name]) for name in crowd.attributes]
    hits, chances = [np.zeros(0, dtype=bool)], [np.zeros(0)]
    members = _members(scene, crowd, everyone, chosen)
    for group, people in zip(chosen, members, strict=True):
        rows = np.flatnonzero(crowd.group_of_record == group)
        if len(people) == 0:
            continue
        place = np.minimum(np.arange(len(people)) * len(rows) // len(people), len(rows) - 1)
        own = np.stack([column[people] for column in columns], axis=1)
        there = np.stack([crowd.codes[name][rows] for name in crowd.attributes], axis=1)
        hits.append((own == there[place]).all(axis=1))
        chances.append((own[:, None, :] == there[None, :, :]).all(axis=2).mean(axis=1))
    adversary = "has the people in the original order; expects each group's records in it"
    return by_chance(
        "order within groups",
        None,
        adversary,
        np.concatenate(hits),
        np.concatenate(chances),
        tried=len(chosen),
        possible=crowd.groups,
        unit="groups",
    )


def _members(scene: Scene, crowd: Crowd, everyone: IntArray, chosen: IntArray) -> list[IntArray]:
    """Who fits each of the chosen groups."""
    kept = np.isin(crowd.group_of_record, chosen)
    small = scene.tables["table"].filter(kept)
    numbers, renamed = np.unique(crowd.group_of_record[kept], return_inverse=True)
    position = {int(number): i for i, number in enumerate(numbers)}
    found: list[list[IntArray]] = [[] for _ in chosen]
    for first in range(0, len(everyone), 20_000):
        some = everyone[first : first + 20_000]
        fits = group_fits(small, scene.policy, scene.people, renamed.astype(np.int64), some).tocsc()
        for i, group in enumerate(chosen):
            column = position[int(group)]
            found[i].append(some[np.sort(fits.indices[fits.indptr[column] : fits.indptr[column + 1]])])
    return [np.concatenate(parts) for parts in found]


def by_chance(
    name: str, attribute: str | None, adversary: str, hits: npt.NDArray[np.bool_], chance: FloatArray, **extent: Any
) -> Attack:
    """The promise is that hits come by chance alone; only the rate can break it."""
    promise = Promise(chance, np.zeros(len(chance)), RANDOM)
    baseline = float(chance.mean()) if len(chance) else 0.0
    return attack_of(
        name, attribute, adversary, hits, baseline, promise, None, deviations=SURE, criterion="linkability", **extent
    )
