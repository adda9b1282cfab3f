"""Several sensitive columns: what one known value of a person tells about another.

An adversary who knows which group a person is in, and one of their sensitive values, keeps the records with that value
and guesses the commonest value of the other column among them. Column-wise models promise nothing here. Joint closeness
does: over a group, the guesses made form a set S of combinations (one for each known value) and the adversary is right
as often as P(S), which the joint distance bounds like any other set.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy import sparse

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.bounds import caps_for
from polyveil.attacks.result import Attack, Promise, attack_of
from polyveil.attacks.scene import Crowd, Scene
from polyveil.models import JointAttribute, JointCloseness

MOST_PAIRS = 12
"""Ordered pairs of columns attacked."""
MOST_GROUPS = 300
"""Groups, drawn at random, whose guesses are held against the bound; fewer where there are many combinations."""


def joint(scene: Scene) -> list[Attack]:
    """Every ordered pair of sensitive columns that are published together."""
    pairs = [(crowd, pair) for crowd in scene.crowds for pair in permutations(crowd.attributes, 2)]
    return [known_value(scene, crowd, *pair) for crowd, pair in pairs[:MOST_PAIRS]]


def known_value(scene: Scene, crowd: Crowd, known: str, wanted: str) -> Attack:
    """Guess `wanted` of a person whose `known` is known."""
    size = scene.attributes[wanted].size
    # Only combinations that occur are numbered: two columns of many values have far too many others.
    occurring, numbers = np.unique(crowd.codes[known] * size + crowd.codes[wanted], return_inverse=True)
    belief = crowd.belief(numbers, len(occurring))
    has, truth = scene.truth(known)[crowd.reached], scene.truth(wanted)[crowd.reached]
    guess, sure = np.full(len(has), -1), np.zeros(len(has))
    for i, target in enumerate(crowd.reached):
        entries = slice(belief.indptr[target], belief.indptr[target + 1])
        cells, shares = occurring[belief.indices[entries]], belief.data[entries]
        mine = cells // size == has[i]
        if mine.any():
            best = np.argmax(shares[mine])
            guess[i], sure[i] = cells[mine][best] % size, shares[mine][best] / shares[mine].sum()
    return attack_of(
        "joint",
        f"{known} -> {wanted}",
        f"knows which group a person is in and their {known}; guesses their {wanted}",
        guess == truth,
        _without_release(scene, known, wanted, has, truth),
        _joint_promise(scene, crowd, known, wanted),
        float(sure.max(initial=0.0)),
    )


def _without_release(scene: Scene, known: str, wanted: str, has: IntArray, truth: IntArray) -> float:
    """The same guess from the whole table's combinations."""
    size = scene.attributes[wanted].size
    cells = scene.secrets[known] * size + scene.secrets[wanted]
    table = sparse.csr_array(
        (np.ones(len(cells)), (cells // size, cells % size)), shape=(scene.attributes[known].size, size)
    )
    usual = np.asarray(table.argmax(axis=1)).ravel()
    return float((usual[has] == truth).mean()) if len(truth) else 0.0


def _joint_promise(scene: Scene, crowd: Crowd, known: str, wanted: str) -> Promise | None:
    """Group by group: how often the guesses are right there, and how often joint closeness lets them be."""
    model = next((m for m in scene.models if isinstance(m, JointCloseness) and _covers(scene, m, known, wanted)), None)
    if model is None:
        return None
    about = scene.attributes[model.attribute]
    if not isinstance(about, JointAttribute):
        return None
    caps = caps_for(scene.models, scene.attributes, model.attribute, 0)
    chosen = scene.rng.permutation(crowd.groups)[: max(MOST_GROUPS * 1000 // (1000 + about.size), 10)]
    right, limits = np.zeros(len(chosen)), np.ones(len(chosen))
    a, b = (about.tuples[:, about.parts.index(name)] for name in (known, wanted))
    order = np.argsort(crowd.group_of_record, kind="stable")
    begin = np.searchsorted(crowd.group_of_record[order], np.arange(crowd.groups + 1))
    for i, group in enumerate(chosen):
        records = order[begin[group] : begin[group + 1]]
        guesses, right[i] = _group_guesses(crowd.codes[known][records], crowd.codes[wanted][records], int(a.max()) + 1)
        limits[i] = caps.of_sets([np.flatnonzero(guesses[a] == b)])[0][0]
    weights: FloatArray = crowd.statistics.sizes[chosen].astype(np.float64)
    mean = np.full(1, float(weights @ limits / weights.sum()))
    # Shown is the mean bound; broken is any single group beyond its own.
    worst = float((right - limits).max(initial=-1.0))
    return Promise(mean, mean + worst, model.statement()) if (limits < 1.0).any() else None


def _covers(scene: Scene, model: JointCloseness, known: str, wanted: str) -> bool:
    about = scene.attributes.get(model.attribute)
    return isinstance(about, JointAttribute) and {known, wanted} <= set(about.parts)


def _group_guesses(known: IntArray, wanted: IntArray, size: int) -> tuple[IntArray, float]:
    """The commonest wanted value for each known value (-1: unknown), and the share of records it is right about."""
    pairs, counts = np.unique(np.stack([known, wanted], axis=1), axis=0, return_counts=True)
    order = np.lexsort((-counts, pairs[:, 0]))
    first = order[np.unique(pairs[order, 0], return_index=True)[1]]
    guesses = np.full(size, -1, dtype=np.int64)
    guesses[pairs[first, 0]] = pairs[first, 1]
    return guesses, float(counts[first].sum() / len(known))
