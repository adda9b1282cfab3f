"""Inference from one group: what its records tell about a sensitive value, without finding a person's record.

- Homogeneity: guess the commonest value (Machanavajjhala et al. 2006).
- Skewness: guess the value whose share rose most against the whole table (Li et al. 2007).
- Similarity: guess a branch of the hierarchy, or a fifth of the range of an ordered column (Li et al. 2007).
- Background knowledge: some values are known not to be the person's; guess the commonest of the others (ibid. 2006).

These adversaries know which group a person is in. Every group is looked at, so the figures are exact: each record of
the release is attacked once. Who knows the quasi-identifiers alone may fit several groups: `combining.py`.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.bounds import Caps, caps_for
from polyveil.attacks.branches import branches
from polyveil.attacks.crowds import Crowd, Weights
from polyveil.attacks.population import Population
from polyveil.attacks.result import Attack, Promise, attack_of, not_run
from polyveil.attacks.scene import Scene
from polyveil.models import RecursiveDiversity

MOST_VALUES = 3000
"""Beyond this many values, what remains possible after ruling some out is not bounded."""
CERTAIN = 1.0 - 1e-12
KNOWS = "knows which group a person is in"


def homogeneity(scene: Scene, name: str, population: Population) -> Attack:
    """Guess the commonest value of the group."""
    crowd, about = scene.crowd_of(name), scene.attributes[name]
    guess, sure = likeliest(crowd.shares(crowd.codes[name], about.size))
    sizes = crowd.statistics.sizes
    certain = int(sizes[sure >= CERTAIN].sum())
    return attack_of(
        "homogeneity",
        name,
        f"{KNOWS}; guesses its commonest value",
        guess[crowd.group_of_record] == crowd.codes[name],
        float(about.whole_share.max(initial=0.0)),
        promise_about(caps_in(scene, crowd, name), guess, sure, sizes),
        float(sure.max(initial=0.0)),
        f"certain of {certain:,} of {sizes.sum():,} {scene.unit}" if certain else "",
        unit=scene.unit,
        population=from_others(scene, name, population),
    )


def skewness(scene: Scene, name: str, population: Population) -> Attack:
    """Guess the value whose share rose most; the baseline is that same value's share of the whole table."""
    crowd, about = scene.crowd_of(name), scene.attributes[name]
    shares, sizes = crowd.shares(crowd.codes[name], about.size), crowd.statistics.sizes
    guess = _risen_most(shares, about.whole_share)
    sure = np.asarray(shares[np.arange(len(guess)), guess]).ravel()
    prior = about.whole_share[guess]
    like = population.belief(name, scene.secrets[name], about.size)
    everyone = np.arange(len(scene.targets))
    return attack_of(
        "skewness",
        name,
        f"{KNOWS} and the whole table; bets on the value whose share rose most",
        guess[crowd.group_of_record] == crowd.codes[name],
        float(np.average(prior, weights=sizes)) if len(prior) else 0.0,
        promise_about(caps_in(scene, crowd, name), guess, sure, sizes),
        float(sure.max(initial=0.0)),
        f"belief in a value rises by up to {float((sure - prior).max(initial=0.0)):.3f}",
        unit=scene.unit,
        population=None
        if like is None
        else float(scene.right(name, _risen_most(like, about.whole_share), everyone).mean()),
    )


def similarity(scene: Scene, name: str, population: Population) -> Attack:
    """Guess a branch or a fifth of the range instead of a value."""
    crowd, about = scene.crowd_of(name), scene.attributes[name]
    adversary = f"{KNOWS}; guesses a branch of the hierarchy, or a fifth of the range"
    branch_of = branches(about)
    if branch_of is None:
        return not_run("similarity", name, adversary, "its values have neither a hierarchy nor an order")
    count = int(branch_of.max(initial=0)) + 1
    of_record = branch_of[crowd.codes[name]]
    guess, sure = likeliest(crowd.shares(of_record, count))
    whole = np.bincount(branch_of, weights=about.whole_share, minlength=count)
    return attack_of(
        "similarity",
        name,
        adversary,
        guess[crowd.group_of_record] == of_record,
        float(whole.max(initial=0.0)),
        promise_about_branches(caps_in(scene, crowd, name), branch_of, guess, sure, crowd.statistics.sizes),
        float(sure.max(initial=0.0)),
        unit=scene.unit,
        population=from_others(scene, name, population, branch_of),
    )


def background(scene: Scene, name: str, population: Population, ruled_out: int = 1) -> Attack:
    """Some wrong values are known to be wrong, drawn from the group's; guess the commonest of the others.

    Which values are known is drawn by chance. Were they chosen by their place in the group, the choice itself would
    tell the person's value. The certainty held against the promise is that of the worst choice, in every group.
    """
    crowd, about = scene.crowd_of(name), scene.attributes[name]
    shares, records = crowd.shares(crowd.codes[name], about.size), len(crowd.group_of_record)
    drawn = scene.rng.permutation(records)[: len(scene.targets)]
    own = crowd.codes[name][drawn]
    guess, blind = _after_ruling_out(scene, shares, crowd.group_of_record[drawn], own, about.whole_share, ruled_out)
    sure = _surest(shares, ruled_out)
    like = population.belief(name, scene.secrets[name], about.size)
    others = None
    if like is not None:
        true = scene.truth(name)
        said, _ = _after_ruling_out(scene, like, np.arange(len(true)), true, about.whole_share, ruled_out)
        others = float((said == true).mean())
    return attack_of(
        f"background, {ruled_out} ruled out",
        name,
        f"{KNOWS} and {ruled_out} value{'s' * (ruled_out > 1)} they do not have; guesses the commonest of the others",
        guess == own,
        float((blind == own).mean()) if len(own) else 0.0,
        _promise_after(caps_in(scene, crowd, name), sure, ruled_out),
        float(sure.max(initial=0.0)),
        possible=records,
        unit=scene.unit,
        population=others,
    )


def _risen_most(shares: Weights, whole_share: FloatArray) -> IntArray:
    rise = shares.copy()
    rise.data = shares.data - whole_share[shares.indices] + 1.0  # shifted, so that every entry counts
    return likeliest(rise)[0]


def _after_ruling_out(
    scene: Scene, shares: Weights, of: IntArray, own: IntArray, whole_share: FloatArray, ruled_out: int
) -> tuple[IntArray, IntArray]:
    """The guess from each person's row of shares, and the guess from the whole table, without the values ruled out."""
    blindly = np.argsort(-whole_share, kind="stable")
    guess, blind = np.full(len(own), -1), np.full(len(own), -1)
    for i, (row, mine) in enumerate(zip(of, own, strict=True)):
        entries = slice(shares.indptr[row], shares.indptr[row + 1])
        values, share = shares.indices[entries], shares.data[entries]
        wrong = scene.rng.permutation(values[values != mine])[:ruled_out]
        kept = ~np.isin(values, wrong)
        if kept.any():
            guess[i] = values[kept][np.argmax(share[kept])]
        blind[i] = next((value for value in blindly if value not in wrong), -1)
    return guess, blind


def _surest(shares: Weights, ruled_out: int) -> FloatArray:
    """The greatest certainty in each group after the worst choice of values was ruled out."""
    sure = np.zeros(shares.shape[0])
    for group in range(len(sure)):
        falling = np.sort(shares.data[shares.indptr[group] : shares.indptr[group + 1]])[::-1]
        if len(falling):
            sure[group] = falling[0] / max(1.0 - falling[1 : ruled_out + 1].sum(), falling[0])
    return sure


def likeliest(belief: Weights) -> tuple[IntArray, FloatArray]:
    """The likeliest value of each row and its probability."""
    if belief.shape[0] == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    return np.asarray(belief.argmax(axis=1)).ravel().astype(np.int64), belief.max(axis=1).toarray().ravel()


def from_others(scene: Scene, name: str, population: Population, coarser: IntArray | None = None) -> float | None:
    """How often the likeliest value among other people like them is right about the targets."""
    codes = scene.secrets[name] if coarser is None else coarser[scene.secrets[name]]
    belief = population.belief(name, codes, scene.attributes[name].size)
    if belief is None:
        return None
    return float(scene.right(name, likeliest(belief)[0], np.arange(len(scene.targets)), coarser).mean())


def caps_in(scene: Scene, crowd: Crowd, name: str) -> Caps:
    """What is promised about a column in the groups of a release."""
    return caps_for(scene.models, scene.attributes, name, int(crowd.statistics.sizes.max(initial=0)))


def promise_about(caps: Caps, guess: IntArray, sure: FloatArray, times: IntArray | None = None) -> Promise | None:
    """The caps on guesses of one value; each guess is made `times` times."""
    found = caps.of_values(guess)
    return None if found is None else _repeated(found[0], sure, found[1], times)


def promise_about_branches(
    caps: Caps, branch_of: IntArray, guess: IntArray, sure: FloatArray, times: IntArray | None = None
) -> Promise | None:
    """The caps on guesses of a branch."""
    chosen, where = np.unique(guess, return_inverse=True)
    limits, statement = caps.of_sets([np.flatnonzero(branch_of == branch) for branch in chosen])
    return _repeated(limits[where], sure, statement, times) if statement else None


def _repeated(caps: FloatArray, sure: FloatArray, statement: str, times: IntArray | None) -> Promise:
    if times is None:
        return Promise(caps, sure, statement)
    return Promise(np.repeat(caps, times), np.repeat(sure, times), statement)


def _promise_after(caps: Caps, sure: FloatArray, ruled_out: int) -> Promise | None:
    """c(v) / (1 - what was ruled out), every share at its cap; recursive (c,l) bounds it up to l - 2 values."""
    values = np.flatnonzero(caps.attribute.whole > 0)
    if len(values) > MOST_VALUES:
        return None
    every, statement = caps.of_sets([np.array([value]) for value in values])
    falling = np.sort(every)[::-1]
    others = float(falling[1 : ruled_out + 1].sum())
    limit = min(1.0, float(falling[0]) / (1.0 - others)) if others < 1.0 else 1.0
    for model in caps.models:
        if isinstance(model, RecursiveDiversity) and ruled_out <= model.l - 2:
            limit, statement = min(limit, model.threshold / (1.0 + model.threshold)), model.statement()
    return Promise(np.full(len(sure), limit), sure, statement) if statement and limit < 1.0 else None
