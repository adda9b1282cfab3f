"""Simulated adversaries: how well each does with the release, without it, and against what was promised.

    from polyveil.attacks import attack

    report = attack("release", "patients.csv")
    report.holds, report.broken, report.named("homogeneity", "disease").success

`attack` needs the original table, which only its steward has; it tells nothing about single people.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyveil.attacks.adversaries import ADVERSARIES, Given
from polyveil.attacks.crowds import Crowd
from polyveil.attacks.result import Attack, AttackReport, Verdict, wilson
from polyveil.attacks.scene import TRIALS, Scene, set_scene
from polyveil.attacks.tables import attack_tables
from polyveil.errors import InputError
from polyveil.policy import PolicyLike
from polyveil.progress import Progress, shown
from polyveil.table.profiling.precise import of_manifest
from polyveil.table.source import read
from polyveil.verification import ReleaseLike, load_release

__all__ = [
    "ADVERSARIES",
    "Attack",
    "AttackReport",
    "Crowd",
    "Given",
    "Scene",
    "Verdict",
    "attack",
    "set_scene",
    "wilson",
]


def attack(
    release: ReleaseLike,
    original: Any,
    *,
    policy: PolicyLike | None = None,
    second: ReleaseLike | None = None,
    heldout: Any = None,
    population: Any = None,
    trials: int = TRIALS,
    seed: int = 0,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | bool = False,
) -> AttackReport:
    """Let simulated adversaries attack a release, and compare their success with what was guaranteed.

    Parameters
    ----------
    release : path, database address or Release
        The release to attack.
    original : path, frame, Table or database address
        The table it was made from, which only its steward has.
    policy : Policy, dict or path, optional
        Guarantees to attack instead of the release's own. Where people have several rows, it names the column that says
        whom a row is about.
    second : path, database address or Release, optional
        Another release of the same table, attacked together with the first.
    heldout : path, frame, Table or database address, optional
        People who are not in the release: the baseline of the learned attack.
    population : path, frame, Table or database address, optional
        A table of the population, one row per person: the register of the journalist and the marketer. By default the
        one that `policy` names, or the original.
    trials : int
        How many people are attacked.
    seed : int
        Which people are attacked.
    reading : dict, optional
        Options of `polyveil.read` for `original` and `heldout`.
    progress : Progress or bool
        True shows a bar, in a terminal or a notebook.

    Returns
    -------
    AttackReport
        One entry per attack: what it assumes, how much was tried, its success with interval, what the whole table
        and other people would have told, and what the guarantees allow. `outcome` is "not checked" if no attack could
        be held against a guarantee, or if something was not tried.

    Raises
    ------
    InputError
        The release or the table cannot be read, or they do not belong together.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 31, 52, 53], "disease": ["flu", "asthma", "flu", "asthma"]})
    >>> policy = {"columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, "privacy": {"k": 2}}
    >>> release = polyveil.anonymize(people, policy)
    >>> report = polyveil.attack(release, people)
    >>> report.outcome, report.named("prosecutor linkage").bound
    ('holds', 0.5)
    """
    with shown(progress) as listening:
        listening.stage("read")
        manifest, tables, _ = load_release(release)
        if "relational" in manifest:
            if second is not None or heldout is not None or population is not None:
                what = "a second release, people held out and a population"
                raise InputError(f"{what} are for releases of one table. Leave them out")
            listening.stage("attack")
            return attack_tables(manifest, tables, original, policy, trials, seed, reading or {}, listening)
        people = read(original, **(reading or {}))
        scene = set_scene(release, people, policy=policy, trials=trials, seed=seed, population=population)
        outsiders = None if heldout is None else _outsiders(scene, heldout, reading)
        other = None if second is None else set_scene(second, people, policy=policy, targets=scene.attacked)
        listening.stage("attack")
        given = Given(scene, outsiders, other, listening)
        found = tuple(result for adversary in ADVERSARIES.values() for result in adversary(given))
    return AttackReport(found, of_manifest(scene.manifest["sensitive"]), frame_kind=people.kind)


def _outsiders(scene: Scene, heldout: Any, reading: Mapping[str, Any] | None) -> tuple[Any, dict[str, Any]]:
    """People who are not in the release, coded over the same domains."""
    from polyveil.attacks.outsiders import code_outsiders

    return code_outsiders(scene, read(heldout, **(reading or {})))
