"""The adversaries in the order in which they attack; installed packages may add some.

An adversary is a function of what is `Given` and returns its attacks, none if it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from polyveil.arrays import IntArray
from polyveil.attacks.combining import combining
from polyveil.attacks.inference import background, homogeneity, similarity, skewness
from polyveil.attacks.intersection import intersection
from polyveil.attacks.joint import joint
from polyveil.attacks.learned import learned
from polyveil.attacks.leftover import leftover
from polyveil.attacks.linkage import linkage, people_unknown
from polyveil.attacks.order import order
from polyveil.attacks.population import Population
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

    @cached_property
    def population(self) -> Population:
        """What other people of the same population tell about those who are attacked."""
        return Population(self.scene)


Adversary = Callable[[Given], Iterable[Attack]]


def _values(given: Given) -> Iterable[Attack]:
    """Everything that is tried on one sensitive attribute after the other."""
    scene, outsiders = given.scene, given.outsiders
    names = [name for crowd in scene.crowds for name in crowd.attributes]
    for done, name in enumerate(names):
        given.progress.advance(done / len(names), name)
        others = given.population
        yield from (attempt(scene, name, others) for attempt in (homogeneity, skewness, similarity))
        yield from (background(scene, name, others, ruled_out) for ruled_out in (1, 2))
        yield from combining(scene, name, others)
        yield learned(scene, name, None if outsiders is None else (outsiders[0], outsiders[1][name]))
        left = leftover(scene, name, others)
        if left is not None:
            yield left


def _two_releases(given: Given) -> Iterable[Attack]:
    return [] if given.second is None else intersection(given.scene, given.second, given.population)


def _unfit(_: str, item: Any) -> str:
    return "" if callable(item) else "an adversary is a function of what is given"


ADVERSARIES: Registry[Adversary] = Registry(
    "polyveil.attacks",
    {
        "people": lambda given: people_unknown(given.scene),
        "linkage": lambda given: linkage(given.scene),
        "values": _values,
        "joint": lambda given: joint(given.scene, given.population),
        "order": lambda given: order(given.scene),
        "slices": lambda given: slices(given.scene),
        "intersection": _two_releases,
    },
    _unfit,
)
"""Every adversary by its name, in the order in which they attack; the group polyveil.attacks adds installed ones."""
