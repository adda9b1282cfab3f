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

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.attacks.bounds import caps_for
from polyveil.attacks.crowds import Crowd
from polyveil.attacks.inference import likeliest
from polyveil.attacks.population import Population
from polyveil.attacks.result import Attack, Promise, attack_of, not_run
from polyveil.attacks.scene import Scene
from polyveil.models import JointAttribute, JointCloseness

MOST_RECORDS = 100_000_000
"""Records looked at over all pairs of columns; where there are more, some pairs are drawn at random, and it is said."""
MOST_GROUPS = 300
"""Groups, drawn at random, whose guesses are held against the bound; fewer if there are many combinations."""


def joint(scene: Scene, population: Population) -> list[Attack]:
    """Every ordered pair of sensitive columns that are published together."""
    pairs = [(crowd, a, b) for crowd in scene.crowds for a, b in permutations(crowd.attributes, 2)]
    records = max((len(crowd.group_of_record) for crowd, *_ in pairs), default=0)
    most = max(MOST_RECORDS // max(records, 1), 1)
    chosen = sorted(scene.rng.permutation(len(pairs))[:most])
    found = [known_value(scene, population, *pairs[i]) for i in chosen]
    if len(chosen) < len(pairs):
        why = f"{len(pairs) - len(chosen):,} of {len(pairs):,} pairs of columns; the others were drawn at random"
        adversary = "knows which group a person is in and one of their values; guesses another"
        found.append(
            not_run("joint", None, adversary, why, tried=len(chosen), possible=len(pairs), unit="pairs of columns")
        )
    return found


def known_value(scene: Scene, population: Population, crowd: Crowd, known: str, wanted: str) -> Attack:
    """Guess `wanted` of a person whose `known` is known; every record of every group is attacked."""
    hits, greatest = _guessed(crowd, known, wanted, scene.attributes[known].size, scene.attributes[wanted].size)
    usual = _usual(scene, known, wanted)
    promised = _joint_promise(scene, crowd, known, wanted)
    sampled = promised is not None and promised[1] < crowd.groups
    return attack_of(
        "joint",
        f"{known} -> {wanted}",
        f"knows which group a person is in and their {known}; guesses their {wanted}",
        hits,
        float((usual[crowd.codes[known]] == crowd.codes[wanted]).mean()),
        None if promised is None else promised[0],
        greatest,
        tried=promised[1] if promised is not None and sampled else None,
        possible=crowd.groups if sampled else None,
        unit="groups" if sampled else scene.unit,
        population=_from_others(scene, known, wanted, usual, population),
    )


def _guessed(crowd: Crowd, known: str, wanted: str, knowns: int, wanteds: int) -> tuple[BoolArray, float]:
    """Whether the commonest wanted value among a group's records with the same known one is each record's own."""
    case = crowd.group_of_record * knowns + crowd.codes[known]
    cells, of_record, counts = np.unique(case * wanteds + crowd.codes[wanted], return_inverse=True, return_counts=True)
    begin = np.unique(cells // wanteds, return_index=True)[1]
    order = np.lexsort((cells % wanteds, -counts, cells // wanteds))
    best = order[begin]
    right = np.zeros(len(cells), dtype=bool)
    right[best] = True
    sure = counts[best] / np.add.reduceat(counts, begin) if len(begin) else np.zeros(0)
    return right[of_record], float(sure.max(initial=0.0))


def _usual(scene: Scene, known: str, wanted: str) -> IntArray:
    """For each known value the wanted one that goes with it most often in the whole table."""
    a, b = scene.secrets[known], scene.secrets[wanted]
    shape = (scene.attributes[known].size, scene.attributes[wanted].size)
    return np.asarray(sparse.csr_array((np.ones(len(a)), (a, b)), shape=shape).argmax(axis=1)).ravel()


def _from_others(scene: Scene, known: str, wanted: str, usual: IntArray, population: Population) -> float | None:
    """The commonest wanted value among other people who are like them and have the same known value."""
    like = population.like(wanted)
    if like is None:
        return None
    has, everyone = scene.truth(known), np.arange(len(scene.targets))
    same = scene.secrets[known][like.indices] == np.repeat(has, np.diff(like.indptr))
    alike = sparse.csr_array((like.data * same, like.indices, like.indptr), shape=like.shape)
    codes = scene.secrets[wanted]
    values = sparse.csr_array(
        (np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), scene.attributes[wanted].size)
    )
    guess, sure = likeliest(sparse.csr_array(alike @ values))
    return float(scene.right(wanted, np.where(sure > 0, guess, usual[has]), everyone).mean())


def _joint_promise(scene: Scene, crowd: Crowd, known: str, wanted: str) -> tuple[Promise, int] | None:
    """Group by group: how often the guesses are right there, and how often joint closeness lets them be.

    Also how many groups were compared.
    """
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
    return (Promise(mean, mean + worst, model.statement()), len(chosen)) if (limits < 1.0).any() else None


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
