"""The adversaries in the order in which they attack; installed packages may add some.

An adversary is a function of what is `Given` and returns its attacks, none where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from polyveil.arrays import IntArray
from polyveil.attacks.inference import background, homogeneity, similarity, skewness
from polyveil.attacks.intersection import intersection
from polyveil.attacks.joint import joint
from polyveil.attacks.learned import learned
from polyveil.attacks.leftover import leftover
from polyveil.attacks.linkage import linkage
from polyveil.attacks.order import order
from polyveil.attacks.result import Attack
from polyveil.attacks.scene import Scene
from polyveil.attacks.slices import slices
from polyveil.plugins import Registry
from polyveil.progress import SILENT, Progress
from polyveil.table.coded import CodedTable


@dataclass(frozen=True)
class Given:
    """What an attack is made with: the scene (release and original), and what else the steward handed over.

    `outsiders` are people who are not in the release, coded over its domains; `second` is the scene of another release
    of the same table.
    """

    scene: Scene
    outsiders: tuple[CodedTable, Mapping[str, IntArray]] | None = None
    second: Scene | None = None
    progress: Progress = SILENT


Adversary = Callable[[Given], Iterable[Attack]]


def _values(given: Given) -> Iterable[Attack]:
    """Everything that is tried on one sensitive attribute after the other."""
    scene, outsiders = given.scene, given.outsiders
    names = [name for crowd in scene.crowds for name in crowd.attributes]
    for done, name in enumerate(names):
        given.progress.advance(done / len(names), name)
        yield from (homogeneity(scene, name), skewness(scene, name), similarity(scene, name))
        yield from (background(scene, name, ruled_out) for ruled_out in (1, 2))
        yield learned(scene, name, None if outsiders is None else (outsiders[0], outsiders[1][name]))
        left = leftover(scene, name)
        if left is not None:
            yield left


def _two_releases(given: Given) -> Iterable[Attack]:
    return [] if given.second is None else intersection(given.scene, given.second)


def _unfit(_: str, item: Any) -> str:
    return "" if callable(item) else "an adversary is a function of what is given"


ADVERSARIES: Registry[Adversary] = Registry(
    "polyveil.attacks",
    {
        "linkage": lambda given: linkage(given.scene),
        "values": _values,
        "joint": lambda given: joint(given.scene),
        "order": lambda given: order(given.scene),
        "slices": lambda given: slices(given.scene),
        "intersection": _two_releases,
    },
    _unfit,
)
"""Every adversary by its name, in the order in which they attack; the group polyveil.attacks adds installed ones."""
