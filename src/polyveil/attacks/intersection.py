"""Two releases of one table: a person's record is in both, so only what both groups have in common can be theirs.

Each release may keep its promise alone and not together with the other (Ganta et al. 2008). What is held against the
pair is the promise of each: one record among k, and the caps on any one value.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import IntArray
from polyveil.attacks.bounds import caps_for
from polyveil.attacks.crowds import Crowd, Weights
from polyveil.attacks.inference import from_others
from polyveil.attacks.linkage import least_group
from polyveil.attacks.population import Population
from polyveil.attacks.result import Attack, Promise, attack_of, not_run
from polyveil.attacks.scene import Scene
from polyveil.table.coded import distinct

ADVERSARY = "has two releases of the same table and knows a person's group in each; keeps what both have in common"


def intersection(first: Scene, second: Scene, population: Population) -> list[Attack]:
    """Linkage, and the commonest value of each column that both releases publish."""
    shared = [name for name in first.crowds[0].attributes if name in second.crowds[0].attributes]
    if not shared or len(first.crowds) > 1 or len(second.crowds) > 1:
        why = "the releases have no table of sensitive columns in common"
        return [not_run("intersection", None, ADVERSARY, why, criterion="linkability")]
    common, codes = _common(first, second, shared)
    left = np.asarray(common.sum(axis=1)).ravel()
    reached = np.flatnonzero(left > 0)
    chances = 1.0 / left[reached]
    asked = [least for least in (least_group(first), least_group(second)) if least is not None]
    promise = None
    if asked:
        k, words = min(size for size, _ in asked), asked[0][1].statement()
        promise = Promise(np.full(len(chances), 1.0 / k), chances, f"{words}, in both releases together")
    linked = attack_of(
        "intersection",
        None,
        ADVERSARY,
        chances,
        1.0 / first.people.rows,
        promise,
        float(chances.max(initial=0.0)),
        criterion="linkability",
        possible=first.people.people,
    )
    return [
        linked,
        *(_value(first, name, common[reached], codes[:, i], reached, population) for i, name in enumerate(shared)),
    ]


def _common(first: Scene, second: Scene, shared: list[str]) -> tuple[Weights, IntArray]:
    """targets x distinct tuples: how many records with that tuple both of a target's groups have."""
    crowds = (first.crowds[0], second.crowds[0])
    known = second.attributes
    sizes = [max(first.attributes[name].size, known[name].size) for name in shared]
    columns = [np.concatenate([crowd.codes[name] for crowd in crowds]) for name in shared]
    found = distinct(columns, sizes, len(columns[0]))
    count = len(crowds[0].group_of_record)
    tables = [
        _candidates(crowds[0], found.of_row[:count], len(found.counts)),
        _candidates(crowds[1], found.of_row[count:], len(found.counts)),
    ]
    return tables[0].minimum(tables[1]).tocsr(), found.codes


def _candidates(crowd: Crowd, codes: IntArray, size: int) -> Weights:
    return (crowd.named.astype(bool).astype(np.float64) @ crowd.histogram(codes, size)).tocsr()


def _value(
    scene: Scene, name: str, common: Weights, codes: IntArray, reached: IntArray, population: Population
) -> Attack:
    about = scene.attributes[name]
    from scipy import sparse

    spread = sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), about.size))
    counts = (common @ spread).tocsr()
    guess = np.asarray(counts.argmax(axis=1)).ravel()
    sure = counts.max(axis=1).toarray().ravel() / np.asarray(counts.sum(axis=1)).ravel()
    found = caps_for(scene.models, scene.attributes, name, int(scene.crowds[0].statistics.sizes.max())).of_values(guess)
    promise = None if found is None else Promise(found[0], sure, f"{found[1]}, in both releases together")
    return attack_of(
        "intersection",
        name,
        ADVERSARY,
        scene.right(name, guess, reached),
        float(about.whole_share.max(initial=0.0)),
        promise,
        float(sure.max(initial=0.0)),
        criterion="linkability",
        possible=scene.people.people,
        population=from_others(scene, name, population),
    )
