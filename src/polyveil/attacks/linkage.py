"""Linkage: whose record is it? The three adversaries of El Emam & Dankar (2008).

- The prosecutor knows that a person is in the release and looks for their record among those they fit.
- The journalist wants to name anybody at all and picks the record that fits the fewest people of a register.
- The marketer links every record with the register and counts how many are right on average.

The register is the original table unless a larger one is given: the worst case.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.result import Attack, Promise, attack_of
from polyveil.attacks.scene import Crowd, Scene, group_fits
from polyveil.models import KAnonymity

PEOPLE_AT_ONCE = 5_000


def linkage(scene: Scene) -> list[Attack]:
    """All three, against every table of groups that is published."""
    found = []
    for number, crowd in enumerate(scene.crowds):
        column = None if len(scene.crowds) == 1 else " + ".join(crowd.attributes)
        found.append(prosecutor(scene, crowd, column))
        if number == 0 and scene.form == "generalized":
            found += register(scene, crowd)
    return found


def least_k(scene: Scene) -> KAnonymity | None:
    """The k-anonymity that was asked for."""
    return next((model for model in scene.models if isinstance(model, KAnonymity)), None)


def prosecutor(scene: Scene, crowd: Crowd, column: str | None) -> Attack:
    """One record among all that the person fits, each as likely as its group makes it."""
    chances = _chances(crowd)[crowd.reached]
    return attack_of(
        "prosecutor linkage",
        column,
        "knows a person's quasi-identifiers and that they are in the table; picks one of the records they fit",
        chances,
        1.0 / scene.people.rows,
        _one_in_k(scene, chances),
        float(chances.max(initial=0.0)),
        _left_out(scene, crowd),
    )


def _chances(crowd: Crowd) -> FloatArray:
    """For each target the greatest probability of any one record."""
    weights, sizes = crowd.weights, crowd.statistics.sizes
    total = np.asarray(weights @ sizes.astype(np.float64)).ravel()
    greatest = weights.max(axis=1).toarray().ravel()
    return np.where(total > 0, greatest / np.where(total > 0, total, 1.0), 0.0)


def _one_in_k(scene: Scene, chances: FloatArray) -> Promise | None:
    model = least_k(scene)
    if model is None:
        return None
    return Promise(np.full(len(chances), 1.0 / model.threshold), chances, model.statement())


def _left_out(scene: Scene, crowd: Crowd) -> str:
    missing = len(scene.targets) - len(crowd.reached)
    return f"{missing} of the people attacked fit no group" if missing else ""


def register(scene: Scene, crowd: Crowd) -> list[Attack]:
    """Journalist and marketer: how many people of the register fit each group."""
    fitting = people_per_group(scene, crowd)
    chances = 1.0 / np.maximum(fitting, crowd.statistics.sizes)
    per_record = chances[crowd.group_of_record]
    worst = float(chances.max(initial=0.0))
    baseline = 1.0 / scene.people.rows
    journalist = attack_of(
        "journalist linkage",
        None,
        "has a register of the population; names anybody, by the record that fits the fewest people",
        [worst],
        baseline,
        _one_in_k(scene, np.array([worst])),
        worst,
        "exact: every record was looked at",
    )
    marketer = attack_of(
        "marketer linkage",
        None,
        "has a register of the population; links every record with somebody who fits",
        per_record,
        baseline,
        _one_in_k(scene, per_record),
        worst,
    )
    # The journalist's figure is a maximum over all records, not a rate of trials: it has no interval of its own.
    exact = {"low": worst, "high": worst, "trials": len(per_record)}
    return [Attack(**{**journalist.to_dict(), **exact}), marketer]


def people_per_group(scene: Scene, crowd: Crowd) -> IntArray:
    """How many people of the original fit the cells of each group."""
    found = np.zeros(crowd.groups)
    tuples = scene.people.quasi_tuples
    # One person for each distinct combination of quasi-identifiers, counted as often as it occurs.
    someone = np.zeros(len(tuples.counts), dtype=np.int64)
    someone[tuples.of_row] = np.arange(scene.people.rows)
    for first in range(0, len(someone), PEOPLE_AT_ONCE):
        some = slice(first, first + PEOPLE_AT_ONCE)
        fits = group_fits(scene.tables["table"], scene.policy, scene.people, crowd.group_of_record, someone[some])
        found += fits.T @ tuples.counts[some].astype(np.float64)
    return np.rint(found).astype(np.int64)
