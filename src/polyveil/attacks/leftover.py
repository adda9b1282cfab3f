"""People left out: a release says how the sensitive values of all input rows are distributed, so the suppressed rows'
values are what remains when the released ones are taken away.

An adversary who knows that a person was in the input but fits no released group, or sees them marked as suppressed,
knows that their values are among those. Models judge groups and promise nothing about rows that are in none.
"""

from __future__ import annotations

import numpy as np

from polyveil.attacks.result import Attack, attack_of
from polyveil.attacks.scene import Scene

ADVERSARY = "knows that a person was left out; guesses the commonest value among the rows that were"


def leftover(scene: Scene, name: str) -> Attack | None:
    """None where no row was left out."""
    about, crowd = scene.attributes[name], scene.crowd_of(name)
    rest = about.whole - np.bincount(crowd.codes[name], minlength=about.size)
    rest = np.maximum(rest, 0)
    total = int(rest.sum())
    if total == 0:
        return None
    share = float(rest.max() / total)
    note = f"{total} row{'s were' if total > 1 else ' was'} left out"
    return attack_of(
        "left out", name, ADVERSARY, np.full(total, share), float(about.whole_share.max()), None, share, note
    )
