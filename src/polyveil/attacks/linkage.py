"""Linkage: whose record is it? The three adversaries of El Emam & Dankar (2008).

- The prosecutor knows that a person is in the release, and in which group, and looks for their record there.
- The journalist wants to name anybody at all and picks the record that fits the fewest people of a register.
- The marketer links every record with the register and counts how many are right on average.

The register is the original table unless a table of the population is given: the worst case. Published sampling weights
are tried as one more thing that is known of a person.
"""

from __future__ import annotations

from operator import itemgetter

import numpy as np
import polars as pl

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.crowds import Crowd
from polyveil.attacks.result import Attack, Promise, attack_of, not_run
from polyveil.attacks.scene import Scene
from polyveil.models import AnyColumns, KAnonymity, Model
from polyveil.models.constraints import MinSize
from polyveil.models.risk import ProsecutorRisk, RegisterRisk
from polyveil.verification.any_columns import fewest_alike
from polyveil.verification.classes import class_of_row

NEAR = 1e-9
"""How far apart weights may be that are written alike."""


def linkage(scene: Scene) -> list[Attack]:
    """All three, against every table of groups that is published."""
    if scene.linked and scene.policy.release.generalize != "none":
        # The quasi-identifiers hide people among those who look alike, whatever groups their values are in.
        alike = class_of_row(scene.visible, [column.name for column in scene.people.quasi])
        return [prosecutor(scene, np.bincount(alike)[alike], None, "")]
    found = any_columns(scene)
    for number, crowd in enumerate(scene.crowds):
        sizes, note = crowd.statistics.sizes[crowd.group_of_record], _left_out(scene, crowd)
        column = None if len(scene.crowds) == 1 else " + ".join(crowd.attributes)
        found.append(prosecutor(scene, sizes, column, note))
        if scene.several:
            found.append(persons(scene, crowd, column))
        if number == 0 and not scene.linked:
            found += register(scene, crowd)
    return found + by_weight(scene)


def by_weight(scene: Scene) -> list[Attack]:
    """Whoever knows a person's own sampling weight beside the quasi-identifiers, and looks for the nearest one."""
    name, own = scene.policy.sampling_weight, scene.people.sampling
    if name is None or own is None or name not in scene.visible.columns:
        return []
    weights = scene.visible.get_column(name).cast(pl.Float64, strict=False).fill_null(0.0).to_numpy()
    fits = scene.row_fits
    found = []
    for number, target in enumerate(scene.targets):
        rows = fits.indices[fits.indptr[number] : fits.indptr[number + 1]]
        if len(rows):
            apart = np.abs(weights[rows] - own[target])
            found.append(1.0 / int((apart <= apart.min() + NEAR).sum()))
    chances = np.array(found)
    return [
        attack_of(
            "linkage by weight",
            None,
            "knows a person's quasi-identifiers and sampling weight; picks a fitting record with the nearest weight",
            chances,
            1.0 / scene.people.rows,
            _one_in_k(scene, chances),
            float(chances.max(initial=0.0)),
            "as if the record with the nearest weight were always the person's",
            criterion="singling out",
            possible=scene.people.people,
            unit=scene.unit,
        )
    ]


def any_columns(scene: Scene) -> list[Attack]:
    """Whoever knows as many quasi-identifiers as the guarantee is about, and those that single people out best."""
    asked = [model for model in scene.models if isinstance(model, AnyColumns)]
    if not asked or scene.linked:
        return []
    model, names = asked[0], [column.name for column in scene.people.quasi]
    groups = class_of_row(scene.visible, names)
    chances = 1.0 / fewest_alike(scene.visible, names, model.columns, groups)[groups]
    return [
        attack_of(
            f"linkage by any {min(model.columns, len(names))} quasi-identifiers",
            None,
            "knows those few quasi-identifiers of a person that fewest rows share; picks one of these rows",
            chances,
            1.0 / scene.people.rows,
            Promise(np.full(len(chances), 1.0 / model.threshold), chances, model.statement()),
            float(chances.max(initial=0.0)),
            "exact: every combination was counted",
            criterion="singling out",
            unit=scene.unit,
        )
    ]


def least_group(scene: Scene) -> tuple[int, Model] | None:
    """The smallest group that the guarantees allow, and the guarantee that says so: k, or a risk in every group."""
    found = [
        (item.rows, model)
        for model in scene.models
        if isinstance(model, KAnonymity) or type(model) is ProsecutorRisk
        for item in model.constraints({})
        if isinstance(item, MinSize)
    ]
    return max(found, key=itemgetter(0), default=None)


def people_unknown(scene: Scene) -> list[Attack]:
    """Where guarantees count people and nobody says whose rows are whose, people cannot be attacked."""
    if scene.several or scene.manifest["policy"].get("unit") != "person":
        return []
    why = "people with several rows; give the policy that names the column with the role person (--policy)"
    return [not_run("people", None, "knows all rows of a person", why, criterion="singling out", possible=1)]


def prosecutor(scene: Scene, sizes: IntArray, column: str | None, note: str) -> Attack:
    """One record among those of the person's group, whose size is given for each record; all are looked at."""
    chances = 1.0 / sizes
    return attack_of(
        "prosecutor linkage",
        column,
        "knows which group a person is in, because they fit its quasi-identifiers; picks one of its records",
        chances,
        1.0 / scene.people.rows,
        _one_in_k(scene, chances),
        float(chances.max(initial=0.0)),
        note,
        criterion="singling out",
        unit=scene.unit,
    )


def persons(scene: Scene, crowd: Crowd, column: str | None) -> Attack:
    """One record among those of the groups that fit all rows of a person: theirs as often as they have rows there.

    Over the people of a group this is right once in as many people as it has, which k bounds; somebody with many rows
    is found more surely than that, and nothing promises otherwise.
    """
    total = np.asarray(crowd.named @ crowd.statistics.sizes.astype(np.float64)).ravel()
    greatest = crowd.named.max(axis=1).toarray().ravel()
    reached = np.flatnonzero(total > 0)
    rows = scene.attacked.released[reached]
    chances = np.minimum(greatest[reached] * rows / total[reached], 1.0)
    least = least_group(scene)
    promise = None
    if least is not None:
        size, model = least
        limits = np.full(len(chances), 1.0 / size)
        promise = Promise(limits, np.zeros(len(chances)), model.statement_in_people())
    return attack_of(
        "prosecutor linkage of all rows",
        column,
        "knows the quasi-identifiers of all rows of a person; picks a record of the groups that fit every one",
        chances,
        1.0 / scene.people.people,
        promise,
        float(chances.max(initial=0.0)),
        f"a person has up to {int(rows.max(initial=0)):,} rows; who has many is found more surely",
        criterion="singling out",
        possible=scene.people.people,
    )


def _one_in_k(scene: Scene, chances: FloatArray) -> Promise | None:
    least = least_group(scene)
    if least is None:
        return None
    size, model = least
    return Promise(np.full(len(chances), 1.0 / size), chances, model.statement())


def _left_out(scene: Scene, crowd: Crowd) -> str:
    missing = len(scene.targets) - len(crowd.reached)
    return f"{missing} of the people attacked fit no group" if missing else ""


def register(scene: Scene, crowd: Crowd) -> list[Attack]:
    """Journalist and marketer: how many people of the register fit each group."""
    by_table = [model for model in scene.models if isinstance(model, RegisterRisk)]
    if by_table and scene.population is None:
        why = "the table of the population that the guarantee is about; give it (--population FILE)"
        known = "has the population table; names anybody, by the record that fits the fewest people"
        return [not_run("journalist linkage", None, known, why, criterion="linkability", possible=1)]
    people = scene.people_per_group if scene.population is None else scene.population
    chances = 1.0 / np.maximum(people, crowd.statistics.sizes)

    def promise(found: FloatArray) -> Promise | None:
        if not by_table:
            return _one_in_k(scene, found)
        return Promise(np.full(len(found), by_table[0].threshold), found, by_table[0].statement())

    per_record = chances[crowd.group_of_record]
    worst = float(chances.max(initial=0.0))
    baseline = 1.0 / scene.people.rows
    journalist = attack_of(
        "journalist linkage",
        None,
        "has a register of the population; names anybody, by the record that fits the fewest people",
        [worst],
        baseline,
        promise(np.array([worst])),
        worst,
        "exact: every record was looked at",
        criterion="linkability",
    )
    marketer = attack_of(
        "marketer linkage",
        None,
        "has a register of the population; links every record with somebody who fits",
        per_record,
        baseline,
        promise(per_record),
        worst,
        criterion="linkability",
        unit=scene.unit,
    )
    # The journalist's figure is a maximum over all records, not a rate of trials: it has no interval of its own.
    exact = {
        "low": worst,
        "high": worst,
        "trials": len(per_record),
        "tried": len(per_record),
        "possible": len(per_record),
        "unit": scene.unit,
    }
    return [Attack(**{**journalist.to_dict(), **exact}), marketer]
