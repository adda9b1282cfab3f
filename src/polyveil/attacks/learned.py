"""Machine-learned inference: a model trained on the release guesses the sensitive values of known people.

What it says of people who are in the release is compared with what the same learner says of people who are not: given
people held out, or the people attacked themselves when the learner has seen everybody's raw row but theirs. Only what
goes beyond that is due to a person's being in the release; no model of this package bounds it, because the people of
one group need not be alike.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from polyveil.arrays import FloatArray, IntArray
from polyveil.attacks.branches import label_of_value
from polyveil.attacks.cells import misfits
from polyveil.attacks.population import MOST_ROWS, grow, people_features, strangers
from polyveil.attacks.result import Attack, attack_of, not_run
from polyveil.attacks.scene import Scene
from polyveil.models import Attribute
from polyveil.table.coded import CodedTable

ADVERSARY = "knows people's quasi-identifiers; trains a random forest on the release and asks it about them"


def learned(scene: Scene, name: str, heldout: tuple[CodedTable, IntArray] | None = None) -> Attack:
    """`heldout` holds people who are not in the release, with their codes of the sensitive column."""
    if not scene.people.quasi:
        return not_run("learned inference", name, ADVERSARY, "the release has no quasi-identifiers to learn from")
    classes = label_of_value(scene.attributes[name])
    rows, codes_of_rows = _examples(scene, name)
    some = scene.rng.permutation(len(rows))[:MOST_ROWS]
    forest = grow(released_features(scene)[rows[some]], classes[codes_of_rows[some]])
    truth = classes[scene.truth(name)]
    said = forest.predict(people_features(scene.people, scene.targets))
    if heldout is not None:
        people, codes = heldout
        others = forest.predict(people_features(people, np.arange(people.rows)))
        control, about = float((others == classes[codes]).mean()), "people held out"
    else:
        control, about = _without_them(scene, name, classes), "the same people left out of the raw table"
    note = f"baseline: {about}; guessing blindly is right {_blind(scene.attributes[name], classes):.3f} of the time"
    return attack_of(
        "learned inference",
        name,
        ADVERSARY,
        said == truth,
        control,
        None,
        None,
        note,
        possible=scene.people.people,
        population=control,
    )


def released_features(scene: Scene) -> FloatArray:
    """For each released row and quasi-identifier the middle of the values its cell stands for."""
    frame = scene.visible
    columns = []
    for column in scene.people.quasi:
        cells = frame.get_column(column.name)
        if scene.policy.release.numbers != "interval" and column.domain.kind == "numeric":
            cells = cells.cast(pl.Float64)
        misfit, cell_of_row = misfits(column, cells)
        near = misfit <= misfit.min(axis=1, keepdims=True)
        places = np.arange(column.domain.size) / max(column.domain.size - 1, 1)
        columns.append(((near @ places) / near.sum(axis=1))[cell_of_row])
    return np.stack(columns, axis=1)


def _examples(scene: Scene, name: str) -> tuple[IntArray, IntArray]:
    """Rows to learn from and a value for each: its own, or one of its group's where values stand in another table."""
    crowd = scene.crowd_of(name)
    if not scene.linked:
        return np.arange(len(crowd.group_of_record)), crowd.codes[name]
    rows = np.flatnonzero(crowd.group_of_row >= 0)
    members = np.argsort(crowd.group_of_record, kind="stable")
    begin = np.searchsorted(crowd.group_of_record[members], np.arange(crowd.groups + 1))
    group = crowd.group_of_row[rows]
    drawn = begin[group] + (scene.rng.random(len(rows)) * crowd.statistics.sizes[group]).astype(np.int64)
    return rows, crowd.codes[name][members[drawn]]


def _without_them(scene: Scene, name: str, classes: IntArray) -> float:
    """The same learner on the raw rows of everybody who is not attacked, about those who are."""
    codes, right = scene.secrets[name], []
    for others, half in strangers(scene):
        if not len(others):
            continue
        forest = grow(people_features(scene.people, others), classes[codes[others]])
        asked = scene.targets[half]
        right.append(forest.predict(people_features(scene.people, asked)) == classes[codes[asked]])
    return float(np.concatenate(right).mean()) if right else 0.0


def _blind(about: Attribute, classes: IntArray) -> float:
    return float(np.bincount(classes, weights=about.whole_share).max(initial=0.0))
