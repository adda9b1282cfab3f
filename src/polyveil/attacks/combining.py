"""Combining groups: who knows only the quasi-identifiers may find that a person fits several groups, and uses all.

Groups overlap where a method lets them (the boxes of `sift`), where numbers are published as midpoints, and where equal
quasi-identifiers are in several groups of a linked table; rows whose value is withheld are then one group more. Each
group keeps its promise, and so does any mixture of them; but what they have in common may follow the quasi-identifiers
more closely than any one group. That is counted as broken only beyond what a model of other people reaches too.

Where people have several rows, the adversary knows the quasi-identifiers of all of them and keeps the groups that fit
every row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from polyveil.attacks.branches import branches
from polyveil.attacks.inference import caps_in, from_others, likeliest, promise_about, promise_about_branches
from polyveil.attacks.population import Population
from polyveil.attacks.result import Attack, attack_of, not_run
from polyveil.attacks.scene import Scene

NAME = "combining groups"


def combining(scene: Scene, name: str, population: Population) -> Iterator[Attack]:
    """The commonest value over all groups that fit, and the commonest branch where values have branches."""
    crowd, about = scene.crowd_of(name), scene.attributes[name]
    all_rows = " in all their rows" if scene.several else ""
    knows = f"has a register of the population and knows a person's quasi-identifiers{all_rows}"
    adversary = f"{knows}; combines all groups whose cells they fit and guesses the commonest value"
    reached = crowd.reached
    if not scene.several and int(np.diff(crowd.weights.indptr).max(initial=0)) <= 1:
        yield not_run(NAME, name, adversary, "nobody fits more than one group")
        return
    fits = float(np.diff(crowd.weights.indptr)[reached].mean()) if len(reached) else 0.0
    note = f"a person fits {fits:.1f} groups on average"
    caps = caps_in(scene, crowd, name)
    # With a register, a record is the likelier theirs the fewer people fit its group.
    rare = 1.0 / np.maximum(scene.people_per_group, 1) if not scene.linked else None
    guess, sure = likeliest(crowd.belief(name, about.size, per_record=rare)[reached])
    yield attack_of(
        NAME,
        name,
        adversary,
        scene.right(name, guess, reached),
        float(about.whole_share.max(initial=0.0)),
        promise_about(caps, guess, sure),
        float(sure.max(initial=0.0)),
        note,
        possible=scene.people.people,
        population=from_others(scene, name, population),
    )
    branch_of = branches(about)
    if branch_of is None:
        return
    count = int(branch_of.max(initial=0)) + 1
    guess, sure = likeliest(crowd.belief(name, count, branch_of, rare)[reached])
    yield attack_of(
        f"{NAME}, similar values",
        name,
        f"{knows}; combines all groups whose cells they fit and guesses a branch, or a fifth of the range",
        scene.right(name, guess, reached, branch_of),
        float(np.bincount(branch_of, weights=about.whole_share).max(initial=0.0)),
        promise_about_branches(caps, branch_of, guess, sure),
        float(sure.max(initial=0.0)),
        note,
        possible=scene.people.people,
        population=from_others(scene, name, population, branch_of),
    )
