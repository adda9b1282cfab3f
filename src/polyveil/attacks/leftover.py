"""Rows that were left out, and values that were withheld: groups of their own.

A release says how the sensitive values of all input rows are distributed, so the values that are not published are
what remains when the released ones are taken away. An adversary who knows that a person was in the input but fits no
released group, or sees the person's value marked as withheld, knows that it is among those. This group must keep what
was promised like any other.
"""

from __future__ import annotations

import numpy as np

from polyveil.attacks.bounds import caps_for
from polyveil.attacks.inference import from_others, promise_about
from polyveil.attacks.population import Population
from polyveil.attacks.result import Attack, attack_of
from polyveil.attacks.scene import Scene
from polyveil.results import counted


def leftover(scene: Scene, name: str, population: Population) -> Attack | None:
    """None where every value was published."""
    about, crowd = scene.attributes[name], scene.crowd_of(name)
    rest = np.maximum(about.whole - np.bincount(crowd.codes[name], minlength=about.size), 0)
    total = int(rest.sum())
    if total == 0:
        return None
    guess, share = np.array([rest.argmax()]), float(rest.max() / total)
    withheld = bool(crowd.withheld)
    what = "value was withheld" if withheld else "row was left out"
    return attack_of(
        "withheld" if withheld else "left out",
        name,
        f"knows that a person's {what}; guesses the commonest value among those",
        np.full(total, share),
        float(about.whole_share.max()),
        promise_about(caps_for(scene.models, scene.attributes, name, total), guess, np.array([share])),
        share,
        f"{counted(total, what.split()[0])} {'was' if total == 1 else 'were'} {what.split(' was ')[1]}",
        unit="rows",
        population=from_others(scene, name, population),
    )
