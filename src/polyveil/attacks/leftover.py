"""Rows that were left out, and values that were withheld: groups of their own.

A release says how the sensitive values of all input rows are distributed, so the values that are not published are
what remains when the released ones are taken away. An adversary who knows that a person was in the input but fits no
released group, or sees the person's value marked as withheld, knows that it is among those. This group must keep what
was promised like any other.
"""

from __future__ import annotations

import numpy as np

from polyveil.attacks.bounds import caps_for
from polyveil.attacks.crowds import Crowd
from polyveil.attacks.inference import from_others, promise_about
from polyveil.attacks.population import Population
from polyveil.attacks.result import Attack, Promise, attack_of
from polyveil.attacks.scene import Scene
from polyveil.results import counted


def leftover(scene: Scene, name: str, population: Population) -> Attack | None:
    """None if every value was published."""
    about, crowd = scene.attributes[name], scene.crowd_of(name)
    rest = np.maximum(about.whole - np.bincount(crowd.codes[name], minlength=about.size), 0)
    total = int(rest.sum())
    if total == 0:
        return _uncounted(scene, name, population) if crowd.withheld else None
    guess, share = np.array([rest.argmax()]), float(rest.max() / total)
    return _attack(
        scene,
        name,
        total,
        share,
        f"knows that a person's {_what(crowd)}; guesses the commonest value among those",
        promise_about(caps_for(scene.models, scene.attributes, name, total), guess, np.array([share])),
        population,
    )


def _uncounted(scene: Scene, name: str, population: Population) -> Attack:
    """Nothing tells the withheld values; but methods withhold what they cannot put into groups: the commonest value."""
    about, crowd = scene.attributes[name], scene.crowd_of(name)
    guess = int(about.whole.argmax())
    have = int((scene.secrets[name] == guess).sum() - (crowd.codes[name] == guess).sum())
    total = int(scene.manifest["rows"]) - len(crowd.codes[name])
    adversary = f"knows that a person's {_what(crowd)} and how the method chooses; guesses the commonest value"
    return _attack(scene, name, total, min(max(have / max(total, 1), 0.0), 1.0), adversary, None, population)


def _what(crowd: Crowd) -> str:
    return "value was withheld" if crowd.withheld else "row was left out"


def _attack(
    scene: Scene,
    name: str,
    total: int,
    share: float,
    adversary: str,
    promise: Promise | None,
    population: Population,
) -> Attack:
    crowd = scene.crowd_of(name)
    noun, done = _what(crowd).split(" was ")
    return attack_of(
        "withheld" if crowd.withheld else "left out",
        name,
        adversary,
        np.full(total, share),
        float(scene.attributes[name].whole_share.max()),
        promise,
        share,
        f"{counted(total, noun)} {'was' if total == 1 else 'were'} {done}",
        unit="rows",
        population=from_others(scene, name, population),
    )
