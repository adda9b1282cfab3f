"""Simulated adversaries: how well each does with the release, without it, and against what was promised.

    from polyveil.attacks import attack

    report = attack("release", "patients.csv")
    report.holds, report.broken, report.named("homogeneity", "disease").success

`attack` needs the original table, which only its steward has; it tells nothing about single people.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyveil.attacks.inference import background, homogeneity, similarity, skewness
from polyveil.attacks.intersection import intersection
from polyveil.attacks.joint import joint
from polyveil.attacks.learned import learned
from polyveil.attacks.leftover import leftover
from polyveil.attacks.linkage import linkage
from polyveil.attacks.order import order
from polyveil.attacks.result import Attack, AttackReport, Verdict, wilson
from polyveil.attacks.scene import TRIALS, Crowd, Scene, set_scene
from polyveil.attacks.slices import slices
from polyveil.policy import Policy
from polyveil.progress import SILENT, Progress
from polyveil.table.source import read

__all__ = ["Attack", "AttackReport", "Crowd", "Scene", "Verdict", "attack", "set_scene", "wilson"]


def attack(
    release: Any,
    original: Any,
    *,
    policy: Policy | None = None,
    second: Any = None,
    heldout: Any = None,
    trials: int = TRIALS,
    seed: int = 0,
    reading: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> AttackReport:
    """Let every adversary attack the release.

    `release` and `second` (another release of the same table) are folders, database addresses or releases in memory;
    `original` and `heldout` (people who are not in the release) are tables as `polyveil.read` takes them. `policy`
    holds other promises against the release than its own. `trials` people are attacked, drawn by `seed`.
    """
    progress.stage("read")
    scene = set_scene(release, original, policy=policy, trials=trials, seed=seed, reading=reading)
    outsiders = None if heldout is None else _outsiders(scene, heldout, reading)
    progress.stage("attack")
    found = [*linkage(scene)]
    names = [name for crowd in scene.crowds for name in crowd.attributes]
    for done, name in enumerate(names):
        progress.advance(done / len(names), name)
        found += [homogeneity(scene, name), skewness(scene, name), similarity(scene, name)]
        found += [background(scene, name, ruled_out) for ruled_out in (1, 2)]
        found.append(learned(scene, name, None if outsiders is None else (outsiders[0], outsiders[1][name])))
        found += [each for each in (leftover(scene, name),) if each is not None]
    found += joint(scene)
    found += order(scene)
    found += slices(scene)
    if second is not None:
        other = set_scene(second, original, policy=policy, reading=reading, targets=scene.targets)
        found += intersection(scene, other)
    return AttackReport(tuple(found))


def _outsiders(scene: Scene, heldout: Any, reading: Mapping[str, Any] | None) -> tuple[Any, dict[str, Any]]:
    """People who are not in the release, coded over the same domains."""
    from polyveil.attacks.outsiders import code_outsiders

    return code_outsiders(scene, read(heldout, **(reading or {})))
