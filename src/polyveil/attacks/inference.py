"""Inference from one group: what the records a person fits tell about a sensitive value, without finding the record.

- Homogeneity: guess the commonest value (Machanavajjhala et al. 2006).
- Skewness: guess the value whose share rose most against the whole table (Li et al. 2007).
- Similarity: guess a branch of the hierarchy, or a fifth of the range of an ordered column (Li et al. 2007).
- Background knowledge: some values are known not to be the person's; guess the commonest of the others (ibid. 2006).
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.bounds import Caps, caps_for
from polyveil.attacks.result import Attack, Promise, attack_of, not_run
from polyveil.attacks.scene import Crowd, Scene, Weights
from polyveil.models import Attribute, RecursiveDiversity

FIFTHS = 5
MOST_VALUES = 3000
"""Beyond this many values, what remains possible after ruling some out is not bounded."""
CERTAIN = 1.0 - 1e-12


def homogeneity(scene: Scene, name: str) -> Attack:
    """Guess the commonest value of the group."""
    crowd, about = scene.crowd_of(name), scene.attributes[name]
    reached = crowd.reached
    guess, sure = _likeliest(crowd.belief(crowd.codes[name], about.size)[reached])
    certain = int((sure >= CERTAIN).sum())
    return attack_of(
        "homogeneity",
        name,
        "knows which group a person is in; guesses its commonest value",
        guess == scene.truth(name)[reached],
        float(about.whole_share.max(initial=0.0)),
        _promise(_caps(scene, crowd, name), guess, sure),
        float(sure.max(initial=0.0)),
        f"certain of {certain} of {len(sure)} people" if certain else "",
    )


def skewness(scene: Scene, name: str) -> Attack:
    """Guess the value whose share rose most; the baseline is that same value's share of the whole table."""
    crowd, about = scene.crowd_of(name), scene.attributes[name]
    reached = crowd.reached
    belief = crowd.belief(crowd.codes[name], about.size)[reached]
    rise = belief.copy()
    rise.data = belief.data - about.whole_share[belief.indices] + 1.0  # shifted, so that every entry counts
    guess, _ = _likeliest(rise)
    sure = np.asarray(belief[np.arange(len(guess)), guess]).ravel()
    prior = about.whole_share[guess]
    greatest = float((sure - prior).max(initial=0.0))
    return attack_of(
        "skewness",
        name,
        "knows which group a person is in and the whole table; bets on the value whose share rose most",
        guess == scene.truth(name)[reached],
        float(prior.mean()) if len(prior) else 0.0,
        _promise(_caps(scene, crowd, name), guess, sure),
        float(sure.max(initial=0.0)),
        f"belief in a value rises by up to {greatest:.3f}",
    )


def similarity(scene: Scene, name: str) -> Attack:
    """Guess a branch or a fifth of the range instead of a value."""
    crowd, about = scene.crowd_of(name), scene.attributes[name]
    adversary = "knows which group a person is in; guesses a branch of the hierarchy, or a fifth of the range"
    branch_of = branches(about)
    if branch_of is None:
        return not_run("similarity", name, adversary, "its values have neither a hierarchy nor an order")
    reached, count = crowd.reached, int(branch_of.max(initial=0)) + 1
    guess, sure = _likeliest(crowd.belief(branch_of[crowd.codes[name]], count)[reached])
    whole = np.bincount(branch_of, weights=about.whole_share, minlength=count)
    caps = _caps(scene, crowd, name)
    chosen, where = np.unique(guess, return_inverse=True)
    limits, statement = caps.of_sets([np.flatnonzero(branch_of == branch) for branch in chosen])
    promise = Promise(limits[where], sure, statement) if statement else None
    return attack_of(
        "similarity",
        name,
        adversary,
        guess == branch_of[scene.truth(name)[reached]],
        float(whole.max(initial=0.0)),
        promise,
        float(sure.max(initial=0.0)),
    )


def background(scene: Scene, name: str, ruled_out: int = 1) -> Attack:
    """Some wrong values are known to be wrong, drawn from the group's; guess the commonest of the others.

    Which values are known is drawn by chance. Were they chosen by their place in the group, the choice itself would
    tell the person's value. The certainty held against the promise is that of the worst choice.
    """
    crowd, about = scene.crowd_of(name), scene.attributes[name]
    truth = scene.truth(name)[crowd.reached]
    belief = crowd.belief(crowd.codes[name], about.size)[crowd.reached]
    blindly = np.argsort(-about.whole_share, kind="stable")
    guess, blind, sure = (
        np.zeros(len(truth), dtype=np.int64),
        np.zeros(len(truth), dtype=np.int64),
        np.zeros(len(truth)),
    )
    for i, own in enumerate(truth):
        entries = slice(belief.indptr[i], belief.indptr[i + 1])
        values, shares = belief.indices[entries], belief.data[entries]
        wrong = scene.rng.permutation(values[values != own])[:ruled_out]
        kept = ~np.isin(values, wrong)
        guess[i] = values[kept][np.argmax(shares[kept])] if kept.any() else -1
        blind[i] = next((value for value in blindly if value not in wrong), -1)
        falling = np.sort(shares)[::-1]
        sure[i] = falling[0] / max(1.0 - falling[1 : ruled_out + 1].sum(), falling[0])
    return attack_of(
        f"background, {ruled_out} ruled out",
        name,
        f"knows which group a person is in and {ruled_out} value{'s' * (ruled_out > 1)} they do not have; "
        "guesses the commonest of the others",
        guess == truth,
        float((blind == truth).mean()) if len(truth) else 0.0,
        _promise_after(scene, crowd, name, guess, sure, ruled_out),
        float(sure.max(initial=0.0)),
    )


def branches(about: Attribute) -> IntArray | None:
    """The top-level branch of each value, or its fifth of the range; None where values have no structure."""
    ground = about.ground
    if ground.distance == "ordered":
        return np.minimum(np.arange(about.size) * FIFTHS // max(about.size, 1), FIFTHS - 1)
    if ground.distance != "hierarchical":
        return None
    branch, reach = np.zeros(about.size, dtype=np.int64), 0
    order = np.lexsort((-ground.stop, ground.start))
    for r in order:  # the widest range that begins where the last one ended is the next child of the root
        if ground.start[r] >= reach:
            branch[ground.start[r] : ground.stop[r]] = r
            reach = int(ground.stop[r])
    numbers: IntArray = np.unique(branch, return_inverse=True)[1].astype(np.int64)
    return numbers if int(numbers.max(initial=0)) + 1 < about.size else None


def _likeliest(belief: Weights) -> tuple[IntArray, FloatArray]:
    """The likeliest value of each row and its probability."""
    return np.asarray(belief.argmax(axis=1)).ravel().astype(np.int64), belief.max(axis=1).toarray().ravel()


def _caps(scene: Scene, crowd: Crowd, name: str) -> Caps:
    return caps_for(scene.models, scene.attributes, name, int(crowd.statistics.sizes.max(initial=0)))


def _promise(caps: Caps, guess: IntArray, sure: FloatArray) -> Promise | None:
    found = caps.of_values(guess)
    return None if found is None else Promise(found[0], sure, found[1])


def _promise_after(
    scene: Scene, crowd: Crowd, name: str, guess: IntArray, sure: FloatArray, ruled_out: int
) -> Promise | None:
    """c(v) / (1 - what was ruled out), every share at its cap; recursive (c,l) bounds it up to l - 2 values."""
    caps = _caps(scene, crowd, name)
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
    return Promise(np.full(len(guess), limit), sure, statement) if statement and limit < 1.0 else None
